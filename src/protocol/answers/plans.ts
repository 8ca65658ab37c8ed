/** Questions and answers about the plan of a statement. */
import type { Scope } from '../../analysis/core/scope.ts';

/** A copy of the page's database. The schema comes from it. */
export interface SchemaRequest {
  /** Name of the database in the page, and the page's origin. */
  database: string;
  origin: string;
  /** The recorded name of the database that the statements belong to; null = not known. */
  recorded: string | null;
  main: Blob;
  /** Its write-ahead log. */
  wal: Blob | null;
}

export interface PlanRequest {
  /** Fingerprint. */
  text: string;
  /** The filter of the statements table. */
  scope: Scope;
  /**
   * How many schemas the panel has read for this trace. When it changes, plans are computed again.
   */
  schemas: number;
}
