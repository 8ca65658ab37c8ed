/** A recording's time while SQL runs as strips of columns. */
import { sqliteThreads } from '../../../analysis/core/main-threads.ts';
import type { Facts } from '../../../analysis/core/graph.ts';
import { PART } from '../../../analysis/core/time-parts.ts';
import { pieces } from '../../../analysis/time/thread-times.ts';
import type { BusyStrip } from '../../../protocol/answers/answer.ts';
import { TimeLane } from '../../../timeline/time-lane.ts';
import type { ThreadStore } from '../../../trace/store.ts';

/** Shares of each column's time, as TimelineLaneFrame.stack has them. */
export function stackOf(
  thread: ThreadStore,
  facts: Facts,
  fromUs: number,
  toUs: number,
  columns: number,
): Uint8Array {
  const lane = new TimeLane(thread);
  lane.settle(facts.get(pieces));
  return lane.columns([], fromUs, toUs, columns).stack;
}

/** From the first moment while SQL runs to the last, over all threads; 0 to 0 if there is none. */
export function sqlRangeOf(facts: Facts): { fromUs: number; toUs: number } {
  let [from, to] = [Infinity, -Infinity];
  for (const thread of facts.get(sqliteThreads)) {
    const { index } = facts.get(pieces).of(thread);
    let [first, last] = [0, index.count - 1];
    // the recording's own set-up comes before the first statement; its distance means nothing
    while (first <= last && index.kind[first] === PART.tracer) first++;
    while (first <= last && index.kind[last] === PART.tracer) last--;
    if (first > last) continue;
    from = Math.min(from, index.startOf(first));
    to = Math.max(to, index.endOf(last));
  }
  return to > from ? { fromUs: from / 1000, toUs: to / 1000 } : { fromUs: 0, toUs: 0 };
}

/** Maximum number of folded pauses: more would leave no room for what is between them. */
const MOST_FOLDS = 24;
/** Pauses shorter than this share of the drawn time stay. */
const WORTH = 0.03;
export const MOST_COLUMNS = 4096;

/**
 * The time in which SQL ran on any thread, with long pauses folded.
 * @param width columns, of which each fold takes `fold`
 */
export function busyStrip(facts: Facts, width: number, fold: number): BusyStrip {
  const threads = facts.get(sqliteThreads);
  const ranges = busyRanges(facts);
  const busy = ranges.reduce((us, { fromUs, toUs }) => us + toUs - fromUs, 0);
  const room = Math.min(MOST_COLUMNS, Math.max(ranges.length, width - fold * (ranges.length - 1)));
  return {
    segments: ranges.map(({ fromUs, toUs }) => {
      const columns = Math.max(1, Math.round((room * (toUs - fromUs)) / (busy || 1)));
      return {
        fromUs,
        toUs,
        columns,
        stacks: threads.map((thread) => stackOf(thread, facts, fromUs, toUs, columns)),
      };
    }),
  };
}

/** Ascending, disjoint, microseconds. */
function busyRanges(facts: Facts): { fromUs: number; toUs: number }[] {
  const { fromUs, toUs } = sqlRangeOf(facts);
  if (toUs <= fromUs) return [];
  const gaps = pausesOf(facts)
    .filter((gap) => gap.fromUs >= fromUs && gap.toUs <= toUs)
    .sort((a, b) => b.toUs - b.fromUs - (a.toUs - a.fromUs));
  const folded: typeof gaps = [];
  let drawn = toUs - fromUs;
  for (const gap of gaps) {
    const us = gap.toUs - gap.fromUs;
    if (folded.length === MOST_FOLDS || us < WORTH * drawn) break;
    folded.push(gap);
    drawn -= us;
  }
  folded.sort((a, b) => a.fromUs - b.fromUs);
  const begins = [fromUs, ...folded.map((gap) => gap.toUs)];
  const ends = [...folded.map((gap) => gap.fromUs), toUs];
  return begins.map((from, i) => ({ fromUs: from, toUs: ends[i]! }));
}

/**
 * Share of the drawn time that stays at each end of a pause, so that its mark has room between the
 * runs before and after.
 */
const AIR = 0.004;
/**
 * The long pauses of all threads, ascending, microseconds: what the timeline leaves out when idle
 * time is skipped.
 */
export function longPauses(facts: Facts): { from: number; to: number }[] {
  const ranges = busyRanges(facts);
  const air = AIR * ranges.reduce((us, { fromUs, toUs }) => us + toUs - fromUs, 0);
  return ranges.slice(1).flatMap(({ fromUs }, i) => {
    const pause = { from: ranges[i]!.toUs + air, to: fromUs - air };
    return pause.to > pause.from ? [pause] : [];
  });
}

/** The longest times in which no thread ran SQL. */
function pausesOf(facts: Facts): { fromUs: number; toUs: number }[] {
  const all = facts.get(sqliteThreads).map((thread) => facts.get(pieces).of(thread).index);
  const at = all.map(() => 0);
  const found: { fromUs: number; toUs: number }[] = [];
  let [end, least] = [NaN, 0];
  for (;;) {
    let next = -1;
    for (let t = 0; t < all.length; t++)
      if (
        at[t]! < all[t]!.count &&
        (next < 0 || all[t]!.startOf(at[t]!) < all[next]!.startOf(at[next]!))
      )
        next = t;
    if (next < 0) return found;
    const index = all[next]!;
    const i = at[next]!++;
    if (index.kind[i] === PART.tracer) continue;
    const start = index.startOf(i);
    if (start - end > least) {
      found.push({ fromUs: end / 1000, toUs: start / 1000 });
      if (found.length > 4 * MOST_FOLDS) {
        found.sort((a, b) => b.toUs - b.fromUs - (a.toUs - a.fromUs)).length = MOST_FOLDS;
        least = 1000 * (found.at(-1)!.toUs - found.at(-1)!.fromUs);
      }
    }
    end = Number.isNaN(end) ? index.endOf(i) : Math.max(end, index.endOf(i));
  }
}
