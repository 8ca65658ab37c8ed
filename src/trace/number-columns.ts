/**
 * Tables of numbers with a typed array for each column, which takes a fraction of the memory of
 * objects.
 *
 *   class Reads extends columns({ us: Float64Array, bytes: [Uint16Array, Float64Array] }) {}
 *   const reads = new Reads();
 *   const i = reads.add();            // a new last row of zeros
 *   reads.us[i] = 12.5;
 *   reads.set('bytes', i, 1 << 20);   // a column of two types begins with the first, and is widened up to the second
 *
 * If the browser has no memory for a longer or wider column, the call throws, and all rows are
 * unchanged.
 */
import { resized, type Numbers } from './typed-arrays.ts';

interface Kind {
  new (length: number): Numbers;
  new (from: ArrayLike<number>): Numbers;
  readonly prototype: Numbers;
}
/** A column has numbers of one type, or mostly small ones, which begin with the narrow type. */
type Schema = Readonly<Record<string, Kind | readonly [narrow: Kind, wide: Kind]>>;
/**
 * Read a column again after rows were added, because it may have been replaced. Write columns of
 * two types with `set`.
 */
type Arrays<S extends Schema> = {
  -readonly [Name in keyof S]: S[Name] extends Kind ? S[Name]['prototype'] : Numbers;
};
type Name<S> = keyof S & string;
/** The columns of a schema that have two types. */
type Narrow<S> = { [K in Name<S>]: S[K] extends Kind ? never : K }[Name<S>];

/** What every table has besides its columns. */
export interface Table<S extends Schema> {
  /** Rows in use. The arrays are longer, and 0 after them. */
  count: number;
  /** Rows that fit without growing. */
  capacity: number;
  /** Bytes of all columns, including unused capacity. */
  readonly byteLength: number;
  /** Allocates memory for `rows` more rows: by doubling, or for exactly these. */
  reserve(rows: number, exactly?: boolean): void;
  /** Adds a row of zeros. @returns its index */
  add(): number;
  /** Writes a number, and widens the column if it can't hold the number exactly. */
  set(name: Narrow<S>, row: number, value: number): void;
  /** The numbers of a row by column. */
  numbers(row: number): Record<Name<S>, number>;
  /** Adds the rows of a table with the same columns. */
  append(other: this): void;
  /** Rows [from, to) as a table that shares the memory. Don't write to it. */
  part(from: number, to: number): this;
  /**
   * Drops the first `rows` rows and moves the rest to the front. Memory that isn't needed any more
   * is released.
   */
  dropFront(rows: number): void;
  /** Drops all rows and releases the memory at once. No other code may hold a column. */
  release(): void;
}

/**
 * @returns a class of tables. Its `wide` tables hold any number without `set`, for rows that are
 * about to be appended elsewhere.
 */
export function columns<const S extends Schema>(
  schema: S,
): new (capacity?: number, width?: 'narrow' | 'wide') => Table<S> & Arrays<S> {
  const names = Object.keys(schema);
  const kinds = (width: 0 | 1): Kind[] =>
    Object.values(schema).map((kind) => (typeof kind === 'function' ? kind : kind[width]));
  const narrow = kinds(0);
  const wide = kinds(1);
  const widest = new Map(names.map((name, i) => [name, wide[i]]));
  const of = (table: object): Record<string, Numbers> => table as Record<string, Numbers>;

  class NumberTable {
    count = 0;

    constructor(
      public capacity = 256,
      width: 'narrow' | 'wide' = 'narrow',
    ) {
      names.forEach((name, i) => {
        of(this)[name] = new (width === 'wide' ? wide : narrow)[i]!(capacity);
      });
    }

    get byteLength(): number {
      return names.reduce((n, name) => n + of(this)[name]!.byteLength, 0);
    }

    reserve(rows: number, exactly = false): void {
      const needed = this.count + rows;
      if (needed <= this.capacity) return;
      let capacity = Math.max(16, this.capacity);
      while (capacity < needed) capacity *= 2;
      if (exactly) capacity = needed;
      // one by one, so that the old arrays can be collected; columns that a failed try made longer
      // are used by the next
      for (const name of names)
        if (of(this)[name]!.length < capacity)
          of(this)[name] = moved(of(this)[name]!, capacity, 0, this.count);
      this.capacity = capacity;
    }

    add(): number {
      if (this.count === this.capacity) this.reserve(1);
      return this.count++;
    }

    set(name: string, row: number, value: number): void {
      for (;;) {
        const column = of(this)[name]!;
        column[row] = value;
        if (Object.is(column[row], value) || column[row] === value) return;
        if (column.constructor === widest.get(name)) return;
        of(this)[name] = wider(column);
      }
    }

    numbers(row: number): Record<string, number> {
      const found: Record<string, number> = {};
      for (const name of names) found[name] = of(this)[name]![row]!;
      return found;
    }

    append(other: this): void {
      this.reserve(other.count);
      for (const name of names) {
        const values = of(other)[name]!.subarray(0, other.count);
        while (!put(of(this)[name]!, values, this.count)) of(this)[name] = wider(of(this)[name]!);
      }
      this.count += other.count;
    }

    part(from: number, to: number): this {
      const rows = new (this.constructor as new (capacity: number) => this)(0);
      for (const name of names) of(rows)[name] = of(this)[name]!.subarray(from, to);
      rows.count = to - from;
      return rows;
    }

    dropFront(rows: number): void {
      const from = Math.min(rows, this.count);
      if (from <= 0) return;
      const left = this.count - from;
      let { capacity } = this;
      while (capacity > 1024 && capacity >= 4 * left) capacity = Math.floor(capacity / 2);
      if (capacity === this.capacity || !this.shrink(capacity, from))
        for (const name of names)
          of(this)[name]!.copyWithin(0, from, this.count).fill(0, left, this.count);
      this.count = left;
    }

    /**
     * @returns false if there isn't enough memory for the smaller columns beside the old ones;
     * nothing has changed then
     */
    private shrink(capacity: number, from: number): boolean {
      try {
        const next = names.map((name) => moved(of(this)[name]!, capacity, from, this.count));
        names.forEach((name, i) => (of(this)[name] = next[i]!));
        this.capacity = capacity;
        return true;
      } catch {
        return false;
      }
    }

    release(): void {
      this.count = this.capacity = 0;
      for (const name of names) of(this)[name] = resized(of(this)[name]!, 0);
    }
  }
  return NumberTable as never;
}

