/**
 * Writes WebAssembly: the few encodings that the generated modules need. Everything is a plain
 * array of bytes, since a module is small (some KB) and made once per set of table slots.
 */

export type Bytes = number[];

/** Unsigned LEB128. */
export function leb(value: number): Bytes {
  const out: Bytes = [];
  let rest = value >>> 0;
  do {
    const low = rest & 127;
    rest >>>= 7;
    out.push(rest ? low | 128 : low);
  } while (rest);
  return out;
}

/** Signed LEB128 of a 32-bit integer. */
export function sleb(value: number): Bytes {
  const out: Bytes = [];
  let rest = value | 0;
  for (;;) {
    const low = rest & 127;
    rest >>= 7;
    if ((rest === 0 && !(low & 64)) || (rest === -1 && low & 64)) {
      out.push(low);
      return out;
    }
    out.push(low | 128);
  }
}

export const text = (s: string): Bytes => {
  const bytes = [...new TextEncoder().encode(s)];
  return [...leb(bytes.length), ...bytes];
};
export const vector = (items: readonly Bytes[]): Bytes => [...leb(items.length), ...items.flat()];
export const section = (id: number, content: Bytes): Bytes => [
  id,
  ...leb(content.length),
  ...content,
];
export const moduleBytes = (...sections: Bytes[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...sections.flat()]);

/** A function's type as text: i = i32, j = i64, d = f64. */
export interface Signature {
  readonly params: string;
  readonly results: string;
}
const VALUE: Record<string, number> = { i: 0x7f, j: 0x7e, d: 0x7c };
const values = (types: string): Bytes => vector([...types].map((c) => [VALUE[c]!]));
export const functionType = (s: Signature): Bytes => [
  0x60,
  ...values(s.params),
  ...values(s.results),
];

export const importFunction = (module: string, name: string, type: number): Bytes => [
  ...text(module),
  ...text(name),
  0,
  ...leb(type),
];
/** @param shared pages, if the memory is shared: a shared memory only links within its limits */
export const importMemory = (
  module: string,
  name: string,
  shared: { initial: number; maximum: number } | null,
): Bytes => [
  ...text(module),
  ...text(name),
  2,
  ...(shared ? [3, ...leb(shared.initial), ...leb(shared.maximum)] : [0, 0]),
];
export const exportFunction = (name: string, index: number): Bytes => [
  ...text(name),
  0,
  ...leb(index),
];

/** @param locals groups of [count, type letter] */
export function functionBody(locals: readonly (readonly [number, string])[], code: Bytes): Bytes {
  const body = [...vector(locals.map(([n, t]) => [...leb(n), VALUE[t]!])), ...code, OP.end];
  return [...leb(body.length), ...body];
}

export const OP = {
  block: 0x02,
  loop: 0x03,
  else: 0x05,
  end: 0x0b,
  return: 0x0f,
  drop: 0x1a,
  eqz: 0x45,
  eq: 0x46,
  ne: 0x47,
  ltU: 0x49,
  gtU: 0x4b,
  geU: 0x4f,
  f64Ge: 0x66,
  add: 0x6a,
  sub: 0x6b,
  mul: 0x6c,
  and: 0x71,
  or: 0x72,
  shl: 0x74,
  shrU: 0x76,
  rotl: 0x77,
  ctz: 0x68,
  i64Eqz: 0x50,
  i64Eq: 0x51,
  i64LtU: 0x54,
  i64Sub: 0x7d,
  i64RemU: 0x82,
  i64ShrU: 0x88,
  i32FromI64: 0xa7,
  i64FromU32: 0xad,
  f64FromI64: 0xb9,
} as const;

export const get = (local: number): Bytes => [0x20, ...leb(local)];
export const set = (local: number): Bytes => [0x21, ...leb(local)];
export const tee = (local: number): Bytes => [0x22, ...leb(local)];
export const i32 = (value: number): Bytes => [0x41, ...sleb(value)];
/** An i64 constant that fits 32 bits. */
export const i64 = (value: number): Bytes => [0x42, ...sleb(value)];
export const f64 = (value: number): Bytes => [
  0x44,
  ...new Uint8Array(new Float64Array([value]).buffer),
];
export const call = (fn: number): Bytes => [0x10, ...leb(fn)];
/** Loads and stores take the address from the stack, plus a constant. */
export const load = (at: number): Bytes => [0x28, 2, ...leb(at)];
export const load8 = (at: number): Bytes => [0x2d, 0, ...leb(at)];
export const loadF64 = (at: number): Bytes => [0x2b, 3, ...leb(at)];
export const store = (at: number): Bytes => [0x36, 2, ...leb(at)];
export const store8 = (at: number): Bytes => [0x3a, 0, ...leb(at)];
export const storeF64 = (at: number): Bytes => [0x39, 3, ...leb(at)];
export const atomicLoad = (at: number): Bytes => [0xfe, 0x10, 2, ...leb(at)];
export const atomicStore = (at: number): Bytes => [0xfe, 0x17, 2, ...leb(at)];
/** `if` without a result; the condition is on the stack. */
export const when = (then: Bytes, otherwise?: Bytes): Bytes => [
  0x04,
  0x40,
  ...then,
  ...(otherwise ? [OP.else, ...otherwise] : []),
  OP.end,
];
/** `if` that leaves an i32. */
export const choose = (then: Bytes, otherwise: Bytes): Bytes => [
  0x04,
  VALUE.i!,
  ...then,
  OP.else,
  ...otherwise,
  OP.end,
];
export const branchIf = (depth: number): Bytes => [0x0d, ...leb(depth)];
export const branch = (depth: number): Bytes => [0x0c, ...leb(depth)];
