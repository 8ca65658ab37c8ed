/**
 * Every lane of the timeline: those of calls (trace/lanes), and those derived from them: where the
 * time went, transactions, overlapping storage calls, counters. Lanes that need the whole trace are
 * filled by `settle`.
 */
import { Facts, type Known } from '../analysis/core/graph.ts';
import { requests } from '../analysis/messages/requests.ts';
import { unrecordedRequests } from '../analysis/messages/unrecorded-requests.ts';
import { executions } from '../analysis/core/executions.ts';
import { pieces } from '../analysis/time/thread-times.ts';
import { walHistories, wals } from '../analysis/wal/wal.ts';
import { anatomies } from '../analysis/transactions/transaction-anatomy.ts';
import { AppMarks, type MarkTexts } from './app-marks.ts';
import { BelowLanes } from './below-lanes.ts';
import { binnedColumns } from './binned.ts';
import { ACTIVITIES } from '../event/operations.ts';
import { CacheCounter } from './cache-counter.ts';
import { HeldFiles, keepsFiles } from '../analysis/memory/held-files.ts';
import { engineTitle } from '../analysis/memory/engine-readings.ts';
import { MEMORY_KINDS, MemoryCounter, mostIn, type MemoryKind } from './memory-counter.ts';
import { IntervalIndex, KINDS } from '../trace/lanes/interval-index.ts';
import { IDB_WAIT, shareRead, type Lane, type LaneKind } from '../trace/lanes/lanes.ts';
import { frameOf, CallLanes, type LaneFrame, type StatementRuns } from '../trace/lanes/frame.ts';
import { requestLanes, type RequestLines } from './request-lanes.ts';
import { RowCounters } from './row-counters.ts';
import { RowCursor } from '../trace/row-cursor.ts';
import type { ThreadStore, TraceStore } from '../trace/store.ts';
import { StatementSpans } from './statement-runs.ts';
import { SubLanes } from './sub-lanes.ts';
import { toNs } from '../trace/lanes/sweep.ts';
import { threadEndUs } from '../trace/thread-end.ts';
import { TimeLane } from './time-lane.ts';
import { eachColumn } from '../trace/lanes/totals-cursor.ts';
import { transactionIntervals, transactionWord } from './transaction-lane.ts';
import { WalCounter } from './wal-counter.ts';

/** What `settle` needs. */
export const LANE_NEEDS = {
  ...{ pieces, anatomies, wals, walHistories, executions },
  ...{ requests, unrecordedRequests },
};
type Settled = Known<typeof LANE_NEEDS>;

/** Counters are drawn as areas. */
const COUNTER_KINDS = [
  ...(['reads', 'writes', 'queue', 'wal', 'cache'] as const),
  ...MEMORY_KINDS,
  'fileMemory',
] as const;
export type CounterKind = (typeof COUNTER_KINDS)[number];
export type TimelineKind =
  LaneKind | 'marks' | 'requests' | 'time' | 'txn' | 'sub' | 'below' | CounterKind;

/** A lane's frame: a lane of calls has that of CallLanes, the others have one of those below. */
export interface TimelineLaneFrame extends LaneFrame {
  /** Of SQL lanes: short runs of one statement, merged; absent until they are known. */
  runs?: StatementRuns;
  /** Of `marks` lanes: the texts beside moments. */
  texts?: MarkTexts;
  /**
   * Of `time` lanes: shares of each column's time, 0..255, by `column * KINDS + place in
   * SQL_PARTS`.
   */
  stack?: Uint8Array;
  /**
   * Columns from the left in which `stack` is exact. After them, calls in flight stand for where
   * the time went. Absent: all.
   */
  exact?: number;
  /**
   * Of counters, by column: bytes per second, calls in flight, bytes, hit rate 0..1; NaN = not
   * known.
   */
  values?: Float32Array;
}

export interface TimelineRow {
  /** `<thread index>:<kind>`, plus a number for sub-lanes */
  key: string;
  thread: number;
  kind: TimelineKind;
  /** Rows in it; 0 if it doesn't show rows. */
  events: number;
  /** The engine whose memory it shows, or whose calls; absent if that is clear. */
  of?: string;
}

