/**
 * Lanes of the Locks view, one for each thread and each thing that it locks. Its holds and waits on
 * screen are spans. Spans narrower than a pixel are joined with their neighbors, so an answer is
 * never longer than the screen is wide.
 *
 *   lane   waits   [~~~~]   [~]~[~]        span: from, to, mode, outcome, how many, first event
 *          holds        [=====]    [==]
 */
import { getOrMake, grouped } from '../../../analysis/core/maps.ts';
import { fact } from '../../../analysis/core/graph.ts';
import { locks } from '../../../analysis/locks/locks.ts';
import type { IntervalColumns } from '../../../analysis/locks/lock-columns.ts';
import { handlePools } from '../../../analysis/locks/handle-pools.ts';
import { rootOf } from '../../../analysis/core/thread-origin.ts';
import { threadTitles } from '../../../analysis/core/thread-titles.ts';
import { needing, type QueryContext } from './context.ts';
import type { LockLane, LockTrack, FrameArgs } from '../../../protocol/answers/lock-lanes.ts';

interface LaneRows {
  lane: LockLane;
  /** Indexes into `holds` and `waits`, by start time. */
  holds: Uint32Array;
  waits: Uint32Array;
}

/** Lanes beyond this many are counted, not drawn. */
const MOST_LANES = 1000;

/** By key, threads of one page together. */
export const lockLanes = fact(
  'lockLanes',
  'holds and waits',
  { locks, handlePools },
  (
    store,
    { locks: { holds, waits, resources, edges }, handlePools: pools },
  ): Map<string, LaneRows> => {
    const titles = threadTitles(store);
    const made = new Map<string, { lane: LockLane; holds: number[]; waits: number[] }>();
    const newLane = (key: string, thread: number, resource: number): LockLane => ({
      key,
      thread,
      threadTitle: titles[thread]!,
      root: rootOf(store, thread),
      ...resources[resource]!,
      holds: 0,
      waits: 0,
      heldUs: 0,
      waitedUs: 0,
      contended: false,
      pool: pools[resource] ? `pool:${thread}:${pools[resource]}` : '',
      handles: 0,
    });
    const laneOf = ({ thread, resource }: IntervalColumns, i: number) => {
      const key = `${thread[i]}:${resource[i]}`;
      return getOrMake(made, key, () => ({
        lane: newLane(key, thread[i]!, resource[i]!),
        holds: [],
        waits: [],
      }));
    };
    for (let i = 0; i < holds.count; i++) {
      const { lane, holds: list } = laneOf(holds, i);
      lane.holds++;
      lane.heldUs += holds.to[i]! - holds.from[i]!;
      list.push(i);
    }
    for (let i = 0; i < waits.count; i++) {
      const { lane, waits: list } = laneOf(waits, i);
      lane.waits++;
      lane.waitedUs += waits.to[i]! - waits.from[i]!;
      list.push(i);
    }
    for (const { waiter, holder, resource } of edges)
      for (const thread of [waiter, holder]) {
        const found = made.get(`${thread}:${resource}`);
        if (found) found.lane.contended = true;
      }
    const places = (list: number[], { from }: IntervalColumns): Uint32Array =>
      Uint32Array.from(list).sort((a, b) => from[a]! - from[b]!);
    const all = [...made.values()];
    for (const [key, its] of grouped(
      all.filter(({ lane }) => lane.pool),
      ({ lane }) => lane.pool,
    )) {
      const sum = { ...its[0]!.lane, key, pool: '', handles: its.length };
      sum.name = `${its[0]!.lane.name.slice(0, its[0]!.lane.name.lastIndexOf('/'))}/`;
      for (const name of ['holds', 'waits', 'heldUs', 'waitedUs'] as const)
        sum[name] = its.reduce((n, { lane }) => n + lane[name], 0);
      sum.contended = its.some(({ lane }) => lane.contended);
      all.push({
        lane: sum,
        holds: its.flatMap((one) => one.holds),
        waits: its.flatMap((one) => one.waits),
      });
    }
    return new Map(
      all
        .sort((a, b) => a.lane.root - b.lane.root || a.lane.thread - b.lane.thread)
        .map((m) => [
          m.lane.key,
          { lane: m.lane, holds: places(m.holds, holds), waits: places(m.waits, waits) },
        ]),
    );
  },
);

