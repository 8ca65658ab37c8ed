/**
 * What the rules on one trace share: rows by operation, files, costs of calls, and the facts of the
 * trace (`get`). Its only state is caches of pure functions.
 */
import { getOrMake } from '../core/maps.ts';
import { databasePath } from '../../event/file-names.ts';
import { Flag } from '../../event/event.ts';
import { isVfsOp } from '../../event/operations.ts';
import { FILE_KINDS, type FileKind } from '../../event/definitions.ts';
import { bytesMoved } from '../../trace/bytes-moved.ts';
import type { EventRef, ThreadStore, TraceStore } from '../../trace/store.ts';
import { threadEndUs } from '../../trace/thread-end.ts';
import { ById } from '../core/by-id.ts';
import { threadTitles } from '../core/thread-titles.ts';
import { mainThreads } from '../core/main-threads.ts';
import { extent, coarsestStep } from '../core/time-range.ts';
import { fact, type Fact, type Facts, type Known } from '../core/graph.ts';
import { rowsByOperation } from '../core/rows-by-operation.ts';
import { failures } from './failures.ts';

interface FileRef {
  kind: FileKind;
  path: string;
  /** Path of its database. */
  main: string;
  vfs: string;
}

/** Calls that were timed. */
export interface Cost {
  calls: number;
  /** All of them together, microseconds. */
  us: number;
}

/**
 * Begin, end, begin, ...: microseconds, in any order; they may overlap. Flat, because a finding may
 * be about a million calls.
 */
export type Spans = Float64Array | readonly number[];

/** A longer copy, because others hold parts of the old one. */
function roomier<T extends Float64Array | Uint32Array>(from: T, length: number): T {
  const to = new (from.constructor as new (length: number) => T)(
    Math.max(8, 2 * from.length, length),
  );
  to.set(from);
  return to;
}

/** Gathers spans. */
class SpanList {
  private us: Float64Array = new Float64Array(0);
  private used = 0;

  push(fromUs: number, toUs: number): void {
    if (this.used === this.us.length) this.us = roomier(this.us, this.used + 2);
    this.us[this.used] = fromUs;
    this.us[this.used + 1] = toUs;
    this.used += 2;
  }
  append({ all }: SpanList): void {
    if (this.used + all.length > this.us.length) this.us = roomier(this.us, this.used + all.length);
    this.us.set(all, this.used);
    this.used += all.length;
  }
  /** All so far, without later ones. */
  get all(): Float64Array {
    return this.us.subarray(0, this.used);
  }
}

/** Gathers rows. */
class RowList {
  private rows: Uint32Array = new Uint32Array(0);
  private used = 0;

  push(row: number): void {
    if (this.used === this.rows.length) this.rows = roomier(this.rows, this.used + 1);
    this.rows[this.used++] = row;
  }
  append({ all }: RowList): void {
    if (this.used + all.length > this.rows.length)
      this.rows = roomier(this.rows, this.used + all.length);
    this.rows.set(all, this.used);
    this.used += all.length;
  }
  /** All so far. */
  get all(): Uint32Array {
    return this.rows.subarray(0, this.used);
  }
}

/** The time of a thread that a finding is about. */
export interface NamedTime {
  /** Rows of calls, in any order, some more than once: all of the time in which they ran counts. */
  calls: Uint32Array;
  /** Other time in which something ran, besides whole calls. */
  ran: Spans;
  /**
   * Time in which something was awaited: the part of it counts in which the thread waits for
   * storage or a lock.
   */
  awaited: Spans;
}

const NEEDS = { extent, rowsByOperation, failures, mainThreads };

export class FindingContext {
  readonly store: TraceStore;
  /** Titles of threads, by index. */
  readonly titles: readonly string[];
  readonly fromUs: number;
  readonly toUs: number;
  /** The coarsest clock step of the threads that run SQLite, microseconds; null = not known. */
  readonly clockStepUs: number | null;
  private readonly files: ById<FileRef | null>[];
  private readonly costs = new Map<number, Map<string, Cost>>();

  constructor(
    private readonly facts: Facts,
    private readonly known: Known<typeof NEEDS>,
  ) {
    this.store = facts.store;
    this.titles = threadTitles(this.store);
    [this.fromUs, this.toUs] = known.extent;
    const { threads } = this.store;
    this.files = threads.map(() => new ById());
    this.clockStepUs = coarsestStep(known.mainThreads) || null;
  }

  /** When a thread, or the trace, ended: its open calls lasted no longer. */
  endOf(thread: ThreadStore): number {
    return threadEndUs(thread, this.toUs);
  }

