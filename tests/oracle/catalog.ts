/** Every engine app and VFS that works in headless Chromium, and its expected results. */
import type { Workload, WorkloadOptions } from './baseline.ts';
import { FULL } from '../full.ts';

/** A workload and the rows that every engine must return for it. */
export interface Run {
  readonly workload: Workload;
  readonly options: WorkloadOptions;
  readonly rows: readonly (readonly unknown[])[];
}

export interface EngineApp {
  /**
   * Engine and VFS, and the build if it isn't the VFS's default: `journeyapps-wa-sqlite
   * IDBBatchAtomic jspi`.
   */
  readonly id: string;
  /** Path and query below the server's origin, with the header variant that it needs. */
  readonly path: string;
  /** Why the stored bytes differ between runs; absent if they are equal. */
  readonly bytesVary?: string;
  /** A count of the oracle that depends on timing, and why; absent if all are reproducible. */
  readonly countVaries?: {
    readonly count: 'opfs.flushes' | 'idb.transactions';
    readonly why: string;
    /**
     * Number of gets in the goldens that threw because the last transaction had ended, and were
     * repeated in a new one. It depends on when transactions end.
     */
    readonly thrownGets?: number;
  };
  /** Not SQLite: its runs have no integrity check (null) and no `vfs` layer to see. */
  readonly notSQLite?: true;
  /** The run that the goldens are for. */
  readonly run: Run;
}

/** sum(id) of 0..219 first. */
export const STANDARD: Run = {
  workload: 'standard',
  options: { n: 200 },
  rows: [[220, 24090], [160, '1', '5'], [21090], ['checksum', '5dddb746']],
};

/** SQL that SQLite, Postgres, and DuckDB share. */
export const PORTABLE: Run = {
  workload: 'portable',
  options: { n: 200 },
  rows: [[220, 24090], [160, '1', '5'], [21090], ['checksum', '0a39d71c']],
};

/** For an engine that reads all of its storage for every statement. */
export const PORTABLE_SMALL: Run = {
  workload: 'portable',
  options: { n: 10, autocommits: 3 },
  rows: [[13, 78], [5, '1', '5'], [728], ['checksum', '9c5d5df8']],
};

/** Transactions over two databases, each with a super-journal. */
const ATTACHED: Run = {
  workload: 'attached',
  options: { n: 10 },
  rows: [
    [10, 45],
    ['checksum', '680ef7a8'],
  ],
};

type Expected = Partial<Omit<EngineApp, 'id' | 'path'>>;

const app = (id: string, path: string, expected: Expected = {}): EngineApp => ({
  id,
  path,
  run: STANDARD,
  ...expected,
});

const journey = (vfs: string, build?: string, expected?: Expected): EngineApp =>
  app(
    `journeyapps-wa-sqlite ${vfs}${build ? ` ${build}` : ''}`,
    `/journeyapps-wa-sqlite/?vfs=${vfs}${build ? `&build=${build}` : ''}`,
    expected,
  );

const old = (vfs: string, expected?: Expected): EngineApp =>
  app(`wa-sqlite ${vfs}`, `/wa-sqlite/?vfs=${vfs}`, expected);

const sharedTransaction = (thrownGets: number): Expected => ({
  countVaries: {
    count: 'idb.transactions',
    why: 'a request joins the last transaction where that one has not ended yet',
    thrownGets,
  },
});
const proxyFlush: Expected = {
  countVaries: {
    count: 'opfs.flushes',
    why: 'the proxy flushes a file only while it still holds the handle, which it lets go when idle',
  },
};

