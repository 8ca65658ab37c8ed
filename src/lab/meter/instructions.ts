/**
 * Facts about each instruction: what follows the opcode, whether it counts, and whether a
 * straight-line segment ends after it. Every instruction counts except block, loop, else, end, nop,
 * and the delimiters of exception handling.
 */
import { MeterError, type WasmReader } from './reader.ts';

/** Bits above the kind of immediate. */
const COUNTS = 16;
const ENDS = 32;
/** A call: `plainOnes` stops at it. */
const CALLS = 64;

/** What follows an opcode. */
const enum Imm {
  unknown,
  none,
  leb,
  twoLebs,
  memarg,
  four,
  eight,
  typeVector,
  branchTable,
  catches,
  bulk,
  simd,
  atomic,
}

/** One byte per opcode: kind of immediate | COUNTS | ENDS. */
const TABLE = new Uint8Array(256);
const fill = (entry: number, ...opcodes: number[]): void =>
  opcodes.forEach((op) => (TABLE[op] = entry));
const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);

fill(Imm.none, 0x01); // nop
fill(Imm.leb, 0x02); // block: straight on, the segment goes on
fill(Imm.leb | ENDS, 0x03, 0x06); // loop (entered again by branches), try
fill(Imm.leb | ENDS, 0x07, 0x18); // catch, delegate
fill(Imm.none | ENDS, 0x05, 0x0b, 0x19); // else, end, catch_all
fill(Imm.catches | ENDS, 0x1f); // try_table
// if throw rethrow br br_if return_call return_call_ref
fill(Imm.leb | COUNTS | ENDS, 0x04, 0x08, 0x09, 0x0c, 0x0d, 0x12, 0x15);
fill(Imm.leb | COUNTS | ENDS, 0xd5, 0xd6); // br_on_null, br_on_non_null
fill(Imm.none | COUNTS | ENDS, 0x00, 0x0a, 0x0f); // unreachable, throw_ref, return
fill(Imm.twoLebs | COUNTS | ENDS, 0x13); // return_call_indirect
fill(Imm.branchTable | COUNTS | ENDS, 0x0e);
fill(Imm.leb | COUNTS | CALLS, 0x10, 0x14); // call, call_ref: the segment goes on behind it
fill(Imm.twoLebs | COUNTS | CALLS, 0x11); // call_indirect
fill(Imm.none | COUNTS, 0x1a, 0x1b); // drop, select
fill(Imm.typeVector | COUNTS, 0x1c); // select t
fill(Imm.leb | COUNTS, ...range(0x20, 0x26)); // local, global, table: get and set
fill(Imm.memarg | COUNTS, ...range(0x28, 0x3e)); // loads and stores
fill(Imm.leb | COUNTS, 0x3f, 0x40, 0x41, 0x42); // memory.size, memory.grow, i32.const, i64.const
fill(Imm.four | COUNTS, 0x43);
fill(Imm.eight | COUNTS, 0x44);
fill(Imm.none | COUNTS, ...range(0x45, 0xc4)); // arithmetic, comparison, conversion
fill(Imm.leb | COUNTS, 0xd0, 0xd2); // ref.null, ref.func
fill(Imm.none | COUNTS, 0xd1, 0xd3, 0xd4); // ref.is_null, ref.eq, ref.as_non_null
fill(Imm.bulk | COUNTS, 0xfc);
fill(Imm.simd | COUNTS, 0xfd);
fill(Imm.atomic | COUNTS, 0xfe);

/**
 * What a meter counts. Loads and stores of the memory: a memory.copy is one of each, a memory.fill
 * and a memory.init are one store, whatever their length; an atomic read-modify-write is one of
 * each.
 */
export type Counted = 'instructions' | 'loads' | 'stores';

/**
 * By opcode: how much an instruction adds. Prefixed ones (from 0xfc) need a second lookup for loads
 * and stores.
 */
const WEIGHTS: Readonly<Record<Counted, Uint8Array>> = {
  instructions: TABLE.map((entry) => (entry & COUNTS ? 1 : 0)),
  loads: new Uint8Array(256).fill(1, 0x28, 0x36),
  stores: new Uint8Array(256).fill(1, 0x36, 0x3f),
};
export const weightsOf = (counted: Counted): Uint8Array => WEIGHTS[counted];

