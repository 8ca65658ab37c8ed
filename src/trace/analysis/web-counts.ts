/** Calls of the browser's storage APIs in all, over every thread. */
import { Op } from '../event.ts';
import type { TraceStore } from '../store.ts';
import { bytesMoved } from './files.ts';

export interface WebCounts {
  /** readBytes = bytes that the calls returned. Reads of File objects and writes to streams are included. */
  opfs: { reads: number; readBytes: number; writes: number; writeBytes: number; flushes: number; truncates: number };
  /** put = put and add; cursor = cursors opened. */
  idb: {
    get: number;
    put: number;
    delete: number;
    getAll: number;
    cursor: number;
    transactions: number;
    readwriteTransactions: number;
    getKey: number;
    getAllKeys: number;
    count: number;
    clear: number;
    cursorContinue: number;
    cursorUpdate: number;
    cursorDelete: number;
  };
  locks: { requests: number };
  localStorage: { get: number; set: number; remove: number };
}

export function webCountsOf(store: TraceStore): WebCounts {
  const calls = new Float64Array(256);
  const bytes = new Float64Array(256);
  let readwrite = 0;
  for (const thread of store.threads) {
    const { op, aux, count } = thread.events;
    for (let i = 0; i < count; i++) {
      const code = op[i]!;
      if (code < 64 || code >= 128) continue;
      calls[code]!++;
      bytes[code]! += bytesMoved(thread, i);
      if (code === Op.idbTransaction && (aux[i]! & 3) === 1) readwrite++;
    }
  }
  const n = (...ops: number[]): number => ops.reduce((sum, op) => sum + calls[op]!, 0);
  const b = (...ops: number[]): number => ops.reduce((sum, op) => sum + bytes[op]!, 0);
  return {
    opfs: {
      reads: n(Op.opfsRead, Op.opfsFileRead),
      readBytes: b(Op.opfsRead, Op.opfsFileRead),
      writes: n(Op.opfsWrite, Op.opfsStreamWrite),
      writeBytes: b(Op.opfsWrite, Op.opfsStreamWrite),
      flushes: n(Op.opfsFlush),
      truncates: n(Op.opfsTruncate, Op.opfsStreamTruncate),
    },
    idb: {
      get: n(Op.idbGet),
      put: n(Op.idbPut, Op.idbAdd),
      delete: n(Op.idbDelete),
      getAll: n(Op.idbGetAll),
      cursor: n(Op.idbOpenCursor, Op.idbOpenKeyCursor),
      transactions: n(Op.idbTransaction),
      readwriteTransactions: readwrite,
      getKey: n(Op.idbGetKey),
      getAllKeys: n(Op.idbGetAllKeys),
      count: n(Op.idbCount),
      clear: n(Op.idbClear),
      cursorContinue: n(Op.idbCursorContinue),
      cursorUpdate: n(Op.idbCursorUpdate),
      cursorDelete: n(Op.idbCursorDelete),
    },
    locks: { requests: n(Op.lockRequest) },
    localStorage: { get: n(Op.localStorageGet), set: n(Op.localStorageSet), remove: n(Op.localStorageRemove) },
  };
}
