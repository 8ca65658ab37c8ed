/**
 * What the Lab asks of the inspected page when the user wants a copy of its database, with guards
 * for the answers. The functions run in our isolated world of the page (src/page-copy), but names,
 * sizes, and bytes come from the page, so everything is checked here.
 */

export interface PageDatabase {
  store: 'opfs' | 'idb';
  /** The app's name for it, as far as storage shows. */
  name: string;
  /** OPFS path of the file; name of the IndexedDB database. */
  at: string;
  /** Bytes of the database; null = not known. */
  size: number | null;
  /** Why it can't be copied; '' where it can. */
  cause: string;
}
export interface PageDatabases {
  origin: string;
  databases: PageDatabase[];
  /** What couldn't be read, and why. */
  failures: string[];
}
/** A copy begins. Sizes in bytes; `wal` is null where no log has to be copied. */
export interface CopyBegun {
  main: number;
  wal: number | null;
}
/** The page refused, with this reason. */
export interface CopyRefused {
  refused: string;
}

/** Larger databases aren't copied, because they travel through memory. Bytes. */
export const MAX_COPY_BYTES = 128 << 20;
/** Size of one piece. */
export const COPY_PIECE_BYTES = 4 << 20;
/** Maximum number of listed databases. */
export const MOST_DATABASES = 100;

type Loose = Record<string, unknown>;
const isObject = (v: unknown): v is Loose => typeof v === 'object' && v !== null;
const isText = (v: unknown, max: number): v is string => typeof v === 'string' && v.length <= max;
const isSize = (v: unknown): v is number =>
  typeof v === 'number' && Number.isSafeInteger(v) && v >= 0;

const isDatabase = (v: unknown): v is PageDatabase =>
  isObject(v) &&
  (v.store === 'opfs' || v.store === 'idb') &&
  isText(v.name, 1024) &&
  isText(v.at, 4096) &&
  (v.size === null || isSize(v.size)) &&
  isText(v.cause, 1024);

export const isPageDatabases = (v: unknown): v is PageDatabases =>
  isObject(v) &&
  isText(v.origin, 2048) &&
  Array.isArray(v.databases) &&
  v.databases.length <= MOST_DATABASES &&
  v.databases.every(isDatabase) &&
  Array.isArray(v.failures) &&
  v.failures.length <= 20 &&
  v.failures.every((text) => isText(text, 2048));

export const isCopyRefused = (v: unknown): v is CopyRefused =>
  isObject(v) && isText(v.refused, 2048);
export const isCopyBegun = (v: unknown): v is CopyBegun =>
  isObject(v) &&
  isSize(v.main) &&
  v.main <= MAX_COPY_BYTES &&
  (v.wal === null || (isSize(v.wal) && v.wal <= MAX_COPY_BYTES));
/** A piece as base64. */
export const isCopyPiece = (v: unknown): v is string =>
  isText(v, Math.ceil((COPY_PIECE_BYTES * 4) / 3) + 4);
