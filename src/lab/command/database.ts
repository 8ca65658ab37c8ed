/** The database of `lab run own-database --file DATABASE`, with the WAL beside it. */
import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { damageOf, noDatabase } from '../experiments/engine/check-database.ts';
import { openSource } from '../experiments/engine/load-database.ts';
import { WAL_HEADER } from '../../sqlite/wal.ts';
import { nodeSurroundings } from './node.ts';
import { cannotRead } from '../../terminal/open-file.ts';

/**
 * The file as SQLite sees it, with its write-ahead log merged in memory. Nothing is written beside
 * the file.
 * @throws Error with a message for the user where the file can't be read, isn't a database, is
 * damaged, or its WAL can't be merged
 */
export async function databaseFrom(path: string): Promise<{ name: string; file: Blob }> {
  const name = basename(path);
  const main = new Blob([await read(path, 'a database')]);
  const none = await noDatabase(main);
  if (none) throw new Error(`${path}: ${none}`);
  const log = `${path}-wal`;
  const size = await stat(log).then(
    (found) => found.size,
    (e: NodeJS.ErrnoException) =>
      e.code === 'ENOENT' ? 0 : Promise.reject(new Error(cannotRead(log, e, 'a write-ahead log'))),
  );
  // without a frame, it is empty
  const wal = size > WAL_HEADER ? new Blob([await read(log, 'a write-ahead log')]) : null;
  const { sqlite3, module } = await nodeSurroundings().engines.open(
    { engine: 'wa-sqlite-2.0.6', build: 'sync' },
    'none',
  );
  const source = await openSource(sqlite3, module, main, wal).catch((e: unknown) => {
    const why = e instanceof Error ? e.message : String(e);
    throw new Error(wal ? `${log} could not be brought in: ${why}` : damaged(path, why), {
      cause: e,
    });
  });
  const damage = await damageOf(sqlite3, source.db);
  const file = wal ? new Blob([source.bytes()]) : main;
  await sqlite3.close(source.db);
  if (damage !== null) throw new Error(damaged(path, damage));
  return { name, file };
}

const damaged = (path: string, why: string): string =>
  `${path} is damaged. SQLite reports: ${why.replace(/\.$/, '')}. Use a backup, or recover what is left: sqlite3 ${path} .recover | sqlite3 recovered.db`;

const read = (path: string, what: string): Promise<Buffer<ArrayBuffer>> =>
  readFile(path).catch((e: unknown) => Promise.reject(new Error(cannotRead(path, e, what))));
