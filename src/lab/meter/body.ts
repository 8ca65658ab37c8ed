/**
 * Writes a function's body with the additions of the meter: as placement.ts decided, or one at the
 * head of each segment. It runs once over all the code, before any compiler has optimized it, so it
 * allocates no arrays.
 */
import { Point, turns, type Body, type Flow } from './flow.ts';
import type { Output } from './output.ts';
import { Edit, type Edits } from './placement.ts';

const I64 = 0x7e;
const VOID = 0x40;
const Code = {
  if: 0x04,
  end: 0x0b,
  br: 0x0c,
  localGet: 0x20,
  localSet: 0x21,
  globalGet: 0x23,
  globalSet: 0x24,
  i64Const: 0x42,
  i64Add: 0x7c,
} as const;
/** Maximum bytes of one edit. */
const EDIT_BYTES = 64;

interface Stats {
  segments: number;
  instructions: number;
}

/**
 * @param edits for a body that is not plain
 * @param global the counter's index
 * @param stats is added to
 */
export function writeBody(
  out: Output,
  bytes: Uint8Array,
  flow: Flow,
  body: Body,
  edits: Edits,
  global: number,
  stats: Stats,
): void {
  if (body.plain) atEachHead(out, bytes, flow, body, global);
  else asPlaced(out, bytes, flow, body, edits, global);
  const sizes = flow.size.values;
  const kinds = flow.kind.values;
  let size = 0;
  for (let p = body.firstPoint; p < body.pastPoint; p++) {
    size += sizes[p]!;
    if (!turns(kinds[p]! as Point)) continue;
    if (size) stats.segments++;
    stats.instructions += size;
    size = 0;
  }
}

/** An instruction on a global, a local, or a label. */
function write(out: Output, code: number, index: number): void {
  out.byte(code);
  out.u32(index);
}
function addToGlobal(out: Output, value: number, global: number): void {
  write(out, Code.globalGet, global);
  addConstant(out, value);
  write(out, Code.globalSet, global);
}
function addConstant(out: Output, value: number): void {
  out.byte(Code.i64Const);
  out.s32(value);
  out.byte(Code.i64Add);
}
function addToLocal(out: Output, value: number, local: number): void {
  write(out, Code.localGet, local);
  addConstant(out, value);
  write(out, Code.localSet, local);
}
/** global += local + value; local = 0 */
function flushLocal(out: Output, value: number, local: number, global: number): void {
  write(out, Code.localGet, local);
  write(out, Code.globalGet, global);
  out.byte(Code.i64Add);
  if (value !== 0) addConstant(out, value);
  write(out, Code.globalSet, global);
  out.byte(Code.i64Const);
  out.byte(0);
  write(out, Code.localSet, local);
}

function atEachHead(
  out: Output,
  bytes: Uint8Array,
  { kind, next, size: sizes }: Flow,
  body: Body,
  global: number,
): void {
  let from = body.start;
  let head = body.code;
  let size = 0;
  for (let p = body.firstPoint; p < body.pastPoint; p++) {
    size += sizes.values[p]!;
    if (!turns(kind.values[p]! as Point)) continue;
    if (size) {
      out.copy(bytes, from, head);
      out.reserve(EDIT_BYTES);
      addToGlobal(out, size, global);
      from = head;
    }
    head = next.values[p]!;
    size = 0;
  }
  out.copy(bytes, from, body.end);
}

function asPlaced(
  out: Output,
  bytes: Uint8Array,
  flow: Flow,
  body: Body,
  edits: Edits,
  global: number,
): void {
  const local = body.locals;
  let from = body.start;
  if (edits.local) {
    out.reserve(EDIT_BYTES);
    out.u32(body.localGroups + 1);
    out.copy(bytes, body.groups, body.code);
    out.reserve(EDIT_BYTES);
    out.byte(1);
    out.byte(I64);
    from = body.code;
  }
  for (let i = 0; i < edits.count; i++) {
    const point = edits.point[i]!;
    const kind = edits.kind[i]! as Edit;
    const value = edits.value[i]!;
    const at = flow.at.values[point]!;
    out.copy(bytes, from, at);
    from = at;
    out.reserve(EDIT_BYTES);
    const branch = kind >= Edit.branchAdd;
    if (branch) {
      out.byte(Code.if);
      out.byte(VOID);
    }
    if (kind === Edit.add || kind === Edit.branchAdd) addToLocal(out, value, local);
    else if (edits.local && (kind === Edit.flush || kind === Edit.branchFlush))
      flushLocal(out, value, local, global);
    else if (value !== 0) addToGlobal(out, value, global);
    if (branch) {
      write(out, Code.br, flow.more.values[point]! + 1);
      out.byte(Code.end);
      from = flow.next.values[point]!;
    }
  }
  out.copy(bytes, from, body.end);
}
