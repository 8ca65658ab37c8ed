/**
 * The lane of a thread's transactions, each in its phases:
 *
 *   [ read ][ write ][ commit ]   read: SHARED held; write: from RESERVED on; commit: until the last lock is given back
 *
 * A transaction that was rolled back has its own colour from RESERVED on. Where two connections of the thread overlap, the one that
 * began first is shown to its end.
 */
import type { AnatomyTable } from './analysis/anatomy-table.ts';
import { IntervalIndex } from './interval-index.ts';
import { ACTIVITIES } from './lanes.ts';
import type { TraceStore } from './store.ts';
import { toNs } from './sweep.ts';

const kind = (activity: (typeof ACTIVITIES)[number]): number => ACTIVITIES.indexOf(activity);
const [READ, WRITE, COMMIT, ROLLED_BACK] = [kind('read'), kind('write'), kind('sync'), kind('meta')];
const RESERVED = 2;
const WORDS: Readonly<Record<number, string>> = { [READ]: 'read', [WRITE]: 'write', [COMMIT]: 'commit', [ROLLED_BACK]: 'rolled back' };

/** What an interval of the lane says. */
export const transactionWord = (intervalKind: number): string => WORDS[intervalKind] ?? '';

/** Intervals by thread, in the order of TraceStore.threads; rows are those of the transactions' first calls. */
export function transactionIntervals(store: TraceStore, anatomies: AnatomyTable): IntervalIndex[] {
  const indexes = store.threads.map(() => new IntervalIndex());
  const ends = store.threads.map(() => -Infinity);
  const order = Uint32Array.from({ length: anatomies.length }, (_, i) => i).sort(
    (a, b) => anatomies.fromUs(a) - anatomies.fromUs(b) || a - b,
  );
  for (const i of order) {
    const { transaction, fromUs, toUs, ladder, commit } = anatomies.at(i);
    const { thread, beginRow, outcome, kind: what } = transaction;
    const write = what === 'write' ? toNs(ladder[RESERVED]?.askedUs ?? fromUs) : Infinity;
    const committed = commit ? toNs(commit.fromUs) : Infinity;
    const phases: [number, number][] = [
      [toNs(fromUs), READ],
      [write, outcome === 'rolled back' ? ROLLED_BACK : WRITE],
      [committed, COMMIT],
    ];
    const end = toNs(toUs);
    phases.forEach(([from, phase], i) => {
      const until = Math.min(end, ...phases.slice(i + 1).map(([next]) => next));
      const start = Math.max(from, ends[thread]!);
      if (until <= start && !(until === from && from === end && start === from)) return;
      indexes[thread]!.push(start, until - start, phase, beginRow);
      ends[thread] = until;
    });
  }
  return indexes;
}
