/** A statement's plan beside what its recorded runs took. */

export interface PlanLine {
  /** From 0. */
  readonly depth: number;
  /** As EXPLAIN QUERY PLAN has it. */
  readonly detail: string;
  /** '' or what it says of the cost (sqlite/query-plan). */
  readonly hint: string;
  /** The tables and indexes that it reads, and pages of them that all runs read; null = it reads none, or that isn't known. */
  readonly pages: readonly { readonly name: string; readonly reads: number }[] | null;
  /** Of all runs: set on the only line that scans. */
  readonly scanSteps: number | null;
}

/** What all runs took, as the table of statements has it. */
export interface PlanRuns {
  readonly runs: number;
  /** null: steps inside sqlite3_exec bring rows that aren't seen. */
  readonly rows: number | null;
  /** Of the runs that the engine counted; null = it counted none. */
  readonly steps: { readonly runs: number; readonly scan: number; readonly vm: number } | null;
}

/** Where the schema is from. */
export interface PlanSource {
  readonly from: 'page' | 'file' | 'recording';
  /** Name of the database; null = not known. */
  readonly database: string | null;
  readonly tables: number;
}

export interface StatementPlan {
  /** null: `cause` says why there is none. */
  readonly lines: readonly PlanLine[] | null;
  readonly cause: string;
  /** Without a plan: a copy of the database would bring one. */
  readonly lacksSchema: boolean;
  /** Name of the database that it ran on, as it was recorded; null = not known. */
  readonly database: string | null;
  /** null: there is no schema. */
  readonly source: PlanSource | null;
  readonly runs: PlanRuns;
  /** Release of the SQLite that made it; '' = it couldn't be loaded. */
  readonly release: string;
  /** What it can't know, a sentence each. */
  readonly notes: readonly string[];
}
