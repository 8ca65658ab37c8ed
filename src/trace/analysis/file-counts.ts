/**
 * Calls by file, the VFS's and the browser's side by side. A storage call belongs to the file of the VFS call that it serves (so
 * pools with random names are attributed), else to the SQLite file of the same path, else to a file of its own.
 */
import { Op, type FileKind } from '../event.ts';
import type { ThreadStore, TraceStore } from '../store.ts';
import { bytesMoved, fileOf } from './files.ts';
import { hasVfs } from './transactions.ts';

const VFS_COUNTS = ['xOpen', 'xRead', 'xWrite', 'xSync', 'xLock', 'xUnlock', 'xTruncate', 'xDelete'] as const;
export type VfsCounts = Record<(typeof VFS_COUNTS)[number] | 'xReadBytes' | 'xWriteBytes', number | null>;
export interface FileCounts {
  path: string;
  kind: FileKind;
  /** null each where no VFS call was recorded anywhere in the trace */
  vfs: VfsCounts;
  web: { reads: number; readBytes: number; writes: number; writeBytes: number; flushes: number };
}

/** By operation. */
const VFS_KEY: ((typeof VFS_COUNTS)[number] | undefined)[] = [];
for (const name of VFS_COUNTS) VFS_KEY[Op[name]] = name;
const WEB_KEY: ('reads' | 'writes' | 'flushes' | undefined)[] = [];
for (const op of [Op.opfsRead, Op.opfsFileRead, Op.idbGet, Op.idbGetAll, Op.idbOpenCursor, Op.idbCursorContinue, Op.localStorageGet])
  WEB_KEY[op] = 'reads';
for (const op of [Op.opfsWrite, Op.opfsStreamWrite, Op.idbPut, Op.idbAdd, Op.idbCursorUpdate, Op.localStorageSet]) WEB_KEY[op] = 'writes';
for (const op of [Op.opfsFlush, Op.opfsStreamClose]) WEB_KEY[op] = 'flushes';

/** `/app.db`, `app.db` and `//app.db` name one file. */
const plainPath = (path: string): string => path.replace(/^\/+/, '');

export function fileCountsOf(store: TraceStore): FileCounts[] {
  const counts = new Map<string, FileCounts>();
  const byPath = new Map<string, FileCounts>();
  const anyVfs = store.threads.some(hasVfs);
  const entry = (path: string, kind: FileKind): FileCounts => {
    const key = `${kind}\0${path}`;
    let found = counts.get(key);
    if (!found) {
      const zero = anyVfs ? 0 : null;
      const vfs = { xReadBytes: zero, xWriteBytes: zero } as VfsCounts;
      for (const name of VFS_COUNTS) vfs[name] = zero;
      found = { path, kind, vfs, web: { reads: 0, readBytes: 0, writes: 0, writeBytes: 0, flushes: 0 } };
      counts.set(key, found);
    }
    return found;
  };
  /** Entry of a thread's id, for ids of SQLite's files. */
  const sqliteFiles = store.threads.map(({ definitions }) => {
    const known: (FileCounts | null)[] = [];
    return (id: number): FileCounts | null => {
      if (known[id] !== undefined) return known[id];
      const file = definitions.get(id);
      if (file?.kind !== 'file') return (known[id] = null);
      const found = entry(file.path, file.fileKind);
      if (file.fileKind !== 'memory-journal') byPath.set(plainPath(file.path), found);
      return (known[id] = found);
    };
  });
  // SQLite's own files of all threads first: a proxy thread's storage calls may come before them in the list
  for (const thread of store.threads) {
    const { events, index } = thread;
    const { op: ops, object, count } = events;
    /** Calls by operation and bytes read and written of each file: numbers here, words below. */
    const sums = new Map<FileCounts, Float64Array>();
    const byId: (Float64Array | null | undefined)[] = [];
    for (let i = 0; i < count; i++) {
      const op = ops[i]!;
      if (VFS_KEY[op] === undefined) continue;
      let sum = byId[object[i]!];
      if (sum === undefined) {
        const file = sqliteFiles[index]!(object[i]!);
        sum = (file && sums.get(file)) ?? null;
        if (file && !sum) sums.set(file, (sum = new Float64Array(256 + 2)));
        byId[object[i]!] = sum;
      }
      if (sum === null) continue;
      sum[op]!++;
      if (op === Op.xRead) sum[256]! += bytesMoved(thread, i);
      else if (op === Op.xWrite) sum[257]! += bytesMoved(thread, i);
    }
    for (const [{ vfs }, sum] of sums) {
      for (const name of VFS_COUNTS) vfs[name]! += sum[Op[name]]!;
      vfs.xReadBytes! += sum[256]!;
      vfs.xWriteBytes! += sum[257]!;
    }
  }
  for (const thread of store.threads) {
    const { events } = thread;
    for (let i = 0; i < events.count; i++) {
      const key = WEB_KEY[events.op[i]!];
      if (!key) continue;
      const owner = servedFile(thread, i);
      const object = owner ?? fileOf(thread.definitions.get(events.object[i]!));
      if (!object) continue;
      const web = (owner ? entry(owner.path, owner.kind as FileKind) : (byPath.get(plainPath(object.path)) ?? entry(object.path, 'other')))
        .web;
      web[key]++;
      if (key !== 'flushes') web[key === 'reads' ? 'readBytes' : 'writeBytes'] += bytesMoved(thread, i);
    }
  }
  return [...counts.values()];
}

/** The SQLite file whose VFS call a storage call serves, directly or through another storage call. */
function servedFile(thread: ThreadStore, row: number): { path: string; kind: string } | null {
  const { events, definitions } = thread;
  for (let at = row, depth = 0; depth < 8; depth++) {
    const parent = events.parent[at]!;
    if (parent === 0 || parent >= events.seq[at]!) return null;
    at = events.rowOfSeq(parent);
    if (at < 0 || events.op[at]! >= 128) return null;
    if (events.op[at]! >= 64) continue;
    const file = definitions.get(events.object[at]!);
    return file?.kind === 'file' ? fileOf(file) : null;
  }
  return null;
}
