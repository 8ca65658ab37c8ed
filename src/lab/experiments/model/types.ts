/**
 * An experiment as data: workloads (SQL and what to watch), configurations (what they run on), runs
 * and their results, and experiments (several workloads x configurations with a question). It
 * doesn't depend on the environment: Node, worker, or page. result-types.ts has the output of runs.
 */

/** A value to bind. */
export type Value = number | string | null | Uint8Array;

/**
 * Counters, by name. Everything is a count or bytes, exact and repeatable, but `ms`.
 *
 * - `instructions` of the engine's wasm (count mode only: it is absent in time mode)
 * - `memory.loads`, `memory.stores` of the engine's wasm, where a counted run was asked for them
 * - `ms` wall time (time mode only)
 * - `statements`, `rows` that the step ran and got
 * - `vfs.calls`, `vfs.xRead`, `vfs.xReadBytes`, `vfs.xWrite`, `vfs.xWriteBytes`, `vfs.xSync`, ...
 *   over all files, and `vfs.<kind>.<...>` by kind of file: main-db, journal, wal, temp, other. A
 *   call that failed or came short moved no bytes
 * - `gap.<kind>.<xMethod>` (count mode): instructions that the engine executed since the VFS call
 *   before, or since the step began, up to such a call: the CPU between two I/Os; `gap.size.<1k`,
 *   `<10k`, ... `>=10M`: how many gaps were so long. What follows the step's last call is in no gap
 * - `checkpoint.count`, `.walReads`, `.dbWrites`, `.runs` (of adjoining pages): between
 *   xFileControl CKPT_START and CKPT_DONE
 * - `cache.hit`, `.miss`, `.write`, `.spill`: sqlite3_db_status, where the build has it
 * - `block.get`, `.put`, `.rmw`, `.rmwMiss`, `.tx`: under a block VFS
 * - `idb.*`, `opfs.*`, `locks.*`: Web API calls, by the names of the summary; `opfs.writables`:
 *   streams opened to write
 * - `begin.<any>`, `body.<any>`, `commit.<any>`: the parts of the transactions of a `transactions`
 *   step
 * - of contention: `busy.retries`; by role `<role>.transactions`, `.retries`, `.waited` (iterations
 *   within which another writer's transaction ended); `<actor>.waitedFor.<actor>`; `rows.lost` =
 *   what was written and is not there
 */
export type Counters = Readonly<Record<string, number>>;

interface StepBase {
  /** Short and stable: results are compared by it. */
  readonly id: string;
  readonly title: string;
}
/** A script of statements, run as one sqlite3_exec would. */
export interface SqlStep extends StepBase {
  readonly kind: 'sql';
  readonly sql: string;
}
/** One prepared statement, run once per row of values, optionally within one `begin`/`commit`. */
export interface BoundStep extends StepBase {
  readonly kind: 'bound';
  readonly sql: string;
  readonly rows: Iterable<readonly Value[]>;
  readonly oneTransaction: boolean;
}
/**
 * Many transactions, each with several runs of one prepared statement. Begin, body, and commit are
 * counted separately.
 */
export interface TransactionsStep extends StepBase {
  readonly kind: 'transactions';
  readonly begin: string;
  readonly sql: string;
  readonly commit: string;
  readonly transactions: number;
  /** The values of the rows of one transaction, from 0. */
  readonly rows: (transaction: number) => Iterable<readonly Value[]>;
}
/** Several scripts and prepared statements that count as one. */
export interface SequenceStep extends StepBase {
  readonly kind: 'sequence';
  readonly steps: readonly (SqlStep | BoundStep)[];
}
/**
 * An action on the database outside SQL. `reopen` closes the connection and opens the file again;
 * `drop-block-cache` empties a block VFS's cache.
 */
export interface HostStep extends StepBase {
  readonly kind: 'host';
  readonly action: 'reopen' | 'drop-block-cache';
}
/** The same data in IndexedDB without SQLite: only where `indexedDB` exists. */
export interface RawStep extends StepBase {
  readonly kind: 'raw-idb';
  readonly action: 'put-rows' | 'cursor-sum' | 'get-all-sum';
  readonly count: number;
  /** Row i as key and value. */
  readonly row: (i: number) => { readonly key: string; readonly value: number };
}
export type Step = SqlStep | BoundStep | TransactionsStep | SequenceStep | HostStep | RawStep;

