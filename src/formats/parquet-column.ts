/**
 * A column of a row group: its cells as typed arrays, and Parquet pages made from them, in the
 * encoding that fits.
 */
import type { Cell } from '../analysis/core/table.ts';
import { bitsOf, Bytes, type Range } from './parquet-bytes.ts';
import type { ColumnType, FileColumn } from './tables.ts';

/**
 * Cells by row. Numbers: NaN is null, and -0 doesn't occur, because a dictionary holds one zero.
 * Texts: an index into `texts`, from 1; 0 is null.
 */
export type Cells = Float64Array | { readonly texts: readonly string[]; readonly ids: Uint32Array };

/** Reads rows into columns, each row once: some tables make their rows on demand. */
export function cellsOf<Row>(
  columns: readonly Pick<FileColumn<Row>, 'type' | 'value'>[],
  count: number,
  at: (i: number) => Row,
): Cells[] {
  const fills = columns.map(({ type }) =>
    type === 'text' ? new Texts(count) : new Numbers(count),
  );
  for (let i = 0; i < count; i++) {
    const row = at(i);
    for (let c = 0; c < columns.length; c++) fills[c]!.put(i, columns[c]!.value(row));
  }
  return fills.map(({ cells }) => cells);
}
class Numbers {
  readonly cells;
  constructor(count: number) {
    this.cells = new Float64Array(count);
  }
  put(i: number, cell: Cell): void {
    this.cells[i] = cell === null ? NaN : (cell as number) + 0;
  }
}
export class Texts {
  readonly cells;
  private readonly known = new Map<string, number>();
  /** Texts are often equal to the one before. */
  private last: Cell = null;
  private lastId = 0;
  constructor(count: number) {
    this.cells = { texts: [] as string[], ids: new Uint32Array(count) };
  }
  put(i: number, cell: Cell): void {
    this.cells.ids[i] = this.place(cell);
  }
  /** What stands for a text in `ids`: its place in `texts`, from 1; 0 = null. */
  place(cell: Cell): number {
    if (cell !== this.last) {
      this.last = cell;
      this.lastId = cell === null ? 0 : this.placeOf(String(cell));
    }
    return this.lastId;
  }
  private placeOf(text: string): number {
    let place = this.known.get(text);
    if (place === undefined) this.known.set(text, (place = this.cells.texts.push(text)));
    return place;
  }
}
/** The same text in each row. */
export const sameText = (text: string, count: number): Cells => ({
  texts: [text],
  ids: new Uint32Array(count).fill(1),
});

/** The footer's entry for a column of a row group. */
export interface Chunk {
  /** Codes of encodings (Encoding in parquet.thrift). */
  encodings: readonly number[];
  rows: number;
  bytes: number;
  dictionaryAt: number | null;
  dataAt: number;
  nulls: number;
  /** The smallest and the largest value as bytes; null without values, or if they are long. */
  range: readonly [Uint8Array, Uint8Array] | null;
}

const PLAIN = 0;
const RLE = 3;
const DELTA_BINARY_PACKED = 5;
const RLE_DICTIONARY = 8;
/** Of page headers. */
const DICTIONARY_PAGE = 2;
const DATA_PAGE_V2 = 3;

/** Differences of larger numbers aren't exact. */
const MOST_EXACT = 2 ** 51;
const INT64 = 2 ** 63;
/** A dictionary of numbers is indexed by their distance from the smallest. */
const WIDEST_RANGE = 1 << 16;
const LONGEST_BOUND = 64;

/**
 * Arrays that are reused: allocating one for each column takes longer than filling it.
 * @returns at least `count` long
 */
function reused<T extends Uint8Array | Uint32Array | Float64Array>(
  make: new (count: number) => T,
): (count: number) => T {
  let array = new make(1 << 10);
  return (count) => {
    if (array.length < count) array = new make(Math.max(count, 2 * array.length));
    return array;
  };
}
/** Memory that a column uses while it is written. */
const scratch = {
  body: new Bytes(1 << 16),
  levels: new Bytes(1 << 10),
  places: reused(Uint32Array),
  present: reused(Uint8Array),
  numbers: reused(Float64Array),
  known: reused(Uint32Array),
};

