/** What is made piece by piece, gathered into a blob: the strings of a long trace do not fit in memory, a blob does. */
import { yieldToMessages } from '../yield.ts';

/** Characters or bytes gathered before they become part of the blob and messages are heard. */
const STRETCH = 1 << 22;

interface GatherOptions {
  type: string;
  signal: AbortSignal;
  /** Bytes so far, after every stretch. */
  onProgress(bytes: number): void;
}

/** @throws AbortError when the signal says so */
export async function blobOfPieces(
  pieces: AsyncIterable<string | Uint8Array>,
  { type, signal, onProgress }: GatherOptions,
): Promise<Blob> {
  const parts: Blob[] = [];
  let waiting: BlobPart[] = [];
  let gathered = 0;
  let bytes = 0;
  for await (const piece of pieces) {
    signal.throwIfAborted();
    waiting.push(piece as BlobPart); // our own bytes, never shared ones
    gathered += piece.length;
    if (gathered < STRETCH) continue;
    const part = new Blob(waiting);
    parts.push(part);
    bytes += part.size;
    waiting = [];
    gathered = 0;
    onProgress(bytes);
    await yieldToMessages();
    signal.throwIfAborted();
  }
  return new Blob([...parts, ...waiting], { type });
}
