/**
 * Where a function counts, with as few additions as its shape allows. A simple meter adds at each
 * segment. Here, a local differs from the true count by the potential, a number that is known at
 * every point of the code: count = global + local + potential. Straight-line code raises the
 * potential and costs nothing. Where paths meet, their potentials must be equal: the first path to
 * arrive sets it, and the others add the difference to the local. Before control leaves the module
 * (a call that may reach an import, the end of the function), everything goes into the global. So
 * every reader sees exactly the count of a meter that adds at each segment's head.
 *
 *   loop { a; br_if out; b; br loop }    a + b is added once a turn, before the branch back, and nothing at the first branch
 *   if c { a }                           the count is added after a; other paths pay nothing
 *
 * A rarely taken branch (forward, out of a block) adds after itself: `br_if L` becomes
 * `if { add; br L }`.
 */
import { Point, turns, type Body, type Flow } from './flow.ts';

export const enum Edit {
  /** local += value */
  add,
  /** global += local + value; local = 0 */
  flush,
  /** The same, of a local that is 0. */
  flushValue,
  /** Instead of a br_if: `if { edit; br }`, with what is to be done as one of those above. */
  branchAdd,
  branchFlush,
  branchFlushValue,
}

/** Edits of a body, in the order of the code. One object for all functions, refilled for each. */
export class Edits {
  readonly kind: number[] = [];
  /** Point before which it goes; for a branch, the point that it replaces. */
  readonly point: number[] = [];
  readonly value: number[] = [];
  count = 0;
  /** The local is needed. */
  local = false;

  clear(): void {
    this.count = 0;
    this.local = false;
  }
  push(kind: Edit, point: number, value: number): void {
    this.kind[this.count] = kind;
    this.point[this.count] = point;
    this.value[this.count++] = value;
    if (kind === Edit.add || kind === Edit.branchAdd) this.local = true;
  }
}

const UNSET = -0x80000000;

export class Placement {
  /**
   * All labels in a branch table share one potential: `same[label]` leads to the label that stores
   * it.
   */
  private readonly same: Int32Array;
  private readonly potential: Int32Array;
  /** A branch comes to it. */
  private readonly reached: Uint8Array;
  /** Every branch comes to it with a local of 0. */
  private readonly zero: Uint8Array;
  /** For an `if`, by its label: potential, reached, and zero of its condition. */
  private readonly before: Int32Array;
  private readonly beforeState: Uint8Array;
  private phi = 0;
  private live = true;
  private isZero = true;

  /** @param outward by function of the module */
  constructor(
    private readonly flow: Flow,
    private readonly outward: Uint8Array,
    private readonly importedFunctions: number,
    private readonly edits: Edits,
  ) {
    const n = flow.carries.count;
    this.same = new Int32Array(n);
    for (let i = 0; i < n; i++) this.same[i] = i;
    this.potential = new Int32Array(n).fill(UNSET);
    this.reached = new Uint8Array(n);
    this.zero = new Uint8Array(n).fill(1);
    this.before = new Int32Array(n);
    this.beforeState = new Uint8Array(n);
  }

  /** Fills the edits for a body that isn't plain. */
  place(body: Body): void {
    const { flow, edits } = this;
    const kind = flow.kind.values;
    const size = flow.size.values;
    edits.clear();
    this.unite(body);
    this.phi = 0;
    this.live = this.isZero = true;
    let segment = body.firstPoint;
    for (let p = segment; p < body.pastPoint; p++) {
      const point = kind[p]! as Point;
      if (p === segment) {
        let q = p;
        this.phi += size[q]!; // the whole segment: instructions after a call count before it
        while (!turns(kind[q]! as Point)) this.phi += size[++q]!;
      }
      if (!turns(point)) {
        if (point !== Point.block && this.live && this.leads(point, flow.arg.values[p]!))
          this.flush(p);
        continue;
      }
      this.turn(point, p, body);
      segment = p + 1;
    }
  }