/**
 * The lanes to draw: all, or those with the longest waits and holds, in the order of their threads;
 * and those of pools.
 */
export function shownLanes(rows: ReadonlyMap<string, LaneRows>): {
  lanes: LockLane[];
  pools: LockLane[];
  more: number;
} {
  const every = [...rows.values()].map(({ lane }) => lane);
  const pools = every.filter(({ handles }) => handles > 0);
  const all = every.filter(({ handles }) => handles === 0);
  if (all.length <= MOST_LANES) return { lanes: all, pools, more: 0 };
  const weight = (l: LockLane): number => (l.contended ? 1e15 : 0) + l.waitedUs + l.heldUs;
  const kept = new Set([...all].sort((a, b) => weight(b) - weight(a)).slice(0, MOST_LANES));
  return { lanes: all.filter((lane) => kept.has(lane)), pools, more: all.length - MOST_LANES };
}

interface Span {
  from: number;
  to: number;
  covered: number;
  wait: number;
  mode: number;
  outcome: number;
  count: number;
  seq: number;
}

/**
 * @param places by start time @param least spans and gaps shorter than this are joined,
 * microseconds @param union also join overlapping ones
 */
function spansOf(
  columns: IntervalColumns,
  places: Uint32Array,
  wait: number,
  seq: Uint32Array,
  view: FrameArgs,
  least: number,
  union: boolean,
): Span[] {
  const spans: Span[] = [];
  let last: Span | null = null;
  for (const i of places) {
    const [from, to] = [columns.from[i]!, columns.to[i]!];
    if (from > view.to) break;
    if (to < view.from) continue;
    const [mode, outcome] = [columns.mode[i]!, columns.outcome[i]!];
    if (
      last &&
      ((union && from <= last.to) ||
        (to - from < least &&
          from - last.to < least &&
          (last.count > 1 || last.to - last.from < least)))
    ) {
      last.covered += Math.max(0, to - Math.max(from, last.to));
      last.to = Math.max(last.to, to);
      last.mode = Math.max(last.mode, mode);
      last.outcome = Math.max(last.outcome, outcome);
      last.count++;
    } else {
      last = {
        from,
        to,
        covered: to - from,
        wait,
        mode,
        outcome,
        count: 1,
        seq: seq[columns.row[i]!]!,
      };
      spans.push(last);
    }
  }
  return spans;
}

export const lockLaneQueries = {
  /**
   * Contents of the named lanes between two moments. Lanes that don't exist any more are left out.
   */
  lockFrame: needing([lockLanes], (context: QueryContext, args: FrameArgs): LockTrack[] => {
    const all = context.facts.get(lockLanes);
    const { holds, waits } = context.facts.get(locks);
    const least = (args.to - args.from) / Math.max(1, args.width);
    return args.lanes.flatMap((key): LockTrack[] => {
      const found = all.get(key);
      if (!found) return [];
      const isPool = found.lane.handles > 0;
      const { seq } = context.store.threads[found.lane.thread]!.events;
      const spans = [
        ...spansOf(holds, found.holds, 0, seq, args, least, isPool),
        ...spansOf(waits, found.waits, 1, seq, args, least, isPool),
      ];
      return [
        {
          key,
          from: Float64Array.from(spans, (s) => s.from),
          to: Float64Array.from(spans, (s) => s.to),
          covered: Float64Array.from(spans, (s) => s.covered),
          wait: Uint8Array.from(spans, (s) => s.wait),
          mode: Uint8Array.from(spans, (s) => s.mode),
          outcome: Uint8Array.from(spans, (s) => s.outcome),
          count: Uint32Array.from(spans, (s) => s.count),
          seq: Uint32Array.from(spans, (s) => s.seq),
        },
      ];
    });
  }),
};
