/** What a crash test is asked for, and what it answers. */
import type { EngineFacts, Environment } from '../experiments/model/environment-types.ts';
import type { Config, JournalMode, VfsName } from '../experiments/model/types.ts';

/** VFSs whose storage calls the emulated storage knows. The last one runs by the package @sqlite.org/sqlite-wasm's own API. */
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
  /** Of BlockIDB; the other VFSs choose it themselves. null: no choice. */
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
        // the other VFSs choose it by PRAGMA synchronous, or have none
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
  /** Transactions of the workload, the first of which makes the tables. */
  readonly commits: number;
  /** Whether a write can survive while an earlier truncate of the same file is lost. */
  readonly truncates: 'ordered' | 'any';
}
export const DEFAULT_OPTIONS: CrashOptions = { commits: 4, truncates: 'ordered' };

/** From best to worst: all commits are there; some are missing; half a transaction is visible; the database is damaged. */
export const LEVELS = ['kept', 'lost', 'half', 'corrupt'] as const;
export type Level = (typeof LEVELS)[number];

/** The first crash after which a promise didn't hold. Calls count from 1 in the order in which they returned. */
export interface Breach {
  /** The crash came after this call, and before the next one. 0: before the first. */
  readonly afterCall: number;
  /** That call in words; null before the first. */
  readonly call: string | null;
  /** The call that never happened; null where the workload was done. */
  readonly nextCall: string | null;
  /** What the workload was doing, such as `commit 3`. */
  readonly phase: string;
  /** Calls up to that one whose effect was lost, or of which a part survived, in words. */
  readonly lost: readonly string[];
  readonly acknowledged: number;
  /** Commits found after recovery; null where the database is damaged, or can't be read. */
  readonly recovered: number | null;
  /** What is wrong with the database; null where commits are missing only. */
  readonly cause: string | null;
}

/** What holds after every crash of one kind. */
export interface Guarantee {
  readonly level: Level;
  /** Acknowledged commits that one crash lost at most. */
  readonly mostLost: number;
  /** Acknowledged commits that some crash lost, from 1. */
  readonly lostCommits: readonly number[];
  /** For each way to break a promise, the first crash that did; null: none. */
  readonly first: Readonly<Record<Exclude<Level, 'kept'>, Breach | null>>;
  /** States of the storage that were recovered and checked. */
  readonly states: number;
  /** Crash points, and those of them where pending calls were too many to try every subset. */
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
  /** Settings that SQLite or the VFS answered differently. */
  readonly notes: readonly string[];
}
/** A configuration that the VFS doesn't run with, and why. */
export interface NotTested {
  readonly config: CrashConfig;
  readonly cause: string;
}
export const isTested = (outcome: CrashResult | NotTested): outcome is CrashResult =>
  'powerLoss' in outcome;
