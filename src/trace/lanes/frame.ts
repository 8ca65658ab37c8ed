/**
 * What the timeline shows at any zoom, for any number of events: for each lane and pixel column,
 * the share of time in which a call was in flight, and the activity that took most of it. Instead
 * of a tree of summaries each lane keeps sampled running totals (interval-index.ts): a column is
 * the difference of two of them. It is exact unless it holds hundreds of calls (totals-cursor.ts).
 */
import { ACTIVITIES } from '../../event/operations.ts';
import { LockLevel } from '../../sqlite/constants.ts';
import { KINDS } from './interval-index.ts';
import { ThreadLanes, type Lane } from './lanes.ts';
import { labelOf } from '../describe.ts';
import type { ThreadStore, TraceStore } from '../store.ts';
import { cursorsOf, kindsOf, spentIn, type TotalsCursor } from './totals-cursor.ts';

/** One lane in one frame of the timeline. */
export interface LaneFrame {
  key: string;
  /**
   * Share of each column's time in which a call was in flight, 0..255; at least 1 if one began in
   * it. Lock lanes: the highest level, 0..4.
   */
  busy: Uint8Array;
  /** Index into ACTIVITIES of the activity that took most of it. */
  activity: Uint8Array;
  /**
   * Five numbers a slice at least MIN_SLICE_PX wide: row, begin and end in px, activity (lock
   * lanes: level), index into labels or -1.
   */
  slices: Float32Array;
  labels: string[];
}

export const SLICE_FIELDS = 5;

/** Many short runs of one statement, each drawn as one slice. */
export interface StatementRuns {
  /**
   * Five numbers a run: begin and end in px, kind (place in STATEMENT_KINDS), executions, index
   * into labels.
   */
  runs: Float32Array;
  labels: string[];
}
export const RUN_FIELDS = 5;
const MIN_SLICE_PX = 3;
/** Narrower slices don't get a text, and a lane has a maximum number of texts. */
const MIN_LABEL_PX = 24;
const MAX_LABELS = 256;
const LOCK_ACTIVITY = ACTIVITIES.indexOf('lock');

/** The lanes of calls of all threads of a store. Call `update` after the store has grown. */
export class CallLanes {
  private readonly byThread: ThreadLanes[] = [];
  constructor(private readonly store: TraceStore) {}

  /** @param horizonUs the trace's end so far; calls still running are shown up to here */
  update(horizonUs: number): void {
    const { threads } = this.store;
    for (let i = this.byThread.length; i < threads.length; i++)
      this.byThread.push(new ThreadLanes(threads[i]!));
    for (const lanes of this.byThread) lanes.update(horizonUs);
  }

  /** Begin of the first and end of the last call in any lane, microseconds; null without one. */
  extent(): [number, number] | null {
    let [from, to] = [Infinity, -Infinity];
    for (const { settled, tail } of this.lanes)
      for (const index of [settled, tail]) {
        if (!index.count) continue;
        from = Math.min(from, index.startOf(0));
        to = Math.max(to, index.endOf(index.count - 1));
      }
    return from === Infinity ? null : [from / 1000, to / 1000];
  }

  /** Release unused memory: the trace is complete. */
  trim(): void {
    for (const { settled } of this.lanes) settled.trim();
  }

  lanesOf(thread: ThreadStore): Lane[] {
    return this.byThread[thread.index]?.lanes ?? [];
  }
  get lanes(): Lane[] {
    return this.byThread.flatMap((t) => t.lanes);
  }
  lane(key: string): Lane | undefined {
    return this.lanesOf(this.store.threads[Number(key.slice(0, key.indexOf(':')))]!).find(
      (lane) => lane.key === key,
    );
  }

  /** Frames of these lanes (null = all), in the order of the threads. Unknown keys are left out. */
  frames(keys: readonly string[] | null, fromUs: number, toUs: number, width: number): LaneFrame[] {
    const lanes = keys === null ? this.lanes : this.lanes.filter((lane) => keys.includes(lane.key));
    return lanes.map((lane) => frameOf(lane, fromUs, toUs, width));
  }
}

/**
 * What a lane shows between two moments.
 * @param width pixel columns
 * @param withSlices false leaves slices and labels empty
 * @throws RangeError for an empty range or no columns
 */
export function frameOf(
  lane: Lane,
  fromUs: number,
  toUs: number,
  width: number,
  withSlices = true,
): LaneFrame {
  const { busy, activity, wide: all } = columnsOf(lane, fromUs, toUs, width);
  const wide = withSlices ? all : [];
  const slices = new Float32Array(wide.length * SLICE_FIELDS);
  const labels: string[] = [];
  const indexOf = new Map<string, number>();
  wide.forEach((slice, i) => {
    let label = -1;
    if (slice.x1 - slice.x0 >= MIN_LABEL_PX) {
      const text =
        lane.labelOf?.(slice.row, slice.kind) ??
        labelOf(lane.thread, slice.row, lane.kind === 'lock' ? slice.kind : undefined);
      label = indexOf.get(text) ?? -1;
      if (label < 0 && labels.length < MAX_LABELS)
        indexOf.set(text, (label = labels.push(text) - 1));
    }
    slices.set([slice.row, slice.x0, slice.x1, slice.kind, label], i * SLICE_FIELDS);
  });
  return { key: lane.key, busy, activity, slices, labels };
}

