/**
 * The catalog of operations, with everything that vfscope knows about each. The tables of the
 * analyses are made from it. It decides what counts as what:
 * - A read asks a file or store for content: bytes, values, keys, or how many there are. Each
 *   request costs a round trip, so `count`, `getKey`, `getAllKeys`, and `openKeyCursor` are reads.
 * - A write stores content. Calls that only remove (delete, clear, truncate) change a file or
 *   store, but write nothing.
 * - `getFile` opens a snapshot; `opfs.fileRead` reads its bytes. `xFetch` maps a page into memory
 *   and copies nothing; if a page can't be mapped, SQLite calls xRead next.
 * - Only reads and writes move bytes; bytes-moved.ts counts them.
 */
import { Op, type OpName } from './event.ts';

/** The layers, from outer to inner. Readers skip layers that they don't know. */
export type Layer = 'sql' | 'vfs' | 'web' | 'host' | 'browser' | 'cpu';

/**
 * How an operation is drawn and summed: what the thread was doing. Frames and indexes carry its
 * number.
 */
export const ACTIVITIES = ['none', 'cpu', 'read', 'write', 'sync', 'lock', 'wait', 'meta'] as const;
export type Activity = (typeof ACTIVITIES)[number];

/** The web API of a storage call, a lock, or a wait. */
export type Api = 'idb' | 'opfs' | 'locks' | 'atomics' | 'localStorage' | 'http';

/** What each is called in text. */
export const API_NAMES: Readonly<Record<Api, string>> = {
  idb: 'IndexedDB',
  opfs: 'OPFS',
  locks: 'Web Locks',
  atomics: 'Atomics',
  localStorage: 'localStorage',
  http: 'HTTP',
};

/** What a call counts as in all counts of calls on files and stores. */
export type Counts = 'read' | 'write' | 'sync' | 'lock' | 'open';

/**
 * What a record's result means: SQLite's result code, bytes moved, another answer, 0 or the failure
 * of a request (exceptions.ts), nothing.
 */
export type Result = 'code' | 'bytes' | 'answer' | 'failure' | 'none';

/**
 * The part of time-parts.ts that a call's time belongs to. `wait` takes the part of the VFS call
 * that it serves.
 */
export type Spent = 'read' | 'write' | 'sync' | 'idbTransaction' | 'lock' | 'wait' | 'other';

/** How an operation differs from the others of its layer. */
interface Traits {
  /** Default: 'meta'. */
  activity?: Activity;
  counts?: Counts;
  /** Default: by its activity. */
  spent?: Spent;
  /** Default: by its layer. */
  result?: Result;
  /** A request of an IndexedDB transaction: it only reads, or it changes its store. */
  request?: 'reads' | 'changes';
  /** Reads keys or a number, not values. */
  keysOnly?: true;
  /** A web call that blocks the thread until it ends, so it can't overlap another. */
  synchronous?: true;
  /** Doesn't take a thread's time: a held lock, a reading of counters, a notification. */
  aside?: true;
  /** A row about the recording itself, not about the app or the browser. */
  own?: true;
}

const META: Traits = {};
const CPU: Traits = { activity: 'cpu' };
const READ: Traits = { activity: 'read', counts: 'read' };
const WRITE: Traits = { activity: 'write', counts: 'write' };
const REMOVE: Traits = { activity: 'write' };
const SYNC: Traits = { activity: 'sync', counts: 'sync' };
const LOCK: Traits = { activity: 'lock' };
const ASKS: Traits = { spent: 'read' };
const CHANGES: Traits = { spent: 'write' };
const ANSWER: Traits = { result: 'answer' };
const NOTHING: Traits = { activity: 'none' };
const ASIDE: Traits = { activity: 'none', aside: true };
const GET: Traits = { ...READ, request: 'reads' };
const GET_KEYS: Traits = { ...GET, keysOnly: true };
const PUT: Traits = { ...WRITE, request: 'changes' };
const DELETE: Traits = { ...REMOVE, request: 'changes' };

/**
 * Every operation. Comments add to event.ts what its fields mean, and what aux and aux2 of `Field`
 * hold.
 *
 * Headers: aux and aux2 of xRead, xWrite and opfsWrite hold the decoded numbers of SQLite's own
 * headers; page bytes are never stored. A read that failed or came short decodes nothing.
 *   main-db, 512 bytes or more: aux2 = type of the b-tree page (2, 5 interior; 10, 13 leaf; index, table), from its first byte, of
 *             page 1 from byte 100; 0 = something else. Pages of pointer maps and of the freelist are not detected from one byte (analysis/pages/page-accesses.ts knows the former).
 *             page 1: aux = file change counter; means nothing where aux2 is 0 (what is encrypted)
 *             16 bytes at 24, the comparison of a page cache with its file: aux = file change counter, aux2 = pages of the freelist
 *   wal       a frame header: aux = page number, aux2 = pages of the database after the commit, 0 = no commit frame
 *             the WAL header: aux = `AUX_WAL_HEADER`, aux2 = salt-1; SQLite draws new salts at every restart of the log
 *             the page of a frame, written or read alone: 0, aux2 = its type as of main-db, 0 of page 1. One opfsWrite may be header
 *             and page at once (Turso).
 *   journal   at offset 0, shorter than a header sector: aux2 = 1 where its first 8 bytes are zero, the commit in persist mode
 */
