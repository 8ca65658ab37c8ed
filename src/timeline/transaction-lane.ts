/**
 * The lane of a thread's transactions, each in its phases:
 *
 *   [ read ][ write ][ commit ]   read: SHARED held; write: from RESERVED on; commit: until the last lock is released
 *
 * Rolled-back transactions have another color from RESERVED on. If two connections of the thread
 * overlap, the transaction that began first is drawn to its end.
 */
import type { AnatomyTable } from '../analysis/transactions/anatomy-table.ts';
import { IntervalIndex } from '../trace/lanes/interval-index.ts';
import { ACTIVITIES } from '../event/operations.ts';
import type { TraceStore } from '../trace/store.ts';
import { toNs } from '../trace/lanes/sweep.ts';
import { LockLevel } from '../sqlite/constants.ts';

const kind = (activity: (typeof ACTIVITIES)[number]): number => ACTIVITIES.indexOf(activity);
const [READ, WRITE, COMMIT, ROLLED_BACK] = [
  kind('read'),
  kind('write'),
  kind('sync'),
  kind('meta'),
];
const WORDS: Readonly<Record<number, string>> = {
  [READ]: 'read',
  [WRITE]: 'write',
  [COMMIT]: 'commit',
  [ROLLED_BACK]: 'rolled back',
};

/** Name of an interval's phase. */
export const transactionWord = (intervalKind: number): string => WORDS[intervalKind] ?? '';

/**
 * Intervals by thread, in the order of TraceStore.threads; rows are those of the transactions'
 * first calls.
 */
export function transactionIntervals(store: TraceStore, anatomies: AnatomyTable): IntervalIndex[] {
  const indexes = store.threads.map(() => new IntervalIndex());
  const ends = store.threads.map(() => -Infinity);
  const { transactions } = anatomies;
  for (const i of inTimeOrder(anatomies)) {
    const thread = transactions.thread[i]!;
    const row = transactions.beginRow[i]!;
    const from = toNs(anatomies.fromUs[i]!);
    const end = toNs(anatomies.toUs[i]!);
    const reserved = anatomies.askedUs(i, LockLevel.reserved);
    const write = transactions.isWrite(i)
      ? Number.isNaN(reserved)
        ? from
        : toNs(reserved)
      : Infinity;
    const commit = anatomies.commitUs[i]!;
    const committed = Number.isNaN(commit) ? Infinity : toNs(commit);
    const phase = (begin: number, until: number, what: number): void => {
      const start = Math.max(begin, ends[thread]!);
      if (until <= start && !(until === begin && begin === end && start === begin)) return;
      indexes[thread]!.push(start, until - start, what, row);
      ends[thread] = until;
    };
    phase(from, Math.min(end, write, committed), READ);
    phase(
      write,
      Math.min(end, committed),
      transactions.outcome(i) === 'rolled back' ? ROLLED_BACK : WRITE,
    );
    phase(committed, end, COMMIT);
  }
  return indexes;
}

/** Places of anatomies, by thread and then by begin. */
function inTimeOrder(anatomies: AnatomyTable): Uint32Array {
  const order = Uint32Array.from({ length: anatomies.length }, (_, i) => i);
  const { thread } = anatomies.transactions;
  const last = new Map<number, number>();
  for (let i = 0; i < anatomies.length; i++) {
    const from = anatomies.fromUs[i]!;
    if (from < (last.get(thread[i]!) ?? -Infinity))
      return order.sort((a, b) => anatomies.fromUs[a]! - anatomies.fromUs[b]! || a - b);
    last.set(thread[i]!, from);
  }
  return order;
}
