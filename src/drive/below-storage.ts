/**
 * Storage calls and the work for them from Chromium's tracing. The hook's marks (thread-marks.ts)
 * assign a page's calls to a thread and a time of our trace. The browser's own process doesn't name
 * the page.
 *
 * Names in Chromium 156 (other versions may differ; a count of 0 everywhere means that they do):
 * - `disabled-by-default-file`, in the renderer, on the worker's thread: File::Read, File::Write,
 *   File::Flush, File::SetLength with args.size. One each per FileSystemSyncAccessHandle read,
 *   write, flush, truncate. (getSize gives File::GetLength and, inside it, File::GetInfo.)
 * - `IndexedDB`, in the renderer: IDBObjectStore::<op>RequestSetup, IDBIndex::<op>RequestSetup and
 *   IDBCursor::<op>RequestSetup with op = get getKey getAll getAllKeys getAllRecords put add delete
 *   clear count openCursor openKeyCursor, and on a cursor continue continuePrimaryKey advance
 *   update delete; IDBDatabase::transaction once per transaction() call. Phases b and e, without
 *   RequestSetup, are the span of a request until its answer.
 * - `IndexedDB`, in the browser's process: Database::<Op>Operation, Cursor::<Op>Operation, and
 *   Transaction::DoPendingCommit.
 * - A complete event (phase X) shorter than the trace's clock of 1 us arrives as an instant (phase
 *   I): both are calls. Phases s and f are flow arrows of the same calls.
 * - The browser's process reads and writes files, too: its databases, OPFS through createWritable
 *   and getFile. Only those within its work for IndexedDB are distinguished.
 */
import { countOf } from '../text/numbers.ts';
import { Op } from '../event/event.ts';
import {
  BROWSER,
  BROWSER_WORK,
  MAX_BELOW,
  UNRECORDED,
  type BrowserWork,
} from '../trace/below-storage.ts';
import type { TraceStore } from '../trace/store.ts';
import type { BrowserEvent, Traced } from './browser-trace.ts';
import { threadKey, threadMarks, type ThreadMarks } from './thread-marks.ts';

export const STORAGE_CATEGORIES = ['disabled-by-default-file', 'IndexedDB'];
export const isStorageEvent = ({ cat }: BrowserEvent): boolean => STORAGE_CATEGORIES.includes(cat);

const FILE_CALLS: Readonly<Record<string, number>> = {
  'File::Read': Op.opfsRead,
  'File::Write': Op.opfsWrite,
  'File::Flush': Op.opfsFlush,
  'File::SetLength': Op.opfsTruncate,
};
/** The app makes no request for createIndex(). */
const REQUESTS: Readonly<Record<string, number>> = {
  get: Op.idbGet,
  getKey: Op.idbGetKey,
  getAll: Op.idbGetAll,
  getAllRecords: Op.idbGetAll,
  getAllKeys: Op.idbGetAllKeys,
  count: Op.idbCount,
  openCursor: Op.idbOpenCursor,
  openKeyCursor: Op.idbOpenKeyCursor,
  put: Op.idbPut,
  add: Op.idbAdd,
  delete: Op.idbDelete,
  clear: Op.idbClear,
};
/** A recording has one operation for all three ways to move a cursor. */
const OF_CURSORS: Readonly<Record<string, number>> = {
  continue: Op.idbCursorContinue,
  continuePrimaryKey: Op.idbCursorContinue,
  advance: Op.idbCursorContinue,
  update: Op.idbCursorUpdate,
  delete: Op.idbCursorDelete,
};
const WORK: Readonly<Record<string, BrowserWork>> = {
  'Database::GetOperation': 'get',
  'Database::GetAllOperation': 'getAll',
  'Database::CountOperation': 'count',
  'Database::OpenCursorOperation': 'openCursor',
  'Cursor::ContinueOperation': 'moveCursor',
  'Cursor::AdvanceOperation': 'moveCursor',
  'Cursor::PrefetchIterationOperation': 'moveCursor',
  'Database::PutOperation': 'put',
  'Database::DeleteRangeOperation': 'delete',
  'Database::ClearOperation': 'clear',
  'Transaction::DoPendingCommit': 'commit',
};
const FILE_WORK = /^File::(Read|Write|Flush)(?:AtCurrentPos)?(?:NoBestEffort)?$/;
const SPAN = /^IDB(?:ObjectStore|Index|Cursor)::/;

const isComplete = ({ ph }: BrowserEvent): boolean => ph === 'X' || ph === 'I';
const endOf = ({ ts, dur = 0 }: BrowserEvent): number => ts + dur;
/** An event that contains another and begins at the same microsecond comes first. */
const inOrder = (a: BrowserEvent, b: BrowserEvent): number =>
  a.ts - b.ts || endOf(b) - endOf(a) || Number(isComplete(b)) - Number(isComplete(a));

/**
 * The operation of the storage call that a renderer's event stands for, as in PAGE_CALLS; null =
 * none.
 */
