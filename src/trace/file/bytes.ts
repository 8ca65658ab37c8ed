/**
 * Bytes written and read one by one: varints (7 bits a byte, up to 2^53), zigzag for signed
 * numbers, bounds are checked when reading.
 */

/** The content of a section isn't what its kind requires. */
export class MalformedError extends Error {
  override readonly name = 'MalformedError';
}

export class ByteWriter {
  private bytes: Uint8Array<ArrayBuffer>;
  private view: DataView<ArrayBuffer>;
  length = 0;

  constructor(capacity = 4096) {
    this.bytes = new Uint8Array(capacity);
    this.view = new DataView(this.bytes.buffer);
  }
  private room(n: number): void {
    if (this.length + n <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.length + n, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
    this.view = new DataView(grown.buffer);
  }
  u8(value: number): void {
    this.room(1);
    this.bytes[this.length++] = value;
  }
  u32(value: number): void {
    this.room(4);
    this.view.setUint32(this.length, value, true);
    this.length += 4;
  }
  f64(value: number): void {
    this.room(8);
    this.view.setFloat64(this.length, value, true);
    this.length += 8;
  }
  /** A whole number 0..2^53-1. */
  varint(value: number): void {
    this.room(8);
    let v = value;
    if (v > Number.MAX_SAFE_INTEGER) throw new RangeError(`${v} does not fit a varint`);
    while (v > 0x7fffffff) {
      this.bytes[this.length++] = (v % 128) | 128;
      v = Math.floor(v / 128);
    }
    while (v > 127) {
      this.bytes[this.length++] = (v & 127) | 128;
      v >>>= 7;
    }
    this.bytes[this.length++] = v;
  }
  /** A whole number of magnitude below 2^52. */
  zigzag(value: number): void {
    this.varint(value < 0 ? -value * 2 - 1 : value * 2);
  }
  append(bytes: Uint8Array): void {
    this.room(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }
  /** What was written so far; valid until the next write. */
  view8(): Uint8Array<ArrayBuffer> {
    return this.bytes.subarray(0, this.length);
  }
}

export class ByteReader {
  private at = 0;
  private readonly view: DataView;

  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
  get left(): number {
    return this.bytes.length - this.at;
  }
  private need(n: number): number {
    const at = this.at;
    if (n > this.bytes.length - at)
      throw new MalformedError(`${n} bytes wanted at ${at} of ${this.bytes.length}`);
    this.at = at + n;
    return at;
  }
  u8(): number {
    return this.bytes[this.need(1)]!;
  }
  u32(): number {
    return this.view.getUint32(this.need(4), true);
  }
  f64(): number {
    return this.view.getFloat64(this.need(8), true);
  }
  varint(): number {
    const { bytes, at } = this;
    if (at < bytes.length) {
      const byte = bytes[at]!;
      if (byte < 128) {
        this.at = at + 1;
        return byte; // most numbers are small
      }
    }
    return this.longVarint();
  }
  private longVarint(): number {
    const { bytes } = this;
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 8; i++) {
      if (this.at >= bytes.length) throw new MalformedError(`a number is cut off at ${this.at}`);
      const byte = bytes[this.at++]!;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
    throw new MalformedError(`a number has more than 8 bytes at ${this.at}`);
  }
  zigzag(): number {
    const v = this.varint();
    if (v <= 0x7fffffff) return (v >>> 1) ^ -(v & 1);
    return v % 2 ? -(v + 1) / 2 : v / 2;
  }
  /** The next n bytes, not copied. */
  take(n: number): Uint8Array {
    const at = this.need(n);
    return this.bytes.subarray(at, at + n);
  }
}
