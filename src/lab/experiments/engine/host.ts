/**
 * What a workload runs on: an open wa-sqlite database with its counters. Made by the code that
 * opens it, in Node or a worker.
 */
import type { FunctionCount } from '../../meter/meter.ts';
import type { SqliteApi } from './builds.ts';
import type { MemoryCount } from './open-engine.ts';
import type { StatementCounts } from './statement-counts.ts';
import type { Actor, Counters, RawStep } from '../model/types.ts';

/** An open database with its counters. */
export interface Host {
  readonly sqlite3: SqliteApi;
  /** Changes with `reopen`. */
  db: number;
  /**
   * Cumulative counters outside the engine: VFS, block VFS, web, page cache. Only read between
   * steps.
   */
  readonly counters: () => Counters;
  /**
   * Executed instructions so far; null in time mode. Read immediately before and after the calls.
   */
  readonly instructions: (() => bigint) | null;
  /** Loads and stores so far; null where they aren't counted. Read with the instructions. */
  readonly memory: (() => MemoryCount) | null;
  /**
   * Count mode: by statement; null in time mode, and where functions, or loads and stores, are
   * counted.
   */
  readonly statements: StatementCounts | null;
  /** Where functions are counted separately: each function's instructions so far; else null. */
  readonly functions: (() => FunctionCount[]) | null;
  /** Count mode: a step begins at this instruction count. */
  readonly mark: (instructions: bigint) => void;
  /** Time mode, on a VFS: the duration of each checkpoint since the last call, ms. Else null. */
  readonly takeCheckpoints: (() => number[]) | null;
  /** Milliseconds. */
  readonly now: () => number;
  /** Closes the connection, opens the same file again with the same settings, and sets `db`. */
  readonly reopen: () => Promise<void>;
  /** null where there is no block cache. */
  readonly dropBlockCache: (() => Promise<void>) | null;
  /**
   * Where there are workers: runs a workload's actors on the database, all at once, and returns
   * their counts. `after` runs when all are done and before any ends, because a dead worker's
   * handles are released late.
   */
  readonly runActors:
    ((actors: readonly Actor[], after: () => Promise<Counters>) => Promise<Counters>) | null;
  /** Where IndexedDB exists: runs a step without SQLite. */
  readonly rawStep: ((step: RawStep) => Promise<Counters>) | null;
}