const FIRST_PREFIX = 0xfc;
type Ranges = readonly (readonly [from: number, to: number])[];
/** By prefix, from 0xfc: operations on bulk memory, vectors, atomics. */
const PREFIXED: Readonly<Record<'loads' | 'stores', readonly [Ranges, Ranges, Ranges]>> = {
  loads: [
    [[10, 10]],
    [
      [0, 10],
      [84, 87],
      [92, 93],
    ],
    [
      [1, 2], // atomic waits
      [0x10, 0x16],
      [0x1e, 0x4e],
    ],
  ],
  stores: [
    [
      [8, 8],
      [10, 11],
    ],
    [
      [11, 11],
      [88, 91],
    ],
    [[0x17, 0x4e]],
  ],
};
/** How much the instruction at a byte position adds. */
export function weightAt(bytes: Uint8Array, at: number, counted: Counted): number {
  const op = bytes[at]!;
  if (op < FIRST_PREFIX || counted === 'instructions') return WEIGHTS[counted][op]!;
  const low = bytes[at + 1]!;
  const sub = low & 128 ? (low & 127) | (bytes[at + 2]! << 7) : low;
  const ranges = PREFIXED[counted][op - FIRST_PREFIX] ?? [];
  return ranges.some(([from, to]) => sub >= from && sub <= to) ? 1 : 0;
}

export const ends = (entry: number): boolean => (entry & ENDS) !== 0;

/**
 * Skips simple instructions, which are nine of ten. In a browser the first pass over a module is
 * interpreted, where calls are expensive.
 * @param weights by opcode
 * @returns their weight; the reader is then at one that ends the segment or needs `instruction`, or
 * at `end`
 */
export function plainOnes(r: WasmReader, end: number, weights: Uint8Array): number {
  const { bytes } = r;
  let at = r.at;
  let n = 0;
  while (at < end) {
    const op = bytes[at]!;
    const entry = TABLE[op]!;
    if (entry === (Imm.none | COUNTS)) at++;
    else if (entry === (Imm.leb | COUNTS)) {
      at++;
      while (bytes[at++]! & 128); // after the module's end there is undefined, which stops it
    } else if (entry === (Imm.memarg | COUNTS) && !(bytes[at + 1]! & 0xc0)) {
      at += 2; // alignment in one byte, no memory index
      while (bytes[at++]! & 128);
    } else break;
    n += weights[op]!;
  }
  r.at = at;
  return n;
}

/**
 * Reads one instruction with everything that follows it.
 * @returns its entry, for `ends`
 * @throws MeterError on an unknown opcode
 */
export function instruction(r: WasmReader): number {
  const op = r.byte();
  const entry = TABLE[op]!;
  switch ((entry & 15) as Imm) {
    case Imm.none:
      break;
    case Imm.leb:
      r.skipLeb();
      break;
    case Imm.twoLebs:
      r.skipLeb();
      r.skipLeb();
      break;
    case Imm.memarg:
      memarg(r);
      break;
    case Imm.four:
      r.at += 4;
      break;
    case Imm.eight:
      r.at += 8;
      break;
    case Imm.typeVector:
      for (let n = r.u32(); n > 0; n--) r.skipType();
      break;
    case Imm.branchTable:
      for (let n = r.u32() + 1; n > 0; n--) r.skipLeb();
      break;
    case Imm.catches:
      r.skipLeb();
      for (let n = r.u32(); n > 0; n--) {
        if (r.byte() < 2) r.u32(); // catch, catch_ref name a tag
        r.u32();
      }
      break;
    case Imm.bulk:
      bulk(r);
      break;
    case Imm.simd:
      simd(r);
      break;
    case Imm.atomic:
      if (r.u32() === 3)
        r.at++; // atomic.fence
      else memarg(r);
      break;
    case Imm.unknown:
      throw new MeterError(
        `unknown instruction 0x${op.toString(16).padStart(2, '0')} at byte ${r.at - 1}`,
      );
  }
  return entry;
}

/** Alignment, memory index where bit 6 of it says so, offset. */
function memarg(r: WasmReader): void {
  if (r.u32() & 64) r.u32();
  r.skipLeb();
}

/** 0xfc: saturating conversions, bulk memory and table operations. */
function bulk(r: WasmReader): void {
  const sub = r.u32();
  if (sub > 17) throw new MeterError(`unknown instruction 0xfc ${sub} at byte ${r.at - 2}`);
  if (sub < 8) return;
  r.u32();
  // memory.init, memory.copy, table.init, and table.copy have two operands, the others one
  if (sub === 8 || sub === 10 || sub === 12 || sub === 14) r.u32();
}

/** 0xfd: vectors, with the relaxed ones. */
function simd(r: WasmReader): void {
  const sub = r.u32();
  if (sub > 0x114) throw new MeterError(`unknown instruction 0xfd ${sub} at byte ${r.at - 2}`);
  if (sub <= 11 || sub === 92 || sub === 93) memarg(r);
  else if (sub === 12 || sub === 13) r.at += 16;
  else if (sub >= 21 && sub <= 34) r.at++;
  else if (sub >= 84 && sub <= 91) {
    memarg(r);
    r.at++;
  }
}