/** A schema of columns of the same type. */
export const each = <const N extends string, K extends Schema[string]>(
  names: readonly N[],
  kind: K,
): Record<N, K> => Object.fromEntries(names.map((name) => [name, kind])) as Record<N, K>;

/**
 * The first place in [from, to) at which `holds` is true, if it is true for all places after that,
 * too; `to` = none.
 */
export function firstPlace(from: number, to: number, holds: (place: number) => boolean): number {
  let lo = from;
  let hi = to;
  while (lo < hi) {
    const mid = (lo + hi) >>> 1;
    if (holds(mid)) hi = mid;
    else lo = mid + 1;
  }
  return lo;
}
/**
 * The first place in [from, to) of ascending numbers with at least this value; `to` = none. It
 * doesn't take a function, because it runs often.
 */
export function lowerBound(values: ArrayLike<number>, value: number, to: number, from = 0): number {
  let lo = from;
  let hi = to;
  while (lo < hi) {
    const mid = (lo + hi) >>> 1;
    if (values[mid]! < value) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

/** Rows [from, to) of a column, moved to the start of a new one of another length. */
function moved(column: Numbers, capacity: number, from: number, to: number): Numbers {
  const next = new (column.constructor as Kind)(capacity);
  next.set(column.subarray(from, to));
  return next;
}

const WIDER = new Map<unknown, Kind>([
  [Int8Array, Int16Array],
  [Int16Array, Int32Array],
  [Uint8Array, Uint16Array],
  [Uint16Array, Uint32Array],
  [Uint32Array, Float64Array],
  [Float32Array, Float64Array],
]);
const wider = (column: Numbers): Numbers => new (WIDER.get(column.constructor)!)(column);

/**
 * Puts numbers into a column.
 * @returns false for a narrow column that can't hold all of them exactly
 */
function put(column: Numbers, values: Numbers, at: number): boolean {
  if (column.constructor !== values.constructor && WIDER.has(column.constructor)) {
    const signed = column instanceof Int8Array || column instanceof Int16Array;
    const bits = 8 * column.BYTES_PER_ELEMENT - (signed ? 1 : 0);
    if (column instanceof Float32Array ? !areShort(values) : bitsOf(values) >>> bits !== 0)
      return false;
  }
  column.set(values, at);
  return true;
}

/** Whether 32-bit floats hold these numbers exactly. */
function areShort(values: Numbers): boolean {
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (Math.fround(value) !== value && value === value) return false;
  }
  return true;
}
/**
 * All bits that are set in any of the whole numbers; for a negative number, those in which it
 * differs from -1.
 */
function bitsOf(values: Numbers): number {
  let bits = 0;
  if (values instanceof Uint32Array) for (let i = 0; i < values.length; i++) bits |= values[i]!;
  else for (let i = 0; i < values.length; i++) bits |= values[i]! ^ (values[i]! >> 31);
  return bits;
}
