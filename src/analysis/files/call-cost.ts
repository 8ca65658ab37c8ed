/**
 * What a recording costs its app: a model, fitted to the CPU time that the traced workers of eight
 * workloads took more than without a recording (`npm run bench -- recording-cost` prints both).
 * Calls in an app cost more than in a loop that does nothing else: caches are cold, batches are
 * cloned, and garbage is collected. Costs are in multiples of what a call costs in that loop on the
 * same thread, so that they hold for slower machines, too.
 */
import { Flag, Op } from '../../event/event.ts';
import { opTable } from '../../event/operations.ts';
import type { EventColumns } from '../../trace/columns.ts';

/** Kinds of calls with similar costs. */
const KINDS = { sync: 0, async: 1, request: 2 } as const;
/**
 * In multiples of the loop's call. An asynchronous call of SQL or the VFS is suspended and resumed,
 * and a request of the browser's storage has listeners.
 */
const FACTORS = [2.6, 10, 150];
/** For each thread with an engine: code that runs for the first time. */
const START = 150_000;
/** DevTools keep the stack of each message and of each promise. */
const UNDER_DEVTOOLS = 1.4;

const IS_WEB = opTable(({ layer }) => layer === 'web');
const IS_OURS = opTable(({ code }) => code === Op.tracer);

export type CostCounts = [sync: number, async: number, request: number];

/** Add a call. */
export function countCost(counts: CostCounts, { op, flags }: EventColumns, row: number): void {
  const code = op[row]!;
  if (IS_OURS[code]) return;
  const isAsync = (flags[row]! & Flag.async) !== 0;
  counts[isAsync ? (IS_WEB[code] ? KINDS.request : KINDS.async) : KINDS.sync]++;
}

/**
 * Nanoseconds for the calls and for the thread's start.
 * @param callNs of one call in the loop: the smaller of the measurements for JavaScript and for the
 * VFS, because a thread may be interrupted
 */
export function costNs(
  counts: CostCounts,
  callNs: number,
  hasEngine: boolean,
  devtools: boolean,
): { calls: number; start: number } {
  const each = callNs * (devtools ? UNDER_DEVTOOLS : 1);
  const calls = each * counts.reduce((sum, n, kind) => sum + n * FACTORS[kind]!, 0);
  return { calls, start: hasEngine ? each * START : 0 };
}
