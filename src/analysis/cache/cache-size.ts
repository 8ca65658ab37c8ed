/** A connection's `PRAGMA cache_size`, and how many pages such a cache holds. */
import { DEFAULT_CACHE_SIZE, fromPragma, NO_CACHE_SIZE } from '../pages/database-settings.ts';
import { UNKNOWN } from '../../text/numbers.ts';

/**
 * Bytes that SQLite adds to each page in a cache_size of KiB (its MemPage; 136 on 64 bits, less in
 * wasm).
 */
const BYTES_BESIDE_PAGE = 136;
/**
 * Smaller caches hold more pages than they should, because statements pin pages: the measured error
 * of the curve is above 2 %.
 */
export const SMALLEST_CACHE = 20;
/** More than fits into wasm's memory. */
export const MOST_PAGES = 1 << 20;

export interface CacheSize {
  /** As in the last PRAGMA: pages, or KiB if negative; 'n/a': its value was folded. */
  text: string;
  /** null: the value was folded, or the page size isn't known. */
  pages: number | null;
  /** No PRAGMA was seen, so this is SQLite's default. */
  assumed: boolean;
  /** Where it comes from, or why it isn't known. */
  how: string;
  /**
   * Pages that the cache held since the last PRAGMA, minimum and maximum: by all calls, or by
   * SQLite's default if the calls don't show it.
   */
  least: number;
  most: number;
  shown: boolean;
}

/** @param said values of the PRAGMA, in the order of running */
export function cacheSizeOf(said: readonly string[], pageBytes: number | null): CacheSize {
  const { value, how } = fromPragma('cache_size', said.at(-1), NO_CACHE_SIZE);
  const assumed = said.length === 0;
  const text = assumed ? DEFAULT_CACHE_SIZE : (value ?? UNKNOWN);
  const pages = cachePages(text, pageBytes);
  const most = Math.max(...said.map((one) => cachePages(one, pageBytes, 0) ?? Infinity));
  const shown = !assumed && most < MOST_PAGES;
  const largest = shown ? most : (cachePages(DEFAULT_CACHE_SIZE, pageBytes, 0) ?? 0);
  return {
    text,
    pages,
    assumed,
    how,
    least: assumed || pages === null ? 0 : pagesHeld(pages),
    most: pagesHeld(Math.max(SMALLEST_CACHE, largest)),
    shown,
  };
}

/**
 * @param cacheSize as in the PRAGMA: pages, or KiB if negative
 * @returns pages; null if not known
 */
export function cachePages(
  cacheSize: string,
  pageBytes: number | null,
  beside = BYTES_BESIDE_PAGE,
): number | null {
  const n = Number(cacheSize);
  if (!Number.isInteger(n) || cacheSize.trim() === '') return null;
  if (n >= 0) return n;
  return pageBytes === null ? null : Math.floor((-n * 1024) / (pageBytes + beside));
}

/**
 * Pages that stay in a cache of `cache_size` pages: SQLite drops one before it fills the last
 * place.
 */
export const pagesHeld = (cacheSize: number): number => Math.max(0, cacheSize - 1);
/** The smallest cache_size, in pages, of a cache that holds this many. */
export const sizeToHold = (pages: number): number => pages + 1;

/** KiB of a cache of this many pages: `PRAGMA cache_size=-KiB`. */
export const cacheKib = (pages: number, pageBytes: number): number =>
  Math.ceil((pages * (pageBytes + BYTES_BESIDE_PAGE)) / 1024);
