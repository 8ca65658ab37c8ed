/** Calls of the browser's storage APIs in all, over every thread. All are null where the recording leaves storage calls out. */
import type { TraceStore } from '../../trace/store.ts';
import { Flag, Op } from '../../event/event.ts';
import { idbMode, READWRITE } from '../../event/idb-modes.ts';
import { codesOf, isWebOp, OPFS_FLUSHES, type Counts } from '../../event/operations.ts';
import { fact } from '../core/graph.ts';
import { bytesMoved } from '../../trace/bytes-moved.ts';
import { leavesOut } from '../core/layers.ts';

export interface WebCounts<N = number | null> {
  /** readBytes = bytes that the calls returned. Reads of File objects, writes to streams and their closes (as flushes) are included. */
  opfs: { reads: N; readBytes: N; writes: N; writeBytes: N; flushes: N; truncates: N };
  /** put = put and add; cursor = cursors opened. */
  idb: {
    get: N;
    put: N;
    delete: N;
    getAll: N;
    cursor: N;
    transactions: N;
    readwriteTransactions: N;
    getKey: N;
    getAllKeys: N;
    count: N;
    clear: N;
    cursorContinue: N;
    cursorUpdate: N;
    cursorDelete: N;
  };
  locks: { requests: N };
  localStorage: { get: N; set: N; remove: N };
  /** Requests that SQLite's calls made. */
  http: { requests: N; readBytes: N };
}

/** null where the recording leaves storage calls out. */
export const knownWeb = (web: WebCounts): WebCounts<number> | null =>
  web.locks.requests === null ? null : (web as WebCounts<number>);

export const webCounts = fact('webCounts', 'storage calls', {}, webCountsOf);

function webCountsOf(store: TraceStore): WebCounts {
  const seen = !leavesOut(store, 'web');
  const calls = new Float64Array(256);
  const bytes = new Float64Array(256);
  let readwrite = 0;
  for (const thread of store.threads) {
    const { op, aux, flags, count } = thread.events;
    for (let i = 0; i < count; i++) {
      const code = op[i]!;
      if (!isWebOp(code)) continue;
      // one that threw made no transaction
      if (code === Op.idbTransaction && flags[i]! & Flag.threw) continue;
      calls[code]!++;
      bytes[code]! += bytesMoved(thread.events, i);
      if (code === Op.idbTransaction && idbMode(aux[i]!) === READWRITE) readwrite++;
    }
  }
  const sum = (of: Float64Array, ops: readonly number[]): number | null =>
    seen ? ops.reduce((all, op) => all + of[op]!, 0) : null;
  const n = (...ops: number[]): number | null => sum(calls, ops);
  const opfs = (of: Float64Array, way: Counts): number | null =>
    sum(
      of,
      codesOf(({ api, counts }) => api === 'opfs' && counts === way),
    );
  return {
    opfs: {
      reads: opfs(calls, 'read'),
      readBytes: opfs(bytes, 'read'),
      writes: opfs(calls, 'write'),
      writeBytes: opfs(bytes, 'write'),
      flushes: sum(calls, OPFS_FLUSHES),
      truncates: n(Op.opfsTruncate, Op.opfsStreamTruncate),
    },
    idb: {
      get: n(Op.idbGet),
      put: n(Op.idbPut, Op.idbAdd),
      delete: n(Op.idbDelete),
      getAll: n(Op.idbGetAll),
      cursor: n(Op.idbOpenCursor, Op.idbOpenKeyCursor),
      transactions: n(Op.idbTransaction),
      readwriteTransactions: seen ? readwrite : null,
      getKey: n(Op.idbGetKey),
      getAllKeys: n(Op.idbGetAllKeys),
      count: n(Op.idbCount),
      clear: n(Op.idbClear),
      cursorContinue: n(Op.idbCursorContinue),
      cursorUpdate: n(Op.idbCursorUpdate),
      cursorDelete: n(Op.idbCursorDelete),
    },
    locks: { requests: n(Op.lockRequest) },
    localStorage: {
      get: n(Op.localStorageGet),
      set: n(Op.localStorageSet),
      remove: n(Op.localStorageRemove),
    },
    http: {
      requests: n(Op.httpXhr),
      readBytes: sum(bytes, [Op.httpXhr]),
    },
  };
}
