/** The database of `lab run own-database --file DATABASE`, with the log that lies beside it. */
import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { openSource } from '../experiments/load-database.ts';
import { nodeSurroundings } from './lab-node.ts';
import { cannotRead } from './open-file.ts';

/** A write-ahead log of no more is one without a frame, bytes. */
const WAL_HEADER = 32;

/**
 * The file as SQLite has it: what its write-ahead log holds is brought in, in memory; nothing is written beside the file.
 * @throws Error in words where it cannot be read, or its log not be brought in
 */
export async function databaseFrom(path: string): Promise<{ name: string; file: Blob }> {
  const name = basename(path);
  const main = new Blob([await read(path, 'a database')]);
  const log = `${path}-wal`;
  const size = await stat(log).then(
    (found) => found.size,
    (e: NodeJS.ErrnoException) => (e.code === 'ENOENT' ? 0 : Promise.reject(new Error(cannotRead(log, e, 'a write-ahead log')))),
  );
  if (size <= WAL_HEADER) return { name, file: main };
  const wal = new Blob([await read(log, 'a write-ahead log')]);
  const { sqlite3, module } = await nodeSurroundings().engines.open({ engine: 'wa-sqlite-2.0.6', build: 'sync' }, 'none');
  try {
    const source = await openSource(sqlite3, module, main, wal);
    await sqlite3.close(source.db);
    return { name, file: new Blob([source.bytes()]) };
  } catch (e) {
    throw new Error(`${log} could not be brought in: ${e instanceof Error ? e.message : String(e)}`, { cause: e });
  }
}

const read = (path: string, what: string): Promise<Buffer<ArrayBuffer>> =>
  readFile(path).catch((e: unknown) => Promise.reject(new Error(cannotRead(path, e, what))));
