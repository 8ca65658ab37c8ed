/**
 * The timeline of a file whose events are not loaded yet, from the summaries of its chunks: lanes
 * of calls and where the time went, at the summaries' resolution (128 bins a chunk). It has the
 * interface of timeline-lanes.ts, which replaces it.
 */
import { isLog } from '../analysis/wal/wal-files.ts';
import { PART } from '../analysis/core/time-parts.ts';
import type { TraceOverview } from '../trace/file/overview.ts';
import { KINDS } from '../trace/lanes/interval-index.ts';
import { ACTIVITIES } from '../event/operations.ts';
import { STATEMENT_KINDS } from '../sqlite/statement-kind.ts';
import { LANE_KINDS, type LaneKind } from '../trace/lanes/lanes.ts';
import type { ThreadStore, TraceStore } from '../trace/store.ts';
import { PART_OF_ACTIVITY, share } from './time-lane.ts';
import {
  expectsTransactions,
  type TimelineKind,
  type TimelineLaneFrame,
  type TimelineRow,
} from './timeline-lanes.ts';

/**
 * Files of earlier writers don't have kinds of statements; a damaged one may have an unknown kind.
 */
const statementOf = (code: number | undefined): number =>
  code !== undefined && code in STATEMENT_KINDS ? code : OTHER;
const OTHER = STATEMENT_KINDS.indexOf('other');
const LOCK = ACTIVITIES.indexOf('lock');

/** Bins of one lane in time order, microseconds. */
class Bins {
  private readonly edges: number[] = [];
  private readonly busy: number[] = [];
  private readonly activity: number[] = [];
  readonly used: [from: number, to: number] = [Infinity, -Infinity];

  add(fromUs: number, toUs: number, busy: number, activity: number): void {
    if (busy === 0 || toUs <= fromUs) return;
    this.edges.push(fromUs, toUs);
    this.busy.push(busy);
    this.activity.push(activity);
    this.used[0] = Math.min(this.used[0], fromUs);
    this.used[1] = Math.max(this.used[1], toUs);
  }

  /** Calls back for each bin and each column that it overlaps, with the overlap in microseconds. */
  each(
    fromUs: number,
    toUs: number,
    width: number,
    take: (column: number, us: number, busy: number, activity: number) => void,
  ): void {
    const step = (toUs - fromUs) / width;
    for (let i = 0; i < this.busy.length; i++) {
      const from = Math.max(fromUs, this.edges[2 * i]!);
      const to = Math.min(toUs, this.edges[2 * i + 1]!);
      if (to <= from) continue;
      const last = Math.min(width - 1, Math.floor((to - fromUs) / step));
      for (let column = Math.floor((from - fromUs) / step); column <= last; column++) {
        const us =
          Math.min(to, fromUs + (column + 1) * step) - Math.max(from, fromUs + column * step);
        if (us > 0) take(column, us, this.busy[i]!, this.activity[i]!);
      }
    }
  }

  /** Microseconds in flight by `column * KINDS + activity`. */
  times(fromUs: number, toUs: number, width: number): Float64Array {
    const times = new Float64Array(width * KINDS);
    this.each(fromUs, toUs, width, (column, us, busy, activity) => {
      times[column * KINDS + (activity % KINDS)]! += (us * busy) / 255;
    });
    return times;
  }
}

type ThreadBins = Partial<Record<LaneKind, Bins>>;

export class SummaryLanes {
  /** The threads, without events. */
  readonly store: TraceStore;
  /** Begin of the first event and end of the last, microseconds; [0, 0] without any. */
  readonly extent: readonly [number, number];
  private readonly byThread: ThreadBins[];
  /** Events by thread. */
  private readonly events: ReadonlyMap<number, number>;

  constructor({ store, chunks, events }: TraceOverview) {
    this.store = store;
    this.events = events;
    this.extent = chunks.length
      ? [Math.min(...chunks.map((c) => c.fromUs)), Math.max(...chunks.map((c) => c.toUs))]
      : [0, 0];
    this.byThread = store.threads.map(() => ({}));
    const next = store.threads.map(() => Infinity);
    for (let i = chunks.length - 1; i >= 0; i--) {
      // from the last one: a chunk's summary ends where the next chunk begins
      const { thread, fromUs, toUs, lanes } = chunks[i]!;
      for (const { kind, busy, activity, statements } of lanes) {
        const bins = (this.byThread[thread]![kind] ??= new Bins());
        const step = (toUs - fromUs) / busy.length;
        for (let bin = 0; bin < busy.length; bin++)
          bins.add(
            fromUs + bin * step,
            Math.min(next[thread]!, fromUs + (bin + 1) * step),
            busy[bin]!,
            kind === 'sql' ? statementOf(statements?.[bin]) : activity[bin]!,
          );
      }
      next[thread] = fromUs;
    }
  }

  eventsOf(thread: ThreadStore): number {
    return this.events.get(thread.index) ?? 0;
  }

