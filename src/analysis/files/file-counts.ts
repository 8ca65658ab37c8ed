/**
 * Calls by file, the VFS's and the browser's side by side. A storage call belongs to the file of
 * the VFS call that it serves, which also covers pools with random names. Otherwise it belongs to
 * the SQLite file of the same path, or to a separate file.
 */
import { hasVfs, leavesOut } from '../core/layers.ts';
import { plainPath } from '../../event/file-names.ts';
import { Op } from '../../event/event.ts';
import { opSet, opTable } from '../../event/operations.ts';
import type { FileKind } from '../../event/definitions.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { owners } from '../core/owners.ts';
import type { Owners } from '../../trace/owners.ts';
import { fact, type ByThread } from '../core/graph.ts';
import { bytesCarried, bytesMoved } from '../../trace/bytes-moved.ts';
import { definedAs, isInMemory, targetOf } from '../../trace/in-memory.ts';
import { fileOf, UNKNOWN_FILE } from './files.ts';

/** The VFS calls that are counted. */
export const VFS_COUNTS = [
  'xOpen',
  'xRead',
  'xWrite',
  'xSync',
  'xLock',
  'xUnlock',
  'xTruncate',
  'xDelete',
] as const;
export type VfsCounts = Record<
  (typeof VFS_COUNTS)[number] | 'xReadBytes' | 'xWriteBytes',
  number | null
>;
export interface FileCounts {
  path: string;
  kind: FileKind;
  /** all null if no VFS call was recorded in the trace */
  vfs: VfsCounts;
  /** all null if the recording leaves storage calls out */
  web: Record<'reads' | 'readBytes' | 'writes' | 'writeBytes' | 'flushes', number | null>;
}

/** By operation: 1 = counted. */
const VFS_COUNTED = opSet(...VFS_COUNTS.map((name) => Op[name]));
/** By operation of storage: place in WEB_KEYS + 1; 0 = not counted. */
const WEB_KEYS = ['reads', 'writes', 'flushes'] as const;
const WEB_KEY = opTable(({ layer, counts }) =>
  layer === 'web' ? 1 + ['read', 'write', 'sync'].indexOf(counts ?? '') : 0,
);

export const fileCounts = fact('fileCounts', 'calls by file', { owners }, fileCountsOf);

function fileCountsOf(store: TraceStore, { owners }: { owners: ByThread<Owners> }): FileCounts[] {
  const counts = new Map<string, FileCounts>();
  const byPath = new Map<string, FileCounts>();
  const anyVfs = store.threads.some(hasVfs);
  const none = leavesOut(store, 'web') ? null : 0;
  const entry = (path: string, kind: FileKind): FileCounts => {
    const key = `${kind}\0${path}`;
    let found = counts.get(key);
    if (!found) {
      const zero = anyVfs ? 0 : null;
      const vfs = { xReadBytes: zero, xWriteBytes: zero } as VfsCounts;
      for (const name of VFS_COUNTS) vfs[name] = zero;
      found = {
        path,
        kind,
        vfs,
        web: { reads: none, readBytes: none, writes: none, writeBytes: none, flushes: none },
      };
      counts.set(key, found);
    }
    return found;
  };
  // SQLite's own files of all threads first, because a proxy thread's storage calls may come before
  // them in the list
  for (const thread of store.threads)
    for (const [id, { sum, inMemory }] of vfsCallsOf(thread)) {
      const file = definedAs(thread.definitions, id);
      if (file && file.kind !== 'file') continue;
      const found = file
        ? entry(file.path, file.fileKind)
        : entry(UNKNOWN_FILE.path, inMemory ? 'memory-journal' : UNKNOWN_FILE.kind);
      if (file && file.fileKind !== 'memory-journal') byPath.set(plainPath(file.path), found);
      for (const name of VFS_COUNTS) found.vfs[name]! += sum[Op[name]]!;
      found.vfs.xReadBytes! += sum[READ_BYTES]!;
      found.vfs.xWriteBytes! += sum[WRITE_BYTES]!;
    }
  for (const thread of none === null ? [] : store.threads)
    eachStorageCall(thread, (row, key) => {
      // the file of the VFS call that it serves, directly or through another storage call
      const call = owners.of(thread).vfs(row);
      const owner = call < 0 ? null : fileAt(thread, call);
      const object = owner ?? fileAt(thread, row);
      if (!object) return;
      const web = (
        owner
          ? entry(owner.path, owner.kind as FileKind)
          : (byPath.get(plainPath(object.path)) ?? entry(object.path, 'other'))
      ).web;
      web[key]!++;
      if (key !== 'flushes')
        web[key === 'reads' ? 'readBytes' : 'writeBytes']! += bytesMoved(thread.events, row);
    });
  return [...counts.values()];
}

/**
 * The sum of a number over SQLite's files, without the in-memory journal, which never reaches
 * storage.
 * @returns null if no VFS call was recorded
 */
export function vfsTotal(files: readonly FileCounts[], key: keyof VfsCounts): number | null {
  const known = files.filter(({ kind, vfs }) => kind !== 'memory-journal' && vfs[key] !== null);
  return known.length === 0 ? null : known.reduce((sum, { vfs }) => sum + vfs[key]!, 0);
}

/** Bytes that storage calls wrote to all files; null if the recording leaves storage calls out. */
export const storageBytesWritten = (files: readonly FileCounts[]): number | null =>
  files.reduce<number | null>(
    (sum, { web }) => (sum === null || web.writeBytes === null ? null : sum + web.writeBytes),
    0,
  );

/** The file that a call is on. */
const fileAt = ({ definitions, events }: ThreadStore, row: number): ReturnType<typeof fileOf> =>
  fileOf(definedAs(definitions, targetOf(events, row)));

const READ_BYTES = 256;
const WRITE_BYTES = 257;

interface ObjectCalls {
  /** By operation, and the two of bytes. */
  sum: Float64Array;
  inMemory: boolean;
}

/**
 * Calls by operation, and bytes read and written, of each file (by `targetOf`) with a counted VFS
 * call, in the order of the first calls.
 */
function vfsCallsOf(thread: ThreadStore): Map<number, ObjectCalls> {
  const { events } = thread;
  const { op, count } = events;
  const all = new Map<number, ObjectCalls>();
  let last = -1;
  let sum: Float64Array = new Float64Array(0);
  for (let i = 0; i < count; i++) {
    const code = op[i]!;
    if (VFS_COUNTED[code] === 0) continue;
    const id = targetOf(events, i);
    if (id !== last) {
      last = id;
      const known = all.get(last);
      sum = known?.sum ?? new Float64Array(WRITE_BYTES + 1);
      if (!known) all.set(last, { sum, inMemory: isInMemory(events, i) });
    }
    sum[code]!++;
    if (code === Op.xRead) sum[READ_BYTES]! += bytesCarried(events, i);
    else if (code === Op.xWrite) sum[WRITE_BYTES]! += bytesCarried(events, i);
  }
  return all;
}

function eachStorageCall(
  { events }: ThreadStore,
  each: (row: number, key: (typeof WEB_KEYS)[number]) => void,
): void {
  const { op, count } = events;
  for (let row = 0; row < count; row++) {
    const key = WEB_KEY[op[row]!]!;
    if (key) each(row, WEB_KEYS[key - 1]!);
  }
}