const CATALOG: Record<OpName, Traits> = {
  none: NOTHING,
  xClose: CHANGES,
  xRead: READ, // see Headers
  xWrite: WRITE, // see Headers
  xTruncate: REMOVE,
  xSync: SYNC, // aux: SQLITE_SYNC_* flags
  xFileSize: ASKS,
  xLock: { ...LOCK, counts: 'lock' }, // aux: requested level, 0..4
  xUnlock: LOCK, // aux: requested level, 0..4
  xCheckReservedLock: LOCK,
  xFileControl: META, // aux: opcode, SQLITE_FCNTL_*
  xSectorSize: ANSWER,
  xDeviceCharacteristics: ANSWER,
  xShmMap: META,
  xShmLock: LOCK,
  xShmBarrier: META,
  xShmUnmap: META,
  xFetch: { activity: 'read' },
  xUnfetch: META,
  xOpen: { ...ASKS, counts: 'open' }, // aux: SQLITE_OPEN_* flags
  xDelete: REMOVE, // aux: flags
  xAccess: { ...ASKS, ...ANSWER }, // aux: flags
  idbOpen: ASKS,
  idbDeleteDatabase: CHANGES,
  // aux: mode (0 readonly, 1 readwrite, 2 versionchange) | durability << 2 (0 default, 1 strict, 2
  // relaxed)
  idbTransaction: { activity: 'sync', spent: 'idbTransaction' },
  idbGet: GET,
  idbGetKey: GET_KEYS,
  idbGetAll: GET,
  idbGetAllKeys: GET_KEYS,
  idbCount: GET_KEYS,
  idbOpenCursor: GET,
  idbOpenKeyCursor: GET_KEYS,
  idbCursorContinue: GET,
  idbPut: PUT,
  idbAdd: PUT,
  idbDelete: DELETE,
  idbClear: DELETE,
  idbCursorUpdate: PUT,
  idbCursorDelete: DELETE,
  idbCommit: { activity: 'sync', spent: 'idbTransaction' },
  idbAbort: { spent: 'idbTransaction' },
  opfsRemoveEntry: REMOVE,
  opfsOpenSyncAccessHandle: { ...ASKS, counts: 'open' },
  opfsRead: { ...READ, result: 'bytes', synchronous: true },
  opfsWrite: { ...WRITE, result: 'bytes', synchronous: true }, // see Headers
  opfsFlush: { ...SYNC, synchronous: true },
  opfsTruncate: { ...REMOVE, synchronous: true },
  opfsGetSize: { ...ASKS, synchronous: true },
  opfsClose: { ...CHANGES, synchronous: true },
  opfsGetFile: { activity: 'read', counts: 'open' },
  opfsFileRead: READ,
  opfsCreateWritable: { ...CHANGES, counts: 'open' },
  opfsStreamWrite: WRITE,
  opfsStreamTruncate: REMOVE,
  opfsStreamSeek: CHANGES,
  opfsStreamClose: SYNC,
  opfsGetFileHandle: ASKS,
  opfsGetDirectoryHandle: ASKS,
  opfsMove: CHANGES,
  // another connection blocks an open or a delete. aux: seq of the waiting call; offset, length:
  // requested version (NaN = to be deleted), existing version
  idbBlocked: ASIDE,
  // the app is notified that its own connection blocks one. offset, length: the same
  idbVersionChange: ASIDE,
  lockRequest: LOCK, // aux: mode (0 exclusive, 1 shared) | ifAvailable << 1 | steal << 2
  lockHeld: ASIDE, // aux: the same
  lockQuery: { spent: 'lock' },
  atomicsWait: { activity: 'wait', synchronous: true },
  atomicsWaitAsync: { activity: 'wait' },
  atomicsNotify: { aside: true, synchronous: true },
  localStorageGet: { ...READ, synchronous: true },
  localStorageSet: { ...WRITE, synchronous: true },
  localStorageRemove: { ...REMOVE, synchronous: true },
  localStorageKey: { ...ASKS, synchronous: true },
  localStorageClear: { ...REMOVE, synchronous: true },
  // a synchronous XMLHttpRequest, until its response is there
  httpXhr: { ...READ, synchronous: true },
  sqlOpen: CPU,
  sqlClose: CPU,
  sqlPrepare: CPU, // aux: id of the statement instance (per thread)
  sqlStep: CPU, // aux: the same
  sqlReset: CPU, // aux: the same
  sqlFinalize: CPU, // aux: the same
  sqlExec: CPU, // aux2: statements in the text (in its first 8 KB); which of them ran is not known
  // the engine's counters after a statement: offset = hits, length = misses, aux = writes, aux2 =
  // spills (cumulative per connection)
  sqlCounters: { aside: true, result: 'none' },
  // what a run of a statement added to the engine's counters: offset = rows stepped in full scans,
  // length = steps of the virtual machine, aux = the instance, aux2 = sorts
  sqlStmtStatus: { aside: true, result: 'none' },
  // one more of them: length = what was added (of memoryUsed: bytes), aux = the instance, aux2 =
  // which (StatementStatus)
  sqlStmtStatusMore: { aside: true, result: 'none' },
  // what a connection holds, bytes: offset = the engine's whole memory, length = its page cache,
  // aux = its schema, aux2 = its prepared statements; object = the engine, 0 in older recordings
  sqlMemory: { aside: true, result: 'none' },
  // the engine's memory grew while a call of an Asyncify build was suspended, or inside an xRead or
  // xWrite of a JSPI build, bytes: offset = after, length = before; aux = seq of the VFS call, 0 =
  // not known
  sqlMemoryGrew: { aside: true, result: 'none' },
  // instructions of a call: offset = all of the thread's before it, length and aux2 = low and high
  // 32 bits of its own, aux = its seq
  sqlInstructions: { aside: true, result: 'none' },
  threadStart: { ...NOTHING, own: true },
  threadEnd: { ...NOTHING, own: true },
  navigation: NOTHING,
  visibility: NOTHING,
  error: META,
  mark: NOTHING,
  measure: NOTHING,
  // the tracer's own work that the app had to wait for: draining, set-up. length: records or bytes
  // handled
  tracer: { own: true },
  dropped: { own: true }, // records that did not fit. length: how many since the last such record
  // how a wasm module came here. offset: begin of the request in ms; length: bytes of the body;
  // aux: microseconds; aux2: bytes unpacked
  wasmFetch: NOTHING,
  // length: bytes handed over; aux: id of the URL as a `name`; context: seq of the wasmCompile of
  // that module, 0 = not known, and while the module is fetched meanwhile
  wasmCompile: CPU,
  wasmInstantiate: CPU, // the same; also where compiling is part of it
  longTask: NOTHING, // recorded when it ends, like a measure
  interaction: NOTHING, // from the input to the next frame; also recorded when it ends
  // a call of postMessage. object: this end of the channel; aux: the message's number in this
  // direction; aux2: what length is (MessageSize)
  messagePost: ASIDE,
  // a message event, while its listeners run. object, aux: the same, of the other direction
  messageHandle: ASIDE,
  // a port goes along. object: the port; context: the end of the channel that carries it; aux:
  // number of the message; aux2: its place among the ports; length: which way (PortMove)
  messagePort: ASIDE,
  end: NOTHING,
};

