/**
 * The sweep of the time partition: goes through a thread's calls in order of their begin, keeps the open ones on stacks, and says
 * at every moment to which part it belongs and which call decides that. Rules: time-partition.ts.
 *
 * Only the tops of the stacks (the calls begun last) can decide, so a call that ends below the top is thrown away when it comes up:
 * every call is pushed and popped once, no sorting of ends.
 */
import type { EventColumns } from '../columns.ts';
import { toNs } from '../sweep.ts';
import { callsOf, Stack, STACKS, type Calls } from './time-calls.ts';
import { PART, PART_OF_OP, PARTS, Role, ROLE_OF_OP, WAIT } from './time-parts.ts';

/** Stacks of the calls that cannot overlap, only nest. */
const NESTS = (1 << Stack.tracer) | (1 << Stack.running);

/** Nanoseconds and clock readings by key and part: `key * PARTS.length + part`. */
export interface Sums {
  ns: Float64Array;
  /** Clock readings that bound the part's pieces. */
  readings: Float64Array;
  /** By key: calls whose end is not known. */
  openEnds: Uint32Array;
  /** Without keys: the part of the tracer's time in which no SQL was in flight. */
  tracerOutsideNs: number;
}

/** Places in TimeSweep.times: typed, so that the hot loop allocates nothing. */
const UNTIL = 0;
const CURSOR = 1;

export class TimeSweep {
  /** Told every stretch that is summed up without keys: nanoseconds, and the part that it belongs to. */
  onPiece: ((fromNs: number, toNs: number, part: number) => void) | null = null;
  private readonly calls: Calls;
  private readonly rows: Int32Array[];
  private readonly depth = new Int32Array(STACKS);
  /** UNTIL: the moment up to which nothing known changes the decision. CURSOR: everything before is summed up. Nanoseconds. */
  private readonly times = new Float64Array(2);
  /** The call that decided, or -1, and the place in the sums that it decided for. */
  private winner = -1;
  private place = -1;
  private keyOf: Uint32Array | null = null;
  /** The tracer is at work, and no SQL in flight. */
  private tracerOutside = false;
  private sums: Sums = { ns: new Float64Array(0), readings: new Float64Array(0), openEnds: new Uint32Array(0), tracerOutsideNs: 0 };

  constructor(private readonly events: EventColumns) {
    this.calls = callsOf(events);
    this.rows = Array.from({ length: STACKS }, () => new Int32Array(64));
  }

  get firstNs(): number {
    return this.calls.firstNs;
  }
  get lastNs(): number {
    return this.calls.lastNs;
  }

  /**
   * Sum up [fromNs, toNs).
   * @param keyOf a key per row, 0 = unknown; with it only the time with SQL in flight is summed
   */
  run(fromNs: number, toNsExclusive: number, keyOf: Uint32Array | null = null, keys = 1): Sums {
    const { stacks, end } = this.calls;
    const { t0, seq, endSeq, count } = this.events;
    const places = keys * PARTS.length;
    const sums = { ns: new Float64Array(places), readings: new Float64Array(places), openEnds: new Uint32Array(keys), tracerOutsideNs: 0 };
    this.sums = sums;
    this.keyOf = keyOf;
    this.depth.fill(0);
    this.winner = this.place = -1;
    this.tracerOutside = false;
    this.times[UNTIL] = -Infinity;
    this.times[CURSOR] = fromNs;
    for (let row = 0; row < count; row++) {
      const on = stacks[row]!;
      if (on === 0 || end[row]! < fromNs) continue;
      const t = toNs(t0[row]!);
      if (t >= toNsExclusive) break;
      this.advance(t);
      if (endSeq[row] === 0) sums.openEnds[keyOf ? keyOf[row]! : 0]!++;
      this.moment(t, seq[row]!);
      for (let rest = on; rest; rest &= rest - 1) this.push(31 - Math.clz32(rest & -rest), row);
      const before = this.place;
      this.decide(t, seq[row]!);
      // also where the clock saw no time; a synchronous call nests, so its end is a border between the same two
      if (this.place !== before) this.border(before, on & NESTS ? 2 : 1);
    }
    this.advance(toNsExclusive);
    return sums;
  }