  private leads(point: Point, callee: number): boolean {
    if (point === Point.callOut) return true;
    const own = callee - this.importedFunctions;
    return own < 0 || this.outward[own] === 1;
  }

  private turn(point: Point, p: number, body: Body): void {
    const label = this.flow.arg.values[p]!;
    switch (point) {
      case Point.loop:
        if (this.live) this.arrive(label, p);
        this.isZero = false; // its turns may have added
        break;
      case Point.if:
        if (this.live && !this.flow.more.values[p]) this.arrive(label, p);
        this.before[label] = this.phi;
        this.beforeState[label] = (this.live ? 1 : 0) | (this.isZero ? 2 : 0);
        break;
      case Point.else:
        if (this.live) this.arrive(label, p);
        this.phi = this.before[label]!;
        this.live = (this.beforeState[label]! & 1) !== 0;
        this.isZero = (this.beforeState[label]! & 2) !== 0;
        break;
      case Point.end:
        if (label === body.label) {
          if (this.live) this.flush(p);
        } else if (!this.flow.loops.values[label]) {
          if (this.live) this.arrive(label, p);
          this.live = this.reached[label] === 1;
          this.isZero = this.zero[label] === 1;
          if (this.live) this.phi = this.potential[this.root(label)]!;
        }
        break;
      case Point.br:
        if (this.live) {
          if (label === body.label) this.flush(p);
          else this.arrive(label, p);
        }
        this.live = false;
        break;
      case Point.brIf:
        if (this.live) this.branchIf(label, p, body);
        break;
      case Point.brTable:
        if (this.live) {
          // for a table, `label` is the start of its own labels
          const past = label + this.flow.more.values[p]!;
          for (let i = label; i < past; i++) this.arrive(this.flow.tables.values[i]!, p);
        }
        this.live = false;
        break;
      case Point.return:
        if (this.live) this.flush(p);
        this.live = false;
        break;
      default:
        this.live = false; // unreachable: a trap
    }
  }

  private branchIf(label: number, p: number, body: Body): void {
    const { flow, edits } = this;
    const carries = flow.carries.values[label] !== 0;
    if (label === body.label) {
      if (carries) this.flush(p);
      else edits.push(this.isZero ? Edit.branchFlushValue : Edit.branchFlush, p, this.phi);
      return;
    }
    const there = this.potential[this.root(label)]!;
    if (there === UNSET || there === this.phi || carries || flow.loops.values[label]) {
      this.arrive(label, p);
      return;
    }
    edits.push(Edit.branchAdd, p, this.phi - there);
    this.reached[label] = 1;
    this.zero[label] = 0;
  }

  /** Control reaches a label from here, with its potential. */
  private arrive(label: number, p: number): void {
    const root = this.root(label);
    const there = this.potential[root]!;
    if (there === UNSET) this.potential[root] = this.phi;
    else if (there !== this.phi) {
      this.edits.push(Edit.add, p, this.phi - there);
      this.phi = there;
      this.isZero = false;
    }
    this.reached[label] = 1;
    if (!this.isZero) this.zero[label] = 0;
  }

  private flush(p: number): void {
    if (this.phi !== 0 || !this.isZero)
      this.edits.push(this.isZero ? Edit.flushValue : Edit.flush, p, this.phi);
    this.phi = 0;
    this.isZero = true;
  }

  private root(label: number): number {
    const { same } = this;
    let at = label;
    while (same[at] !== at) at = same[at]!;
    return at;
  }
  private unite({ firstPoint, pastPoint }: Body): void {
    const { flow, same } = this;
    for (let p = firstPoint; p < pastPoint; p++) {
      if (flow.kind.values[p] !== Point.brTable) continue;
      const from = flow.arg.values[p]!;
      const past = from + flow.more.values[p]!;
      const first = this.root(flow.tables.values[from]!);
      for (let i = from + 1; i < past; i++) same[this.root(flow.tables.values[i]!)] = first;
    }
  }
}
