/**
 * Reads WebAssembly's binary format: LEB128 numbers, sections, types. Only what the meter needs,
 * and only forwards.
 */

/** Why a module can't be metered. The module itself doesn't change. */
export class MeterError extends Error {
  override readonly name = 'MeterError';
}

export interface Section {
  readonly id: number;
  /** Position of its content, after id and length. */
  readonly start: number;
  readonly end: number;
}
export const SectionId = {
  custom: 0,
  type: 1,
  import: 2,
  function: 3,
  global: 6,
  export: 7,
  code: 10,
  tag: 13,
} as const;
/** Kinds of imports and exports. */
export const External = { function: 0, table: 1, memory: 2, global: 3 } as const;

const decoder = new TextDecoder();

export class WasmReader {
  at = 0;
  constructor(readonly bytes: Uint8Array) {}

  byte(): number {
    const value = this.bytes[this.at++];
    if (value === undefined)
      throw new MeterError(`the module ends in the middle, at byte ${this.bytes.length}`);
    return value;
  }
  u32(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const low = this.byte();
      value |= (low & 127) << shift;
      if (low < 128) return value >>> 0;
    }
    throw new MeterError(`a number of more than 32 bits at byte ${this.at}`);
  }
  /** Any LEB128, signed or not, up to 64 bits. */
  skipLeb(): void {
    while (this.byte() & 128);
  }
  skipBytes(): void {
    // in two steps: `this.at += this.u32()` would read `at` before u32 moves it
    const n = this.u32();
    this.at += n;
  }
  name(): string {
    const n = this.u32();
    return decoder.decode(this.bytes.subarray(this.at, (this.at += n)));
  }
  /** A value or reference type: one byte, or `ref` and a heap type. */
  skipType(): void {
    const type = this.byte();
    if (type === 0x63 || type === 0x64) this.skipLeb();
  }
  skipLimits(): void {
    const flags = this.byte();
    this.skipLeb();
    if (flags & 1) this.skipLeb();
  }
}

/** @throws MeterError when it isn't a module, or is truncated */
export function sectionsOf(bytes: Uint8Array): Section[] {
  const magic = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
  if (!magic.every((b, i) => bytes[i] === b))
    throw new MeterError("these bytes aren't a WebAssembly module of version 1");
  const r = new WasmReader(bytes);
  const sections: Section[] = [];
  for (r.at = 8; r.at < bytes.length;) {
    const id = r.byte();
    const length = r.u32();
    const section = { id, start: r.at, end: r.at + length };
    if (section.end > bytes.length)
      throw new MeterError(
        `section ${id} ends at byte ${section.end}, the module at ${bytes.length}`,
      );
    sections.push(section);
    r.at = section.end;
  }
  return sections;
}
