/**
 * Rollback journals: the header, and what a write to a journal means from its place, length and first words
 * (sqlite.org/fileformat2.html section 3, pager.c).
 *
 *   | header, padded to a sector | page number, page, checksum | page number, page, checksum | ... | header | ... |
 */
import { isPageSize } from './words.ts';

export const JOURNAL_HEADER = 28;
/** Magic, number of records: what a sync rewrites. */
const JOURNAL_COUNT = 12;
const MAGIC_1 = 0xd9d505f9;
const MAGIC_2 = 0x20a163d7;
/** Number of records "until the end of the file". */
const TO_THE_END = 0xffffffff;

export interface JournalHeader {
  /** Records after this header; null = until the end of the file, or not said before the sync. */
  records: number | null;
  nonce: number;
  /** Size of the database before the transaction, pages: what a rollback cuts it to. */
  initialPages: number;
  /** Bytes; records begin so far after the header's beginning. */
  sectorSize: number;
  pageSize: number;
  /** The magic is there: a journal found so is hot. Without it the journal is not synced and would be ignored. */
  valid: boolean;
}

/** @param words at least 7, from the header's beginning @returns null where they are no header, or a zeroed one */
export function decodeJournalHeader(words: ArrayLike<number>): JournalHeader | null {
  if (words.length < 7) return null;
  const valid = words[0]! >>> 0 === MAGIC_1 && words[1]! >>> 0 === MAGIC_2;
  if (!valid && (words[0] || words[1])) return null;
  const sectorSize = words[5]! >>> 0;
  const pageSize = words[6]! >>> 0;
  if (!isPageSize(pageSize) || sectorSize < 32 || sectorSize > 65536 || (sectorSize & (sectorSize - 1)) !== 0) return null;
  const records = words[2]! >>> 0;
  return {
    records: !valid || records === TO_THE_END ? null : records,
    nonce: words[3]! >>> 0,
    initialPages: words[4]! >>> 0,
    sectorSize,
    pageSize,
    valid,
  };
}

/**
 * What a write to a journal does:
 * - `header`: a header is written (its sector, or a page's length of it); at 0 a transaction begins to journal, further on the page
 *   cache has spilled
 * - `count`: magic and number of records, 12 bytes at a header's place, as the journal is synced: from now on it can roll back
 * - `zeroed`: 28 zero bytes at 0: the header is gone, which is the commit with journal_mode=persist (and in exclusive locking mode),
 *   or the end of a rollback
 * - `other`: page numbers, page images, checksums, the name of a super-journal
 */
export type JournalWrite = 'header' | 'count' | 'zeroed' | 'other';

/** @param offset of the write, bytes @param words its first words: 8, or as many as it has */
export function journalWriteOf(offset: number, length: number, words: ArrayLike<number>): JournalWrite {
  if (offset % 32 !== 0) return 'other'; // the smallest sector
  if (length === JOURNAL_COUNT) return words.length >= 3 && words[0]! >>> 0 === MAGIC_1 && words[1]! >>> 0 === MAGIC_2 ? 'count' : 'other';
  if (length === JOURNAL_HEADER) {
    for (let i = 0; i < 7; i++) if (words[i] !== 0) return 'other';
    return offset === 0 ? 'zeroed' : 'other';
  }
  const header = length >= 32 ? decodeJournalHeader(words) : null;
  return header && offset % header.sectorSize === 0 && length <= header.sectorSize ? 'header' : 'other';
}