/** Several connections at once, each in a separate worker. */
export interface Actor {
  readonly role: string;
  readonly count: number;
  /** One iteration. A BUSY rolls back and retries at once, which is counted. */
  readonly sql: string;
  readonly iterations: number;
}

export interface Parameter {
  readonly default: number;
  readonly least: number;
  readonly most: number;
  readonly what: string;
}
export type Parameters = Readonly<Record<string, number>>;

export interface Workload {
  readonly id: string;
  /** Results of different versions aren't compared. */
  readonly version: number;
  readonly title: string;
  /** Its purpose. */
  readonly question: string;
  readonly parameters: Readonly<Record<string, Parameter>>;
  /** Settings that the workload requires. A run's settings override them. */
  readonly config: Partial<Config>;
  /** The setup, which isn't part of the results' steps. */
  readonly setup: (p: Parameters) => Iterable<Step>;
  /**
   * Generated when needed, because a step may contain megabytes of SQL. Seeded: the same parameters
   * give the same bytes.
   */
  readonly steps: (p: Parameters) => Iterable<Step>;
  readonly actors?: (p: Parameters) => readonly Actor[];
  /**
   * The required value of one number in the database when all actors are done. Any shortfall is
   * `rows.lost`.
   */
  readonly kept?: (p: Parameters) => { readonly sql: string; readonly value: number };
  /** Steps that do the same with SQLite and without it. */
  readonly twins?: readonly { readonly step: string; readonly twin: string }[];
  /** Counters worth a column. */
  readonly watch: readonly string[];
  /** Claims of the documents that it tests (docs/seeds.md lists them). */
  readonly claims: readonly string[];
  /** What must hold in one result, whatever the configuration. */
  readonly assertions: readonly Assertion[];
  /** Its requirements. */
  readonly needs?: readonly ('indexeddb' | 'workers' | 'fts5' | 'database')[];
}

export type BundledEngine = 'wa-sqlite-2.0.6' | 'wa-sqlite-1.0.0';
/** An npm package, `sql.js`, a release of one, `sql.js@1.13.0`, or the path of a wasm file. */
export type OutsideEngine = `${string}@${string}` | `${string}.wasm` | 'sql.js' | 'wa-sqlite';
/** `native`: a reference for times, requested by a separate option. */
export type EngineBuild = BundledEngine | OutsideEngine | 'native';
export const VFS_NAMES = [
  'memory', // SQLite's own :memory:, without VFS calls
  'MemoryVFS',
  'MemoryAsyncVFS',
  'BlockIDB',
  'IDBBatchAtomic',
  'IDBMirror',
  'AccessHandlePool',
  'OPFSCoopSync',
  'OPFSAdaptive',
  'OPFSAnyContext',
  'OPFSPermuted',
  'OPFSWriteAhead',
  // sqlite.org's own, on its own build
  'opfs-sahpool',
  'opfs',
  'opfs-wl',
  // on the sql.js of its author
  'absurd-sql',
] as const;
export type VfsName = (typeof VFS_NAMES)[number];
export type JournalMode = 'delete' | 'truncate' | 'persist' | 'memory' | 'wal' | 'off';

/**
 * What a workload runs on. null = the build's default: no PRAGMA is run, and the result has the
 * actual value.
 */
export interface Config {
  readonly engine: EngineBuild;
  readonly build: 'sync' | 'asyncify' | 'jspi';
  readonly vfs: VfsName;
  /** Bytes. */
  readonly pageSize: number | null;
  /** As PRAGMA cache_size: pages, or KiB where negative. */
  readonly cacheSize: number | null;
  readonly journalMode: JournalMode | null;
  readonly synchronous: 'off' | 'normal' | 'full' | 'extra' | null;
  readonly lockingMode: 'normal' | 'exclusive' | null;
  readonly walAutocheckpoint: number | null;
  /** For a block VFS: bytes. */
  readonly blockSize: number | null;
  readonly writePolicy: 'through' | 'queued' | 'lazy' | null;
  /** Blocks in the block VFS's cache. */
  readonly cacheBlocks: number | null;
  readonly durability: 'default' | 'relaxed' | 'strict' | null;
  /**
   * Fault profile: each flush takes this many ms longer. Absent, as for all faults: the device
   * works normally.
   */
  readonly slowFlush?: number | null;
  /** Fault profile: the browser refuses this access handle of a run once, counted from 1. */
  readonly refusedHandle?: number | null;
  /** Fault profile: available bytes. A write that needs more fails with QuotaExceededError. */
  readonly quota?: number | null;
}

