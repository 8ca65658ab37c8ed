/**
 * The event model: what one event is, from the hot path to the file. Read this first.
 *
 * An event is one call (xRead, IDBObjectStore.put, sqlite3_step, ...) on one thread. While it
 * travels it is a RECORD of 64 bytes (`Field`); loaded, it is a row of typed-array columns
 * (store.ts). Order and nesting come from the sequence numbers, never from the clock. Each thread
 * has one counter, drawn from at the begin and at the end of every call. The meaning of its ids is
 * sent once, separately: definitions.ts.
 */

/**
 * Operation codes, one byte. Codes are part of the file format: never renumber, only add.
 * operations.ts has the catalog of what each operation does; the hook only needs the numbers.
 * Ranges: 1-63 vfs, 64-127 web, 128-159 sql, 192-223 host. 0 is "no event", 255 ends an earlier
 * record.
 */
export const Op = {
  none: 0,
  // vfs: sqlite3_io_methods in struct order, then the sqlite3_vfs methods
  // (sqlite.org/c3ref/io_methods.html)
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
  // web: IndexedDB again
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
  // web: HTTP, only when SQLite's calls use it
  httpXhr: 120,
  // sql
  sqlOpen: 128,
  sqlClose: 129,
  sqlPrepare: 130,
  sqlStep: 131,
  sqlReset: 132,
  sqlFinalize: 133,
  sqlExec: 134,
  sqlCounters: 135,
  sqlStmtStatus: 136,
  sqlStmtStatusMore: 137,
  sqlMemory: 138,
  sqlMemoryGrew: 139,
  sqlInstructions: 140,
  // host
  threadStart: 192,
  threadEnd: 193,
  navigation: 194,
  visibility: 195,
  error: 196,
  mark: 197,
  measure: 198,
  tracer: 199,
  dropped: 200,
  wasmFetch: 201,
  wasmCompile: 202,
  wasmInstantiate: 203,
  longTask: 204,
  interaction: 205,
  messagePost: 206,
  messageHandle: 207,
  messagePort: 208,
  /** Not an event: carries the end of a call whose record had already left the ring. */
  end: 255,
} as const;
export type OpName = keyof typeof Op;

/** Bytes of one record in the ring and in a batch. Little-endian, 8-byte aligned. */
export const RECORD_BYTES = 64;

/** Byte offsets of a record's fields. */
export const Field = {
  /** f64, ms of the thread's `performance.now()` at the call */
  t0: 0,
  /** f64, the same at the call's completion (not at its first return, if it suspends) */
  t1: 8,
  /** u32, sequence number drawn at the begin; 0 never occurs */
  seq: 16,
  /** u32, sequence number drawn at the end; 0 = still running */
  endSeq: 20,
  /** u32: operation code | Flag bits << 8 */
  op: 24,
  /**
   * i32, the call's answer: a SQLite result code, bytes, a size, 0 for success; by operation, see
   * `Result` in operations.ts
   */
  result: 28,
  /** f64, byte offset, numeric key or new size; NaN = not applicable or not numeric */
  offset: 32,
  /** u32, bytes requested (read, write) or carried (put, get) */
  length: 40,
  /**
   * u32, id of the call's target: a file, store, lock, statement text, name (`Definition.id`); 0 =
   * unknown
   */
  object: 44,
  /**
   * u32, seq of the call that this one serves (the innermost open vfs or sql call of the thread); 0
   * = none
   */
  parent: 48,
  /**
   * u32, connection (sql, vfs), IndexedDB transaction (web) or handle; 0 = none. Ids are per
   * thread.
   */
  context: 52,
  /** u32, by operation: see operations.ts */
  aux: 56,
  /** u32, second detail by operation: see operations.ts */
  aux2: 60,
} as const;
/** `aux` of a call that carried a WAL's header; page numbers never get this high. */
export const AUX_WAL_HEADER = 0xffffffff;

export const Flag = {
  /** The duration wasn't measured (count only): t1 = t0 = the thread's last clock reading. */
  untimed: 1,
  /** A call on SQLite's in-memory journal, which isn't a file; counted separately. */
  memoryJournal: 2,
  /** The call threw or its promise rejected. */
  threw: 4,
  /** The call went on after its first return (promise, request, Asyncify or JSPI suspension). */
  async: 8,
} as const;

/**
 * `aux2` of a posted message: the meaning of its `length`. An object's size can't be known without
 * reading it.
 */
export const MessageSize = {
  unknown: 0,
  /** The whole message: a text or a buffer. */
  whole: 1,
  /** Only the buffers in its transfer list. */
  transferred: 2,
} as const;
/** `length` of a port that is transferred with a message. */
export const PortMove = { sent: 0, sentAfterUse: 1, received: 2 } as const;

/** Of `sqlInstructions`, which stores them in two words: exact up to 2^53. */
export const instructionsOf = (length: number, aux2: number): number => aux2 * 2 ** 32 + length;

/** Bits of `aux` of a requested or held Web Lock. */
export const WebLock = { shared: 1, ifAvailable: 2, steal: 4 } as const;
