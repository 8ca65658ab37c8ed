/**
 * What pages did while one waited for another's lock. A page can hold a lock for its workers, and
 * wait for one while they continue, so all of its threads count:
 *
 *   tab 1   page     [=========== holds "leader" ===========]
 *           worker     step  step    step      step   step        it works: its lock isn't a hang
 *   tab 2   page        [~~~~~~ waits for "leader" ~~~~~~~~~
 *           worker         step    step   step                    it works, too: nothing stands still
 */
import { opTable } from '../../event/operations.ts';
import { firstPlace } from '../../trace/number-columns.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { fact } from '../core/graph.ts';
import { getOrMake } from '../core/maps.ts';
import { rootOf } from '../core/thread-origin.ts';
import { coarsestStep } from '../core/time-range.ts';

/** Calls of SQL, a VFS, or storage, without lock requests, holds, and waits. */
const WORK = opTable(
  ({ layer, api }) =>
    layer === 'sql' || layer === 'vfs' || (layer === 'web' && api !== 'locks' && api !== 'atomics'),
);

/** Such calls of a thread. */
interface Work {
  /** Ascending, microseconds. */
  begins: Float64Array;
  /** When the last of a call and those before it ended. */
  ends: Float64Array;
}
function workOf({ events }: ThreadStore): Work {
  const { op, t0, dur, count } = events;
  let n = 0;
  for (let row = 0; row < count; row++) if (WORK[op[row]!]) n++;
  const [begins, ends] = [new Float64Array(n), new Float64Array(n)];
  let last = -Infinity;
  n = 0;
  for (let row = 0; row < count; row++) {
    if (!WORK[op[row]!]) continue;
    begins[n] = t0[row]!;
    ends[n++] = last = Math.max(last, t0[row]! + dur[row]!);
  }
  return { begins, ends };
}

export interface Meanwhile {
  /** SQL, VFS, and storage calls that the holder's page began. */
  holderCalls: number;
  /**
   * How long before the end the last such call, including earlier ones, had ended; null if there
   * was none. Microseconds.
   */
  holderIdleUs: number | null;
  /** Such a call of the waiter's page was running, so it does more than wait. */
  waiterWorks: boolean;
}

export class WhatPagesDid {
  private readonly byRoot = new Map<number, ThreadStore[]>();
  private readonly roots: readonly number[];
  /** Times of two threads can only be compared to within this. */
  private readonly toleranceUs: number;
  /**
   * For threads that waits were requested about: they are few, and each needs two numbers for each
   * call.
   */
  private readonly work = new Map<ThreadStore, Work>();

  constructor(store: TraceStore) {
    const { threads } = store;
    this.roots = threads.map(({ index }) => rootOf(store, index));
    for (const thread of threads)
      getOrMake(this.byRoot, this.roots[thread.index]!, (): ThreadStore[] => []).push(thread);
    this.toleranceUs = coarsestStep(threads) ?? 0;
  }

  /** From one moment to another, while thread `waiter` waited for thread `holder`. Microseconds. */
  meanwhile(
    { holder, waiter }: { holder: number; waiter: number },
    fromUs: number,
    toUs: number,
  ): Meanwhile {
    let holderCalls = 0;
    for (const { begins } of this.workFor(holder, waiter)) {
      const behind = firstPlace(0, begins.length, (i) => begins[i]! >= toUs);
      holderCalls += behind - firstPlace(0, behind, (i) => begins[i]! >= fromUs);
    }
    const lastEnd = this.lastEnd(holder, waiter, toUs);
    // with a coarse clock, a call before the wait, and one after the lock was granted, may have the
    // wait's own times
    const { toleranceUs } = this;
    const waiterEnd = this.lastEnd(waiter, holder, toUs - toleranceUs);
    return {
      holderCalls,
      holderIdleUs: lastEnd === -Infinity ? null : Math.max(0, toUs - lastEnd),
      waiterWorks: waiterEnd > fromUs + toleranceUs,
    };
  }

  /** When the last call that a page began before a moment ended; -Infinity = there was none. */
  private lastEnd(thread: number, other: number, beforeUs: number): number {
    let last = -Infinity;
    for (const { begins, ends } of this.workFor(thread, other)) {
      const behind = firstPlace(0, begins.length, (i) => begins[i]! >= beforeUs);
      if (behind > 0) last = Math.max(last, ends[behind - 1]!);
    }
    return last;
  }

  /** For a thread's page, without the other thread, which can belong to the same page. */
  private workFor(thread: number, other: number): Work[] {
    return this.byRoot
      .get(this.roots[thread]!)!
      .filter(({ index }) => index === thread || index !== other)
      .map((one) => getOrMake(this.work, one, () => workOf(one)));
  }
}

export const whatPagesDid = fact(
  'whatPagesDid',
  'holds and waits',
  {},
  (store) => new WhatPagesDid(store),
);