/** How many calls in flight are drawn separately. */
const SHOWN_LINES = 4;
const NOTHING = new IntervalIndex();
const UNKNOWN_ENGINE = 'engine not known';
/** In ACTIVITIES. A sync doesn't read or write. */
const SYNC = ACTIVITIES.indexOf('sync');

/**
 * Whether a thread with these lanes will have one of transactions. Its place is reserved before
 * they are known.
 */
export const expectsTransactions = (lanes: readonly LaneKind[]): boolean =>
  lanes.includes('vfs') && lanes.includes('lock');

class ThreadTimeline {
  readonly time: TimeLane;
  lines: SubLanes;
  counters: RowCounters;
  cache: CacheCounter;
  memory: MemoryCounter;
  held: HeldFiles;
  readonly marks: AppMarks;
  private readonly rows: RowCursor;

  constructor(
    readonly thread: ThreadStore,
    originMs: number,
  ) {
    this.marks = new AppMarks(thread, originMs);
    this.time = new TimeLane(thread);
    this.rows = new RowCursor(thread);
    this.lines = new SubLanes(thread.events);
    this.counters = new RowCounters(thread);
    this.cache = new CacheCounter(thread);
    this.memory = new MemoryCounter(thread);
    this.held = new HeldFiles(thread);
  }

  update(horizonUs: number): void {
    const { thread } = this;
    if (this.rows.restarted()) {
      this.lines = new SubLanes(thread.events);
      this.counters = new RowCounters(thread);
      this.cache = new CacheCounter(thread);
      this.memory = new MemoryCounter(thread);
      this.held = new HeldFiles(thread);
    }
    this.lines.update(toNs(threadEndUs(thread, horizonUs)), shareRead(thread));
    this.counters.update();
    this.cache.update();
    this.memory.update();
    this.held.update();
    this.marks.update();
  }
}

export class TimelineLanes {
  readonly callLanes: CallLanes;
  private readonly byThread: ThreadTimeline[] = [];
  private transactions: { intervals: IntervalIndex[]; forgotten: number } | null = null;
  /** By thread; null before the first `settle`. */
  private logs: (WalCounter | null)[] | null = null;
  /** By index of the asking thread. */
  private requests: { of: ReadonlyMap<number, RequestLines>; forgotten: number } | null = null;
  /** Runs of statements, by thread. */
  private spans: { of: (StatementSpans | null)[]; forgotten: number } | null = null;
  /** Rows and ends at the last `settle`, and the trace's end. */
  private settledAt = -1;
  private settledUs = -Infinity;
  private below: BelowLanes | null = null;
  private horizonUs = 0;

  constructor(private readonly store: TraceStore) {
    this.callLanes = new CallLanes(store);
  }

  /**
   * @param horizonUs the trace's end so far; calls still running are shown up to here, or to their
   * thread's end
   */
  update(horizonUs: number): void {
    this.horizonUs = horizonUs;
    this.callLanes.update(horizonUs);
    const { threads } = this.store;
    for (let i = this.byThread.length; i < threads.length; i++)
      this.byThread.push(new ThreadTimeline(threads[i]!, this.store.originMs));
    for (const thread of this.byThread) thread.update(horizonUs);
    // comes with a file, as a whole
    if (this.store.below) this.below ??= new BelowLanes(this.store.below);
  }

  /** Bytes of memory of the lanes of calls and of overlapping calls. */
  get bytes(): number {
    const lines = this.byThread.flatMap((thread) => thread.lines.lines);
    return [...this.callLanes.lanes, ...lines].reduce(
      (sum, { settled, tail }) => sum + settled.bytes + tail.bytes,
      0,
    );
  }

  /** Release unused memory: the trace is complete. */
  trim(): void {
    this.callLanes.trim();
    for (const { lines, counters } of this.byThread) {
      for (const { settled } of lines.lines) settled.trim();
      counters.trim();
    }
  }

