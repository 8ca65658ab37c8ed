/**
 * The event model: what one event is, from the hot path to the file. Read this first.
 *
 * An event is one call (xRead, IDBObjectStore.put, sqlite3_step, ...) on one thread. While it travels it is a RECORD of
 * 64 bytes (`Field`); loaded, it is a row of typed-array columns (store.ts). Order and nesting come from the sequence
 * numbers, never from the clock: one counter per thread, drawn from at the begin and again at the end of every call.
 * What its ids mean is said once, beside the numbers: definitions.ts.
 */

/** The layers, stacked as they nest. Readers skip layers that they do not know. */
export type Layer = 'sql' | 'vfs' | 'web' | 'host' | 'browser' | 'cpu';

/** How an operation is drawn and summed: what the thread was doing. */
export type Activity = 'cpu' | 'read' | 'write' | 'sync' | 'lock' | 'wait' | 'meta' | 'none';

export interface OpInfo {
  readonly code: number;
  /** The field's own name: `xRead`, `idb.put`, `opfs.write`, `sqlite3_step`. */
  readonly name: string;
  readonly layer: Layer;
  readonly activity: Activity;
}

/**
 * Operation codes, one byte. Codes are part of the file format: never renumber, only add.
 * Ranges: 1-63 vfs, 64-127 web, 128-159 sql, 192-223 host. 0 is "no event", 255 ends an earlier record.
 */
export const Op = {
  none: 0,
  // vfs: sqlite3_io_methods in struct order, then the sqlite3_vfs methods (sqlite.org/c3ref/io_methods.html)
  xClose: 1,
  xRead: 2,
  xWrite: 3,
  xTruncate: 4,
  xSync: 5,
  xFileSize: 6,
  xLock: 7,
  xUnlock: 8,
  xCheckReservedLock: 9,
  xFileControl: 10,
  xSectorSize: 11,
  xDeviceCharacteristics: 12,
  xShmMap: 13,
  xShmLock: 14,
  xShmBarrier: 15,
  xShmUnmap: 16,
  xFetch: 17,
  xUnfetch: 18,
  xOpen: 19,
  xDelete: 20,
  xAccess: 21,
  // web: IndexedDB
  idbOpen: 64,
  idbDeleteDatabase: 65,
  idbTransaction: 66,
  idbGet: 67,
  idbGetKey: 68,
  idbGetAll: 69,
  idbGetAllKeys: 70,
  idbCount: 71,
  idbOpenCursor: 72,
  idbOpenKeyCursor: 73,
  idbCursorContinue: 74,
  idbPut: 75,
  idbAdd: 76,
  idbDelete: 77,
  idbClear: 78,
  idbCursorUpdate: 79,
  idbCursorDelete: 80,
  idbCommit: 81,
  idbAbort: 82,
  // web: OPFS
  opfsRemoveEntry: 83,
  opfsOpenSyncAccessHandle: 84,
  opfsRead: 85,
  opfsWrite: 86,
  opfsFlush: 87,
  opfsTruncate: 88,
  opfsGetSize: 89,
  opfsClose: 90,
  opfsGetFile: 91,
  opfsFileRead: 92,
  opfsCreateWritable: 93,
  opfsStreamWrite: 94,
  opfsStreamTruncate: 95,
  opfsStreamSeek: 96,
  opfsStreamClose: 97,
  opfsGetFileHandle: 98,
  opfsGetDirectoryHandle: 99,
  opfsMove: 100,
  // web: IndexedDB again. A connection of somebody else keeps an open or a delete waiting; the app is told that it does so itself.
  idbBlocked: 101,
  idbVersionChange: 102,
  // web: Web Locks, Atomics, localStorage
  lockRequest: 104,
  lockHeld: 105,
  lockQuery: 106,
  atomicsWait: 108,
  atomicsWaitAsync: 109,
  atomicsNotify: 110,
  localStorageGet: 112,
  localStorageSet: 113,
  localStorageRemove: 114,
  localStorageKey: 115,
  localStorageClear: 116,
  // sql
  sqlOpen: 128,
  sqlClose: 129,
  sqlPrepare: 130,
  sqlStep: 131,
  sqlReset: 132,
  sqlFinalize: 133,
  sqlExec: 134,
  /** Engine counters after a statement: offset = hits, length = misses, aux = writes, aux2 = spills (cumulative per connection). */
  sqlCounters: 135,
  // host
  threadStart: 192,
  threadEnd: 193,
  navigation: 194,
  visibility: 195,
  error: 196,
  mark: 197,
  measure: 198,
  /** The tracer's own work that the app had to wait for: draining, set-up. length = records or bytes handled. */
  tracer: 199,
  /** Records that found no room: length = how many since the last such record. */
  dropped: 200,
  /** How a wasm module came here: offset = begin of the request in ms, length = bytes of the body, aux = microseconds, aux2 = bytes unpacked. */
  wasmFetch: 201,
  wasmCompile: 202,
  /** Also where compiling is part of it. */
  wasmInstantiate: 203,
  /** Not an event: carries the end of a record that had left the ring before its call returned. */
  end: 255,
} as const;
export type OpName = keyof typeof Op;

