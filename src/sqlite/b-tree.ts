/**
 * What a page says of the structure of its database: an interior page its children, a leaf of the schema which tables and indexes there
 * are and where they begin (sqlite.org/fileformat2.html, sections 1.6 and 2.6). Names and page numbers only: the schema's SQL and all
 * other content are stepped over. Bytes are not trusted: a page that is not consistent as a whole says nothing.
 */
import { DATABASE_HEADER, SMALLEST_PAGE } from './page-size.ts';

/** Longer names are left out: of a row, with that of its table, bytes. */
const LONGEST_NAMES = 510;
/** Bits by type of page. */
const [INTERIOR, TABLE_LEAF] = [(1 << 2) | (1 << 5), 1 << 13] as const;

/** Places of a page's cells in the page; null where it is not of such a type, makes no sense, or does not lie in `b` whole. */
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
 * The children of an interior page in the order of their keys, the right-most one last.
 * @param b memory that holds the page from `at` on @param page its number @param size bytes of a page
 * @returns null where this isn't an interior page, or not a sound one
 */
export function childrenOf(b: Uint8Array, at: number, page: number, size: number): number[] | null {
  const cells = cellsOf(b, at, page, size, INTERIOR);
  if (!cells || (!cells.length && page !== 1)) return null; // only page 1 may be left with nothing but its right-most child
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

/** Bytes of an integer by its serial type. Types of 8 and above are none that a root page has. */
const INTEGER_BYTES = [0, 1, 2, 3, 4, 6, 8] as const;

/**
 * Rows of a leaf of the schema's b-tree. Left out are views, triggers and virtual tables, and rows whose names are too long or do not
 * lie on the page.
 * @param usable bytes of a page less those reserved @param encoding 1 UTF-8, 2 UTF-16le, 3 UTF-16be
 * @returns null where this isn't a leaf of a table, or a row is none of the schema's
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
  const text = (bytes: number): string => decoder.decode(b.slice(next, (next += bytes))); // a copy: not of shared memory
  for (const cell of cells) {
    next = at + cell;
    const payload = varint();
    varint(); // rowid
    // of a longer row at least so much lies on the page, the rest on overflow pages
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