  private push(s: number, row: number): void {
    const n = this.depth[s]!++;
    let rows = this.rows[s]!;
    if (n === rows.length) {
      rows = new Int32Array(n * 2);
      rows.set(this.rows[s]!);
      this.rows[s] = rows;
    }
    rows[n] = row;
  }

  /** Sum up to `to`. */
  private advance(to: number): void {
    const { times } = this;
    while (times[CURSOR]! < to) {
      this.moment(times[CURSOR]!, Infinity);
      const next = Math.min(times[UNTIL]!, to);
      if (this.place >= 0) this.sums.ns[this.place]! += next - times[CURSOR]!;
      if (this.tracerOutside) this.sums.tracerOutsideNs += next - times[CURSOR]!;
      this.onPiece?.(times[CURSOR]!, next, this.place);
      times[CURSOR] = next;
    }
  }

  /** `decide` where needed; a suspended call that has just ended has its last reading on the border that this makes. */
  private moment(t: number, seq: number): void {
    if (t < this.times[UNTIL]!) return; // nothing that decided has ended
    const { winner, place } = this;
    this.decide(t, seq);
    if (this.place !== place && winner >= 0 && this.calls.end[winner]! <= t && !(this.calls.stacks[winner]! & NESTS)) this.border(place, 1);
  }

  /** Count readings between a place and the present one. */
  private border(before: number, readings: number): void {
    if (before >= 0) this.sums.readings[before]! += readings;
    if (this.place >= 0) this.sums.readings[this.place]! += readings;
  }

  /** The call begun last of those on a stack that are open at `t`, just before sequence number `seq`; -1 without one. */
  private consult(s: number, t: number, seq: number): number {
    const rows = this.rows[s]!;
    const { end } = this.calls;
    for (let n = this.depth[s]!; n > 0; n--) {
      const row = rows[n - 1]!;
      const ends = end[row]!;
      if (ends > t || (ends === t && this.events.endSeq[row]! > seq)) {
        this.depth[s] = n;
        if (ends < this.times[UNTIL]!) this.times[UNTIL] = ends; // the decision hangs on it
        return row;
      }
    }
    this.depth[s] = 0;
    return -1;
  }

  /** Which call decides on the moment `t`, and for which place; calls that end or begin at `t` are open or not by `seq`. */
  private decide(t: number, seq: number): void {
    this.times[UNTIL] = Infinity;
    const engine = this.consult(Stack.engine, t, seq);
    const part = this.partAt(t, seq, engine);
    const { keyOf } = this;
    this.tracerOutside = engine < 0 && part === PART.tracer && !keyOf;
    this.place = !keyOf ? part : engine < 0 ? -1 : (keyOf[this.winner]! || keyOf[engine]!) * PARTS.length + part;
  }

  /** @param engine the SQL or VFS call begun last, or -1 */
  private partAt(t: number, seq: number, engine: number): number {
    const { op } = this.events;
    let row = this.consult(Stack.tracer, t, seq);
    if (row >= 0) return this.by(row, PART.tracer);
    if (engine < 0) {
      row = this.consult(Stack.storage, t, seq);
      return this.by(row, row >= 0 ? PART.outside : PART.idle);
    }
    row = this.consult(Stack.running, t, seq);
    if (row >= 0) return ROLE_OF_OP[op[row]!] === Role.web ? this.web(row, t, seq) : this.by(row, PART.cpu);
    const vfs = this.consult(Stack.vfs, t, seq);
    row = this.consult(vfs >= 0 ? Stack.request : Stack.directRequest, t, seq);
    if (row >= 0) return this.web(row, t, seq);
    row = this.consult(vfs >= 0 ? Stack.transaction : Stack.directTransaction, t, seq);
    if (row >= 0) return this.by(row, PART.idbTransaction);
    if (vfs < 0) return this.by(engine, PART.cpu);
    return this.by(vfs, PART_OF_OP[op[vfs]!] === PART.lock ? PART.lock : PART.other);
  }

  private by(row: number, part: number): number {
    this.winner = row;
    return part;
  }

  /** A web call decides: a wait is what the VFS call around it is for. */
  private web(row: number, t: number, seq: number): number {
    const part = PART_OF_OP[this.events.op[row]!]!;
    if (part !== WAIT) return this.by(row, part);
    const vfs = this.consult(Stack.vfs, t, seq);
    return this.by(row, vfs < 0 ? PART.other : PART_OF_OP[this.events.op[vfs]!]!);
  }
}
