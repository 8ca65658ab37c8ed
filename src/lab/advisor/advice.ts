/**
 * The index advisor's answer. Counts are from one run on a cold page cache that holds only the
 * schema.
 */
import type { EngineFacts, Environment } from '../experiments/model/environment-types.ts';
import type { RecordedRuns } from '../experiments/engine/plan.ts';

/** The cost of one run of a statement. */
export interface RunCounts {
  /** Opcodes of SQLite's virtual machine. */
  readonly vmSteps: number;
  /** How many of them step from row to row of a scan (SQLITE_STMTSTATUS_FULLSCAN_STEP). */
  readonly scanSteps: number;
  readonly sorts: number;
  /** Rows added to an index that SQLite built for this run. */
  readonly autoIndexRows: number;
  /** Pages that the page cache read through the VFS. */
  readonly pagesRead: number;
  readonly rows: number;
}
/**
 * The same, with the engine's instructions as the Lab's workload `own-database` counts this text.
 */
export interface ExactCounts extends RunCounts {
  readonly instructions: number;
}

/** A recorded statement, as it ran on the copy. */
export interface TriedStatement extends Readonly<RecordedRuns> {
  /** As run, with parameters replaced by literals. */
  readonly sql: string;
  /** As in the recording's table of statements. */
  readonly fingerprint: string;
  /**
   * `recorded`: all values are from the recording. `copy`: some are from rows of the copy. `null`:
   * some were NULL.
   */
  readonly values: 'none' | 'recorded' | 'copy' | 'null';
  readonly plan: readonly string[];
  readonly counts: RunCounts;
}
/** One statement without an index and with it. */
export interface Effect {
  /** As run. */
  readonly sql: string;
  /** As in the recording's table of statements. */
  readonly fingerprint: string;
  readonly runs: number;
  readonly before: ExactCounts;
  readonly after: ExactCounts;
  readonly planBefore: readonly string[];
  readonly planAfter: readonly string[];
}
/** The extra cost of one INSERT of a row like those in the table. */
export type InsertCost =
  { readonly bytes: number; readonly instructions: number } | { readonly why: string };

export interface AdvisedIndex {
  readonly name: string;
  readonly table: string;
  /** The statement to copy. */
  readonly sql: string;
  readonly sizeBytes: number;
  readonly insert: InsertCost;
  /** INSERTs into the table in the recording. */
  readonly recordedInserts: number;
  /**
   * Instructions of all recorded runs: the savings by its effects, less the extra cost of the
   * recorded INSERTs and of statements that get slower.
   */
  readonly saved: number;
  /** The largest savings first, statements that got slower last. */
  readonly effects: readonly Effect[];
  /** Other statements that it changes. They weren't counted exactly. */
  readonly more: number;
}
export interface LeftOut {
  readonly why: string;
  readonly statements: number;
  /** For one of them. */
  readonly example: string;
}
export interface Advice {
  readonly engine: EngineFacts;
  readonly environment: Environment;
  /** Settings of the copy's connection. */
  readonly settings: Readonly<Record<string, string>>;
  readonly statements: readonly TriedStatement[];
  readonly leftOut: readonly LeftOut[];
  /** How many candidate indexes were built. */
  readonly candidates: number;
  /** How many of them a plan used. */
  readonly used: number;
  /** Candidates above the limit. */
  readonly candidatesLeft: number;
  /** The best first. Each is counted with the previous ones in place. Empty: no index helps. */
  readonly indexes: readonly AdvisedIndex[];
  /**
   * The best candidate so far, if the search ended before counting it exactly: the statement that
   * creates it. null = none helps, or all that help are in `indexes`.
   */
  readonly leading: string | null;
  /** What the search was doing when it was interrupted, and its progress; null = it finished. */
  readonly interruptedAt: AdviceProgress | null;
}
/** The progress. */
export interface AdviceProgress {
  readonly what: string;
  readonly done: number;
  readonly all: number;
}