export const ENGINE_APPS: readonly EngineApp[] = [
  old('AccessHandlePool'),
  old('IDBBatchAtomic', sharedTransaction(4)),
  old('IDBMinimal', sharedTransaction(0)),
  old('IDBVersioned', sharedTransaction(0)),
  old('OriginPrivateFileSystem'),
  old('Memory'),
  old('MemoryAsync'),
  journey('OPFSCoopSync'),
  journey('AccessHandlePool'),
  journey('OPFSWriteAhead', undefined, { bytesVary: 'the log carries random salts' }),
  journey('OPFSAdaptive'),
  journey('OPFSAnyContext'),
  journey('OPFSPermuted'),
  journey('IDBBatchAtomic'),
  journey('IDBMirror'),
  journey('Memory'),
  journey('MemoryAsync'),
  journey('OPFSAdaptive', 'jspi'),
  journey('OPFSPermuted', 'jspi'),
  journey('IDBBatchAtomic', 'jspi'),
  journey('IDBMirror', 'jspi'),
  journey('OPFSCoopSync', 'mc-sync'),
  journey('IDBBatchAtomic', 'mc-asyncify'),
  journey('IDBBatchAtomic', 'mc-jspi'),
  journey('OPFSCoopSync', 'dynamic-sync'),
  journey('IDBBatchAtomic', 'dynamic-asyncify'),
  app('sqlite-org opfs-sahpool', '/sqlite-org/?vfs=opfs-sahpool'),
  app('sqlite-org opfs', '/coi/sqlite-org/?vfs=opfs', proxyFlush),
  app('sqlite-org opfs-wl', '/coi/sqlite-org/?vfs=opfs-wl', proxyFlush),
  app('sqlite-org memory', '/sqlite-org/?vfs=memory'),
  app('sqlite-org kvvfs', '/sqlite-org/?vfs=kvvfs'),
  app('sqlite-org promiser opfs', '/coi/sqlite-org/?api=promiser&vfs=opfs', proxyFlush),
  app('sqlite-org promiser memory', '/sqlite-org/?api=promiser&vfs=memory'),
  app('sql-js', '/sql-js/'),
  app('sqlite-org opfs-sahpool attached', '/sqlite-org/?vfs=opfs-sahpool', { run: ATTACHED }),
  app('journeyapps-wa-sqlite OPFSAdaptive attached', '/journeyapps-wa-sqlite/?vfs=OPFSAdaptive', {
    run: ATTACHED,
  }),
  app(
    'journeyapps-wa-sqlite IDBBatchAtomic attached',
    '/journeyapps-wa-sqlite/?vfs=IDBBatchAtomic',
    { run: ATTACHED },
  ),
  app('absurd-sql', '/coi/absurd-sql/'),
  app('absurd-sql fallback', '/absurd-sql/'),
  app('turso opfs', '/coi/turso/?vfs=opfs', { bytesVary: 'the WAL carries random salts' }),
  app('turso memory', '/coi/turso/?vfs=memory'),
  app('pglite idb', '/pglite/?vfs=idb', {
    run: PORTABLE_SMALL,
    notSQLite: true,
    bytesVary: 'the cluster has a random identifier and times',
  }),
  app('pglite memory', '/pglite/?vfs=memory', { run: PORTABLE_SMALL, notSQLite: true }),
  app('duckdb opfs', '/duckdb/?vfs=opfs', { run: PORTABLE, notSQLite: true }),
  app('duckdb memory', '/duckdb/?vfs=memory', { run: PORTABLE, notSQLite: true }),
];

/**
 * In addition to the first app of each package: the most different other ways to run and to store.
 */
const DISTINCT = [
  'wa-sqlite IDBBatchAtomic',
  'journeyapps-wa-sqlite IDBBatchAtomic jspi',
  'journeyapps-wa-sqlite IDBBatchAtomic dynamic-asyncify',
  'sqlite-org opfs-wl',
];
const packageOf = ({ path }: EngineApp): string => path.replace(/^\/coi/, '').split('/')[1]!;

/**
 * The apps of a test that doesn't need each row: one of each package, and the distinct ones. FULL=1
 * (npm run test:long): all of them.
 */
/** It takes as long as six others, and DuckDB represents engines other than SQLite. */
const SLOW = ['pglite idb'];
export const someApps = (): readonly EngineApp[] =>
  FULL
    ? ENGINE_APPS
    : ENGINE_APPS.filter(
        (app, i) =>
          !SLOW.includes(app.id) &&
          (DISTINCT.includes(app.id) ||
            ENGINE_APPS.findIndex((other) => packageOf(other) === packageOf(app)) === i),
      );

/** Configurations that don't run, recorded or not: the app's error message, and why. */
export const CANNOT_RUN: readonly {
  readonly id: string;
  readonly path: string;
  readonly run: Run;
  readonly error: RegExp;
  readonly why: string;
}[] = [
  {
    id: 'journeyapps-wa-sqlite OPFSCoopSync attached',
    path: '/journeyapps-wa-sqlite/?vfs=OPFSCoopSync',
    run: ATTACHED,
    error: /database is locked/,
    why: 'transactions over more than one main database are not supported, says its documentation',
  },
  {
    id: 'turso, not isolated',
    path: '/turso/',
    run: STANDARD,
    error: /needs a cross-origin isolated page/,
    why: 'its threads share one memory',
  },
  {
    id: 'sqlite-org promiser opfs, not isolated',
    path: '/sqlite-org/?api=promiser&vfs=opfs',
    run: STANDARD,
    error: /needs a cross-origin isolated page/,
    why: 'the opfs VFS waits for its second worker on shared memory',
  },
];