export function pageCall(event: BrowserEvent): number | null {
  if (!isComplete(event)) return null;
  const { name } = event;
  if (name === 'IDBDatabase::transaction') return Op.idbTransaction;
  const [, of, request = ''] =
    /^IDB(ObjectStore|Index|Cursor)::(\w+)RequestSetup$/.exec(name) ?? [];
  if (of) return (of === 'Cursor' ? OF_CURSORS : REQUESTS)[request] ?? null;
  return FILE_CALLS[name] ?? null;
}

/**
 * Add what the browser reported about storage to the trace.
 * @returns the outcome, as text for the user
 */
export function addBelowStorage(store: TraceStore, { events, isWhole }: Traced): string {
  const marks = threadMarks(store, events);
  // one clock for all processes, since the browser's own work is measured against the page's calls
  const offsets = [...marks.offsets.values()];
  const offsetUs = Math.min(...offsets);
  const found = storageEvents(store, events, marks);
  const kept = found.slice(0, MAX_BELOW);
  store.below = {
    clockErrorUs: marks.errorUs + (offsets.length ? Math.ceil(Math.max(...offsets) - offsetUs) : 0),
    lost: !isWhole || kept.length < found.length,
    threads: Int32Array.from(kept, ({ thread }) => thread),
    kinds: Uint8Array.from(kept, ({ kind }) => kind),
    us: Float64Array.from(kept, ({ ts }) => Math.round(ts - offsetUs)),
    durUs: Float64Array.from(kept, ({ durUs }) => durUs),
  };
  return `took ${countOf(kept.length, 'storage event')} of the browser`;
}

interface StorageEvent {
  /** As in BelowStorage. */
  thread: number;
  kind: number;
  /** On the browser's clock. */
  ts: number;
  durUs: number;
}

function storageEvents(
  store: TraceStore,
  events: readonly BrowserEvent[],
  marks: ThreadMarks,
): StorageEvent[] {
  const all = events.filter(isStorageEvent).sort(inOrder);
  const threadOf = placesIn(store, marks);
  const answerUs = answerTimes(all);
  /** End of the latest work of a thread of the browser's process. */
  const workEnds = new Map<string, number>();
  return all.flatMap((event): StorageEvent[] => {
    if (!isComplete(event)) return [];
    const { ts, dur = 0, name } = event;
    const call = pageCall(event);
    const thread = call === null ? null : threadOf(event);
    if (call !== null && thread !== null)
      return [{ thread, kind: call, ts, durUs: answerUs.get(event) ?? (isFile(event) ? dur : -1) }];
    const key = threadKey(event);
    const end = endOf(event);
    let work = WORK[name];
    if (work) workEnds.set(key, end);
    else if (end <= (workEnds.get(key) ?? -Infinity)) work = fileWork(name);
    return work ? [{ thread: BROWSER, kind: BROWSER_WORK.indexOf(work), ts, durUs: dur }] : [];
  });
}

const isFile = ({ name }: BrowserEvent): boolean => name in FILE_CALLS;
const fileWork = (name: string): BrowserWork | undefined => {
  const call = FILE_WORK.exec(name)?.[1];
  return call === undefined ? undefined : (`file${call}` as BrowserWork);
};

/**
 * The recorded thread that made a call: UNRECORDED in the same process, null in another process or
 * before the first thread began.
 */
function placesIn(
  store: TraceStore,
  { marks }: ThreadMarks,
): (event: BrowserEvent) => number | null {
  const begun = new Map<number, number>();
  const places = new Map<string, { ts: number; place: number }[]>();
  for (const { pid, thread, ts, timeOrigin } of [...marks].sort((a, b) => a.ts - b.ts)) {
    const place = store.threads.findIndex(({ info }) => info.timeOrigin === timeOrigin);
    if (place < 0) continue;
    if (!begun.has(pid)) begun.set(pid, ts);
    const known = places.get(thread) ?? [];
    places.set(thread, [...known, { ts, place }]);
  }
  return (event) => {
    if (event.ts < (begun.get(event.pid) ?? Infinity)) return null;
    const known = places.get(threadKey(event))?.findLast(({ ts }) => ts <= event.ts);
    return known?.place ?? UNRECORDED;
  };
}

/**
 * How long each IndexedDB request waited for its answer, where that is known.
 * @param events in order
 */
function answerTimes(events: readonly BrowserEvent[]): Map<BrowserEvent, number> {
  const found = new Map<BrowserEvent, number>();
  /** The request that each thread is setting up. */
  const setups = new Map<string, BrowserEvent>();
  const waiting = new Map<string, BrowserEvent>();
  for (const event of events) {
    const { ph, ts, pid, id, id2 } = event;
    const span = `${pid} ${id2?.local ?? id2?.global ?? id}`;
    if (isComplete(event) && pageCall(event) !== null) setups.set(threadKey(event), event);
    else if (ph === 'b' && SPAN.test(event.name)) {
      const setup = setups.get(threadKey(event));
      if (!setup || ts > endOf(setup) + 1) continue;
      waiting.set(span, setup);
      setups.delete(threadKey(event));
    } else if (ph === 'e') {
      const setup = waiting.get(span);
      if (setup) found.set(setup, ts - setup.ts);
      waiting.delete(span);
    }
  }
  return found;
}