/** Writes columns one after the other. */
export class ColumnWriter {
  private readonly body = scratch.body;
  private readonly levels = scratch.levels;

  /** @param at position in the file at which `out` begins */
  constructor(
    private readonly out: Bytes,
    private readonly at: () => number,
  ) {}

  write(type: ColumnType, cells: Cells): Chunk {
    return 'texts' in cells ? this.text(cells) : this.numbers(type, cells);
  }

  private text({ texts, ids }: Exclude<Cells, Float64Array>): Chunk {
    const places = scratch.places(ids.length);
    let [n, isPresent]: [number, Uint8Array | null] = [0, null];
    for (let row = 0; row < ids.length; row++) {
      const id = ids[row]!;
      if (id !== 0) places[n++] = id - 1;
      else (isPresent ??= allPresent(ids.length))[row] = 0;
    }
    const { body } = this;
    body.clear();
    const ranges = texts.map((text): Range => [body.text(text), body.length]);
    return this.dictionary(ids.length, isPresent, n, places, texts.length, this.bounds(ranges));
  }

  /**
   * The smallest and the largest text by their bytes, as readers compare them; null if one is long.
   * @param ranges of `body`
   */
  private bounds(ranges: readonly Range[]): Chunk['range'] {
    const { body } = this;
    let [least, most] = [ranges[0], ranges[0]];
    for (const range of ranges) {
      if (body.isBefore(range, least!)) least = range;
      else if (body.isBefore(most!, range)) most = range;
    }
    const isShort = ([from, to]: Range): boolean => to - from <= LONGEST_BOUND;
    return least && isShort(least) && isShort(most!)
      ? [body.slice(least), body.slice(most!)]
      : null;
  }

  private numbers(type: ColumnType, cells: Float64Array): Chunk {
    let isPresent: Uint8Array | null = null;
    let numbers = cells;
    let [n, least, most, ascends] = [0, Infinity, -Infinity, true];
    for (let row = 0; row < cells.length; row++) {
      const value = cells[row]!;
      if (value !== value) {
        if (isPresent === null) {
          isPresent = allPresent(cells.length);
          numbers = scratch.numbers(cells.length); // the caller's cells must not change
          for (let i = 0; i < row; i++) numbers[i] = cells[i]!;
        }
        isPresent[row] = 0;
        continue;
      }
      if (n > 0 && value < numbers[n - 1]!) ascends = false;
      numbers[n++] = value;
      if (value < least) least = value;
      if (value > most) most = value;
    }
    const put = plainOf(this.body, type);
    const bounds = n > 0 ? ([boundOf(type, least), boundOf(type, most)] as const) : null;
    const isExact = type === 'int64' && least >= -MOST_EXACT && most <= MOST_EXACT;
    const found =
      n < 8 || (isExact && ascends && least < most)
        ? null
        : placesOf(numbers, n, least, most, type);
    this.body.clear();
    if (found) {
      found.values.forEach(put);
      const { places, values } = found;
      return this.dictionary(cells.length, isPresent, n, places, values.length, bounds);
    }
    if (isExact && n >= 8) this.body.deltas(numbers, n);
    else for (let i = 0; i < n; i++) put(numbers[i]!);
    const encoding = isExact && n >= 8 ? DELTA_BINARY_PACKED : PLAIN;
    const dataAt = this.at();
    this.page(encoding, cells.length, isPresent, n);
    return {
      ...{ encodings: [RLE, encoding], rows: cells.length, bytes: this.at() - dataAt },
      ...{ dictionaryAt: null, dataAt, nulls: cells.length - n, range: bounds },
    };
  }

