/**
 * Parquet's encodings of bytes (parquet.apache.org/docs/file-format): varints, Thrift's compact
 * protocol, and runs of packed numbers.
 */

const utf8 = new TextEncoder();
/** Longer texts are encoded by the platform's encoder. */
const SHORT = 48;
/** Names of columns and the like as bytes: there are few, and each file has them again. */
const names = new Map<string, Uint8Array>();
const named = (name: string): Uint8Array => {
  let bytes = names.get(name);
  if (!bytes) names.set(name, (bytes = utf8.encode(name)));
  return bytes;
};

/** A range of bytes: [from, to). */
export type Range = readonly [number, number];

/** Types of Thrift's compact protocol that Parquet's fields have. */
const I32 = 5;
const I64 = 6;
const BINARY = 8;
const LIST = 9;
const STRUCT = 12;

export class Bytes {
  private bytes: Uint8Array;
  length = 0;
  /** The last field of the struct that is being written. */
  private field = 0;

  constructor(size = 1 << 14) {
    this.bytes = new Uint8Array(size);
  }

  /** Forget what was written, but keep the memory. */
  clear(): void {
    this.length = 0;
  }
  /** What was written since `clear`, in a buffer that is reused later. */
  view(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  private room(n: number): void {
    if (this.length + n <= this.bytes.length) return;
    const bigger = new Uint8Array(Math.max(this.bytes.length * 2, this.length + n));
    bigger.set(this.view());
    this.bytes = bigger;
  }
  byte(value: number): void {
    this.room(1);
    this.bytes[this.length++] = value;
  }
  put(bytes: Uint8Array): void {
    this.room(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }
  u32(value: number): void {
    this.room(4);
    for (let i = 0; i < 4; i++) this.bytes[this.length++] = value >>> (8 * i);
  }
  /** @param n whole, 0 to 2^53 */
  varint(n: number): void {
    this.room(8);
    while (n > 127) {
      this.bytes[this.length++] = (n % 128) | 128;
      n = Math.floor(n / 128);
    }
    this.bytes[this.length++] = n;
  }
  /** @param n whole, -2^52 to 2^52 */
  zigzag(n: number): void {
    this.varint(n < 0 ? -2 * n - 1 : 2 * n);
  }

  /** The head of a field. @param id ascends within a struct */
  private head(id: number, type: number): void {
    this.byte(((id - this.field) << 4) | type);
    this.field = id;
  }
  i32(id: number, value: number): void {
    this.head(id, I32);
    this.zigzag(value);
  }
  i64(id: number, value: number): void {
    this.head(id, I64);
    this.zigzag(value);
  }
  yes(id: number, value: boolean): void {
    this.head(id, value ? 1 : 2);
  }
  binary(id: number, value: Uint8Array | string): void {
    this.head(id, BINARY);
    this.item(value);
  }
  /** A text or bytes in a list. */
  item(value: Uint8Array | string): void {
    const bytes = typeof value === 'string' ? named(value) : value;
    this.varint(bytes.length);
    this.put(bytes);
  }
  /** A text after its length, as in a dictionary. @returns where its bytes begin */
  text(value: string): number {
    this.room(4 + 3 * value.length);
    const from = this.length + 4;
    const written = this.shortAscii(value, from)
      ? value.length
      : utf8.encodeInto(value, this.bytes.subarray(from)).written;
    this.u32(written);
    this.length += written;
    return from;
  }
  /**
   * Faster than the platform's encoder for short texts.
   * @returns false if the text is long or isn't ASCII
   */
  private shortAscii(value: string, from: number): boolean {
    if (value.length > SHORT) return false;
    const { bytes } = this;
    for (let i = 0; i < value.length; i++) {
      const code = value.charCodeAt(i);
      if (code > 127) return false;
      bytes[from + i] = code;
    }
    return true;
  }
  /** Whether a range of bytes comes before another one, both as [from, to). */
  isBefore([a, aEnd]: Range, [b, bEnd]: Range): boolean {
    const { bytes } = this;
    for (let i = 0; a + i < aEnd && b + i < bEnd; i++)
      if (bytes[a + i] !== bytes[b + i]) return bytes[a + i]! < bytes[b + i]!;
    return aEnd - a < bEnd - b;
  }
  slice([from, to]: Range): Uint8Array {
    return this.bytes.slice(from, to);
  }
  /** A struct in a struct. */
  struct(id: number, inside: () => void): void {
    this.head(id, STRUCT);
    this.one(inside);
  }
  /** A struct in a list, or the outermost one. */
  one(inside: () => void): void {
    const outer = this.field;
    this.field = 0;
    inside();
    this.byte(0);
    this.field = outer;
  }
  structs<T>(id: number, list: readonly T[], each: (value: T, i: number) => void): void {
    this.list(id, STRUCT, list.length);
    for (const [i, value] of list.entries()) this.one(() => each(value, i));
  }
  i32s(id: number, list: readonly number[]): void {
    this.list(id, I32, list.length);
    for (const value of list) this.zigzag(value);
  }
  binaries(id: number, list: readonly string[]): void {
    this.list(id, BINARY, list.length);
    for (const value of list) this.item(value);
  }
  private list(id: number, type: number, count: number): void {
    this.head(id, LIST);
    if (count < 15) this.byte((count << 4) | type);
    else {
      this.byte(0xf0 | type);
      this.varint(count);
    }
  }

  /**
   * Numbers as runs of one value and packed groups of eight: the hybrid encoding of levels and of
   * dictionary indices.
   * @param width bits of a value, at most 24
   */
  hybrid(values: Readonly<Uint8Array | Uint32Array>, count: number, width: number): void {
    let from = 0; // first of the groups that aren't written yet
    let i = 0;
    while (i < count) {
      const value = values[i]!;
      let end = i + 1;
      while (end < count && values[end] === value) end++;
      if (end - i < 8) {
        i += 8;
        continue;
      }
      this.packed(values, from, i, count, width);
      this.varint((end - i) * 2);
      for (let bits = 0; bits < width; bits += 8) this.byte((value >>> bits) & 255);
      from = i = end;
    }
    this.packed(values, from, i, count, width);
  }
  /** @param to whole groups of eight after `from`, with zeros for values after `count` */
  private packed(
    values: Readonly<Uint8Array | Uint32Array>,
    from: number,
    to: number,
    count: number,
    width: number,
  ): void {
    const groups = (to - from) / 8;
    if (groups === 0) return;
    this.varint(groups * 2 + 1);
    this.room(groups * width);
    const { bytes } = this;
    let [at, bits, used] = [this.length, 0, 0];
    for (let i = from; i < to; i++) {
      if (i < count) bits |= values[i]! << used;
      used += width;
      for (; used >= 8; used -= 8) {
        bytes[at++] = bits;
        bits >>>= 8;
      }
    }
    this.length = at;
  }

  /**
   * Whole numbers as differences (DELTA_BINARY_PACKED): blocks of 128 in 4 parts, each part in as
   * many bits as its largest needs.
   * @param values within +-2^51, so that a difference minus the smallest one is exact
   */
  deltas(values: Readonly<Float64Array>, count: number): void {
    this.varint(BLOCK);
    this.varint(PARTS);
    this.varint(count);
    this.zigzag(count ? values[0]! : 0);
    const differences = new Float64Array(BLOCK);
    for (let from = 1; from < count; from += BLOCK) {
      const n = Math.min(BLOCK, count - from);
      let least = Infinity;
      for (let i = 0; i < n; i++) {
        const difference = values[from + i]! - values[from + i - 1]!;
        differences[i] = difference;
        if (difference < least) least = difference;
      }
      this.zigzag(least);
      for (let i = 0; i < n; i++) differences[i]! -= least;
      differences.fill(0, n);
      const widths = this.length;
      this.u32(0);
      for (let part = 0; part * PART < n; part++) {
        let most = 0;
        for (let i = part * PART; i < (part + 1) * PART; i++)
          if (differences[i]! > most) most = differences[i]!;
        const width = bitsOf(most);
        this.bytes[widths + part] = width;
        this.wide(differences, part * PART, width);
      }
    }
  }
  /** PART numbers of any width, packed. */
  private wide(values: Readonly<Float64Array>, from: number, width: number): void {
    this.room((PART * width) / 8);
    const { bytes } = this;
    let [at, bits, used] = [this.length, 0, 0];
    for (let i = from; i < from + PART; i++) {
      let rest = values[i]!;
      for (let left = width; left > 0; left -= 24) {
        const low = left > 24 ? rest % 0x1000000 : rest;
        rest = (rest - low) / 0x1000000;
        bits |= low << used;
        used += Math.min(left, 24);
        for (; used >= 8; used -= 8) {
          bytes[at++] = bits;
          bits >>>= 8;
        }
      }
    }
    this.length = at;
  }
}
const BLOCK = 128;
const PARTS = 4;
const PART = BLOCK / PARTS;

/** Bits that a number needs. @param n whole, 0 to 2^53 */
export const bitsOf = (n: number): number =>
  n < 0x100000000 ? 32 - Math.clz32(n) : 64 - Math.clz32(Math.floor(n / 0x100000000));
