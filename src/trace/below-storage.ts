/**
 * Below storage: what the browser reports on a page's storage calls, and on its own work for them.
 * Recordings that asked for it (`vfscope record --below-storage`) have it in a section of their
 * file that other readers skip. Data from a file isn't trusted: it is checked and limited.
 */
import { isTraceUs } from '../event/clock.ts';
import { stepsOf, timesOf } from './us-steps.ts';
import { Op } from '../event/event.ts';

/** A page's calls that the browser reports, by operation. */
export const PAGE_CALLS: ReadonlySet<number> = new Set([
  Op.opfsRead,
  Op.opfsWrite,
  Op.opfsFlush,
  Op.opfsTruncate,
  Op.idbTransaction,
  Op.idbGet,
  Op.idbGetKey,
  Op.idbGetAll,
  Op.idbGetAllKeys,
  Op.idbCount,
  Op.idbOpenCursor,
  Op.idbOpenKeyCursor,
  Op.idbCursorContinue,
  Op.idbPut,
  Op.idbAdd,
  Op.idbDelete,
  Op.idbClear,
  Op.idbCursorUpdate,
  Op.idbCursorDelete,
]);

/**
 * Work of the browser's own process for IndexedDB; `file`: its reads and writes of files in that
 * time. Files store indices into this list, so add new ones at the end.
 */
export const BROWSER_WORK = [
  'get',
  'getAll',
  'count',
  'openCursor',
  'moveCursor',
  'put',
  'delete',
  'clear',
  'commit',
  'fileRead',
  'fileWrite',
  'fileFlush',
] as const;
export type BrowserWork = (typeof BROWSER_WORK)[number];

/**
 * In place of a thread: one of the page's process that isn't recorded, and the browser's own
 * process.
 */
export const UNRECORDED = -1;
export const BROWSER = -2;

/** Events in order of time. */
export interface BelowStorage {
  /** How far the browser's clock may be off from the trace's, microseconds. */
  clockErrorUs: number;
  /** The browser reported more than fits. */
  lost: boolean;
  /** Place in `TraceStore.threads`, or UNRECORDED, or BROWSER. */
  threads: Int32Array;
  /**
   * Operation of a page's call (PAGE_CALLS), or for the browser's work its index in BROWSER_WORK.
   */
  kinds: Uint8Array;
  /** Microseconds of the trace. */
  us: Float64Array;
  /** Microseconds; for a request of IndexedDB, until it was answered; -1 = not known. */
  durUs: Float64Array;
}

/** Maximum events of a recording. */
export const MAX_BELOW = 300_000;

/** As JSON: times as differences in whole microseconds. */
export function packedBelow({ us, threads, kinds, durUs, ...rest }: BelowStorage): object {
  return {
    ...rest,
    threads: Array.from(threads),
    kinds: Array.from(kinds),
    us: stepsOf(us),
    durUs: Array.from(durUs, Math.round),
  };
}

/**
 * @param threadOf index in the trace of a thread of the file; throws for an unknown one
 * @returns null for invalid data: lists of different lengths, unknown kinds, times that go back
 */
export function checkedBelow(
  content: Record<string, unknown>,
  threadOf: (thread: number) => number,
): BelowStorage | null {
  const { clockErrorUs, lost } = content;
  const [threads, kinds, steps, durations] = [
    content.threads,
    content.kinds,
    content.us,
    content.durUs,
  ].map((list) =>
    Array.isArray(list) && list.every(Number.isInteger) ? (list as number[]) : null,
  );
  if (!threads || !kinds || !steps || !durations || steps.length > MAX_BELOW) return null;
  if ([threads, kinds, durations].some(({ length }) => length !== steps.length)) return null;
  const us = timesOf(steps);
  if (!us) return null;
  const places = new Int32Array(us.length);
  for (const [i, at] of us.entries()) {
    const [thread, kind, dur] = [threads[i]!, kinds[i]!, durations[i]!];
    if (dur < -1 || !isTraceUs(at + dur)) return null;
    if (thread < BROWSER) return null;
    if (!(thread === BROWSER ? kind >= 0 && kind < BROWSER_WORK.length : PAGE_CALLS.has(kind)))
      return null;
    places[i] = thread < 0 ? thread : threadOf(thread);
  }
  return {
    clockErrorUs:
      typeof clockErrorUs === 'number' && clockErrorUs >= 0 && isTraceUs(clockErrorUs)
        ? clockErrorUs
        : 0,
    lost: lost === true,
    threads: places,
    kinds: Uint8Array.from(kinds),
    us,
    durUs: Float64Array.from(durations),
  };
}

/** Events that begin within ranges `[fromUs, toUs]`. */
export function belowWithin(
  below: BelowStorage,
  ranges: readonly (readonly [fromUs: number, toUs: number])[],
): BelowStorage {
  const { us, threads, kinds, durUs } = below;
  const kept: number[] = [];
  us.forEach((at, i) => {
    if (ranges.some(([from, to]) => at >= from && at <= to)) kept.push(i);
  });
  return {
    ...below,
    us: Float64Array.from(kept, (i) => us[i]!),
    threads: Int32Array.from(kept, (i) => threads[i]!),
    kinds: Uint8Array.from(kept, (i) => kinds[i]!),
    durUs: Float64Array.from(kept, (i) => durUs[i]!),
  };
}
