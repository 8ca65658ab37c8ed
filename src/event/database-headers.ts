/**
 * Definitions of the numbers in a database's header (sqlite.org/fileformat2.html, section 1.3).
 * Emitted when the hook first sees page 1, and then whenever one has changed. The file change
 * counter isn't one of them: it goes up with each commit, and is in `aux` of the calls that carry
 * it (event.ts).
 */

export interface DatabaseHeaderDefinition {
  kind: 'database-header';
  id: number;
  /** Id of the database's file, even if the page was in its WAL. */
  file: number;
  /** The last sequence number drawn before. */
  at: number;
  /** Bytes of a page. */
  pageSize: number;
  /**
   * Of the database, including its freelist; 0 = the header's number can't be trusted (written
   * before SQLite 3.7.0).
   */
  pages: number;
  /** Pages of the freelist. */
  free: number;
  /** Goes up with each change of the schema. */
  schema: number;
  /** auto_vacuum: 0 none, 1 full, 2 incremental. */
  vacuum: number;
}

/** The hook emits at most this many about one file on one thread. */
export const MOST_HEADERS = 1 << 14;

const isU32 = (v: unknown): boolean => typeof v === 'number' && v === v >>> 0;

/** Whether this is a well-formed definition. Its origin isn't checked. */
export const isDatabaseHeader = (v: Record<string, unknown>): boolean =>
  v.kind === 'database-header' &&
  [v.id, v.file, v.at, v.pageSize, v.pages, v.free, v.schema, v.vacuum].every(isU32) &&
  (v.vacuum as number) <= 2;