const ACTIVITY: Partial<Record<OpName, Activity>> = {
  xRead: 'read',
  xFetch: 'read',
  xWrite: 'write',
  xTruncate: 'write',
  xSync: 'sync',
  xLock: 'lock',
  xUnlock: 'lock',
  xCheckReservedLock: 'lock',
  xShmLock: 'lock',
  xDelete: 'write',
  idbGet: 'read',
  idbGetKey: 'read',
  idbGetAll: 'read',
  idbGetAllKeys: 'read',
  idbCount: 'read',
  idbOpenCursor: 'read',
  idbOpenKeyCursor: 'read',
  idbCursorContinue: 'read',
  idbPut: 'write',
  idbAdd: 'write',
  idbDelete: 'write',
  idbClear: 'write',
  idbCursorUpdate: 'write',
  idbCursorDelete: 'write',
  idbCommit: 'sync',
  idbTransaction: 'sync',
  opfsRead: 'read',
  opfsFileRead: 'read',
  opfsGetFile: 'read',
  opfsWrite: 'write',
  opfsStreamWrite: 'write',
  opfsTruncate: 'write',
  opfsStreamTruncate: 'write',
  opfsFlush: 'sync',
  opfsStreamClose: 'sync',
  opfsRemoveEntry: 'write',
  lockRequest: 'lock',
  atomicsWait: 'wait',
  atomicsWaitAsync: 'wait',
  localStorageGet: 'read',
  localStorageSet: 'write',
  localStorageRemove: 'write',
  localStorageClear: 'write',
  sqlPrepare: 'cpu',
  sqlStep: 'cpu',
  sqlExec: 'cpu',
  sqlReset: 'cpu',
  sqlFinalize: 'cpu',
  sqlOpen: 'cpu',
  sqlClose: 'cpu',
  lockHeld: 'none',
  none: 'none',
  end: 'none',
  mark: 'none',
  measure: 'none',
  visibility: 'none',
  navigation: 'none',
  threadStart: 'none',
  threadEnd: 'none',
  idbBlocked: 'none',
  idbVersionChange: 'none',
  wasmFetch: 'none',
  wasmCompile: 'cpu',
  wasmInstantiate: 'cpu',
};

/** Display names where the code's own key is not the field's word. */
function displayName(key: OpName): string {
  if (key.startsWith('x')) return key;
  const group = /^(idb|opfs|lock|atomics|localStorage|sql|wasm)(?=[A-Z])/.exec(key)?.[1];
  if (!group) return key;
  const rest = key.slice(group.length);
  if (group === 'sql') return `sqlite3_${rest.toLowerCase()}`;
  return `${group}.${rest[0]!.toLowerCase()}${rest.slice(1)}`;
}

export function layerOfCode(code: number): Layer {
  return code < 64 ? 'vfs' : code < 128 ? 'web' : code < 160 ? 'sql' : 'host';
}

/** Everything known of an operation, by code (0..255); undefined where no operation has the code. Pure: the hook, which needs no names, leaves it out. */
export const OPS: readonly (OpInfo | undefined)[] = /* @__PURE__ */ (() => {
  const table: (OpInfo | undefined)[] = new Array<OpInfo | undefined>(256).fill(undefined);
  for (const [key, code] of Object.entries(Op) as [OpName, number][])
    table[code] = {
      code,
      name: displayName(key),
      layer: layerOfCode(code),
      activity: ACTIVITY[key] ?? 'meta',
    };
  return table;
})();

export const opName = (code: number): string => OPS[code]?.name ?? `op ${code}`;

/** Bytes of one record in the ring and in a batch. Little-endian, 8-byte aligned. */
export const RECORD_BYTES = 64;

