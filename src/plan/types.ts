/** A statement's plan, with what its recorded runs took. */

export interface PlanLine {
  /** From 0. */
  readonly depth: number;
  /** The text of EXPLAIN QUERY PLAN. */
  readonly detail: string;
  /** What it means for the cost (sqlite/query-plan), or ''. */
  readonly hint: string;
  /**
   * The tables and indexes that it reads, and how many of their pages all runs read; null = none,
   * or not known.
   */
  readonly pages: readonly { readonly name: string; readonly reads: number }[] | null;
  /** Of all runs. Only set if this is the only line that scans. */
  readonly scanSteps: number | null;
}

/** What all runs took, as in the table of statements. */
export interface PlanRuns {
  readonly runs: number;
  /** null: sqlite3_exec steps internally, so its rows aren't seen. */
  readonly rows: number | null;
  /** Of the runs that the engine counted; null = it counted none. */
  readonly steps: { readonly runs: number; readonly scan: number; readonly vm: number } | null;
}

/** Where the schema comes from. */
export interface PlanSource {
  readonly from: 'page' | 'file' | 'recording';
  /** Name of the database; null = not known. */
  readonly database: string | null;
  readonly tables: number;
}

export interface StatementPlan {
  /** null: `cause` is why there is no plan. */
  readonly lines: readonly PlanLine[] | null;
  readonly cause: string;
  /** There is no plan, but a copy of the database would help. */
  readonly lacksSchema: boolean;
  /** Name of the database on which it ran, as recorded; null = not known. */
  readonly database: string | null;
  /** null: there isn't a schema. */
  readonly source: PlanSource | null;
  readonly runs: PlanRuns;
  /** Release of the SQLite that made it; '' = it couldn't be loaded. */
  readonly release: string;
  /** What it can't know, one sentence each. */
  readonly notes: readonly string[];
}
