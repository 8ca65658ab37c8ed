/**
 * What the rules share on one trace: rows by operation, files, what calls took, and the facts of the trace (`get`).
 * Holds no state beyond caches of pure functions.
 */
import { getOrMake } from '../core/maps.ts';
import { databasePath } from '../../event/file-names.ts';
import { Flag } from '../../event/event.ts';
import { isVfsOp } from '../../event/operations.ts';
import type { FileKind } from '../../event/definitions.ts';
import { bytesMoved } from '../../trace/bytes-moved.ts';
import type { EventRef, ThreadStore, TraceStore } from '../../trace/store.ts';
import { threadEndUs } from '../../trace/thread-end.ts';
import { isInMemory } from '../../trace/in-memory.ts';
import { ById } from '../core/by-id.ts';
import { threadTitles } from '../core/thread-titles.ts';
import { mainThreads } from '../core/main-threads.ts';
import { extent, coarsestStep } from '../core/time-range.ts';
import { fact, threadFact, type Fact, type Facts, type Known } from '../core/graph.ts';
import { failures } from './failures.ts';

interface FileRef {
  kind: FileKind;
  path: string;
  /** Path of the database that it belongs to. */
  main: string;
  vfs: string;
}

/** Calls that were timed. */
export interface Cost {
  calls: number;
  /** All of them together, microseconds. */
  us: number;
}

interface OpIndex {
  rows: Uint32Array;
  /** By operation: where its rows begin; [256] = end. */
  at: Uint32Array;
}

/** Begin, end, begin, ...: microseconds, in any order; they may overlap. Flat, for a finding may be about a million calls. */
type Spans = number[];

/** The time of a thread that a finding is about. */
export interface NamedTime {
  /** When its calls ran: all of that time. */
  ran: Spans;
  /** When something was under way that is awaited: of that time what the thread waits in storage, or for a lock. */
  awaited: Spans;
}

const NO_ROWS = new Uint32Array(0);

/** Rows of each thread by operation. */
const rowsByOperation = threadFact('rowsByOperation', 'calls by operation', {}, indexOf);

const NEEDS = { extent, rowsByOperation, failures, mainThreads };

export class FindingContext {
  readonly store: TraceStore;
  /** What threads are called, by place. */
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

  /** When a thread ended, or the trace: what it left open lasted no longer. */
  endOf(thread: ThreadStore): number {
    return threadEndUs(thread, this.toUs);
  }

  /** What else is known of the trace. */
  get<T>(fact: Fact<T>): T {
    return this.facts.get(fact);
  }

  /** Rows of an operation, ascending. */
  rows(thread: ThreadStore, op: number): Uint32Array {
    const { rows, at } = this.known.rowsByOperation.of(thread);
    return at[op] === at[op + 1] ? NO_ROWS : rows.subarray(at[op], at[op + 1]);
  }
  /** Calls of these operations on all threads. */
  calls(...ops: number[]): number {
    let n = 0;
    for (const thread of this.store.threads) {
      const { at } = this.known.rowsByOperation.of(thread);
      for (const op of ops) n += at[op + 1]! - at[op]!;
    }
    return n;
  }
  /** @param each called with every row of an operation, thread by thread */
  each(op: number, each: (thread: ThreadStore, row: number) => void): void {
    for (const thread of this.store.threads) {
      const rows = this.rows(thread, op);
      for (let i = 0; i < rows.length; i++) each(thread, rows[i]!);
    }
  }

  /** The same, of those that answered SQLITE_BUSY, IOERR, CORRUPT, FULL or NOTADB: few, where an operation has a million rows. */
  eachFailed(op: number, each: (thread: ThreadStore, row: number) => void): void {
    for (const thread of this.store.threads)
      for (const row of this.failures(thread)) if (thread.events.op[row] === op) each(thread, row);
  }
  /** Rows of all operations of these, ascending. */
  failures(thread: ThreadStore): readonly number[] {
    return this.known.failures.of(thread);
  }

  /** The SQLite file of an id; null for what is none. */
  file(thread: ThreadStore, object: number): FileRef | null {
    return getOrMake(this.files[thread.index]!, object, () => {
      const d = thread.definitions.get(object);
      if (d?.kind !== 'file') return null;
      return { kind: d.fileKind, path: d.path, main: databasePath(d.path), vfs: d.vfs };
    });
  }

  /**
   * What the calls of an operation took. Their mean is what one less saves: a median leaves out the few long ones, which are most of the
   * time where calls wait for a disk (tests/oracle/twins.json), and on a coarse clock it is a multiple of its step.
   * @param kind of the file, for VFS calls; '' = of all @returns null where no call of it was timed
   */
  cost(op: number, kind: FileKind | '' = ''): Cost | null {
    return getOrMake(this.costs, op, () => this.costsOf(op)).get(kind) ?? null;
  }

