/** What the index advisor answers. Counts are of one run on a cold page cache that holds the schema alone. */
import type { EngineFacts, Environment } from '../experiments/model/environment-types.ts';
import type { RecordedRuns } from '../experiments/engine/plan.ts';

/** What one run of a statement took. */
export interface RunCounts {
  /** Opcodes of SQLite's virtual machine. */
  readonly vmSteps: number;
  /** Of these, steps from row to row of a scan (SQLITE_STMTSTATUS_FULLSCAN_STEP). */
  readonly scanSteps: number;
  readonly sorts: number;
  /** Rows that went into an index that SQLite built for this run. */
  readonly autoIndexRows: number;
  /** Pages that the page cache read through the VFS. */
  readonly pagesRead: number;
  readonly rows: number;
}
/** The same with the engine's instructions, as the Lab's workload `own-database` counts this text. */
export interface ExactCounts extends RunCounts {
  readonly instructions: number;
}

/** A recorded statement as it ran on the copy. */
export interface TriedStatement extends Readonly<RecordedRuns> {
  /** As it ran: parameters replaced by literals. */
  readonly sql: string;
  /** As the recording's table of statements has it. */
  readonly fingerprint: string;
  /** `recorded`: all values are of the recording. `copy`: some are of rows of the copy. `null`: some were NULL. */
  readonly values: 'none' | 'recorded' | 'copy' | 'null';
  readonly plan: readonly string[];
  readonly counts: RunCounts;
}
/** One statement without an index and with it. */
export interface Effect {
  /** As it ran. */
  readonly sql: string;
  /** As the recording's table of statements has it. */
  readonly fingerprint: string;
  readonly runs: number;
  readonly before: ExactCounts;
  readonly after: ExactCounts;
  readonly planBefore: readonly string[];
  readonly planAfter: readonly string[];
}
/** What one INSERT of a row like those of the table costs more. */
export type InsertCost =
  { readonly bytes: number; readonly instructions: number } | { readonly why: string };

export interface AdvisedIndex {
  readonly name: string;
  readonly table: string;
  /** To copy. */
  readonly sql: string;
  readonly sizeBytes: number;
  readonly insert: InsertCost;
  /** INSERTs into the table in the recording. */
  readonly recordedInserts: number;
  /** Instructions by all recorded runs: what its effects save, less what they and the recorded INSERTs cost more. */
  readonly saved: number;
  /** The most saved first; those that got slower last. */
  readonly effects: readonly Effect[];
  /** Statements that it changes, too, and that weren't counted exactly. */
  readonly more: number;
}
export interface LeftOut {
  readonly why: string;
  readonly statements: number;
  /** Of one of them. */
  readonly example: string;
}
export interface Advice {
  readonly engine: EngineFacts;
  readonly environment: Environment;
  /** What the copy's connection was set to. */
  readonly settings: Readonly<Record<string, string>>;
  readonly statements: readonly TriedStatement[];
  readonly leftOut: readonly LeftOut[];
  /** Columns of indexes that were built, or could not be chosen: how many. */
  readonly candidates: number;
  /** Of these, those that a plan used. */
  readonly used: number;
  /** Candidates beyond the bound. */
  readonly candidatesLeft: number;
  /** The best first; each is counted with those before it in place. Empty: no index helps. */
  readonly indexes: readonly AdvisedIndex[];
  /** Where the search was interrupted: what it did then, and how far it was; null = it ran to its end. */
  readonly interruptedAt: AdviceProgress | null;
}
/** How far it is. */
export interface AdviceProgress {
  readonly what: string;
  readonly done: number;
  readonly all: number;
}
