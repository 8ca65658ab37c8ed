/**
 * Files that a VFS keeps in JavaScript's memory, and their sizes as its calls show them:
 *
 *   xWrite 0, 4 KiB | xWrite 4 KiB, 4 KiB | xTruncate 4 KiB | xDelete        4 KiB, 8 KiB, 4 KiB, 0
 *
 * If none of its page's threads makes a storage call, a VFS must keep its files in memory. A VFS
 * that also stores may hold blocks in a cache, but calls don't show how many. They don't show an
 * array's spare capacity after its file's end, either.
 */
import { Op } from '../../event/event.ts';
import { isVfsOp, isWebOp, opTable } from '../../event/operations.ts';
import type { FileKind } from '../../event/definitions.ts';
import { hasMoved } from '../../trace/bytes-moved.ts';
import { isInMemory } from '../../trace/in-memory.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { col, rowsIn, table, type Columns } from '../core/table.ts';
import { getOrMake } from '../core/maps.ts';
import { fact } from '../core/graph.ts';
import { capturesWeb } from '../core/layers.ts';
import { rootOf } from '../core/thread-origin.ts';
import { THREAD } from '../events/table.ts';

/** SQLITE_OPEN_DELETEONCLOSE */
const DELETE_ON_CLOSE = 0x8;
/** Calls that may move data out of JavaScript's memory: all web APIs except locks. */
const LEAVES = opTable(
  ({ layer, activity }) => layer === 'web' && !['none', 'lock'].includes(activity),
);

/** A file of one thread. */
interface HeldFile {
  path: string;
  kind: FileKind;
  vfs: string;
  /** Current bytes, and their maximum; 0 = deleted. */
  bytes: number;
  most: number;
}

/** Follows a thread's VFS calls. */
export class HeldFiles {
  /** The thread made a storage call, or waited for another one. */
  leaves = false;
  /** It made any call of a web API. */
  private callsWeb = false;
  readonly files = new Map<string, HeldFile>();
  /** Moments at which the sum changed, microseconds, and the new sum, bytes. */
  readonly us: number[] = [];
  readonly bytes: number[] = [];
  private total = 0;
  private next = 0;
  private readonly keys = new Map<number, string>();

  constructor(private readonly thread: ThreadStore) {}

  update(): this {
    const { events } = this.thread;
    for (; this.next < events.count; this.next++) {
      const op = events.op[this.next]!;
      if (isVfsOp(op)) this.vfsCall(this.next, op);
      else if (isWebOp(op)) {
        this.callsWeb = true;
        if (LEAVES[op]) this.leaves = true;
      }
    }
    return this;
  }

  /** No call moves data out of JavaScript's memory, and such calls would be recorded. */
  get keeps(): boolean {
    return !this.leaves && (this.callsWeb || capturesWeb(this.thread));
  }

  private vfsCall(row: number, op: number): void {
    const { events } = this.thread;
    const { offset, length, object, result, endSeq } = events;
    if (isInMemory(events, row)) return; // SQLite's own, in WebAssembly memory
    switch (op) {
      case Op.xRead:
      case Op.xWrite:
        if (hasMoved(events, row))
          this.resize(row, (now) => Math.max(now, offset[row]! + length[row]!));
        return;
      case Op.xTruncate:
        if (endSeq[row] !== 0 && result[row] === 0)
          this.resize(row, (now) => Math.min(now, offset[row]!));
        return;
      case Op.xDelete:
        if (endSeq[row] !== 0 && result[row] === 0) this.resize(row, () => 0);
        return;
      case Op.xClose: {
        const d = this.thread.definitions.get(object[row]!);
        if (d?.kind === 'file' && d.flags & DELETE_ON_CLOSE) this.resize(row, () => 0);
      }
    }
  }

  private resize(row: number, to: (now: number) => number): void {
    const { t0, object } = this.thread.events;
    const file = this.fileOf(object[row]!);
    if (!file) return;
    const bytes = to(file.bytes);
    if (bytes === file.bytes || !(bytes >= 0)) return;
    this.total += bytes - file.bytes;
    file.bytes = bytes;
    file.most = Math.max(file.most, bytes);
    this.us.push(t0[row]!);
    this.bytes.push(this.total);
  }

  private fileOf(id: number): HeldFile | null {
    const d = this.thread.definitions.get(id);
    if (d?.kind !== 'file') return null;
    const key = getOrMake(this.keys, id, () => `${d.vfs}\0${d.path || id}`);
    return getOrMake(this.files, key, () => ({
      ...{ path: d.path, kind: d.fileKind, vfs: d.vfs },
      ...{ bytes: 0, most: 0 },
    }));
  }
}

/**
 * Whether a thread's VFSs keep their data in its memory.
 * @param heldBy what each thread's calls show; undefined = not known
 */
export function keepsFiles(
  store: TraceStore,
  { index, forgotten }: ThreadStore,
  heldBy: (thread: ThreadStore) => HeldFiles | undefined,
): boolean {
  const root = rootOf(store, index);
  return (
    forgotten === 0 && // sizes of forgotten calls aren't known
    store.threads.every(
      (thread) =>
        rootOf(store, thread.index) !== root ||
        (heldBy(thread)?.keeps === true &&
          thread.notes.every(({ topic }) => topic !== 'worker-native')),
    )
  );
}

interface HeldRow extends HeldFile {
  thread: ThreadStore;
}
export const heldFiles = fact('heldFiles', 'files in memory', {}, (store): HeldRow[] => {
  const held = new Map(store.threads.map((t) => [t, new HeldFiles(t).update()]));
  return store.threads.flatMap((thread) =>
    keepsFiles(store, thread, (one) => held.get(one))
      ? [...held.get(thread)!.files.values()].map((file) => ({ ...file, thread }))
      : [],
  );
});

const heldColumns = {
  thread: col('int', 'Thread', THREAD, (f) => f.thread.index),
  path: col('code', 'File', 'Its path', (f) => f.path || null),
  kind: col('text', 'Kind', 'What SQLite uses it for', (f) => f.kind),
  vfs: col('text', 'VFS', 'Name of the VFS that holds it', (f) => f.vfs || null),
  bytes: col('bytes', 'Bytes', 'Its size in the end; 0: it was deleted', (f) => f.bytes),
  most: col('bytes', 'Most', 'Its largest size', (f) => f.most),
} satisfies Columns<HeldRow>;
const heldRows = rowsIn('heldRows', heldFiles, (files) => files);
export const heldTable = table(
  'memory_files',
  "Files that a VFS holds in JavaScript's memory, by its own calls; none where a thread of the page makes storage calls",
  heldRows,
  heldColumns,
);
