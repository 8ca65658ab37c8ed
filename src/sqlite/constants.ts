/**
 * The SQLite constants that a VFS sees, with their names. Tables of plain numbers are inlined by
 * tools/build/inline-constants.mjs.
 */

/** Lock levels: sqlite.org/lockingv3.html */
export const LockLevel = {
  none: 0,
  shared: 1,
  reserved: 2,
  pending: 3,
  exclusive: 4,
} as const;

/** Their names by number. */
export const LOCK_LEVELS = ['NONE', 'SHARED', 'RESERVED', 'PENDING', 'EXCLUSIVE'] as const;
/** The name of a level, even of one that SQLite doesn't have. */
export const lockLevelText = (level: number): string => LOCK_LEVELS[level] ?? `level ${level}`;

/** Opcodes of xFileControl, SQLITE_FCNTL_*, that vfscope looks for. */
export const Fcntl = {
  pragma: 14,
  sync: 21,
  commitPhaseTwo: 22,
  beginAtomicWrite: 31,
  commitAtomicWrite: 32,
  ckptDone: 37,
  ckptStart: 39,
} as const;

/** SQLITE_OPEN_* flags that vfscope looks for. */
export const OpenFlag = {
  readWrite: 0x2,
  create: 0x4,
  deleteOnClose: 0x8,
  mainDb: 0x100,
  tempDb: 0x200,
  transientDb: 0x400,
  mainJournal: 0x800,
  tempJournal: 0x1000,
  subJournal: 0x2000,
  superJournal: 0x4000,
  wal: 0x80000,
} as const;

/**
 * Result codes that vfscope looks for; result-codes.ts has all names. An extended code's low byte
 * is its primary code.
 */
export const Rc = {
  ok: 0,
  error: 1,
  busy: 5,
  ioErr: 10,
  corrupt: 11,
  notFound: 12,
  full: 13,
  cantOpen: 14,
  notADb: 26,
  row: 100,
  done: 101,
  shortRead: 522,
  ioErrLock: 3850,
  deleteNoEnt: 5898,
} as const;

/** SQLITE_BUSY and its extended codes. */
export const isBusy = (result: number): boolean => result > 0 && (result & 255) === Rc.busy;
/** A lock that wasn't granted: SQLite's code for it, or what a VFS may answer instead. */
export const isRefusal = (result: number): boolean => isBusy(result) || result === Rc.ioErrLock;

/** Names of SQLITE_OPEN_* by bit: sqlite.org/c3ref/c_open_autoproxy.html */
export const OPEN_FLAGS: readonly (readonly [number, string])[] = [
  [0x1, 'READONLY'],
  [0x2, 'READWRITE'],
  [0x4, 'CREATE'],
  [0x8, 'DELETEONCLOSE'],
  [0x10, 'EXCLUSIVE'],
  [0x20, 'AUTOPROXY'],
  [0x40, 'URI'],
  [0x80, 'MEMORY'],
  [0x100, 'MAIN_DB'],
  [0x200, 'TEMP_DB'],
  [0x400, 'TRANSIENT_DB'],
  [0x800, 'MAIN_JOURNAL'],
  [0x1000, 'TEMP_JOURNAL'],
  [0x2000, 'SUBJOURNAL'],
  [0x4000, 'SUPER_JOURNAL'],
  [0x8000, 'NOMUTEX'],
  [0x10000, 'FULLMUTEX'],
  [0x20000, 'SHAREDCACHE'],
  [0x40000, 'PRIVATECACHE'],
  [0x80000, 'WAL'],
  [0x1000000, 'NOFOLLOW'],
  [0x2000000, 'EXRESCODE'],
];

