/**
 * Collects output in a blob piece by piece, because the strings of a long trace don't fit in
 * memory, but a blob does.
 */
import { yieldToMessages } from '../yield.ts';

/** Characters or bytes to collect before they go into the blob and messages are handled. */
const STRETCH = 1 << 22;

interface GatherOptions {
  type: string;
  signal: AbortSignal;
  /** Bytes so far, after every piece. */
  onProgress(bytes: number): void;
}

/** @throws AbortError when the signal aborts */
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
    waiting.push(piece as BlobPart); // our own bytes, never shared
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