  private get news(): number {
    return this.store.threads.reduce(
      (n, { events, forgotten, received }) => n + events.count + forgotten + received,
      0,
    );
  }

  /**
   * Update what needs the whole trace: the time partition and the transactions.
   * @param facts of the current trace
   */
  settle(facts = new Facts(this.store)): void {
    const { store } = this;
    const { news } = this;
    if (news === this.settledAt) return;
    this.settledAt = news;
    this.settledUs = this.horizonUs;
    const known = facts.known(LANE_NEEDS);
    for (const { time, thread } of this.byThread)
      if (this.runsSql(thread)) time.settle(known.pieces);
    this.logs = this.walCounters(known);
    this.requests = {
      of: requestLanes(known.requests, known.unrecordedRequests, known.pieces),
      forgotten: store.forgotten,
    };
    this.spans = {
      of: store.threads.map((thread) => {
        const runs = known.executions.of(thread);
        return runs.count ? new StatementSpans(thread, runs) : null;
      }),
      forgotten: store.forgotten,
    };
    this.transactions = {
      intervals: transactionIntervals(store, known.anatomies),
      forgotten: store.forgotten,
    };
  }

  private walCounters({ wals, walHistories }: Settled): (WalCounter | null)[] {
    /** Find the threads that make calls on each log once: a log may have a million calls. */
    const users = wals.map(({ thread, onWal }) => {
      const uses = new Uint8Array(this.store.threads.length);
      for (let i = 0; i < thread.length; i++) if (onWal[i]) uses[thread[i]!] = 1;
      return uses;
    });
    return this.store.threads.map(({ index }) => {
      const own = walHistories.filter((_, log) => users[log]![index]);
      return own.length ? new WalCounter(own) : null;
    });
  }

  /**
   * Nanoseconds of a thread in [fromUs, toUs) by place in SQL_PARTS; null without SQL, or where
   * they are not settled.
   */
  times(thread: ThreadStore, fromUs: number, toUs: number): Float64Array | null {
    return this.runsSql(thread)
      ? (this.byThread[thread.index]?.time.times(fromUs, toUs) ?? null)
      : null;
  }

  /**
   * Whether it is one of `sqliteThreads` by the rows so far. Then it has a lane of where its time
   * went.
   */
  runsSql(thread: ThreadStore): boolean {
    return this.callLanes.lanesOf(thread).some(({ kind }) => kind === 'sql' || kind === 'vfs');
  }
  private transactionsOf(thread: ThreadStore): IntervalIndex {
    const { transactions } = this;
    return transactions?.forgotten === this.store.forgotten
      ? (transactions.intervals[thread.index] ?? NOTHING)
      : NOTHING;
  }

  private requestsOf({ index }: ThreadStore): RequestLines | undefined {
    const { requests: known } = this;
    return known?.forgotten === this.store.forgotten ? known.of.get(index) : undefined;
  }

