/**
 * Queries of the Locks view: which connection waited for which, SQLITE_BUSY chains, locks not
 * released, possible deadlocks.
 */
import { fact } from '../../../analysis/core/graph.ts';
import { lockLines } from '../../../analysis/contention/lock-lines.ts';
import { arrowsOf } from '../../../analysis/contention/wait-arrows.ts';
import { waitLines } from '../../../analysis/contention/wait-lines.ts';
import { sumsOf } from '../../../analysis/contention/wait-sums.ts';
import { answerOf } from './context.ts';
import { lockLanes, shownLanes } from './lock-lanes.ts';
import type { LocksAnswer } from '../../../protocol/answers/locks.ts';

const MOST_LINES = 5000;
const longest = <T extends { fromUs: number; toUs: number }>(all: T[], most: number): T[] =>
  all.length <= most
    ? all
    : [...all].sort((a, b) => b.toUs - b.fromUs - (a.toUs - a.fromUs)).slice(0, most);
const byTime = <T extends { fromUs: number }>(all: T[]): T[] =>
  all.sort((a, b) => a.fromUs - b.fromUs);

const locksAnswer = fact(
  'locksAnswer',
  'holds and waits',
  { lockLines, waitLines, lockLanes },
  (_, { lockLines: lines, waitLines: waits, lockLanes }): LocksAnswer => {
    const [busy, deadlocks] = [lines.busy(), lines.deadlocks()];
    const left = lines.left().sort((a, b) => b.laterWaits - a.laterWaits);
    const { lanes, pools, more } = shownLanes(lockLanes);
    return {
      lanes,
      pools,
      moreLanes: more,
      arrows: arrowsOf(waits),
      titles: lines.titles,
      toleranceUs: lines.locks.toleranceUs,
      waits: byTime(longest(waits, MOST_LINES)),
      busy: byTime(longest(busy, MOST_LINES)),
      left: left.slice(0, MOST_LINES),
      deadlocks: byTime(longest(deadlocks, MOST_LINES)),
      totals: {
        waits: waits.length,
        busy: busy.length,
        left: left.length,
        deadlocks: deadlocks.length,
      },
      waitSums: sumsOf(waits),
    };
  },
);

export const lockQueries = {
  locks: answerOf(locksAnswer),
};
