/** Questions and answers about the plan of a statement. */
import type { Scope } from '../../analysis/core/scope.ts';

/** A copy of the page's database, from which the schema is read. */
export interface SchemaRequest {
  /** Name of the database in the page, and the page's origin. */
  database: string;
  origin: string;
  /** The recorded name of the database whose statements it is for; null = not known. */
  recorded: string | null;
  main: Blob;
  /** Its write-ahead log. */
  wal: Blob | null;
}

export interface PlanRequest {
  /** Fingerprint. */
  text: string;
  /** What the table of statements is narrowed to. */
  scope: Scope;
  /** How many schemas the panel has read for this trace: with another one, plans are made again. */
  schemas: number;
}