  /** Lanes of a thread that aren't empty, top to bottom. */
  rowsOf(thread: ThreadStore): TimelineRow[] {
    const own = this.byThread[thread.index];
    if (!own) return [];
    const rows: TimelineRow[] = [];
    const add = (kind: TimelineKind, events = 0, number = '', of = ''): void =>
      void rows.push({
        key: `${thread.index}:${kind}${number}`,
        thread: thread.index,
        kind,
        events,
        ...(of && { of }),
      });
    const core = this.callLanes.lanesOf(thread);
    const calls = (kind: LaneKind): void => {
      const lane = core.find((l) => l.kind === kind);
      if (lane) add(kind, lane.events);
    };
    if (own.marks.count) add('marks', own.marks.count);
    const asks = this.requestsOf(thread);
    asks?.lines.forEach((_, line) =>
      add('requests', asks.count, String(line + 1), line ? String(line + 1) : ''),
    );
    if (this.runsSql(thread)) add('time');
    calls('sql');
    const transactions = this.transactionsOf(thread).count;
    if (transactions || (!this.transactions && expectsTransactions(core.map(({ kind }) => kind))))
      add('txn', transactions);
    calls('vfs');
    calls('web');
    const lines = own.lines.lines.length;
    if (lines > 1)
      for (let line = 1; line <= Math.min(lines, SHOWN_LINES); line++) add('sub', 0, String(line));
    this.below
      ?.of(thread.index)
      .forEach(({ count, of }, line) => add('below', count, String(line + 1), of));
    calls('lock');
    if (own.counters.moved) {
      add('reads');
      add('writes');
    }
    if (lines > 1) add('queue');
    if (this.logs ? this.logs[thread.index] : own.counters.walSeen) add('wal');
    if (own.cache.seen) add('cache');
    const { engines } = own.memory;
    engines.forEach((engine, place) => {
      const title = engineTitle(thread, engine) || (engines.length > 1 ? UNKNOWN_ENGINE : '');
      for (const kind of MEMORY_KINDS)
        // memory of unknown engines is neither a sum nor that of one engine
        if (kind !== 'memory' || engine !== null || thread.engines.length < 2)
          add(kind, 0, place ? String(place + 1) : '', title);
    });
    if (own.held.us.length && keepsFiles(this.store, thread, this.heldBy)) add('fileMemory');
    return rows;
  }
  private readonly heldBy = (thread: ThreadStore): HeldFiles | undefined =>
    this.byThread[thread.index]?.held;
  get rows(): TimelineRow[] {
    return this.store.threads.flatMap((thread) => this.rowsOf(thread));
  }

  /** The lane with this key, if its intervals can be pointed at. */
  lane(key: string): Lane | undefined {
    const [index = '', kind = ''] = key.split(':');
    const own = this.byThread[Number(index)];
    if (!own) return undefined;
    if (kind === 'txn')
      return {
        key,
        thread: own.thread,
        kind: 'sql',
        events: 0,
        settled: this.transactionsOf(own.thread),
        tail: NOTHING,
        labelOf: (_row, intervalKind) => transactionWord(intervalKind),
      };
    if (kind === 'marks')
      return {
        key,
        thread: own.thread,
        kind: 'web',
        events: own.marks.count,
        settled: own.marks.index,
        tail: NOTHING,
        labelOf: (row) => own.marks.textOf(row),
      };
    const asks = /^requests(\d+)$/.exec(kind)?.[1];
    if (asks !== undefined) {
      const known = this.requestsOf(own.thread);
      const settled = known?.lines[Number(asks) - 1];
      return (
        settled && {
          ...{ key, thread: own.thread, kind: 'web', events: known.count },
          ...{ settled, tail: NOTHING },
          labelOf: (row, intervalKind) => known.label(row, intervalKind),
        }
      );
    }
    const lane = /^below(\d+)$/.exec(kind)?.[1];
    if (lane !== undefined) {
      const { below } = this;
      const found = below?.of(own.thread.index)[Number(lane) - 1];
      return (
        found && {
          ...{ key, thread: own.thread, kind: 'web', events: found.count },
          ...{ settled: found.intervals, tail: NOTHING, ofEvents: false },
          labelOf: (place) => below!.label(place),
        }
      );
    }
    const line = /^sub(\d+)$/.exec(kind)?.[1];
    if (line === undefined) return this.callLanes.lane(key);
    const sweep = own.lines.lines[Number(line) - 1];
    return (
      sweep && {
        key,
        thread: own.thread,
        kind: 'web',
        events: 0,
        settled: sweep.settled,
        tail: sweep.tail,
      }
    );
  }

  /**
   * Frames of these lanes, in that order; null = what an overview needs, without slices. Unknown
   * keys are left out.
   * @param binUs counters that are means are taken over this time, microseconds; default: a column
   */
  frames(
    keys: readonly string[] | null,
    fromUs: number,
    toUs: number,
    width: number,
    binUs?: number,
  ): TimelineLaneFrame[] {
    const overview = ({ kind }: TimelineRow): boolean => kind === 'time' || kind === 'web';
    const wanted = keys ?? this.rows.filter(overview).map(({ key }) => key);
    return wanted.flatMap(
      (key) => this.frame(key, fromUs, toUs, width, binUs, keys !== null) ?? [],
    );
  }

