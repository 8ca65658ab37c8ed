/**
 * How the golden traces next to this file were recorded: an app of tests/apps, and the steps in it.
 * `npm run docs -- goldens` records them again. Times differ from run to run. The snapshots are for
 * these particular recordings.
 */
import type { Workload, WorkloadOptions } from '../../oracle/baseline.ts';

/** A run of a workload in a tab. Runs of one step are concurrent. */
export interface ScenarioRun {
  tab?: number;
  workload: Workload;
  options: WorkloadOptions;
}

export interface Scenario {
  /** Name of the file. */
  name: string;
  /** What it demonstrates. */
  shows: string;
  /** Path below the server's origin. */
  path: string;
  /** Number of tabs, 1 by default. Several are recorded together, by origin. */
  tabs?: number;
  steps: readonly (readonly ScenarioRun[])[];
}

const once = (workload: Workload, options: WorkloadOptions): Scenario['steps'] => [[{ workload, options }]];
const journey = (vfs: string): string => `/journeyapps-wa-sqlite/?vfs=${vfs}`;

/** A table of `rows` rows of about 130 bytes. */
const fill = (rows: number): string =>
  `CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT); ` +
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows}) INSERT INTO t SELECT i, printf('%0120d', i) FROM n`;
const counter = 'CREATE TABLE IF NOT EXISTS kv(key TEXT PRIMARY KEY, value INT); INSERT OR IGNORE INTO kv VALUES(\'counter\', 0)';
const increment = "BEGIN IMMEDIATE; UPDATE kv SET value = value + 1 WHERE key = 'counter'; COMMIT";
/** Rewrites every page of a table that `fill` created, in 85 transactions of some 50 pages. */
const rewriteAll: readonly [number, string] = [85, "UPDATE t SET body = printf('%0120d', id + $i + 1)"];
const WAL = ['locking_mode=exclusive', 'journal_mode=wal'];

/** Two tabs that write one counter. */
const contention = (times: number): Scenario['steps'] => [
  [{ tab: 0, workload: 'sql', options: { name: 'shared.db', sql: [counter] } }],
  [0, 1].map((tab) => ({ tab, workload: 'sql', options: { name: 'shared.db', retry: true, sql: [[times, increment]] } })),
];

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'memory-delete',
    shows: '1000 inserts, each a transaction of its own, by rollback journal: every count is known (tests/oracle/own-sql-goldens.ts)',
    path: journey('Memory'),
    steps: once('own-sql', {}),
  },
  {
    name: 'opfs-coop-sync',
    shows: 'the same on OPFS, 100 inserts: what a sync of each file costs',
    path: journey('OPFSCoopSync'),
    steps: once('own-sql', { n: 100 }),
  },
  {
    name: 'wal-exclusive',
    shows: '300 inserts into a WAL, checkpointed at close',
    path: journey('AccessHandlePool'),
    steps: once('own-sql', { n: 300, pragmas: WAL }),
  },
  {
    name: 'idb-batch-atomic',
    shows: 'pages as records of IndexedDB, commits by batch-atomic writes: no journal',
    path: journey('IDBBatchAtomic'),
    steps: once('standard', { n: 200 }),
  },
  {
    name: 'opfs-sahpool',
    shows: "SQLite's own pool of access handles: its files' names are not those of OPFS",
    path: '/sqlite-org/?vfs=opfs-sahpool',
    steps: once('standard', { n: 200 }),
  },
  {
    name: 'kvvfs',
    shows: 'localStorage as the storage',
    path: '/sqlite-org/?vfs=kvvfs',
    steps: once('own-sql', { n: 20 }),
  },
  {
    name: 'opfs-proxy',
    shows: 'the opfs VFS: every call waits in Atomics.wait for a second worker',
    path: '/coi/sqlite-org/?vfs=opfs',
    steps: once('own-sql', { n: 100 }),
  },
  {
    name: 'opfs-wl-two-tabs',
    shows: 'two tabs write one database: locks by Web Locks, BUSY',
    path: '/coi/sqlite-org/?vfs=opfs-wl',
    tabs: 2,
    steps: contention(20),
  },
  {
    name: 'idb-two-tabs',
    shows: 'two tabs write one database: one waits while the other holds the lock',
    path: journey('IDBBatchAtomic'),
    tabs: 2,
    steps: contention(30),
  },
  {
    name: 'absurd-sql',
    shows: 'blocks in IndexedDB behind Atomics.wait; one IndexedDB transaction a lock',
    path: '/coi/absurd-sql/',
    steps: once('standard', { n: 200 }),
  },
  {
    name: 'read-modify-write',
    shows: 'a page cache that spills: batch-atomic writes are lost, and the journal is written by parts of blocks that are read first',
    path: journey('IDBBatchAtomic'),
    steps: once('sql', {
      pragmas: ['cache_size=-64'],
      sql: [fill(1500), [3, "UPDATE t SET body = printf('%0120d', id + $i + 1)"]],
    }),
  },
  {
    name: 'absurd-sql-fallback',
    shows: 'without shared memory: the whole file is read first, and written behind',
    path: '/absurd-sql/',
    steps: once('own-sql', { n: 50 }),
  },
  {
    name: 'turso-wal',
    shows: 'an engine that is not SQLite with a WAL of its own: a frame is one write, checkpoints read no frame',
    path: '/coi/turso/?vfs=opfs',
    steps: once('sql', {
      sql: [
        'CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT)',
        [60, "INSERT INTO t VALUES($i, 'some text')"],
        'PRAGMA wal_checkpoint(PASSIVE)',
        [20, "UPDATE t SET body = 'other' WHERE id = $i"],
        'PRAGMA wal_checkpoint(TRUNCATE)',
      ],
    }),
  },
  {
    name: 'sql-js-export',
    shows: 'a database in memory whose whole file is put into IndexedDB at every save',
    path: '/sql-js/',
    steps: [
      [{ workload: 'sql', options: { name: 'saved.db', sql: [fill(1000)] } }],
      ...[1, 2, 3, 4, 5, 6].map((n) => [
        { workload: 'sql' as const, options: { name: 'saved.db', sql: [`UPDATE t SET body = 'new' WHERE id = ${n}`] } },
      ]),
    ],
  },
  {
    name: 'checkpoint-storm',
    shows: 'wal_autocheckpoint=4: a checkpoint at nearly every commit, the same pages copied over and over; then TRUNCATE',
    path: journey('AccessHandlePool'),
    steps: once('sql', {
      pragmas: [...WAL, 'wal_autocheckpoint=4'],
      sql: [fill(400), [80, "UPDATE t SET body = printf('%0120d', $i + 1000) WHERE id = ($i * 7) % 400 + 1"], 'PRAGMA wal_checkpoint(TRUNCATE)'],
    }),
  },
  {
    name: 'checkpoint-starved',
    shows: 'wal_autocheckpoint=0: the log grows to many times the database until it is checkpointed once',
    path: journey('AccessHandlePool'),
    steps: once('sql', {
      pragmas: [...WAL, 'wal_autocheckpoint=0'],
      sql: [fill(200), [4100, "UPDATE t SET body = printf('%0120d', $i + 1000) WHERE id = ($i * 7) % 200 + 1"], 'PRAGMA wal_checkpoint(PASSIVE)'],
    }),
  },
  {
    name: 'wal-never-shrinks',
    shows: 'a query that is stepped once and forgotten: no checkpoint gets through any more, the log grows on',
    path: journey('AccessHandlePool'),
    steps: once('sql', { pragmas: WAL, leaveOpen: true, sql: [fill(1500), { hold: 'SELECT id FROM t' }, rewriteAll] }),
  },
  {
    name: 'wal-begins-anew',
    shows: 'its healthy twin: the same writes with no query left open; the log is checkpointed every 1,000 frames and begins anew',
    path: journey('AccessHandlePool'),
    steps: once('sql', { pragmas: WAL, leaveOpen: true, sql: [fill(1500), rewriteAll] }),
  },
  {
    name: 'cold-warm',
    shows: 'a database opened again: the first scan reads every page, the second none',
    path: '/sqlite-org/?vfs=opfs-sahpool',
    steps: [
      [{ workload: 'sql', options: { name: 'warm.db', sql: [fill(3000)] } }],
      [{ workload: 'sql', options: { name: 'warm.db', sql: [[3, 'SELECT count(*), sum(length(body)) FROM t']] } }],
    ],
  },
  {
    name: 'cache-thrash',
    shows: 'a page cache of 64 KiB and scans of 400 KiB: every scan reads everything again',
    path: journey('OPFSCoopSync'),
    steps: once('sql', {
      pragmas: ['cache_size=-64'],
      sql: [fill(3000), [8, 'SELECT sum(length(body)) FROM t'], [50, 'SELECT body FROM t WHERE id = ($i * 7919) % 3000 + 1']],
    }),
  },
  {
    name: 'rollback-and-savepoints',
    shows: 'transactions that are rolled back, whole and to a savepoint',
    path: journey('OPFSCoopSync'),
    steps: once('sql', {
      sql: [
        fill(100),
        [5, "BEGIN; UPDATE t SET body = 'gone' WHERE id = $i; ROLLBACK"],
        [5, "BEGIN; SAVEPOINT s; UPDATE t SET body = 'gone' WHERE id = $i; ROLLBACK TO s; RELEASE s; INSERT INTO t VALUES(NULL, 'kept'); COMMIT"],
      ],
    }),
  },
];

/**
 * Recordings of 100,000 events and more, for the size of files
 * (tools/bench/analysis-files.bench.ts). They aren't stored.
 */
const ON_COARSE_CLOCK: readonly Scenario[] = [
  {
    name: 'wa-sqlite in memory, 4,000 autocommits',
    shows: 'VFS calls',
    path: journey('Memory'),
    steps: once('own-sql', { n: 4000 }),
  },
  {
    name: 'wa-sqlite IDBBatchAtomic, 4,000 autocommits',
    shows: 'VFS calls and IndexedDB',
    path: journey('IDBBatchAtomic'),
    steps: once('own-sql', { n: 4000 }),
  },
  {
    name: 'sqlite.org opfs-sahpool, 4,000 autocommits',
    shows: 'VFS calls and OPFS',
    path: '/sqlite-org/?vfs=opfs-sahpool',
    steps: once('own-sql', { n: 4000 }),
  },
];

/** Maximum bytes per event in a file, by the step of its clock in microseconds. */
export const MOST_BYTES_AN_EVENT: Readonly<Record<number, number>> = { 5: 3.5, 100: 2.5 };

/** Each on a clock of 100 us, and on one of 5 us, where the page is cross-origin isolated. */
export const LARGE: readonly Scenario[] = ON_COARSE_CLOCK.flatMap((scenario) => [
  scenario,
  { ...scenario, name: `${scenario.name}, isolated`, path: `/coi${scenario.path}` },
]);
