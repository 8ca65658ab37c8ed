/**
 * The sweep of the time partition: goes through a thread's calls in order of their begin, keeps the
 * open ones on stacks, and finds the part of every moment and the call that decides it. Rules:
 * time-partition.ts.
 *
 * Only the tops of the stacks (the calls begun last) can decide, so a call that ends below the top
 * is dropped when it reaches the top: every call is pushed and popped once, without sorting ends.
 */
import type { EventColumns } from '../../trace/columns.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { toNs } from '../../trace/lanes/sweep.ts';
import { isInMemory } from '../../trace/in-memory.ts';
import { storageIsUnseen } from '../core/layers.ts';
import { Calls, Stack, STACKS } from '../core/time-calls.ts';
import { isStorage, PART, PART_OF_OP, PARTS, Role, ROLE_OF_OP, WAIT } from '../core/time-parts.ts';
import type { LockWaitTimes } from '../locks/lock-waits.ts';
import type { TimeKeeper } from './time-shares.ts';

/** Stacks of calls that can only nest, not overlap. */
const NESTS = (1 << Stack.tracer) | (1 << Stack.running);
/** Of a synchronous SQL or VFS call. */
const RUNNING_ENGINE = (1 << Stack.running) | (1 << Stack.engine);
/** Of a synchronous VFS call. */
const RUNNING_VFS = RUNNING_ENGINE | (1 << Stack.vfs);
/** Rows processed at once. */
const STRETCH = 4096;

export interface Sums {
  /** Nanoseconds by part. */
  ns: Float64Array;
  /** Clock readings that bound the part's pieces. */
  readings: Float64Array;
  /** Calls whose end isn't known. */
  openEnds: number;
  /** The part of the tracer's time while no SQL ran. */
  tracerOutsideNs: number;
}

/**
 * Indices in TimeSweep.times. Typed, and never an argument or a result of a method, because passing
 * a fraction or a large number between functions allocates an object.
 */
const UNTIL = 0;
const CURSOR = 1;
/** The moment that is being decided. */
const AT = 2;
/** Begin and end of the call that is being taken in. */
const BEGIN = 3;
const END = 4;

/**
 * The position in a list of borders (from, to, from, ...) that is looked up at ascending moments.
 */
class Borders {
  private next = 0;
  constructor(private readonly ns: Float64Array) {}

  rewind(): void {
    this.next = 0;
  }
  /** Whether the moment AT is covered; UNTIL is moved back to where that changes. */
  cover(times: Float64Array): boolean {
    const { ns } = this;
    while (ns[this.next]! <= times[AT]!) this.next++;
    if (ns[this.next]! < times[UNTIL]!) times[UNTIL] = ns[this.next]!;
    return this.next % 2 === 1;
  }
}

export class TimeSweep {
  /**
   * Called for every interval that is summed: nanoseconds, its part, and its place in the shares
   * (-1 = none).
   */
  onPiece: ((fromNs: number, toNs: number, part: number, place: number) => void) | null = null;
  private readonly calls: Calls;
  /**
   * From the bottom of each stack, at `stack * room`: `row * 2`, + 1 if the call only nests; and
   * its end, nanoseconds.
   */
  private room = 64;
  private rows = new Int32Array(STACKS * 64);
  private ends = new Float64Array(STACKS * 64);
  private readonly depth = new Int32Array(STACKS);
  /**
   * UNTIL: the moment until which the decision can't change. CURSOR: everything before is summed.
   * Nanoseconds.
   */
  private readonly times = new Float64Array(5);
  /** The deciding call, as on a stack, or -1; its part, and its place in the shares: -1 = none. */
  private winner = -1;
  private part = -1;
  private share = -1;
  private shares: TimeKeeper | null = null;
  /** The tracer is at work, and no SQL runs. */
  private tracerOutside = false;
  private sums: Sums = {
    ns: new Float64Array(0),
    readings: new Float64Array(0),
    openEnds: 0,
    tracerOutsideNs: 0,
  };

