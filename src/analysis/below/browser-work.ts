/**
 * Where the time of storage calls goes below the page: in a queue until the browser starts a
 * request, in its work on it, and in its reads and writes of files. All times are by the browser's
 * clock.
 */
import { Op } from '../../event/event.ts';
import { opName } from '../../event/operations.ts';
import {
  BROWSER,
  BROWSER_WORK,
  type BelowStorage,
  type BrowserWork,
} from '../../trace/below-storage.ts';
import { getOrMake } from '../core/maps.ts';
import { fact } from '../core/graph.ts';
import { callCheck, type CallCheck } from './call-check.ts';

/** Sums, in microseconds. */
export interface WorkSum {
  work: string;
  calls: number;
  /**
   * From the request until the browser's process started it; null = not known, or there isn't a
   * queue.
   */
  queuedUs: number | null;
  /** In the browser's process, or in the call itself if that does the work. */
  workUs: number | null;
  /** From the request until its answer. */
  answerUs: number | null;
}
export interface BelowStorageSums {
  check: CallCheck;
  sums: WorkSum[];
}

/** Requests of a page that cause each kind of work in the browser's process. */
const REQUESTS: Partial<Record<BrowserWork, readonly number[]>> = {
  get: [Op.idbGet, Op.idbGetKey],
  getAll: [Op.idbGetAll, Op.idbGetAllKeys],
  count: [Op.idbCount],
  openCursor: [Op.idbOpenCursor, Op.idbOpenKeyCursor],
  moveCursor: [Op.idbCursorContinue],
  put: [Op.idbPut, Op.idbAdd, Op.idbCursorUpdate],
  delete: [Op.idbDelete, Op.idbCursorDelete],
  clear: [Op.idbClear],
};
const WORK_NAMES: Record<BrowserWork, string> = {
  get: 'IndexedDB get, getKey',
  getAll: 'IndexedDB getAll, getAllKeys',
  count: 'IndexedDB count',
  openCursor: 'IndexedDB cursors opened',
  moveCursor: 'IndexedDB cursors moved',
  put: 'IndexedDB put, add, update',
  delete: 'IndexedDB delete',
  clear: 'IndexedDB clear',
  commit: 'IndexedDB commits',
  fileRead: 'of these, files read',
  fileWrite: 'of these, files written',
  fileFlush: 'of these, files flushed',
};
const FILE_CALLS = [Op.opfsRead, Op.opfsWrite, Op.opfsFlush, Op.opfsTruncate];

interface Found {
  calls: number;
  /** Sum of their begins. */
  beganUs: number;
  durUs: number;
  /** Requests whose duration isn't known. */
  unknown: number;
}
const NONE: Found = { calls: 0, beganUs: 0, durUs: 0, unknown: 0 };

/** null if the browser wasn't asked. */
export const belowStorage = fact(
  'belowStorage',
  'what the browser does for storage',
  { callCheck },
  ({ below }, { callCheck: check }): BelowStorageSums | null =>
    below && check && { check, sums: sumsOf(below) },
);

function sumsOf({ threads, kinds, us, durUs, lost }: BelowStorage): WorkSum[] {
  const inPage = new Map<number, Found>();
  const inBrowser = new Map<number, Found>();
  threads.forEach((thread, i) => {
    const found = getOrMake(thread === BROWSER ? inBrowser : inPage, kinds[i]!, () => ({
      ...NONE,
    }));
    found.calls++;
    found.beganUs += us[i]!;
    if (durUs[i]! < 0) found.unknown++;
    else found.durUs += durUs[i]!;
  });
  const ofFiles = FILE_CALLS.map((op): WorkSum => {
    const { calls, durUs: workUs } = inPage.get(op) ?? NONE;
    return { work: opName(op), calls, queuedUs: null, workUs, answerUs: null };
  });
  const ofRequests = BROWSER_WORK.map((work, i): WorkSum => {
    const asked = together((REQUESTS[work] ?? []).map((op) => inPage.get(op) ?? NONE));
    const done = inBrowser.get(i) ?? NONE;
    // it isn't known which request caused which work; if there are equally many, their sums belong
    // together
    const matched = asked.calls > 0 && asked.calls === done.calls && !lost;
    return {
      work: WORK_NAMES[work],
      calls: REQUESTS[work] ? asked.calls : done.calls,
      queuedUs: matched ? Math.max(0, done.beganUs - asked.beganUs) : null,
      workUs: done.calls ? done.durUs : null,
      answerUs: asked.calls && !asked.unknown ? asked.durUs : null,
    };
  });
  return [...ofFiles, ...ofRequests].filter(({ calls }) => calls > 0);
}

const together = (all: readonly Found[]): Found =>
  all.reduce(
    (a, b) => ({
      calls: a.calls + b.calls,
      beganUs: a.beganUs + b.beganUs,
      durUs: a.durUs + b.durUs,
      unknown: a.unknown + b.unknown,
    }),
    NONE,
  );
