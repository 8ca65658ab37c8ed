/**
 * A module's code as the meter needs it: the points where control flow may turn, and the count
 * between them. One pass over all bodies. placement.ts decides from these numbers, without reading
 * the code again.
 *
 * A segment is straight-line code. It ends after each point except `block` and calls, which it
 * continues past.
 */
import { ends, instruction, plainOnes, weightAt, weightsOf, type Counted } from './instructions.ts';
import type { ModuleInfo } from './module-info.ts';
import { MeterError, type WasmReader } from './reader.ts';

export const enum Point {
  none,
  block,
  loop,
  if,
  else,
  end,
  br,
  brIf,
  brTable,
  return,
  unreachable,
  /** Of a function of this module. */
  call,
  /** A callee that is only known at run time, or imported. */
  callOut,
  /** Exceptions, tail calls, and similar: ends a segment. */
  other,
}
/** A segment ends after it. */
export const turns = (point: Point): boolean =>
  point !== Point.block && point !== Point.call && point !== Point.callOut;

/** By opcode. */
const POINTS = new Uint8Array(256);
const points: readonly (readonly [number, Point])[] = [
  ...([
    [0x00, Point.unreachable],
    [0x02, Point.block],
    [0x03, Point.loop],
    [0x04, Point.if],
    [0x05, Point.else],
  ] as const),
  ...([
    [0x0b, Point.end],
    [0x0c, Point.br],
    [0x0d, Point.brIf],
    [0x0e, Point.brTable],
    [0x0f, Point.return],
  ] as const),
  ...([
    [0x10, Point.call],
    [0x11, Point.callOut],
    [0x14, Point.callOut],
  ] as const),
];
for (const [op, point] of points) POINTS[op] = point;
/** Points that are an instruction. */
const isInstruction = (point: Point): number => (point >= Point.br || point === Point.if ? 1 : 0);

/** Numbers in columns that grow. */
class Column {
  values: Int32Array;
  count = 0;
  constructor(expected: number) {
    this.values = new Int32Array(expected);
  }
  /** Call it before writing directly into `values`. */
  reserve(more: number): void {
    if (this.count + more <= this.values.length) return;
    const larger = new Int32Array(Math.max(this.values.length * 2, this.count + more));
    larger.set(this.values);
    this.values = larger;
  }
  push(value: number): void {
    if (this.count === this.values.length) this.reserve(1);
    this.values[this.count++] = value;
  }
}

/**
 * For each function: where its points begin in the columns of `Flow`, and what rules out potentials
 * (placement.ts).
 */
export interface Body {
  /**
   * Bytes: after the length, after the number of groups of locals, after these, after the last
   * `end`.
   */
  readonly start: number;
  readonly groups: number;
  readonly code: number;
  readonly end: number;
  readonly localGroups: number;
  /** Index of the first free local. */
  readonly locals: number;
  readonly firstPoint: number;
  readonly pastPoint: number;
  /** Its own label; those of its blocks follow. */
  readonly label: number;
  /** It contains something that requires counting at each segment's head. */
  readonly plain: boolean;
}

export class Flow {
  readonly kind: Column;
  /** The position of the instruction in the module, and of the next one. */
  readonly at: Column;
  readonly next: Column;
  /** The count since the previous point, with this one. */
  readonly size: Column;
  /**
   * By kind: label that is opened or branched to; first of the branch table's labels; called
   * function.
   */
  readonly arg: Column;
  /** By kind: depth of the branch; number of the table's labels; whether an `if` has an `else`. */
  readonly more: Column;
  readonly tables = new Column(1 << 12);
  /** Of each label: whether a branch to it carries values, and whether it is a loop's. */
  readonly carries = new Column(1 << 16);
  readonly loops = new Column(1 << 16);
  readonly bodies: Body[] = [];
  /** Labels of the open constructs, innermost last, and the point that opened each. */
  private readonly open: number[] = [];
  private readonly opened: number[] = [];

  /** @param codeBytes of all bodies */
  constructor(
    private readonly r: WasmReader,
    private readonly info: ModuleInfo,
    codeBytes: number,
    private readonly counted: Counted = 'instructions',
  ) {
    const points = (): Column => new Column(Math.ceil(codeBytes / 4));
    [this.kind, this.at, this.next, this.size, this.arg, this.more] = [
      points(),
      points(),
      points(),
      points(),
      points(),
      points(),
    ];
  }