  private readonly events: EventColumns;
  /**
   * VFS calls stand for the storage below them, because no storage call of the thread was recorded.
   */
  readonly vfsIsStorage: boolean;
  /** A synchronous VFS call without calls inside is only cpu, like the call around it. */
  private readonly isPlain: boolean;

  private readonly held: Borders;
  private readonly busy: Borders;

  /**
   * @param waits of the thread for locks @param app its IndexedDB databases and stores that SQLite
   * doesn't use
   */
  constructor(
    readonly thread: ThreadStore,
    private readonly waits: LockWaitTimes,
    app: ReadonlySet<number>,
  ) {
    this.held = new Borders(waits.held);
    this.busy = new Borders(waits.busy);
    this.events = thread.events;
    this.calls = new Calls(thread, app);
    this.vfsIsStorage = storageIsUnseen(thread);
    this.isPlain = !this.vfsIsStorage && waits.busy.length === 0;
  }

  get firstNs(): number {
    return this.calls.firstNs;
  }
  get lastNs(): number {
    return this.calls.lastNs;
  }

  /** Sum [fromNs, toNs). @param shares also sums the time while SQL runs, by its places */
  run(fromNs: number, toNsExclusive: number, shares: TimeKeeper | null = null): Sums {
    const { count } = this.events;
    const sums = {
      ns: new Float64Array(PARTS.length),
      readings: new Float64Array(PARTS.length),
      openEnds: 0,
      tracerOutsideNs: 0,
    };
    this.sums = sums;
    this.shares = shares;
    this.depth.fill(0);
    this.winner = this.part = this.share = -1;
    this.tracerOutside = false;
    this.times[UNTIL] = -Infinity;
    this.times[CURSOR] = fromNs;
    this.calls.rewind();
    this.held.rewind();
    this.busy.rewind();
    // a function that is called often is compiled sooner than a loop inside it
    for (let row = 0; row < count; row += STRETCH)
      if (!this.take(row, Math.min(count, row + STRETCH), fromNs, toNsExclusive)) break;
    this.times[BEGIN] = toNsExclusive;
    this.advance();
    return sums;
  }

  /** The next rows. @returns false if one begins after the range */
  private take(first: number, behind: number, fromNs: number, toNsExclusive: number): boolean {
    const { calls, sums, shares, depth, times } = this;
    const { t0, dur, seq, endSeq, count } = this.events;
    for (let row = first; row < behind; row++) {
      const on = calls.stacksOf(row);
      if (on === 0) continue;
      const t = toNs(t0[row]!);
      const end =
        endSeq[row] === 0 || calls.isCut ? calls.endOf(row) : t + Math.max(0, toNs(dur[row]!));
      if (end < fromNs) continue;
      if (t >= toNsExclusive) return false;
      if (
        on === RUNNING_VFS &&
        this.isPlain &&
        (row + 1 === count || seq[row + 1]! > endSeq[row]!) &&
        t < times[UNTIL]! &&
        end <= times[UNTIL]! &&
        this.goesOn(row)
      )
        continue; // most calls are such
      times[BEGIN] = t;
      times[END] = end;
      this.advance();
      if (endSeq[row] === 0) {
        sums.openEnds++;
        if (shares) shares.openEnds[shares.placeOf(row)]!++;
      }
      times[AT] = t;
      this.moment(seq[row]!);
      const entry = row * 2 + (on & NESTS ? 1 : 0);
      for (let rest = on; rest; rest &= rest - 1) this.push(31 - Math.clz32(rest & -rest), entry);
      const { part, share } = this;
      if (
        (on & RUNNING_ENGINE) === RUNNING_ENGINE &&
        depth[Stack.tracer] === 0 &&
        endSeq[row]! > seq[row]!
      )
        this.decideFor(entry);
      else this.decide(seq[row]!);
      // also if the clock saw no time pass; a synchronous call nests, so its end is a border
      // between the same two
      this.border(part, share, on & NESTS ? 2 : 1);
    }
    return true;
  }

