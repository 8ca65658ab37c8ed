/**
 * Statements, transactions, and syncs that ended since the last answer. They come from the call
 * lanes, which are already up to date, so this needs no extra analysis.
 */
import { threadTitles } from '../../../analysis/core/thread-titles.ts';
import { Op } from '../../../event/event.ts';
import { ACTIVITIES } from '../../../event/operations.ts';
import {
  PERFORMANCE_TRACKS,
  type PerformanceMark,
  type PerformanceMarks,
  type PerformanceTrack,
  type PerformanceTracksArgs,
} from '../../../protocol/answers/performance-tracks.ts';
import { LockLevel } from '../../../sqlite/constants.ts';
import { cut, oneLine } from '../../../text/clean.ts';
import { labelOf } from '../../../trace/describe.ts';
import type { Lane } from '../../../trace/lanes/lanes.ts';
import { toNs } from '../../../trace/lanes/sweep.ts';
import type { QueryContext } from './context.ts';

/** Maximum of one thread's track in one answer. The rest follows in the next ones. */
const MOST_MARKS = 500;
const LONGEST_LABEL = 100;
const SYNC = ACTIVITIES.indexOf('sync');

interface Span {
  fromNs: number;
  toNs: number;
  label: string;
}

/**
 * @param from index in the lane @returns intervals that have ended, and the index of the next one
 */
type Reader = (lane: Lane, from: number) => { spans: Span[]; next: number };

/**
 * Each interval of a lane. In the tail, only those whose call has ended, because these can't change
 * any more.
 */
const each =
  (isShown: (kind: number) => boolean): Reader =>
  ({ settled, tail, thread }, from) => {
    const { endSeq } = thread.events;
    const spans: Span[] = [];
    let next = from;
    for (; next < settled.count + tail.count && spans.length < MOST_MARKS; next++) {
      const isSettled = next < settled.count;
      const [index, i] = isSettled ? [settled, next] : [tail, next - settled.count];
      const row = index.rowOf(i);
      if (!isSettled && endSeq[row] === 0) break;
      if (!isShown(index.kind[i]!)) continue;
      spans.push({ fromNs: index.startOf(i), toNs: index.endOf(i), label: labelOf(thread, row) });
    }
    return { spans, next };
  };

/**
 * From the first lock to the last: consecutive levels form one transaction. Each starts with a
 * SHARED lock, even if a coarse clock shows no time since the previous unlock.
 */
const transactions: Reader = ({ settled, tail, thread }, from) => {
  const begins = (i: number): boolean =>
    settled.kind[i] === LockLevel.shared && thread.events.op[settled.rowOf(i)] === Op.xLock;
  const spans: Span[] = [];
  let next = from;
  while (next < settled.count && spans.length < MOST_MARKS) {
    let i = next;
    const fromNs = settled.startOf(i);
    let [toNs, level] = [settled.endOf(i), settled.kind[i]!];
    for (i++; i < settled.count && settled.startOf(i) === toNs && !begins(i); i++)
      [toNs, level] = [settled.endOf(i), Math.max(level, settled.kind[i]!)];
    if (i === settled.count && tail.count && tail.startOf(0) <= toNs) break; // still running
    spans.push({ fromNs, toNs, label: level >= LockLevel.reserved ? 'write' : 'read' });
    next = i;
  }
  return { spans, next };
};

const syncs = each((kind) => kind === SYNC);
/** @param lanes of a thread @param runsSqlite an engine was seen in it */
type Choice = (lanes: readonly Lane[], runsSqlite: boolean) => [Lane, Reader] | null;
const READERS: Record<PerformanceTrack, Choice> = {
  Statements: (lanes) =>
    laneOf(
      lanes,
      'sql',
      each(() => true),
    ),
  // without VFS calls, the lane of locks shows Web Locks
  Transactions: (lanes) => laneOf(lanes, 'vfs', syncs) && laneOf(lanes, 'lock', transactions),
  // for a thread that does storage for another one, the storage's own
  Syncs: (lanes, runsSqlite) =>
    laneOf(lanes, 'vfs', syncs) ?? (runsSqlite ? null : laneOf(lanes, 'web', syncs)),
};
function laneOf(lanes: readonly Lane[], kind: Lane['kind'], read: Reader): [Lane, Reader] | null {
  const lane = lanes.find((one) => one.kind === kind);
  return lane ? [lane, read] : null;
}

export const performanceTrackQueries = {
  performanceTracks(context: QueryContext, args: PerformanceTracksArgs): PerformanceMarks {
    const { store } = context;
    const { originMs, forgotten } = store;
    const titles = threadTitles(store);
    const lanes = context.callLanes();
    const marks: PerformanceMark[] = [];
    const after = { ...args.after };
    let more = false;
    for (const thread of store.threads)
      for (const track of PERFORMANCE_TRACKS) {
        const found = READERS[track](lanes.lanesOf(thread), thread.engines.length > 0);
        if (!found) continue;
        const key = `${originMs} ${thread.index} ${track}`;
        const [{ kind, settled, tail }, read] = found;
        const last = after[key];
        // indexes shift when the oldest events are dropped, and syncs change their lane once the
        // VFS is seen
        const from = !last
          ? settled.before(toNs((args.fromMs - originMs) * 1000))
          : last.forgotten === forgotten && last.lane === kind
            ? last.count
            : settled.before(last.ns + 1);
        const { spans, next } = read(found[0], from);
        const ns =
          next === 0
            ? -Infinity
            : next > settled.count
              ? tail.startOf(next - settled.count - 1)
              : settled.startOf(next - 1);
        after[key] = { count: next, ns, forgotten, lane: kind };
        more ||= spans.length === MOST_MARKS;
        for (const { fromNs, toNs: end, label } of spans)
          marks.push({
            label: cut(oneLine(label), LONGEST_LABEL),
            fromMs: originMs + fromNs / 1e6,
            toMs: originMs + end / 1e6,
            ...{ track, thread: titles[thread.index]! },
          });
      }
    return { marks, after, more };
  },
};