  private frame(
    key: string,
    fromUs: number,
    toUs: number,
    width: number,
    binUs: number | undefined,
    slices: boolean,
  ): TimelineLaneFrame | null {
    const means = (of: (from: number, to: number, bins: number) => Float32Array): Float32Array =>
      binUs === undefined
        ? of(fromUs, toUs, width)
        : binnedColumns({ fromUs, toUs, width }, binUs, of);
    const lane = this.lane(key);
    if (lane) return this.callFrame(lane, fromUs, toUs, width, slices);
    const [index = '', name = ''] = key.split(':');
    const [, kind = '', place = ''] = /^([a-zA-Z]+)(\d*)$/.exec(name) ?? [];
    const own = this.byThread[Number(index)];
    if (!own) return null;
    const empty = {
      key,
      busy: new Uint8Array(0),
      activity: new Uint8Array(0),
      slices: new Float32Array(0),
      labels: [],
    };
    switch (kind as TimelineKind) {
      case 'time':
        return {
          ...empty,
          ...own.time.columns(this.callLanes.lanesOf(own.thread), fromUs, toUs, width),
        };
      case 'reads':
      case 'writes':
        return {
          ...empty,
          values: means((...bins) => own.counters.rates(kind === 'reads' ? 0 : 1, ...bins)),
        };
      case 'wal':
        return { ...empty, values: this.walBytes(Number(index), fromUs, toUs, width) };
      case 'cache':
        return { ...empty, values: own.cache.rates(fromUs, toUs, width) };
      case 'memory':
      case 'cacheMemory':
      case 'schemaMemory':
      case 'statementMemory':
        return {
          ...empty,
          values: own.memory.most(
            own.memory.engines[place ? Number(place) - 1 : 0] ?? null,
            kind as MemoryKind,
            ...([fromUs, toUs, width] as const),
          ),
        };
      case 'fileMemory':
        return { ...empty, values: mostIn(own.held, fromUs, toUs, width) };
      case 'queue':
        return { ...empty, values: means((...bins) => this.queue(own, ...bins)) };
      default:
        return null;
    }
  }

  private callFrame(
    lane: Lane,
    fromUs: number,
    toUs: number,
    width: number,
    slices: boolean,
  ): TimelineLaneFrame {
    const frame = frameOf(lane, fromUs, toUs, width, slices);
    const { spans } = this;
    const marks = lane.key.endsWith(':marks') && this.byThread[lane.thread.index]?.marks;
    if (slices && marks) return { ...frame, texts: marks.texts(fromUs, toUs, width) };
    if (!slices || !lane.key.endsWith(':sql') || spans?.forgotten !== this.store.forgotten)
      return frame;
    const runs = spans.of[lane.thread.index]?.runs(fromUs, toUs, frame.busy);
    return runs ? { ...frame, runs } : frame;
  }

  /** The logs aren't known for what the trace has grown since it was settled. */
  private walBytes(thread: number, fromUs: number, toUs: number, width: number): Float32Array {
    const untilUs = this.news === this.settledAt ? Infinity : this.settledUs;
    return (
      this.logs?.[thread]?.most(fromUs, toUs, width, untilUs) ?? new Float32Array(width).fill(NaN)
    );
  }

  /** Mean number of reads and writes in flight, by column. */
  private queue(own: ThreadTimeline, fromUs: number, toUs: number, width: number): Float32Array {
    const values = new Float32Array(width);
    const step = ((toUs - fromUs) * 1000) / width;
    const lines = own.lines.lines.flatMap(({ settled, tail }) => [settled, tail]);
    eachColumn(lines, { fromNs: fromUs * 1000, step }, 0, width, (column, times) => {
      let ns = 0;
      for (let kind = 0; kind < KINDS; kind++)
        if (kind !== SYNC && kind !== IDB_WAIT) ns += times[kind]!;
      values[column] = ns / step;
    });
    return values;
  }
}
