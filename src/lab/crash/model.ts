/** The input and output of a crash test. */
import type { EngineFacts, Environment } from '../experiments/model/environment-types.ts';
import type { Config, JournalMode, VfsName } from '../experiments/model/types.ts';

/**
 * VFSs whose storage calls the emulated storage supports. The last one runs by the API of the
 * package @sqlite.org/sqlite-wasm.
 */
export const CRASH_VFSS = [
  'OPFSCoopSync',
  'AccessHandlePool',
  'OPFSWriteAhead',
  'IDBBatchAtomic',
  'IDBMirror',
  'BlockIDB',
  'opfs-sahpool',
] as const satisfies readonly VfsName[];
export type CrashVfs = (typeof CRASH_VFSS)[number];

export interface CrashConfig {
  readonly vfs: CrashVfs;
  readonly journalMode: JournalMode;
  readonly synchronous: NonNullable<Config['synchronous']>;
  /** For BlockIDB; the other VFSs choose it themselves. null: not set. */
  readonly durability: Config['durability'];
}

/** Values of each setting to combine. */
export interface CrashChoices {
  readonly vfs: readonly CrashVfs[];
  readonly journalMode: readonly CrashConfig['journalMode'][];
  readonly synchronous: readonly CrashConfig['synchronous'][];
  readonly durability: readonly NonNullable<CrashConfig['durability']>[];
}
/** Every combination of the values, by VFS. */
export const crashConfigs = ({
  vfs,
  journalMode,
  synchronous,
  durability,
}: CrashChoices): CrashConfig[] =>
  vfs.flatMap((v) =>
    journalMode.flatMap((j) =>
      synchronous.flatMap((s) =>
        // the other VFSs derive it from PRAGMA synchronous, or have none
        (v === 'BlockIDB' ? durability : [null]).map((d) => ({
          vfs: v,
          journalMode: j,
          synchronous: s,
          durability: d,
        })),
      ),
    ),
  );

export interface CrashOptions {
  /** Number of transactions of the workload. The first one makes the tables. */
  readonly commits: number;
  /** Whether a write can survive while an earlier truncate of the same file is lost. */
  readonly truncates: 'ordered' | 'any';
}
export const DEFAULT_OPTIONS: CrashOptions = { commits: 4, truncates: 'ordered' };

/**
 * From best to worst: all commits survived; some are missing; half a transaction is visible; the
 * database is damaged.
 */
export const LEVELS = ['kept', 'lost', 'half', 'corrupt'] as const;
export type Level = (typeof LEVELS)[number];

/** The first crash that broke a promise. Calls count from 1 in the order in which they returned. */
export interface Breach {
  /** The crash came after this call, and before the next one. 0: before the first. */
  readonly afterCall: number;
  /** That call as text; null before the first. */
  readonly call: string | null;
  /** The call that didn't happen; null where the workload was done. */
  readonly nextCall: string | null;
  /** What the workload was doing, such as `commit 3`. */
  readonly phase: string;
  /** Calls up to that one whose effect was lost or that survived partly, as text. */
  readonly lost: readonly string[];
  readonly acknowledged: number;
  /** Commits found after recovery; null where the database is damaged, or can't be read. */
  readonly recovered: number | null;
  /** The problem with the database; null where commits are only missing. */
  readonly cause: string | null;
}

/** What holds after every crash of one kind. */
export interface Guarantee {
  readonly level: Level;
  /** The most acknowledged commits that one crash lost. */
  readonly mostLost: number;
  /** Acknowledged commits that some crash lost, counted from 1. */
  readonly lostCommits: readonly number[];
  /** For each kind of broken promise, the first crash that broke it; null: none. */
  readonly first: Readonly<Record<Exclude<Level, 'kept'>, Breach | null>>;
  /** Number of storage states that were recovered and checked. */
  readonly states: number;
  /** Crash points, and how many of them had too many pending calls to try every subset. */
  readonly points: number;
  readonly sampledPoints: number;
}

export interface CrashResult {
  readonly config: CrashConfig;
  readonly engine: EngineFacts;
  readonly environment: Environment;
  /** Storage calls that change something, from opening to closing. */
  readonly calls: number;
  readonly commits: number;
  readonly processDeath: Guarantee;
  readonly powerLoss: Guarantee;
  /** Settings whose value in SQLite or the VFS differs from the requested one. */
  readonly notes: readonly string[];
}
/** A configuration that the VFS doesn't support, and why. */
export interface NotTested {
  readonly config: CrashConfig;
  readonly cause: string;
}
export const isTested = (outcome: CrashResult | NotTested): outcome is CrashResult =>
  'powerLoss' in outcome;