  /** Another fact of the trace. */
  get<T>(fact: Fact<T>): T {
    return this.facts.get(fact);
  }

  /** Rows of an operation, ascending. */
  rows(thread: ThreadStore, op: number): Uint32Array {
    return this.known.rowsByOperation.of(thread).of(op);
  }
  /** How many calls of these operations all threads made. */
  calls(...ops: number[]): number {
    let n = 0;
    for (const thread of this.store.threads) {
      const rows = this.known.rowsByOperation.of(thread);
      for (const op of ops) n += rows.count(op);
    }
    return n;
  }
  /** @param each called with every row of an operation, by thread */
  each(op: number, each: (thread: ThreadStore, row: number) => void): void {
    for (const thread of this.store.threads) {
      const rows = this.rows(thread, op);
      for (let i = 0; i < rows.length; i++) each(thread, rows[i]!);
    }
  }

  /**
   * The same for calls that returned SQLITE_BUSY, IOERR, CORRUPT, FULL, or NOTADB: they are few,
   * even if an operation has a million rows.
   */
  eachFailed(op: number, each: (thread: ThreadStore, row: number) => void): void {
    for (const thread of this.store.threads)
      for (const row of this.failures(thread)) if (thread.events.op[row] === op) each(thread, row);
  }
  /** Such rows of all operations, ascending. */
  failures(thread: ThreadStore): readonly number[] {
    return this.known.failures.of(thread);
  }

  /** The SQLite file of an id; null for other ids. */
  file(thread: ThreadStore, object: number): FileRef | null {
    const known = this.files[thread.index]!.get(object);
    return known === undefined ? this.fileOf(thread, object) : known;
  }
  private fileOf(thread: ThreadStore, object: number): FileRef | null {
    const d = thread.definitions.get(object);
    return this.files[thread.index]!.set(
      object,
      d?.kind === 'file'
        ? { kind: d.fileKind, path: d.path, main: databasePath(d.path), vfs: d.vfs }
        : null,
    );
  }

  /**
   * The cost of an operation's calls. Avoiding one saves their mean: a median leaves out the few
   * long ones, which take most of the time if calls wait for a disk (tests/oracle/twins.json), and
   * with a coarse clock it is a multiple of its step.
   * @param kind of the file, for VFS calls; '' = all
   * @returns null if no call of it was timed
   */
  cost(op: number, kind: FileKind | '' = ''): Cost | null {
    return getOrMake(this.costs, op, () => this.costsOf(op)).get(kind) ?? null;
  }

  private costsOf(op: number): Map<string, Cost> {
    /** By index in FILE_KINDS, with all at the end. Typed, because there may be a million calls. */
    const ALL = FILE_KINDS.length;
    const [calls, sums] = [new Uint32Array(ALL + 1), new Float64Array(ALL + 1)];
    const inMemory = FILE_KINDS.indexOf('memory-journal');
    const isVfs = isVfsOp(op);
    for (const thread of this.store.threads) {
      const { events } = thread;
      const { endSeq, flags, dur, object } = events;
      const rows = this.rows(thread, op);
      let [last, ofLast] = [-1, -1];
      let [n, sum] = [calls[ALL]!, sums[ALL]!];
      for (let i = 0; i < rows.length; i++) {
        const row = rows[i]!;
        const flag = flags[row]!;
        if (endSeq[row] === 0 || flag & Flag.untimed) continue;
        const us = dur[row]!;
        n++;
        sum += us;
        if (!isVfs) continue;
        if (object[row] !== last) {
          const file = this.file(thread, (last = object[row]!));
          ofLast = file ? FILE_KINDS.indexOf(file.kind) : -1;
        }
        const kind = flag & Flag.memoryJournal ? inMemory : ofLast;
        if (kind < 0) continue;
        calls[kind]!++;
        sums[kind]! += us;
      }
      [calls[ALL], sums[ALL]] = [n, sum];
    }
    const costs = new Map<FileKind | '', Cost>();
    calls.forEach((n, place) => {
      if (n > 0) costs.set(FILE_KINDS[place] ?? '', { calls: n, us: sums[place]! });
    });
    return costs;
  }
}

/** Shared by all rules of a trace. */
export const findingContext = fact(
  'findingContext',
  'calls by operation',
  NEEDS,
  (_, known, facts) => new FindingContext(facts, known),
);
/** Declares a fact that rules share. */
export const findingFact = <T>(
  name: string,
  label: string,
  make: (ctx: FindingContext) => T,
): Fact<T> => fact(name, label, { findingContext }, (_, known) => make(known.findingContext));

const SAMPLE_ROWS = 200;