interface WideSlice {
  row: number;
  x0: number;
  x1: number;
  kind: number;
}

function columnsOf(
  lane: Lane,
  fromUs: number,
  toUs: number,
  width: number,
): { busy: Uint8Array; activity: Uint8Array; wide: WideSlice[] } {
  if (!(toUs > fromUs) || !Number.isInteger(width) || width < 1 || width > 65536)
    throw new RangeError(
      `a frame needs a range and 1 to 65536 columns, got ${fromUs}..${toUs} us and ${width} columns`,
    );
  const busy = new Uint8Array(width);
  const activity = new Uint8Array(width);
  const wide: WideSlice[] = [];
  const fromNs = fromUs * 1000;
  const step = ((toUs - fromUs) * 1000) / width;
  const cursors = cursorsOf([lane.settled, lane.tail], step);
  const taken = cursors.map(() => -1);
  const indexes = cursors.map(() => 0);
  const kinds = kindsOf(cursors);
  const times = new Float64Array(KINDS);
  for (let column = 0; column <= width; column++) {
    const ns = fromNs + column * step;
    let begun = 0;
    for (let n = 0; n < cursors.length; n++) {
      const cursor = cursors[n]!;
      cursor.moveTo(ns);
      begun += cursor.index - indexes[n]!;
      // none of these is wide, and none spans this boundary
      if (!cursor.exact || cursor.lastNs <= ns) continue;
      const index = cursor.of;
      const last = cursor.index - 1;
      if (last === taken[n]) continue;
      taken[n] = last; // a slice of 3 px spans a boundary, so every wide one is found here
      const x0 = Math.max(0, (index.startOf(last) - fromNs) / step);
      const x1 = Math.min(width, (index.endOf(last) - fromNs) / step);
      if (x1 - x0 >= MIN_SLICE_PX)
        wide.push({ row: index.rowOf(last), x0, x1, kind: index.kind[last]! });
    }
    if (column > 0) {
      const i = column - 1;
      spentIn(cursors, kinds, times);
      if (lane.kind === 'lock') levelColumn(i, times, busy, activity);
      else if (!callColumn(i, times, kinds, step, busy, activity) && begun > 0)
        instants(i, cursors, indexes, busy, activity);
    }
    for (let n = 0; n < cursors.length; n++) indexes[n] = cursors[n]!.index;
  }
  return { busy, activity, wide };
}

function levelColumn(i: number, times: Float64Array, busy: Uint8Array, activity: Uint8Array): void {
  for (let level: number = LockLevel.exclusive; level > 0; level--)
    if (times[level]! > 0) {
      busy[i] = level;
      activity[i] = LOCK_ACTIVITY;
      return;
    }
}

/** @returns false if the column has no time spent */
function callColumn(
  i: number,
  times: Float64Array,
  kinds: readonly number[],
  step: number,
  busy: Uint8Array,
  activity: Uint8Array,
): boolean {
  let sum = 0;
  let best = 0;
  let kind = 0;
  for (let n = 0; n < kinds.length; n++) {
    const time = times[kinds[n]!]!;
    sum += time;
    if (time > best) {
      best = time;
      kind = kinds[n]!;
    }
  }
  if (best <= 0) return false;
  busy[i] = Math.max(1, Math.min(255, Math.round((sum / step) * 255)));
  activity[i] = kind;
  return true;
}

/**
 * Calls shorter than the clock's step have no duration. In a column of such calls, the most
 * frequent activity wins.
 */
function instants(
  i: number,
  cursors: readonly TotalsCursor[],
  from: readonly number[],
  busy: Uint8Array,
  activity: Uint8Array,
): void {
  const counts = new Float64Array(KINDS);
  cursors.forEach(({ of, index }, n) => of.countKinds(from[n]!, index, counts));
  busy[i] = 1;
  activity[i] = counts.indexOf(Math.max(...counts));
}

/** Row of the call that runs at a moment, else of the nearest within `slackUs`; -1 = none. */
export function rowAt(lane: Lane, us: number, slackUs: number): number {
  const ns = us * 1000;
  let nearest = slackUs * 1000;
  let row = -1;
  for (const index of [lane.settled, lane.tail]) {
    const after = index.before(ns);
    for (const i of [after, after - 1]) {
      if (i < 0 || i >= index.count) continue;
      const distance = Math.max(0, index.startOf(i) - ns, ns - index.endOf(i));
      if (distance <= nearest) {
        nearest = distance;
        row = index.rowOf(i);
      }
    }
  }
  return row;
}
