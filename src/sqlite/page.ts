/**
 * Kinds of a database's pages (sqlite.org/fileformat2.html), detected from one byte as they pass
 * (AUX in event.ts). Freelist, overflow, and pointer map pages don't have a mark.
 */

/**
 * The b-tree ones by SQLite's own codes. `database`: page 1 whose b-tree header, at byte 100, was
 * not read; `pointerMap`: detected from its number only.
 */
export const PageType = {
  other: 0,
  database: 1,
  indexInterior: 2,
  pointerMap: 3,
  tableInterior: 5,
  indexLeaf: 10,
  tableLeaf: 13,
} as const;
/** A bit for each type of b-tree page. */
export const BTREE_PAGES = (1 << 2) | (1 << 5) | (1 << 10) | (1 << 13);
export type PageTypeCode = (typeof PageType)[keyof typeof PageType];

/**
 * Whether a page is a pointer map page. Only databases with auto_vacuum have them.
 * @param usableSize page size less the reserved bytes
 */
export function isPointerMapPage(number: number, usableSize: number): boolean {
  return number >= 2 && (number - 2) % (Math.floor(usableSize / 5) + 1) === 0;
}