  /**
   * The decision is for a synchronous SQL or VFS call, and would be the same for a call inside it.
   */
  private goesOn(row: number): boolean {
    const { winner, shares } = this;
    return (
      this.part === PART.cpu &&
      winner >= 0 &&
      (winner & 1) === 1 &&
      (!shares || shares.placeOf(row) * PARTS.length + PART.cpu === this.share)
    );
  }

  /**
   * Push the call onto a stack, replacing those on top that have ended before it, because they
   * can't decide any more.
   */
  private push(s: number, entry: number): void {
    const { times, depth } = this;
    let n = depth[s]!;
    while (n > 0 && this.ends[s * this.room + n - 1]! < times[BEGIN]!) n--;
    if (n === this.room) this.grow();
    this.rows[s * this.room + n] = entry;
    this.ends[s * this.room + n] = times[END]!;
    depth[s] = n + 1;
  }

  private grow(): void {
    const { room, rows, ends } = this;
    this.room = room * 2;
    this.rows = new Int32Array(STACKS * this.room);
    this.ends = new Float64Array(STACKS * this.room);
    for (let s = 0; s < STACKS; s++) {
      this.rows.set(rows.subarray(s * room, (s + 1) * room), s * this.room);
      this.ends.set(ends.subarray(s * room, (s + 1) * room), s * this.room);
    }
  }

  /** Sum up to BEGIN. */
  private advance(): void {
    const { times, sums, shares } = this;
    while (times[CURSOR]! < times[BEGIN]!) {
      times[AT] = times[CURSOR]!;
      this.moment(Infinity);
      const next = Math.min(times[UNTIL]!, times[BEGIN]!);
      const ns = next - times[CURSOR]!;
      sums.ns[this.part]! += ns;
      if (shares && this.share >= 0) shares.ns[this.share]! += ns;
      if (this.tracerOutside) sums.tracerOutsideNs += ns;
      this.onPiece?.(
        times[CURSOR]!,
        next,
        this.tracerOutside ? PART.idle : this.part,
        this.share < 0 ? -1 : (this.share - this.part) / PARTS.length,
      );
      times[CURSOR] = next;
    }
  }

  /**
   * Calls `decide` if needed. The last reading of a suspended call that has just ended is on the
   * border that this makes.
   */
  private moment(seq: number): void {
    const { times } = this;
    if (times[AT]! < times[UNTIL]!) return; // nothing that decided has ended
    const { winner, part, share } = this;
    this.decide(seq);
    if (
      (this.part !== part || this.share !== share) &&
      winner >= 0 &&
      (winner & 1) === 0 &&
      this.calls.endOf(winner >> 1) <= times[AT]!
    )
      this.border(part, share, 1);
  }

  /** Count readings if the part, or the share, has changed. */
  private border(part: number, share: number, readings: number): void {
    if (this.part !== part) {
      if (part >= 0) this.sums.readings[part]! += readings;
      this.sums.readings[this.part]! += readings;
    }
    const { shares } = this;
    if (!shares || this.share === share) return;
    if (share >= 0) shares.readings[share]! += readings;
    if (this.share >= 0) shares.readings[this.share]! += readings;
  }

  /**
   * The call that began last among those on a stack that are open at AT, just before sequence
   * number `seq`, as on the stack; -1 without one.
   */
  private consult(s: number, seq: number): number {
    const { rows, ends, times } = this;
    const at = times[AT]!;
    const bottom = s * this.room;
    for (let top = bottom + this.depth[s]! - 1; top >= bottom; top--) {
      const end = ends[top]!;
      if (end > at || (end === at && this.events.endSeq[rows[top]! >> 1]! > seq)) {
        this.depth[s] = top - bottom + 1;
        if (end < times[UNTIL]!) times[UNTIL] = end; // the decision depends on it
        return rows[top]!;
      }
    }
    this.depth[s] = 0;
    return -1;
  }