export const DEFAULT_CONFIG: Config = {
  engine: 'wa-sqlite-2.0.6',
  build: 'sync',
  vfs: 'MemoryVFS',
  pageSize: null,
  cacheSize: null,
  journalMode: null,
  synchronous: null,
  lockingMode: null,
  walAutocheckpoint: null,
  blockSize: null,
  writePolicy: null,
  cacheBlocks: null,
  durability: null,
};

/**
 * Time: unmetered, repeated, median and spread. Count: metered, fresh instance, seeded randomness,
 * one number. Never mixed.
 */
export type Mode = 'time' | 'count';

export interface Run {
  readonly workload: string;
  readonly parameters: Parameters;
  readonly config: Config;
  readonly mode: Mode;
  /**
   * Time mode: number of passes, interleaved with the other runs of the experiment, after a first
   * pass that doesn't count. Count mode: 1, or more where the JavaScript engine's counts vary: the
   * minimum is the count.
   */
  readonly repeats: number;
  /** Seed of the engine's randomness in count mode. */
  readonly seed: number;
  /**
   * Whether to read the columns of result rows, as an app would. Without, rows are only stepped
   * through, and there is no digest.
   */
  readonly readRows: boolean;
  /** Whether to read back the stored data after all measurements (read-back.ts); absent: yes. */
  readonly readBack?: boolean;
  /**
   * Count mode: by function of the engine, instead of by statement and by gap between VFS calls.
   */
  readonly functions?: boolean;
  /** Write bound values into the SQL, so that a native reference does the same work. */
  readonly asText?: boolean;
  /**
   * Count mode: also loads and stores of the engine's memory, instead of statements and gaps
   * between VFS calls.
   */
  readonly memory?: boolean;
  /** For the workloads `own-sql` and `own-database`: the user's script. */
  readonly sql?: string;
  /** The user's build, where `config.engine` is its name. */
  readonly engineFile?: EngineFile;
  /** For `own-database`: the database file for the script. */
  readonly database?: { readonly name: string; readonly file: Blob };
}

/** A wasm file of SQLite that the user opens on the page. */
export interface EngineFile {
  readonly name: `${string}.wasm`;
  readonly file: Blob;
}

/** A number of a result: a counter of a step (`total` = the sum over all). */
export interface Place {
  /** In an experiment: the variant's id. Absent inside one result. */
  readonly variant?: string;
  readonly step: string;
  readonly counter: string;
  /** A factor for the number. */
  readonly times?: number;
}
/** A count or an order, never a time by itself: `ms` can only be compared with `ms`. */
export interface Assertion {
  readonly text: string;
  readonly left: Place;
  readonly is: '=' | '<' | '<=' | '>' | '>=';
  readonly right: number | Place;
}
export interface Variant {
  readonly id: string;
  readonly title: string;
  readonly workload: string;
  readonly parameters?: Parameters;
  readonly config: Partial<Config>;
  /**
   * In an experiment of several parts: the variant to compare with instead of the baseline; itself
   * = none.
   */
  readonly against?: string;
}
export interface Experiment {
  readonly id: string;
  readonly title: string;
  /** The document whose claims it tests: author, title, year. */
  readonly document: string;
  readonly question: string;
  readonly claims: readonly string[];
  readonly variants: readonly Variant[];
  /** The variant that ratios are relative to. */
  readonly baseline: string;
  readonly mode: Mode;
  readonly expectations: readonly Assertion[];
  /** What a run shows, and its conclusion, depending on the verdicts. */
  readonly conclusions: readonly Conclusion[];
  /** Where variants without a VFS run in a browser. Absent: in memory. */
  readonly storage?: readonly VfsName[];
}
export interface Conclusion {
  readonly says: string;
  /** The expectations that it depends on, by their texts. Absent: all. */
  readonly rests?: RegExp;
  /** It is about what storing costs. A run in memory doesn't show that. */
  readonly ofStorage?: true;
}