  /** The dictionary, whose values are in `body`, and the data page. */
  private dictionary(
    rows: number,
    isPresent: Uint8Array | null,
    n: number,
    places: Uint32Array,
    distinct: number,
    range: Chunk['range'],
  ): Chunk {
    const { body, out } = this;
    const dictionaryAt = this.at();
    out.one(() => {
      out.i32(1, DICTIONARY_PAGE);
      out.i32(2, body.length);
      out.i32(3, body.length);
      out.struct(7, () => {
        out.i32(1, distinct);
        out.i32(2, PLAIN);
      });
    });
    out.put(body.view());
    const dataAt = this.at();
    body.clear();
    const width = bitsOf(Math.max(0, distinct - 1));
    body.byte(width);
    body.hybrid(places, n, width);
    this.page(RLE_DICTIONARY, rows, isPresent, n);
    return {
      ...{ encodings: [PLAIN, RLE, RLE_DICTIONARY], rows, bytes: this.at() - dictionaryAt },
      ...{ dictionaryAt, dataAt, nulls: rows - n, range },
    };
  }

  /** The data page, whose values are in `body`. @param isPresent by row; null = all are */
  private page(encoding: number, rows: number, isPresent: Uint8Array | null, n: number): void {
    const { body, levels, out } = this;
    levels.clear();
    if (isPresent) levels.hybrid(isPresent, rows, 1);
    else {
      levels.varint(rows * 2);
      levels.byte(1);
    }
    out.one(() => {
      out.i32(1, DATA_PAGE_V2);
      out.i32(2, levels.length + body.length);
      out.i32(3, levels.length + body.length);
      out.struct(8, () => {
        out.i32(1, rows);
        out.i32(2, rows - n);
        out.i32(3, rows);
        out.i32(4, encoding);
        out.i32(5, levels.length);
        out.i32(6, 0);
        out.yes(7, false);
      });
    });
    out.put(levels.view());
    out.put(body.view());
  }
}

const allPresent = (rows: number): Uint8Array => scratch.present(rows).fill(1, 0, rows);

/** Each value once, and each cell's index into them; null if too many differ. */
function placesOf(
  numbers: Float64Array,
  n: number,
  least: number,
  most: number,
  type: ColumnType,
): { places: Uint32Array; values: number[] } | null {
  const places = scratch.places(n);
  const values: number[] = [];
  const few = Math.max(1, n >> 2);
  if (type !== 'double' && most - least < WIDEST_RANGE) {
    const known = scratch.known(most - least + 1).fill(0, 0, most - least + 1);
    for (let i = 0; i < n; i++) {
      const at = numbers[i]! - least;
      const place = known[at] || (known[at] = values.push(numbers[i]!));
      if (place > few) return null;
      places[i] = place - 1;
    }
    return { places, values };
  }
  const known = new Map<number, number>();
  for (let i = 0; i < n; i++) {
    const value = numbers[i]!;
    let place = known.get(value);
    if (place === undefined) {
      if (values.length === few) return null;
      known.set(value, (place = values.push(value)));
    }
    places[i] = place - 1;
  }
  return { places, values };
}

const word = new DataView(new ArrayBuffer(8));
/**
 * Writes a number into `word`. A trace may hold any number: those outside the type's range become
 * its minimum or maximum.
 * @returns its bytes
 */
function encode(type: ColumnType, value: number): number {
  if (type === 'double') word.setFloat64(0, value, true);
  else if (type === 'int32')
    word.setInt32(0, Math.min(Math.max(value, -(2 ** 31)), 2 ** 31 - 1), true);
  else if (Math.abs(value) < INT64) {
    const high = Math.floor(value / 2 ** 32);
    word.setUint32(0, value - high * 2 ** 32, true);
    word.setInt32(4, high, true);
  } else word.setBigInt64(0, value < 0 ? -(2n ** 63n) : 2n ** 63n - 1n, true);
  return type === 'int32' ? 4 : 8;
}
const wordBytes = new Uint8Array(word.buffer);
const plainOf =
  (body: Bytes, type: ColumnType) =>
  (value: number): void =>
    body.put(wordBytes.subarray(0, encode(type, value)));
const boundOf = (type: ColumnType, value: number): Uint8Array =>
  wordBytes.slice(0, encode(type, value));
