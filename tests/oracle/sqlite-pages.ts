// What a database page contains, decoded from its bytes without the hook: b-tree page types and the
// database header on page 1 (sqlite.org/fileformat2.html). SQLite's files are big-endian: headers
// are read as 32-bit words.
import { PageType, type PageTypeCode } from '../../src/sqlite/page.ts';
import { isPageSize } from '../../src/sqlite/page-size.ts';

/** Words that identify a header. */
const FIRST_WORDS = 8;

/**
 * @param bytes the start of what is written or read; only whole words count
 * @param into reused when given: 8 words @returns the words, as many as there are whole ones, 8 at most
 */
export function firstWords(
  bytes: Uint8Array,
  into: Uint32Array = new Uint32Array(FIRST_WORDS),
): Uint32Array {
  const n = Math.min(into.length, bytes.length >>> 2);
  for (let i = 0; i < n; i++)
    into[i] =
      (bytes[i * 4]! << 24) |
      (bytes[i * 4 + 1]! << 16) |
      (bytes[i * 4 + 2]! << 8) |
      bytes[i * 4 + 3]!;
  return n === into.length ? into : into.subarray(0, n);
}

/** Bytes of the database header, after which page 1's b-tree header begins. */
const DATABASE_HEADER = 100;
const MAGIC = 'SQLite format 3\0';
const CELL_FRAGMENTS_AT_MOST = 60;

/**
 * Type of a page.
 * @param bytes the start of the page: one byte is enough for a guess; with 8 (108 on page 1) the
 * b-tree header must be valid, so few overflow, freelist, and pointer map pages are mistaken for
 * b-tree pages
 * @param number page number, from 1
 * @param pageSize bytes
 */
export function pageTypeOf(bytes: Uint8Array, number: number, pageSize: number): PageTypeCode {
  const at = number === 1 ? DATABASE_HEADER : 0;
  if (bytes.length <= at) return number === 1 ? PageType.database : PageType.other;
  const type = bytes[at]!;
  if (type !== 2 && type !== 5 && type !== 10 && type !== 13) return PageType.other;
  if (bytes.length < at + 8) return type;
  const u16 = (i: number): number => (bytes[at + i]! << 8) | bytes[at + i + 1]!;
  const freeBlock = u16(1);
  const cells = u16(3);
  const content = u16(5) || 65536;
  const pointersEnd = at + (type < 10 ? 12 : 8) + 2 * cells;
  const sensible =
    content >= pointersEnd && content <= pageSize && bytes[at + 7]! <= CELL_FRAGMENTS_AT_MOST;
  return sensible && (freeBlock === 0 || (freeBlock >= content && freeBlock < pageSize))
    ? type
    : PageType.other;
}

/** The part of the database header within a page's first 32 bytes. */
interface DatabaseStart {
  /** Bytes. */
  pageSize: number;
  /** 1 = rollback journal, 2 = WAL. */
  writeVersion: number;
  readVersion: number;
  /** Bytes left free at the end of every page. */
  reservedBytes: number;
  /** Counts transactions that changed the file, in rollback modes. */
  changeCounter: number;
  /** Pages in the file; trustworthy if versionValidFor equals changeCounter. */
  pageCount: number;
}

/** The whole header. */
interface DatabaseHeader extends DatabaseStart {
  /** First freelist trunk page, or 0. */
  freelistTrunk: number;
  freelistPages: number;
  schemaCookie: number;
  schemaFormat: number;
  defaultCacheSize: number;
  /** 0 without auto_vacuum. */
  largestRootPage: number;
  /** 1 UTF-8, 2 UTF-16le, 3 UTF-16be. */
  textEncoding: number;
  userVersion: number;
  incrementalVacuum: boolean;
  applicationId: number;
  versionValidFor: number;
  /** SQLITE_VERSION_NUMBER of the library that wrote last. */
  sqliteVersion: number;
}

/**
 * @param words the first 8 words of page 1 @returns null if they aren't a database header (an
 * encrypted file, another page)
 */
export function decodeDatabaseStart(words: ArrayLike<number>): DatabaseStart | null {
  if (words.length < 8) return null;
  for (let i = 0; i < 16; i++)
    if (((words[i >>> 2]! >>> (24 - 8 * (i & 3))) & 255) !== MAGIC.charCodeAt(i)) return null;
  const size = words[4]! >>> 16;
  const pageSize = size === 1 ? 65536 : size;
  if (!isPageSize(pageSize)) return null;
  return {
    pageSize,
    writeVersion: (words[4]! >>> 8) & 255,
    readVersion: words[4]! & 255,
    reservedBytes: words[5]! >>> 24,
    changeCounter: words[6]! >>> 0,
    pageCount: words[7]! >>> 0,
  };
}

/** @param bytes at least the first 100 of page 1 @returns null if they aren't a database header */
export function decodeDatabaseHeader(bytes: Uint8Array): DatabaseHeader | null {
  if (bytes.length < DATABASE_HEADER) return null;
  const w = firstWords(bytes, new Uint32Array(DATABASE_HEADER / 4));
  const start = decodeDatabaseStart(w);
  if (!start) return null;
  return {
    ...start,
    freelistTrunk: w[8]!,
    freelistPages: w[9]!,
    schemaCookie: w[10]!,
    schemaFormat: w[11]!,
    defaultCacheSize: w[12]! | 0,
    largestRootPage: w[13]!,
    textEncoding: w[14]!,
    userVersion: w[15]! | 0,
    incrementalVacuum: w[16] !== 0,
    applicationId: w[17]! | 0,
    versionValidFor: w[23]!,
    sqliteVersion: w[24]!,
  };
}