/** Byte offsets of a record's fields. */
export const Field = {
  /** f64, ms of the thread's `performance.now()` at the call */
  t0: 0,
  /** f64, the same at the call's completion (not its first return, where it suspends) */
  t1: 8,
  /** u32, sequence number drawn at the begin; 0 never occurs */
  seq: 16,
  /** u32, sequence number drawn at the end; 0 = still running */
  endSeq: 20,
  /** u32: operation code | Flag bits << 8 */
  op: 24,
  /** i32, what the call answered: SQLite result code, bytes returned by an OPFS call, 0 for success of a request; failures of the web layer: exceptions.ts */
  result: 28,
  /** f64, byte offset, numeric key or new size; NaN = not applicable or not numeric */
  offset: 32,
  /** u32, bytes asked for (read, write) or carried (put, get) */
  length: 40,
  /** u32, id of what the call was on: a file, store, lock, statement text, name (`Definition.id`); 0 = unknown */
  object: 44,
  /** u32, seq of the call that this one serves (the innermost open vfs or sql call of the thread); 0 = none */
  parent: 48,
  /** u32, connection (sql, vfs), IndexedDB transaction (web) or handle; 0 = none. Ids are per thread. */
  context: 52,
  /** u32, by operation: see `AUX` below */
  aux: 56,
  /** u32, second detail by operation: see `AUX` below */
  aux2: 60,
} as const;
/*
 * AUX, by operation:
 *   xOpen             SQLITE_OPEN_* flags            xLock, xUnlock   level asked for, 0..4
 *   xSync             SQLITE_SYNC_* flags            xFileControl     opcode
 *   xAccess, xDelete  flags                          xDeviceCharacteristics, xSectorSize: none (the answer is the result)
 *   idbTransaction    mode (0 readonly, 1 readwrite, 2 versionchange) | durability << 2 (0 default, 1 strict, 2 relaxed)
 *   lockRequest       mode (0 exclusive, 1 shared) | ifAvailable << 1 | steal << 2
 *   sqlPrepare, sqlStep, sqlReset, sqlFinalize: id of the statement instance (per thread)
 *   idbBlocked        aux = seq of the call that waits; offset, length: version asked for (NaN = to be deleted), version there
 *   idbVersionChange  offset, length: the same
 *   wasmCompile, wasmInstantiate: length = bytes handed over, aux = id of the URL as a `name`, context = seq of the wasmCompile of
 *                     that module; 0 = not known, and while the module is fetched meanwhile
 *   sqlExec           aux2 = statements in the text (in its first 8 KB); what of them ran cannot be told
 *
 * AUX and AUX2 of xRead, xWrite and opfsWrite: what SQLite's own headers say, decoded in passing; page bytes are never stored.
 *   main-db, 512 bytes or more: aux2 = type of the b-tree page (2, 5 interior; 10, 13 leaf; index, table), from its first byte, of
 *             page 1 from byte 100; 0 = something else. Pages of pointer maps and of the freelist cannot be told by one byte (analysis/page-accesses.ts knows the former).
 *             page 1: aux = file change counter; means nothing where aux2 is 0 (what is encrypted)
 *             16 bytes at 24, the comparison of a page cache with its file: aux = file change counter, aux2 = pages of the freelist
 *   wal       a frame header: aux = page number, aux2 = pages of the database after the commit, 0 = no commit frame
 *             the WAL header: aux = `AUX_WAL_HEADER`, aux2 = salt-1; SQLite draws new salts at every restart of the log
 *             the page of a frame, written or read alone: 0, aux2 = its type as of main-db, 0 of page 1. One opfsWrite may be header
 *             and page at once (Turso).
 *   journal   at offset 0, shorter than a header sector: aux2 = 1 where its first 8 bytes are zero, the commit in persist mode
 * An xRead that failed or came short decodes nothing.
 */
/** `aux` of a call that carried the header of a WAL; page numbers do not reach it. */
export const AUX_WAL_HEADER = 0xffffffff;

export const Flag = {
  /** The duration was not measured (count only): t1 = t0 = the thread's last clock reading. */
  untimed: 1,
  /** A call on SQLite's in-memory journal: no file, counted apart. */
  memoryJournal: 2,
  /** The call threw or its promise rejected. */
  threw: 4,
  /** The call went on after its first return (promise, request, Asyncify or JSPI suspension). */
  async: 8,
} as const;
