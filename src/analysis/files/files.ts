/** Calls, bytes and time by file, over all threads: SQLite's files by path and kind, OPFS files and IndexedDB stores as they are. */
import { bytesCarried } from '../../trace/bytes-moved.ts';
import { Op } from '../../event/event.ts';
import type { Definition, FileKind } from '../../event/definitions.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { ById } from '../core/by-id.ts';

/** One row of the files table. */
export interface FileRow {
  path: string;
  kind: FileKind | 'opfs' | 'idb-store' | 'storage';
  vfs: string;
  /** Of an IndexedDB store its database, which `path` begins with: names may hold slashes. */
  idb?: string;
  reads: number;
  readBytes: number;
  writes: number;
  writeBytes: number;
  syncs: number;
  locks: number;
  opens: number;
  /** Sum of the durations of all its calls, microseconds. */
  timeUs: number;
}

const READ = 1;
const WRITE = 2;
const SYNC = 3;
const LOCK = 4;
const OPEN = 5;
/** What a call counts as, by operation. */
const COUNTS_AS = new Uint8Array(256);
for (const op of [
  Op.xRead,
  Op.idbGet,
  Op.idbGetAll,
  Op.opfsRead,
  Op.opfsFileRead,
  Op.localStorageGet,
])
  COUNTS_AS[op] = READ;
for (const op of [
  Op.idbOpenCursor,
  Op.idbCursorContinue,
  Op.idbGetKey,
  Op.idbGetAllKeys,
  Op.idbOpenKeyCursor,
])
  COUNTS_AS[op] = READ;
for (const op of [
  Op.xWrite,
  Op.idbPut,
  Op.idbAdd,
  Op.idbCursorUpdate,
  Op.opfsWrite,
  Op.opfsStreamWrite,
  Op.localStorageSet,
])
  COUNTS_AS[op] = WRITE;
for (const op of [Op.xSync, Op.opfsFlush, Op.opfsStreamClose]) COUNTS_AS[op] = SYNC;
COUNTS_AS[Op.xLock] = LOCK;
for (const op of [Op.xOpen, Op.opfsOpenSyncAccessHandle, Op.opfsGetFile, Op.opfsCreateWritable])
  COUNTS_AS[op] = OPEN;

/** Path, kind, VFS and IndexedDB database of what a definition names; null for what holds no data. */
export function fileOf(
  definition: Definition | undefined,
): Pick<FileRow, 'path' | 'kind' | 'vfs' | 'idb'> | null {
  switch (definition?.kind) {
    case 'file':
      return { path: definition.path, kind: definition.fileKind, vfs: definition.vfs };
    case 'opfs-file':
      return { path: definition.path, kind: 'opfs', vfs: '' };
    case 'idb-store':
      return {
        path: `${definition.db}/${definition.store}`,
        kind: 'idb-store',
        vfs: '',
        idb: definition.db,
      };
    case 'storage-key':
      return { path: definition.text, kind: 'storage', vfs: '' };
    default:
      return null;
  }
}

/** Sums of a row while they are added up: places of its numbers. */
const SUMS = [
  'reads',
  'readBytes',
  'writes',
  'writeBytes',
  'syncs',
  'locks',
  'opens',
  'timeUs',
] as const;
const TIME = SUMS.indexOf('timeUs');
/** Where a call counts, by what it counts as; bytes are right behind. */
const PLACE = [
  0,
  SUMS.indexOf('reads'),
  SUMS.indexOf('writes'),
  SUMS.indexOf('syncs'),
  SUMS.indexOf('locks'),
  SUMS.indexOf('opens'),
] as const;

/** Rows by path and kind, the most time first. */
export function filesOf(store: Pick<TraceStore, 'threads'>): FileRow[] {
  const rows = new Map<string, { row: FileRow; sums: Float64Array }>();
  for (const thread of store.threads) {
    addCalls(thread, (id) => {
      const file = fileOf(thread.definitions.get(id));
      if (!file) return null;
      const key = `${file.kind}\0${file.path}`;
      let known = rows.get(key);
      if (!known) {
        const row = {
          ...file,
          reads: 0,
          readBytes: 0,
          writes: 0,
          writeBytes: 0,
          syncs: 0,
          locks: 0,
          opens: 0,
          timeUs: 0,
        };
        rows.set(key, (known = { row, sums: new Float64Array(SUMS.length) }));
      }
      known.row.vfs ||= file.vfs;
      return known.sums;
    });
  }
  for (const { row, sums } of rows.values()) SUMS.forEach((name, i) => (row[name] = sums[i]!));
  return [...rows.values()]
    .map(({ row }) => row)
    .sort((a, b) => b.timeUs - a.timeUs || (a.path < b.path ? -1 : 1));
}

/** @param sumsOf of an id's file; null where it holds no data */
function addCalls(thread: ThreadStore, sumsOf: (id: number) => Float64Array | null): void {
  const { op, object, dur, count } = thread.events;
  const byId = new ById<Float64Array | null>();
  for (let i = 0; i < count; i++) {
    const code = op[i]!;
    const id = object[i]!;
    if (code >= 128 || id === 0) continue;
    let sums = byId.get(id);
    if (sums === undefined) sums = byId.set(id, sumsOf(id));
    if (sums === null) continue;
    sums[TIME]! += dur[i]!;
    const as = COUNTS_AS[code]!;
    if (as === 0) continue;
    sums[PLACE[as]!]!++;
    if (as === READ || as === WRITE) sums[PLACE[as]! + 1]! += bytesCarried(thread.events, i);
  }
}
