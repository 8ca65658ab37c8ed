/** Changes a saved trace file before its user gets it. */
import { readFile, writeFile } from 'node:fs/promises';
import { readTrace } from '../trace/file/read.ts';
import { TraceWriter } from '../trace/file/write.ts';
import type { TraceStore } from '../trace/store.ts';

/**
 * Write a file again.
 * @param change returns the new content; without a `store` the file stays unchanged
 * @returns its result
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
