/** Calls, bytes and time by file, over all threads: SQLite's files by path and kind, OPFS files and IndexedDB stores as they are. */
import { Op, type Definition, type FileKind } from '../event.ts';
import type { ThreadStore, TraceStore } from '../store.ts';

/** One row of the files table. */
export interface FileRow {
  path: string;
  kind: FileKind | 'opfs' | 'idb-store' | 'storage';
  vfs: string;
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
for (const op of [Op.xRead, Op.idbGet, Op.idbGetAll, Op.opfsRead, Op.opfsFileRead, Op.localStorageGet]) COUNTS_AS[op] = READ;
for (const op of [Op.idbOpenCursor, Op.idbCursorContinue, Op.idbGetKey, Op.idbGetAllKeys, Op.idbOpenKeyCursor]) COUNTS_AS[op] = READ;
for (const op of [Op.xWrite, Op.idbPut, Op.idbAdd, Op.idbCursorUpdate, Op.opfsWrite, Op.opfsStreamWrite, Op.localStorageSet])
  COUNTS_AS[op] = WRITE;
for (const op of [Op.xSync, Op.opfsFlush, Op.opfsStreamClose]) COUNTS_AS[op] = SYNC;
COUNTS_AS[Op.xLock] = LOCK;
for (const op of [Op.xOpen, Op.opfsOpenSyncAccessHandle, Op.opfsGetFile, Op.opfsCreateWritable]) COUNTS_AS[op] = OPEN;

/** Bytes that a read or write moved: what an OPFS handle answered; what was asked of a VFS, if it answered OK (as vfsstat.c counts). */
export function bytesMoved(thread: ThreadStore, row: number): number {
  const { events } = thread;
  switch (events.op[row]) {
    case Op.opfsRead:
    case Op.opfsWrite:
      return events.endSeq[row] === 0 || events.flags[row]! & 4 ? 0 : Math.max(0, events.result[row]!);
    case Op.localStorageGet:
    case Op.localStorageSet:
      return events.length[row]!;
    default:
      return events.result[row] === 0 && events.endSeq[row] !== 0 ? events.length[row]! : 0;
  }
}

/** Path, kind and VFS of what a definition names; null for what holds no data. */
export function fileOf(definition: Definition | undefined): Pick<FileRow, 'path' | 'kind' | 'vfs'> | null {
  switch (definition?.kind) {
    case 'file':
      return { path: definition.path, kind: definition.fileKind, vfs: definition.vfs };
    case 'opfs-file':
      return { path: definition.path, kind: 'opfs', vfs: '' };
    case 'idb-store':
      return { path: `${definition.db}/${definition.store}`, kind: 'idb-store', vfs: '' };
    case 'storage-key':
      return { path: definition.text, kind: 'storage', vfs: '' };
    default:
      return null;
  }
}

/** Rows by path and kind, the most time first. */
export function filesOf(store: Pick<TraceStore, 'threads'>): FileRow[] {
  const rows = new Map<string, FileRow>();
  for (const thread of store.threads) {
    const { events, definitions } = thread;
    const byId = new Map<number, FileRow | null>();
    const rowOf = (id: number): FileRow | null => {
      const known = byId.get(id);
      if (known !== undefined) return known;
      const file = fileOf(definitions.get(id));
      let row: FileRow | null = null;
      if (file) {
        const key = `${file.kind}\0${file.path}`;
        row = rows.get(key) ?? { ...file, reads: 0, readBytes: 0, writes: 0, writeBytes: 0, syncs: 0, locks: 0, opens: 0, timeUs: 0 };
        row.vfs ||= file.vfs;
        rows.set(key, row);
      }
      byId.set(id, row);
      return row;
    };
    for (let i = 0; i < events.count; i++) {
      const op = events.op[i]!;
      if (op >= 128 || events.object[i] === 0) continue;
      const row = rowOf(events.object[i]!);
      if (!row) continue;
      row.timeUs += events.dur[i]!;
      switch (COUNTS_AS[op]) {
        case READ:
          row.reads++;
          row.readBytes += bytesMoved(thread, i);
          break;
        case WRITE:
          row.writes++;
          row.writeBytes += bytesMoved(thread, i);
          break;
        case SYNC:
          row.syncs++;
          break;
        case LOCK:
          row.locks++;
          break;
        case OPEN:
          row.opens++;
          break;
        default:
          break;
      }
    }
  }
  return [...rows.values()].sort((a, b) => b.timeUs - a.timeUs || (a.path < b.path ? -1 : 1));
}
