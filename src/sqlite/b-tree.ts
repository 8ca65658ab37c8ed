/**
 * What a page shows of its database's structure: an interior page has its children, and a leaf of
 * the schema has the tables and indexes with their root pages (sqlite.org/fileformat2.html,
 * sections 1.6 and 2.6). Only names and page numbers are read: the schema's SQL and all other
 * content are skipped. The bytes aren't trusted: a page that isn't consistent as a whole yields
 * nothing.
 */
import { DATABASE_HEADER, SMALLEST_PAGE } from './page-size.ts';

/** A row with longer names (its own and its table's together, in bytes) is left out. */
const LONGEST_NAMES = 510;
/** Bits by page type. */
const [INTERIOR, TABLE_LEAF] = [(1 << 2) | (1 << 5), 1 << 13] as const;

/**
 * Offsets of a page's cells in the page; null if it has another type, is malformed, or isn't
 * completely in `b`.
 */
function cellsOf(
  b: Uint8Array,
  at: number,
  page: number,
  size: number,
  types: number,
): number[] | null {
  const start = page === 1 ? DATABASE_HEADER : 0;
  const u16 = (i: number): number => (b[at + i]! << 8) | b[at + i + 1]!;
  const type = b[at + start]!;
  const content = u16(start + 5) || 65536;
  const first = start + (type < 10 ? 12 : 8);
  const behind = first + 2 * u16(start + 3);
  if (
    type > 15 ||
    !((types >>> type) & 1) ||
    size < SMALLEST_PAGE ||
    at + size > b.length ||
    behind > content
  )
    return null;
  const places: number[] = [];
  for (let i = first; i < behind; i += 2) {
    const place = u16(i);
    if (place < content || place > size - 5) return null;
    places.push(place);
  }
  return places;
}

/**
 * The children of an interior page in key order, the right-most one last.
 * @param b memory that holds the page from `at` on @param page its number @param size bytes of a
 * page
 * @returns null if this isn't an interior page, or a malformed one
 */
export function childrenOf(b: Uint8Array, at: number, page: number, size: number): number[] | null {
  const cells = cellsOf(b, at, page, size, INTERIOR);
  // only page 1 may have nothing but its right-most child
  if (!cells || (!cells.length && page !== 1)) return null;
  const view = new DataView(b.buffer, b.byteOffset + at);
  const children = cells
    .concat(page === 1 ? DATABASE_HEADER + 8 : 8)
    .map((place) => view.getUint32(place));
  const isSound =
    children.every((child) => child > 1 && child !== page) &&
    new Set(children).size === children.length;
  return isSound ? children : null;
}

/** Tables and indexes of one leaf of the schema, by row. */
interface SchemaRows {
  /** Root pages. */
  roots: number[];
  names: string[];
  /** The table of an index; '' = it is a table itself. */
  tables: string[];
}

/** Bytes of an integer by its serial type. A root page doesn't have types of 8 and above. */
const INTEGER_BYTES = [0, 1, 2, 3, 4, 6, 8] as const;

/**
 * Rows of a leaf of the schema's b-tree. Views, triggers, virtual tables, and rows whose names are
 * too long or aren't on the page are left out.
 * @param usable bytes of a page minus the reserved ones @param encoding 1 UTF-8, 2 UTF-16le, 3
 * UTF-16be
 * @returns null if this isn't a leaf of a table, or a row isn't one of a schema
 */
export function schemaRowsOf(
  b: Uint8Array,
  at: number,
  page: number,
  size: number,
  usable: number,
  encoding: number,
): SchemaRows | null {
  const cells = cellsOf(b, at, page, size, TABLE_LEAF);
  if (!cells) return null;
  const decoder = new TextDecoder(['utf-8', 'utf-16le', 'utf-16be'][encoding - 1]);
  const found: SchemaRows = { roots: [], names: [], tables: [] };
  let next = 0;
  const integer = (bytes: number): number => {
    let n = 0;
    while (bytes-- > 0) n = n * 256 + b[next++]!;
    return n;
  };
  const varint = (): number => {
    let n = 0;
    for (let i = 0; i < 8; i++) {
      const byte = b[next++]!;
      n = n * 128 + (byte & 127);
      if (byte < 128) return n;
    }
    return n * 256 + b[next++]!;
  };
  // a copy, as decoding doesn't take shared memory
  const text = (bytes: number): string => decoder.decode(b.slice(next, (next += bytes)));
  for (const cell of cells) {
    next = at + cell;
    const payload = varint();
    varint(); // rowid
    // at least this much of a longer row is on the page, and the rest on overflow pages
    const end =
      next + (payload <= usable - 35 ? payload : Math.floor(((usable - 12) * 32) / 255) - 23);
    const body = next + varint();
    const [type, name, table] = [varint(), varint(), varint()].map((serial) =>
      serial & 1 ? (serial - 13) / 2 : NaN,
    ) as [number, number, number];
    const rootBytes = INTEGER_BYTES[varint()] ?? 0;
    next = body;
    const what = type >= 0 && type < 15 ? text(type) : '';
    if (end > at + size || !/^(table|index|view|trigger)$/.test(what)) return null;
    if (!(
      name >= 0 &&
      table >= 0 &&
      name + table <= LONGEST_NAMES &&
      next + name + table + rootBytes <= end
    ))
      continue;
    const [itself, of] = [text(name), text(table)];
    const page = integer(rootBytes);
    if (page < 2 || page !== page >>> 0) continue;
    found.roots.push(page);
    found.names.push(itself);
    found.tables.push(what === 'index' ? of : '');
  }
  return found;
}
