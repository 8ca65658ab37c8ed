/**
 * The bytes of the module to write. It grows as needed, and handles sizes that are known only
 * afterwards.
 */
import type { Bytes } from '../../vfs-instrumented/interpose/wasm-writer.ts';

export class Output {
  private bytes: Uint8Array<ArrayBuffer>;
  at = 0;
  /** @param expected bytes; it can grow beyond */
  constructor(expected: number) {
    this.bytes = new Uint8Array(expected);
  }
  private room(n: number): void {
    if (this.at + n <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(this.bytes.length * 2, this.at + n));
    larger.set(this.bytes);
    this.bytes = larger;
  }
  /** Reserves bytes. Call it before `byte`, `u32`, and `s32`, which don't check. */
  reserve(bytes: number): void {
    this.room(bytes);
  }
  byte(value: number): void {
    this.bytes[this.at++] = value;
  }
  /** Unsigned LEB128, at most 5 bytes. */
  u32(value: number): void {
    let rest = value;
    while (rest > 127) {
      this.bytes[this.at++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    this.bytes[this.at++] = rest;
  }
  /** Signed LEB128 of 32 bits, at most 5 bytes. */
  s32(value: number): void {
    let rest = value;
    while (rest > 63 || rest < -64) {
      this.bytes[this.at++] = (rest & 127) | 128;
      rest >>= 7;
    }
    this.bytes[this.at++] = rest & 127;
  }
  put(bytes: Bytes): void {
    this.room(bytes.length);
    const to = this.bytes;
    let at = this.at;
    for (let i = 0; i < bytes.length; i++) to[at++] = bytes[i]!;
    this.at = at;
  }
  copy(from: Uint8Array, start: number, end: number): void {
    this.room(end - start);
    // a set() of a view is slower than a few single bytes
    const to = this.bytes;
    let at = this.at;
    if (end - start < 48) for (let i = start; i < end; i++) to[at++] = from[i]!;
    else {
      to.set(from.subarray(start, end), at);
      at += end - start;
    }
    this.at = at;
  }
  /** The output of `write`, after its length as a LEB128 padded to 5 bytes. */
  sized(write: () => void): void {
    const at = this.at;
    this.room(5);
    this.at += 5;
    write();
    let rest = this.at - at - 5;
    for (let i = 0; i < 5; i++, rest >>>= 7) this.bytes[at + i] = (rest & 127) | (i < 4 ? 128 : 0);
  }
  section(id: number, write: () => void): void {
    this.put([id]);
    this.sized(write);
  }
  taken(): Uint8Array<ArrayBuffer> {
    return this.bytes.slice(0, this.at);
  }
}