/** Everything known of one operation. */
export interface OpInfo {
  readonly code: number;
  /** The usual name: `xRead`, `idb.put`, `opfs.write`, `sqlite3_step`. */
  readonly name: string;
  readonly layer: Layer;
  readonly activity: Activity;
  /** Only in the web layer. */
  readonly api: Api | null;
  readonly counts: Counts | null;
  /** What a wait inside a VFS call, or a web call, is spent on. */
  readonly spent: Spent;
  readonly result: Result;
  readonly request: 'reads' | 'changes' | null;
  readonly keysOnly: boolean;
  readonly synchronous: boolean;
  readonly aside: boolean;
  readonly own: boolean;
}

const GROUP = /^(idb|opfs|lock|atomics|localStorage|http|sql|wasm)(?=[A-Z])/;

/** Display names for keys that aren't the usual name. */
function displayName(key: string): string {
  const group = GROUP.exec(key)?.[1];
  if (!group) return key;
  const rest = key.slice(group.length);
  if (group === 'sql') return `sqlite3${rest.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`)}`;
  return `${group}.${rest[0]!.toLowerCase()}${rest.slice(1)}`;
}

const SPENT: Partial<Record<Activity, Spent>> = {
  read: 'read',
  write: 'write',
  sync: 'sync',
  lock: 'lock',
  wait: 'wait',
};

function infoOf(key: string, code: number, traits: Traits): OpInfo {
  const layer = layerOfCode(code);
  const group = layer === 'web' ? GROUP.exec(key)?.[1] : undefined;
  const api = group === 'lock' ? 'locks' : ((group as Api | undefined) ?? null);
  const activity = traits.activity ?? 'meta';
  return {
    code,
    name: displayName(key),
    layer,
    activity,
    api,
    counts: traits.counts ?? null,
    spent: traits.spent ?? SPENT[activity] ?? 'other',
    result:
      traits.result ??
      (layer === 'vfs' || layer === 'sql' ? 'code' : api === 'idb' ? 'failure' : 'none'),
    request: traits.request ?? null,
    keysOnly: traits.keysOnly ?? false,
    synchronous: traits.synchronous ?? false,
    aside: traits.aside ?? false,
    own: traits.own ?? false,
  };
}

/** By code (0..255); undefined for unused codes. */
export const OPS: readonly (OpInfo | undefined)[] = /* @__PURE__ */ (() => {
  const table = new Array<OpInfo | undefined>(256).fill(undefined);
  for (const [key, code] of Object.entries(Op))
    table[code] = infoOf(key, code, CATALOG[key as OpName]);
  return table;
})();

/** A number for each event code: `of` its operation, 0 for unused codes. */
export const opTable = (of: (info: OpInfo) => number | boolean): Uint8Array =>
  Uint8Array.from(OPS, (info, code) =>
    info && code !== Op.none && code !== Op.end ? Number(of(info)) : 0,
  );

/** 1 for each of these operations, by code. */
export const opSet = (...codes: readonly number[]): Uint8Array =>
  opTable(({ code }) => codes.includes(code));

/** Name of an operation, even of one from a newer version. */
export const opName = (code: number): string => OPS[code]?.name ?? `op ${code}`;

/** Layer of a code, even of one from a newer version. */
export function layerOfCode(code: number): Layer {
  return code < 64 ? 'vfs' : code < 128 ? 'web' : code < 160 ? 'sql' : 'host';
}

/** A call of SQLite's VFS. */
export const isVfsOp = (code: number): boolean => code > 0 && code < 64;
/** A call of a web API: storage, locks, waits. */
export const isWebOp = (code: number): boolean => code >= 64 && code < 128;
/** A call of SQLite's API; readings of its counters aren't calls. */
export const isSqlOp = (code: number): boolean => code >= Op.sqlOpen && code <= Op.sqlExec;
/** A call of SQLite's API that belongs to a statement: its object is the SQL. */
export const isStatementOp = (code: number): boolean => code >= Op.sqlPrepare && code <= Op.sqlExec;

/** Requests of IndexedDB transactions: 1 = it only reads, 2 = it changes its store. */
export const IDB_REQUEST = /* @__PURE__ */ opTable(({ request }) =>
  request === 'reads' ? 1 : request === 'changes' ? 2 : 0,
);
/** Which way a call moves bytes. */
export const Moves = { none: 0, vfsRead: 1, vfsWrite: 2, webRead: 3, webWrite: 4 } as const;
export const isRead = (moves: number): boolean =>
  moves === Moves.vfsRead || moves === Moves.webRead;
/** The same by operation. */
export const MOVES = /* @__PURE__ */ opTable(({ layer, counts }) =>
  counts === 'read'
    ? layer === 'web'
      ? Moves.webRead
      : Moves.vfsRead
    : counts !== 'write'
      ? Moves.none
      : layer === 'web'
        ? Moves.webWrite
        : Moves.vfsWrite,
);
/** 1 = the result is bytes: how many of those requested were moved. */
export const IN_BYTES = /* @__PURE__ */ opTable(({ result }) => result === 'bytes');
/**
 * Whether a call that moves bytes reports that it did: one that failed or came short moves none.
 */
export const saysMoved = (code: number, result: number): boolean =>
  IN_BYTES[code] ? result >= 0 : result === 0;
/** Rows about the recording itself. */
export const IS_OWN = /* @__PURE__ */ opTable(({ own }) => own);
/** Calls that make a file's bytes durable. */
export const SYNCS = /* @__PURE__ */ opTable(({ counts }) => counts === 'sync');
/** Codes of the operations that write to the browser's storage. */
export const STORAGE_WRITES: readonly number[] = /* @__PURE__ */ codesOf(
  ({ layer, counts }) => layer === 'web' && counts === 'write',
);

/**
 * Codes of the operations that make a file in OPFS durable: flush() of a handle, close() of a
 * stream.
 */
export const OPFS_FLUSHES: readonly number[] = /* @__PURE__ */ codesOf(
  ({ api, counts }) => api === 'opfs' && counts === 'sync',
);

/** Codes of the operations for which `holds` is true. */
export function codesOf(holds: (info: OpInfo) => boolean): number[] {
  return OPS.flatMap((info) => (info && holds(info) ? [info.code] : []));
}
