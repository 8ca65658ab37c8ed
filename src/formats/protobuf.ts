/**
 * Protocol buffers written by hand (protobuf.dev/programming-guides/encoding): only the kinds of
 * fields that an export needs.
 */

const utf8 = new TextEncoder();

/**
 * Appends fields to a buffer that grows. Nested messages are written in place, and their length
 * afterwards.
 */
export class ProtoWriter {
  private bytes = new Uint8Array(1 << 16);
  length = 0;

  private room(n: number): void {
    if (this.length + n <= this.bytes.length) return;
    const bigger = new Uint8Array(Math.max(this.bytes.length * 2, this.length + n));
    bigger.set(this.bytes.subarray(0, this.length));
    this.bytes = bigger;
  }
  /** @param n whole, 0 to 2^53 */
  private varint(n: number): void {
    this.room(8);
    while (n > 127) {
      this.bytes[this.length++] = (n % 128) | 128;
      n = Math.floor(n / 128);
    }
    this.bytes[this.length++] = n;
  }
  /** Field of wire type 0. */
  uint(field: number, value: number): void {
    this.varint(field * 8);
    this.varint(value);
  }
  /** Field of wire type 0 for a 64-bit two's complement: negative numbers take ten bytes. */
  int(field: number, value: number): void {
    if (value >= 0) return this.uint(field, value);
    this.varint(field * 8);
    this.room(10);
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest > 127n; rest >>= 7n) this.bytes[this.length++] = Number(rest & 127n) | 128;
    this.bytes[this.length++] = Number(rest);
  }
  double(field: number, value: number): void {
    this.varint(field * 8 + 1);
    this.room(8);
    new DataView(this.bytes.buffer).setFloat64(this.length, value, true);
    this.length += 8;
  }
  text(field: number, value: string): void {
    const bytes = utf8.encode(value);
    this.varint(field * 8 + 2);
    this.varint(bytes.length);
    this.room(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }
  /**
   * A nested message. Most are short: one byte is reserved for the length, and only a longer
   * message is moved.
   */
  message(field: number, inside: () => void): void {
    this.varint(field * 8 + 2);
    this.room(1);
    const at = ++this.length;
    inside();
    const n = this.length - at;
    if (n < 128) {
      this.bytes[at - 1] = n;
      return;
    }
    const more = n < 2 ** 14 ? 1 : n < 2 ** 21 ? 2 : n < 2 ** 28 ? 3 : 4;
    this.room(more);
    this.bytes.copyWithin(at + more, at, this.length);
    this.length = at - 1;
    this.varint(n);
    this.length += n;
  }
  /** What was written so far, copied. The buffer is then empty. */
  take(): Uint8Array {
    const taken = this.bytes.slice(0, this.length);
    this.length = 0;
    return taken;
  }
}
