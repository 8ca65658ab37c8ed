/** What a workload runs against: an open wa-sqlite database and what can be known about it. Made by the code that opens it: Node, a worker. */
import type { FunctionCount } from '../../meter/meter.ts';
import type { SqliteApi } from './builds.ts';
import type { MemoryCount } from './open-engine.ts';
import type { StatementCounts } from './statement-counts.ts';
import type { Actor, Counters, RawStep } from '../model/types.ts';

/** An open database and what can be known about it. */
export interface Host {
  readonly sqlite3: SqliteApi;
  /** Changes with `reopen`. */
  db: number;
  /** Cumulative counters that are not part of the engine's own run: VFS, block VFS, web, page cache. Read between the steps only. */
  readonly counters: () => Counters;
  /** Executed instructions so far; null in time mode. Read straight before and after the calls. */
  readonly instructions: (() => bigint) | null;
  /** Loads and stores so far; null where they are not counted. Read with the instructions. */
  readonly memory: (() => MemoryCount) | null;
  /** Count mode: statement by statement; null in time mode, and where functions, or loads and stores, are counted. */
  readonly statements: StatementCounts | null;
  /** Where functions are counted apart: what each has executed so far; null else. */
  readonly functions: (() => FunctionCount[]) | null;
  /** Count mode: a step begins at this many instructions. */
  readonly mark: (instructions: bigint) => void;
  /** Time mode, on a VFS: how long each checkpoint took since this was asked last, ms. null else. */
  readonly takeCheckpoints: (() => number[]) | null;
  /** Milliseconds. */
  readonly now: () => number;
  /** Closes the connection, opens the same file again with the same settings, and sets `db`. */
  readonly reopen: () => Promise<void>;
  /** null where there is no block cache. */
  readonly dropBlockCache: (() => Promise<void>) | null;
  /**
   * Where there are workers: runs the actors of a workload on the database, all at once, and answers what they counted. `after` runs
   * when all are done and none has ended yet: a dead worker's handles are let go of late.
   */
  readonly runActors:
    ((actors: readonly Actor[], after: () => Promise<Counters>) => Promise<Counters>) | null;
  /** Where IndexedDB exists: runs a step without SQLite. */
  readonly rawStep: ((step: RawStep) => Promise<Counters>) | null;
}
