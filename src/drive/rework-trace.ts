/** A trace file that was saved, changed before it goes to its user. */
import { readFile, writeFile } from 'node:fs/promises';
import { readTrace } from '../trace/file/read.ts';
import { TraceWriter } from '../trace/file/write.ts';
import type { TraceStore } from '../trace/store.ts';

/**
 * Write a file again.
 * @param change what it holds from now on; without a `store` it stays as it is
 * @returns its answer
 */
export async function reworkTrace<T>(
  file: string,
  change: (store: TraceStore) => { store?: TraceStore; answer: T },
): Promise<T> {
  const { store: before, header } = await readTrace(await readFile(file));
  const { store, answer } = change(before);
  if (!store) return answer;
  const pieces: Uint8Array[] = [];
  const { writer, origin, savedAt, sanitized } = header;
  await new TraceWriter(
    store,
    { write: (bytes) => void pieces.push(bytes) },
    { writer, origin, savedAt, sanitized },
  ).finish();
  await writeFile(file, Buffer.concat(pieces));
  return answer;
}
