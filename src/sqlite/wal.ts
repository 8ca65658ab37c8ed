/** Sizes in a write-ahead log (sqlite.org/fileformat2.html section 4). Its headers are read in the hook, and followed by analysis/wal/wal.ts. */

/** Bytes of its header, at its beginning. */
export const WAL_HEADER = 32;
/** Bytes of the header before the page of each frame. */
export const WAL_FRAME_HEADER = 24;