export interface FindingEvidence {
  /** How often it occurred: calls, transactions, or chains, as in the title. */
  count: number;
  /** Bytes that those calls moved; null if they don't move any. */
  bytes: number | null;
  /**
   * Their time / the length of the trace, 0..1; null if the trace has no length. At most 1,
   * although calls of several threads may overlap.
   */
  timeShare: number | null;
  /** The first calls, at most SAMPLE_ROWS. */
  events: EventRef[];
  /** From the first call's begin to the last one's end, microseconds. */
  fromUs: number;
  toUs: number;
}
/** The same, as rules return it. */
export interface FoundEvidence extends FindingEvidence {
  named: ReadonlyMap<ThreadStore, NamedTime>;
}

/** Collects the time of a thread. */
class TimeList {
  readonly calls = new RowList();
  readonly ran = new SpanList();
  readonly awaited = new SpanList();
}

/** Collects calls as evidence. */
export class Evidence {
  count = 0;
  bytes = 0;
  us = 0;
  fromUs = Infinity;
  toUs = -Infinity;
  private readonly named = new Map<ThreadStore, TimeList>();
  /** The thread of the last call, and its own time. */
  private lastThread: ThreadStore | null = null;
  private lastTime: TimeList | null = null;
  /** The first calls, by row. */
  private readonly shown: { thread: number; row: number }[] = [];

  /** Adds a call: its time, and the bytes that it moved. */
  add(thread: ThreadStore, row: number): void {
    this.tally(thread, row);
    this.call(thread, row);
  }
  /** The same without the time in which it ran. */
  tally(thread: ThreadStore, row: number): void {
    const { events } = thread;
    this.count++;
    this.bytes += bytesMoved(events, row);
    this.us += events.dur[row]!;
    this.span(events.t0[row]!, events.t0[row]! + events.dur[row]!);
    this.show(thread.index, row);
  }
  /** The cost of its calls. */
  get cost(): Cost {
    return { calls: this.count, us: this.us };
  }
  /** Adds the time in which a call ran. */
  call(thread: ThreadStore, row: number): void {
    this.timeOf(thread).calls.push(row);
  }
  /** Adds time in which something else ran. */
  ran(thread: ThreadStore, fromUs: number, toUs: number): void {
    this.timeOf(thread).ran.push(fromUs, toUs);
  }
  /** Adds time in which something was awaited that the thread need not have waited for. */
  awaited(thread: ThreadStore, fromUs: number, toUs: number): void {
    this.timeOf(thread).awaited.push(fromUs, toUs);
  }
  private timeOf(thread: ThreadStore): TimeList {
    if (thread === this.lastThread && this.lastTime) return this.lastTime;
    this.lastThread = thread;
    return (this.lastTime = getOrMake(this.named, thread, () => new TimeList()));
  }
  /** Shows a call that isn't counted. */
  show(thread: number, row: number): void {
    if (this.shown.length < SAMPLE_ROWS && row >= 0) this.shown.push({ thread, row });
  }
  span(fromUs: number, toUs: number): void {
    this.fromUs = Math.min(this.fromUs, fromUs);
    this.toUs = Math.max(this.toUs, toUs);
  }
  /** Adds another one. */
  join(other: Evidence): this {
    this.count += other.count;
    this.bytes += other.bytes;
    this.us += other.us;
    this.span(other.fromUs, other.toUs);
    for (const { thread, row } of other.shown) this.show(thread, row);
    for (const [thread, { calls, ran, awaited }] of other.named) {
      const own = this.timeOf(thread);
      own.calls.append(calls);
      own.ran.append(ran);
      own.awaited.append(awaited);
    }
    return this;
  }
  /**
   * For a finding about all of them.
   * @param moves whether the calls are of a kind that moves bytes
   */
  result(ctx: FindingContext, moves = this.bytes > 0): FoundEvidence {
    const length = ctx.toUs - ctx.fromUs;
    const { count, bytes, us } = this;
    const events = this.shown.map(({ thread, row }) => ctx.store.threads[thread]!.ref(row));
    const known = this.fromUs <= this.toUs;
    return {
      count,
      bytes: moves ? bytes : null,
      timeShare: length > 0 ? Math.min(1, us / length) : null,
      events,
      fromUs: known ? this.fromUs : ctx.fromUs,
      toUs: known ? this.toUs : ctx.fromUs,
      named: new Map(
        Array.from(this.named, ([thread, { calls, ran, awaited }]): [ThreadStore, NamedTime] => [
          thread,
          { calls: calls.all, ran: ran.all, awaited: awaited.all },
        ]),
      ),
    };
  }
}
