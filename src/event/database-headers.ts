/**
 * Definitions of what the header of a database says, in numbers (sqlite.org/fileformat2.html, section 1.3): said as the hook sees page 1
 * pass, once and then whenever one of them has changed. The file change counter isn't one of them: it goes up with each commit and stands in
 * `aux` of the calls that carry it (event.ts).
 */

export interface DatabaseHeaderDefinition {
  kind: 'database-header';
  id: number;
  /** Id of the database's file, also where its WAL brought the page. */
  file: number;
  /** The sequence number drawn last before it was said. */
  at: number;
  /** Bytes of a page. */
  pageSize: number;
  /** Of the database, those of the freelist among them; 0 = the header's number is not to be trusted (a writer before SQLite 3.7.0). */
  pages: number;
  /** Pages of the freelist. */
  free: number;
  /** Goes up with each change of the schema. */
  schema: number;
  /** auto_vacuum: 0 none, 1 full, 2 incremental. */
  vacuum: number;
}

/** Of one file on one thread the hook says no more of these. */
export const MOST_HEADERS = 1 << 14;

const isU32 = (v: unknown): boolean => typeof v === 'number' && v === v >>> 0;

/** A well-formed definition; says nothing of who made it. */
export const isDatabaseHeader = (v: Record<string, unknown>): boolean =>
  v.kind === 'database-header' &&
  [v.id, v.file, v.at, v.pageSize, v.pages, v.free, v.schema, v.vacuum].every(isU32) &&
  (v.vacuum as number) <= 2;