/** Names of SQLITE_IOCAP_* by bit: sqlite.org/c3ref/c_iocap_atomic.html */
export const DEVICE_CHARACTERISTICS: readonly (readonly [number, string])[] = [
  [0x1, 'ATOMIC'],
  [0x2, 'ATOMIC512'],
  [0x4, 'ATOMIC1K'],
  [0x8, 'ATOMIC2K'],
  [0x10, 'ATOMIC4K'],
  [0x20, 'ATOMIC8K'],
  [0x40, 'ATOMIC16K'],
  [0x80, 'ATOMIC32K'],
  [0x100, 'ATOMIC64K'],
  [0x200, 'SAFE_APPEND'],
  [0x400, 'SEQUENTIAL'],
  [0x800, 'UNDELETABLE_WHEN_OPEN'],
  [0x1000, 'POWERSAFE_OVERWRITE'],
  [0x2000, 'IMMUTABLE'],
  [0x4000, 'BATCH_ATOMIC'],
  [0x8000, 'SUBPAGE_READ'],
];

/** The names of the set bits: `READWRITE | CREATE`. */
export const bitNames = (bits: number, names: readonly (readonly [number, string])[]): string =>
  names.flatMap(([bit, name]) => (bits & bit ? [name] : [])).join(' | ');

/** Names of SQLITE_FCNTL_* by number: sqlite.org/c3ref/c_fcntl_begin_atomic_write.html */
export const FILE_CONTROLS: readonly string[] = [
  '',
  'LOCKSTATE',
  'GET_LOCKPROXYFILE',
  'SET_LOCKPROXYFILE',
  'LAST_ERRNO',
  'SIZE_HINT',
  'CHUNK_SIZE',
  'FILE_POINTER',
  'SYNC_OMITTED',
  'WIN32_AV_RETRY',
  'PERSIST_WAL',
  'OVERWRITE',
  'VFSNAME',
  'POWERSAFE_OVERWRITE',
  'PRAGMA',
  'BUSYHANDLER',
  'TEMPFILENAME',
  '',
  'MMAP_SIZE',
  'TRACE',
  'HAS_MOVED',
  'SYNC',
  'COMMIT_PHASETWO',
  'WIN32_SET_HANDLE',
  'WAL_BLOCK',
  'ZIPVFS',
  'RBU',
  'VFS_POINTER',
  'JOURNAL_POINTER',
  'WIN32_GET_HANDLE',
  'PDB',
  'BEGIN_ATOMIC_WRITE',
  'COMMIT_ATOMIC_WRITE',
  'ROLLBACK_ATOMIC_WRITE',
  'LOCK_TIMEOUT',
  'DATA_VERSION',
  'SIZE_LIMIT',
  'CKPT_DONE',
  'RESERVE_BYTES',
  'CKPT_START',
  'EXTERNAL_READER',
  'CKSM_FILE',
  'RESET_CACHE',
  'NULL_IO',
  'BLOCK_ON_CONNECT',
  'FILESTAT',
];

/** SQLITE_STMTSTATUS_*: sqlite.org/c3ref/c_stmtstatus_counter.html */
/** Not one of SQLite's: the salted hash of a query's values. */
export const VALUES_HASH = 1000;
export const StatementStatus = {
  fullScanStep: 1,
  sort: 2,
  autoIndex: 3,
  vmStep: 4,
  reprepare: 5,
  run: 6,
  filterMiss: 7,
  filterHit: 8,
  memoryUsed: 99,
} as const;
const STATUS_NAMES = new Map<number, string>([
  [StatementStatus.autoIndex, 'AUTOINDEX'],
  [StatementStatus.reprepare, 'REPREPARE'],
  [StatementStatus.run, 'RUN'],
  [StatementStatus.filterMiss, 'FILTER_MISS'],
  [StatementStatus.filterHit, 'FILTER_HIT'],
  [StatementStatus.memoryUsed, 'MEMUSED'],
  [VALUES_HASH, 'hash of values'],
]);
/** The name of a counter, even of one that SQLite doesn't have. */
export const statusName = (code: number): string => STATUS_NAMES.get(code) ?? `counter ${code}`;
