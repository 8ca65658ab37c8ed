/** A copy of the page's database, to be looked into. */
export interface CopyRequest {
  main: Blob;
  /** Its write-ahead log. */
  wal: Blob | null;
}
