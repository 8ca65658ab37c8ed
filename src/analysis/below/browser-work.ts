/**
 * Where the time of storage calls goes below the page: in a queue until the browser begins with a request, in its work for it, and in the files that it
 * reads and writes meanwhile. All times are of the browser's clock.
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
  /** From the request until the browser's process began with it; null = not known, or nothing waits. */
  queuedUs: number | null;
  /** In the browser's process, or in the call itself where that does the work. */
  workUs: number | null;
  /** From the request until its answer. */
  answerUs: number | null;
}
export interface BelowStorageSums {
  check: CallCheck;
  sums: WorkSum[];
}

/** Requests of a page that the browser's process works for in one way. */
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
  /** Sum of when they began. */
  beganUs: number;
  durUs: number;
  /** Whose duration isn't known. */
  unknown: number;
}
const NONE: Found = { calls: 0, beganUs: 0, durUs: 0, unknown: 0 };

/** null where the browser wasn't asked. */
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
    // which request is which work isn't reported; where there are as many, the sums belong together anyway
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