  private costsOf(op: number): Map<string, Cost> {
    const sums = new Map<FileKind | '', Cost>();
    const sumOf = (kind: FileKind): Cost => getOrMake(sums, kind, () => ({ calls: 0, us: 0 }));
    const all: Cost = { calls: 0, us: 0 };
    for (const thread of this.store.threads) {
      const { endSeq, flags, dur, object } = thread.events;
      const rows = this.rows(thread, op);
      const byFile = new ById<Cost | null>();
      for (let i = 0; i < rows.length; i++) {
        const row = rows[i]!;
        if (endSeq[row] === 0 || flags[row]! & Flag.untimed) continue;
        let sum: Cost | null | undefined = null;
        if (isVfsOp(op) && isInMemory(thread.events, row)) sum = sumOf('memory-journal');
        else if (isVfsOp(op)) {
          sum = byFile.get(object[row]!);
          if (sum === undefined) {
            const file = this.file(thread, object[row]!);
            sum = byFile.set(object[row]!, file && sumOf(file.kind));
          }
        }
        const us = dur[row]!;
        all.calls++;
        all.us += us;
        if (!sum) continue;
        sum.calls++;
        sum.us += us;
      }
    }
    if (all.calls > 0) sums.set('', all);
    return sums;
  }
}

/** Of a trace, for all its rules. */
export const findingContext = fact(
  'findingContext',
  'calls by operation',
  NEEDS,
  (_, known, facts) => new FindingContext(facts, known),
);
/** A fact that rules share. */
export const findingFact = <T>(
  name: string,
  label: string,
  make: (ctx: FindingContext) => T,
): Fact<T> => fact(name, label, { findingContext }, (_, known) => make(known.findingContext));

function indexOf({ events }: ThreadStore): OpIndex {
  const { op, count } = events;
  const at = new Uint32Array(257);
  for (let row = 0; row < count; row++) at[op[row]! + 1]!++;
  for (let code = 0; code < 256; code++) at[code + 1]! += at[code]!;
  const next = at.slice();
  const rows = new Uint32Array(count);
  for (let row = 0; row < count; row++) rows[next[op[row]!]!++] = row;
  return { rows, at };
}

const SAMPLE_ROWS = 200;

export interface FindingEvidence {
  /** How often it was seen: calls, transactions or chains, as the title says. */
  count: number;
  /** Bytes that those calls moved; null where they move none. */
  bytes: number | null;
  /** Their time / the length of the trace, 0..1; null where the trace has no length. Calls of several threads may overlap: never above 1. */
  timeShare: number | null;
  /** At most SAMPLE_ROWS of the calls, the first ones. */
  events: EventRef[];
  /** From the first call's begin to the last one's end, microseconds. */
  fromUs: number;
  toUs: number;
}
/** The same as a rule hands it in. */
export interface FoundEvidence extends FindingEvidence {
  named: ReadonlyMap<ThreadStore, NamedTime>;
}

/** Gathers calls into evidence. */
export class Evidence {
  count = 0;
  bytes = 0;
  us = 0;
  fromUs = Infinity;
  toUs = -Infinity;
  private readonly named = new Map<ThreadStore, NamedTime>();
  /** The first of the calls, by their rows. */
  private readonly shown: { thread: number; row: number }[] = [];

  /** One more call: its time, and the bytes that it moved. */
  add(thread: ThreadStore, row: number): void {
    const { t0, dur } = thread.events;
    this.tally(thread, row);
    this.ran(thread, t0[row]!, t0[row]! + dur[row]!);
  }
  /** The same without naming the time in which it ran. */
  tally(thread: ThreadStore, row: number): void {
    const { events } = thread;
    this.count++;
    this.bytes += bytesMoved(events, row);
    this.us += events.dur[row]!;
    this.span(events.t0[row]!, events.t0[row]! + events.dur[row]!);
    this.show(thread.index, row);
  }
  /** What its calls took: the price of one of them. */
  get cost(): Cost {
    return { calls: this.count, us: this.us };
  }
  /** When something ran that is counted. */
  ran(thread: ThreadStore, fromUs: number, toUs: number): void {
    this.timeOf(thread).ran.push(fromUs, toUs);
  }
  /** When something was under way that is counted, and that the thread need not have waited for. */
  awaited(thread: ThreadStore, fromUs: number, toUs: number): void {
    this.timeOf(thread).awaited.push(fromUs, toUs);
  }
  private timeOf(thread: ThreadStore): NamedTime {
    return getOrMake(this.named, thread, () => ({ ran: [], awaited: [] }));
  }
  /** A call to show that is not counted. */
  show(thread: number, row: number): void {
    if (this.shown.length < SAMPLE_ROWS && row >= 0) this.shown.push({ thread, row });
  }
  span(fromUs: number, toUs: number): void {
    this.fromUs = Math.min(this.fromUs, fromUs);
    this.toUs = Math.max(this.toUs, toUs);
  }
  /** All of another one, too. */
  join(other: Evidence): this {
    this.count += other.count;
    this.bytes += other.bytes;
    this.us += other.us;
    this.span(other.fromUs, other.toUs);
    for (const { thread, row } of other.shown) this.show(thread, row);
    for (const [thread, { ran, awaited }] of other.named) {
      for (let i = 0; i < ran.length; i += 2) this.ran(thread, ran[i]!, ran[i + 1]!);
      for (let i = 0; i < awaited.length; i += 2)
        this.awaited(thread, awaited[i]!, awaited[i + 1]!);
    }
    return this;
  }
  /** For a finding that is about all of them. @param moves whether the calls are such as move bytes */
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
      named: this.named,
    };
  }
}