  /**
   * The same for the moment at which a synchronous SQL or VFS call begins, while the tracer doesn't
   * work: the call itself decides.
   */
  private decideFor(entry: number): void {
    const { shares, times } = this;
    times[UNTIL] = times[END]!;
    this.winner = entry;
    this.part = this.waited(this.running(entry));
    this.tracerOutside = false;
    if (shares) this.share = shares.placeOf(entry >> 1) * PARTS.length + this.part;
  }

  /** The part of a synchronous SQL or VFS call. */
  private running(entry: number): number {
    const { op: ops } = this.events;
    if (!this.vfsIsStorage || isInMemory(this.events, entry >> 1)) return PART.cpu;
    const op = ops[entry >> 1]!;
    const part = ROLE_OF_OP[op] === Role.vfs ? PART_OF_OP[op]! : PART.cpu;
    return part === PART.other ? PART.cpu : part;
  }

  /**
   * Finds the call that decides the moment AT, and its part. Calls that end or begin then are open
   * or not by `seq`.
   */
  private decide(seq: number): void {
    this.times[UNTIL] = Infinity;
    const engine = this.consult(Stack.engine, seq);
    const part = this.waited(this.partAt(seq, engine));
    const { shares } = this;
    this.part = part;
    this.tracerOutside = engine < 0 && part === PART.tracer;
    if (shares && engine < 0) this.share = -1;
    else if (shares)
      this.share = shares.placeAt(this.winner >> 1, engine >> 1) * PARTS.length + part;
  }

  /** @param engine the SQL or VFS call that began last, or -1 */
  private partAt(seq: number, engine: number): number {
    const { op } = this.events;
    let entry = this.consult(Stack.tracer, seq);
    if (entry >= 0) return this.by(entry, PART.tracer);
    if (engine < 0) {
      entry = this.consult(Stack.storage, seq);
      return this.by(entry, entry >= 0 ? PART.outside : PART.idle);
    }
    entry = this.consult(Stack.running, seq);
    if (entry >= 0)
      return ROLE_OF_OP[op[entry >> 1]!] === Role.web
        ? this.web(entry, seq)
        : this.by(entry, this.running(entry));
    const vfs = this.consult(Stack.vfs, seq);
    entry = this.consult(vfs >= 0 ? Stack.request : Stack.directRequest, seq);
    if (entry >= 0) return this.web(entry, seq);
    entry = this.consult(vfs >= 0 ? Stack.transaction : Stack.directTransaction, seq);
    if (entry >= 0) return this.by(entry, PART.idbTransaction);
    if (vfs < 0) return this.by(engine, PART.cpu);
    const part = PART_OF_OP[op[vfs >> 1]!]!;
    return this.by(vfs, this.vfsIsStorage || part === PART.lock ? part : PART.other);
  }

  /** The part, or `lockWait` instead if a holder blocked it. */
  private waited(part: number): number {
    const { waits, times } = this;
    let waited = false;
    if (part === PART.lock) waited = this.held.cover(times);
    else if (part === PART.cpu || part === PART.other)
      waited = waits.busy.length > 0 && this.busy.cover(times);
    else if (waits.idb.size && isStorage(part) && this.winner >= 0) {
      const until = waits.idb.get(this.events.context[this.winner >> 1]!) ?? -Infinity;
      waited = until > times[AT]!;
      if (waited) times[UNTIL] = Math.min(times[UNTIL]!, until);
    }
    return waited ? PART.lockWait : part;
  }

  private by(entry: number, part: number): number {
    this.winner = entry;
    return part;
  }

  /** A web call decides; a wait takes the part of the VFS call around it. */
  private web(entry: number, seq: number): number {
    const part = PART_OF_OP[this.events.op[entry >> 1]!]!;
    if (part !== WAIT) return this.by(entry, part);
    const vfs = this.consult(Stack.vfs, seq);
    return this.by(entry, vfs < 0 ? PART.other : PART_OF_OP[this.events.op[vfs >> 1]!]!);
  }
}
