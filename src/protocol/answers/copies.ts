/** A copy of the page's database, for the user to look into. */
export interface CopyRequest {
  main: Blob;
  /** Its write-ahead log. */
  wal: Blob | null;
}
