/**
 * Well-tuned work on nine pairs of engine and VFS, as the documentation of each recommends: each
 * batch in one transaction, reads in one transaction, a cache that holds the database, and WAL or
 * an in-memory journal if only one connection is used.
 */
import type { WorkloadOptions } from './baseline.ts';

interface TunedApp {
  readonly id: string;
  readonly path: string;
  readonly pragmas: readonly string[];
  /**
   * Rules that promise no saving and describe this VFS's behavior, which only its author can
   * change.
   */
  readonly ofTheVfs?: readonly string[];
}

const BATCHES = 8;
const BATCH = 500;
const row = (id: number): string => `(${id}, '${String(id).padStart(120, '0')}')`;
const batch = (i: number): string =>
  `INSERT INTO t VALUES ${Array.from({ length: BATCH }, (_, k) => row(i * BATCH + k + 1)).join(', ')}`;
const eachBatch = (statement: (i: number) => string): string[] =>
  Array.from({ length: BATCHES }, (_, i) => ['BEGIN', statement(i), 'COMMIT']).flat();

/** 4,000 rows of about 130 bytes; reads by key and of all; updates of an eighth of the rows each. */
const WORK: NonNullable<WorkloadOptions['sql']> = [
  'CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT)',
  ...eachBatch(batch),
  'BEGIN',
  [400, `SELECT body FROM t WHERE id = ($i * 7919) % ${BATCHES * BATCH} + 1`],
  [5, 'SELECT count(*), sum(length(body)) FROM t'],
  'COMMIT',
  ...eachBatch((i) => `UPDATE t SET body = '${'x'.repeat(120)}' WHERE id % ${BATCHES} = ${i}`),
];

export const tunedOptions = ({ pragmas }: TunedApp): WorkloadOptions => ({
  sql: WORK,
  pragmas: [...pragmas, 'cache_size=-8000', 'temp_store=memory'],
});

const WAL = ['locking_mode=exclusive', 'journal_mode=wal', 'synchronous=normal'];
const journey = (
  vfs: string,
  pragmas: readonly string[],
  ofTheVfs: readonly string[] = [],
): TunedApp => ({
  id: `journeyapps-wa-sqlite ${vfs}`,
  path: `/journeyapps-wa-sqlite/?vfs=${vfs}`,
  pragmas,
  ofTheVfs,
});

/**
 * Not `opfs` of @sqlite.org/sqlite-wasm: a single connection doesn't need its proxy, as F39 and F38
 * correctly report.
 */
export const TUNED_APPS: readonly TunedApp[] = [
  { id: 'sqlite-org opfs-sahpool', path: '/sqlite-org/?vfs=opfs-sahpool', pragmas: WAL },
  { id: 'wa-sqlite AccessHandlePool', path: '/wa-sqlite/?vfs=AccessHandlePool', pragmas: WAL },
  journey('OPFSCoopSync', WAL),
  journey('OPFSWriteAhead', [], ['F44']), // the header of each frame of its log is a separate write
  journey('OPFSPermuted', ['synchronous=normal']),
  // a key for each page version, and a transaction prepared before each batch; in exclusive mode it
  // would keep a journal open and not write atomically
  journey('IDBBatchAtomic', ['synchronous=normal'], ['F17', 'F19']),
  {
    id: 'absurd-sql',
    path: '/coi/absurd-sql/',
    pragmas: ['page_size=8192', 'journal_mode=memory', 'locking_mode=exclusive'],
  },
  { id: 'turso opfs', path: '/coi/turso/?vfs=opfs', pragmas: [] },
  { id: 'sql-js', path: '/sql-js/', pragmas: [] },
];