  /** The next body, after its length. @throws MeterError */
  read(end: number): void {
    const { r, info, kind, carries } = this;
    const start = r.at;
    const type = info.types?.[info.functionTypes[this.bodies.length]!] ?? null;
    let locals = type?.params ?? 0;
    const localGroups = r.u32();
    const groups = r.at;
    for (let left = localGroups; left > 0; left--) {
      locals += r.u32();
      r.skipType();
    }
    const code = r.at;
    const firstPoint = kind.count;
    const label = carries.count;
    carries.push(type?.results ?? 1);
    this.loops.push(0);
    this.open.length = this.opened.length = 0;
    this.open.push(label);
    this.opened.push(-1);
    const good = this.readPoints(end);
    if (r.at !== end)
      throw new MeterError(`its last instruction ends at byte ${r.at}, its body at ${end}`);
    // the compiler rejects wrong nesting
    const plain = type === null || !good || this.open.length > 0;
    this.bodies.push({
      start,
      groups,
      code,
      end,
      localGroups,
      locals,
      firstPoint,
      pastPoint: kind.count,
      label,
      plain,
    });
  }

  /** @returns whether potentials work with all of it */
  private readPoints(end: number): boolean {
    const { r, kind, counted } = this;
    const weights = weightsOf(counted);
    const all = counted === 'instructions' ? 1 : 0;
    for (const column of [kind, this.at, this.next, this.size, this.arg, this.more])
      column.reserve(end - r.at);
    const kinds = kind.values;
    const ats = this.at.values;
    const nexts = this.next.values;
    const sizes = this.size.values;
    let n = kind.count;
    let good = true;
    let size = 0;
    while (r.at < end) {
      size += plainOnes(r, end, weights);
      const at = r.at;
      if (at >= end) break;
      let point = POINTS[r.bytes[at]!]! as Point;
      if (point === Point.none) {
        const entry = instruction(r);
        size += weightAt(r.bytes, at, counted);
        if (!ends(entry)) continue;
        point = Point.other;
        good = false;
      } else {
        r.at = at + 1;
        size += all * isInstruction(point);
        if (!this.detail(point, n)) good = false;
      }
      kinds[n] = point;
      ats[n] = at;
      nexts[n] = r.at;
      sizes[n++] = size;
      size = 0;
    }
    kind.count =
      this.at.count =
      this.next.count =
      this.size.count =
      this.arg.count =
      this.more.count =
        n;
    return good;
  }

  /**
   * Reads what follows a point's opcode, into `arg` and `more`.
   * @returns whether potentials work with it
   */
  private detail(point: Point, n: number): boolean {
    const { r, open, opened } = this;
    const args = this.arg.values;
    const more = this.more.values;
    more[n] = 0;
    switch (point) {
      case Point.block:
      case Point.loop:
      case Point.if:
        args[n] = this.carries.count;
        open.push(this.carries.count);
        opened.push(n);
        return this.label(point === Point.loop);
      case Point.else:
        args[n] = open.at(-1) ?? 0;
        if (open.length < 2) return false;
        more[opened.at(-1)!] = 1;
        return true;
      case Point.end:
        args[n] = open.at(-1) ?? 0;
        opened.pop();
        return open.pop() !== undefined;
      case Point.br:
      case Point.brIf: {
        const depth = r.u32();
        more[n] = depth;
        args[n] = open[open.length - 1 - depth] ?? 0;
        return depth < open.length;
      }
      case Point.brTable:
        return this.table(n);
      case Point.call:
        args[n] = r.u32();
        return true;
      case Point.callOut: {
        const indirect = r.bytes[r.at - 1] === 0x11;
        r.skipLeb();
        if (indirect) r.skipLeb();
        args[n] = 0;
        return true;
      }
      default:
        args[n] = 0;
        return true;
    }
  }

  /** @returns false where it leads out of the function, where nothing can be inserted */
  private table(n: number): boolean {
    const { r, open } = this;
    let good = true;
    this.arg.values[n] = this.tables.count;
    const labels = r.u32() + 1;
    this.more.values[n] = labels;
    for (let i = 0; i < labels; i++) {
      const label = open[open.length - 1 - r.u32()];
      if (label === undefined || label === open[0]) good = false;
      this.tables.push(label ?? 0);
    }
    return good;
  }

  /** A new label, with the block's type at the reader. @returns whether the type is known */
  private label(isLoop: boolean): boolean {
    const { r, info } = this;
    const byte = r.bytes[r.at]!;
    let carries: number | undefined;
    if ((byte & 0xc0) === 0x40) {
      carries = byte === 0x40 || isLoop ? 0 : 1;
      r.skipLeb();
    } else {
      const type = info.types?.[r.u32()];
      carries = type && (isLoop ? type.params : type.results);
    }
    this.carries.push(carries ?? 1);
    this.loops.push(isLoop ? 1 : 0);
    return carries !== undefined;
  }
}