  /** The time range in which the lanes show something; null if they show nothing. */
  drawn(): [number, number] | null {
    const used = this.byThread.flatMap((lanes) => Object.values(lanes).map((bins) => bins.used));
    const [from, to] = [Math.min(...used.map((u) => u[0])), Math.max(...used.map((u) => u[1]))];
    return from < to ? [from, to] : null;
  }

  /**
   * Lanes of a thread, top to bottom. Lanes that the summaries don't cover are there but empty, so
   * that the others don't move later.
   */
  rowsOf({ index, definitions, engines }: ThreadStore): TimelineRow[] {
    const lanes = this.byThread[index] ?? {};
    const calls = LANE_KINDS.filter((kind) => lanes[kind]);
    const kinds: TimelineKind[] = [...calls];
    if (expectsTransactions(calls)) kinds.splice(kinds.indexOf('vfs'), 0, 'txn');
    if (lanes.sql ?? lanes.vfs) kinds.unshift('time');
    if (lanes.vfs ?? lanes.web) kinds.push('reads', 'writes');
    if ([...definitions.values()].some(isLog)) kinds.push('wal');
    if (lanes.sql && engines.some((engine) => engine.layers.counters)) kinds.push('cache');
    return kinds.map((kind) => ({ key: `${index}:${kind}`, thread: index, kind, events: 0 }));
  }

  /** Like TimelineLanes.frames, without slices. */
  frames(
    keys: readonly string[] | null,
    fromUs: number,
    toUs: number,
    width: number,
  ): TimelineLaneFrame[] {
    if (!(toUs > fromUs) || !Number.isInteger(width) || width < 1)
      throw new RangeError(
        `a frame needs a range and columns, got ${fromUs}..${toUs} us and ${width} columns`,
      );
    const all = this.store.threads.flatMap((thread) => this.rowsOf(thread));
    const rows = keys
      ? keys.flatMap((key) => all.find((row) => row.key === key) ?? [])
      : all.filter(({ kind }) => kind === 'time' || kind === 'web');
    return rows.map(({ key, thread, kind }) => {
      const lanes = this.byThread[thread]!;
      const frame = {
        key,
        busy: new Uint8Array(0),
        activity: new Uint8Array(0),
        slices: new Float32Array(0),
        labels: [],
      };
      if (kind === 'time')
        return { ...frame, stack: stackOf(lanes, fromUs, toUs, width), exact: 0 };
      const bins = lanes[kind as LaneKind];
      if (!bins) return { ...frame, values: new Float32Array(width).fill(NaN) };
      return {
        ...frame,
        ...(kind === 'lock' ? levels(bins, fromUs, toUs, width) : calls(bins, fromUs, toUs, width)),
      };
    });
  }
}

/** Columns of a frame of a lane of calls. */
type Columns = Pick<TimelineLaneFrame, 'busy' | 'activity'>;

function levels(bins: Bins, fromUs: number, toUs: number, width: number): Columns {
  const [busy, activity] = [new Uint8Array(width), new Uint8Array(width)];
  bins.each(fromUs, toUs, width, (column, _us, level) => {
    busy[column] = Math.max(busy[column]!, Math.min(4, level));
    activity[column] = LOCK;
  });
  return { busy, activity };
}

function calls(bins: Bins, fromUs: number, toUs: number, width: number): Columns {
  const [busy, activity] = [new Uint8Array(width), new Uint8Array(width)];
  const step = (toUs - fromUs) / width;
  const times = bins.times(fromUs, toUs, width);
  for (let column = 0; column < width; column++) {
    let [sum, most] = [0, 0];
    for (let kind = 0; kind < KINDS; kind++) {
      const us = times[column * KINDS + kind]!;
      sum += us;
      if (us <= most) continue;
      most = us;
      activity[column] = kind;
    }
    busy[column] = share(sum, step);
  }
  return { busy, activity };
}

/**
 * Like TimeLane for what isn't settled: storage calls in flight stand for waiting, and the rest of
 * the time while SQL runs is CPU.
 */
function stackOf(lanes: ThreadBins, fromUs: number, toUs: number, width: number): Uint8Array {
  const stack = new Uint8Array(width * KINDS);
  const step = (toUs - fromUs) / width;
  const above = (lanes.sql ?? lanes.vfs)?.times(fromUs, toUs, width);
  const web = lanes.web?.times(fromUs, toUs, width);
  for (let column = 0; column < width; column++) {
    const at = column * KINDS;
    let left = above?.subarray(at, at + KINDS).reduce((sum, us) => sum + us, 0) ?? 0;
    const add = (part: number, us: number): void =>
      void (stack[at + part] = Math.min(255, stack[at + part]! + share(us, step)));
    for (let kind = 2; kind < KINDS && left > 0; kind++) {
      const us = Math.min(left, web?.[at + kind] ?? 0);
      if (us > 0) add(PART_OF_ACTIVITY[kind]!, us);
      left -= us;
    }
    add(PART.cpu, left);
  }
  return stack;
}
