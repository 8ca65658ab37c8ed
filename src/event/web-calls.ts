/** The calls of the browser's storage APIs that the summary and the Lab count, by API and name. */
import { Flag, Op } from './event.ts';
import { idbMode, READWRITE } from './idb-modes.ts';
import { codesOf, OPFS_FLUSHES, type Counts } from './operations.ts';

const ofOpfs = (way: Counts): number[] =>
  codesOf(({ api, counts }) => api === 'opfs' && counts === way);

/**
 * Includes reads of File objects, writes to streams, and closes of streams (as flushes). put = put
 * and add, cursor = cursors opened.
 */
export const WEB_CALLS = {
  opfs: {
    reads: ofOpfs('read'),
    writes: ofOpfs('write'),
    flushes: OPFS_FLUSHES,
    truncates: [Op.opfsTruncate, Op.opfsStreamTruncate],
  },
  idb: {
    get: [Op.idbGet],
    put: [Op.idbPut, Op.idbAdd],
    delete: [Op.idbDelete],
    getAll: [Op.idbGetAll],
    cursor: [Op.idbOpenCursor, Op.idbOpenKeyCursor],
    transactions: [Op.idbTransaction],
    getKey: [Op.idbGetKey],
    getAllKeys: [Op.idbGetAllKeys],
    count: [Op.idbCount],
    clear: [Op.idbClear],
    cursorContinue: [Op.idbCursorContinue],
    cursorUpdate: [Op.idbCursorUpdate],
    cursorDelete: [Op.idbCursorDelete],
  },
  locks: { requests: [Op.lockRequest] },
  localStorage: {
    get: [Op.localStorageGet],
    set: [Op.localStorageSet],
    remove: [Op.localStorageRemove],
  },
  /** Requests made by SQLite's calls. */
  http: { requests: [Op.httpXhr] },
} as const;

/** Whether a call counts: one that threw didn't make a transaction. */
export const isWebCall = (op: number, flags: number): boolean =>
  op !== Op.idbTransaction || (flags & Flag.threw) === 0;
/** Whether a counted call is a readwrite transaction. */
export const isReadwrite = (op: number, aux: number): boolean =>
  op === Op.idbTransaction && idbMode(aux) === READWRITE;
