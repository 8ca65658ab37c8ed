/**
 * Sizes in a write-ahead log (sqlite.org/fileformat2.html section 4). The hook reads its headers,
 * and analysis/wal/wal.ts follows them.
 */

/** Bytes of its header, at its start. */
export const WAL_HEADER = 32;
/** Bytes of the header before the page of each frame. */
export const WAL_FRAME_HEADER = 24;
