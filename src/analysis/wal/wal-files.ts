/**
 * The calls on each write-ahead log and on its database, of all threads in order of time. Histories
 * of logs and anatomies of checkpoints use them, so that they needn't read every event. They are
 * VFS calls, or OPFS calls if an engine's VFS calls aren't visible (Turso).
 */
import { getOrMake } from '../core/maps.ts';
import { eachRunInTimeOrder } from '../core/time-order.ts';
import { ById } from '../core/by-id.ts';
import type { Definition } from '../../event/definitions.ts';
import { databasePath, isWalPath, plainPath } from '../../event/file-names.ts';
import { Op } from '../../event/event.ts';
import { isVfsOp, opSet, opTable } from '../../event/operations.ts';
import { WAL_FRAME_HEADER } from '../../sqlite/wal.ts';
import { isPageSize } from '../../sqlite/page-size.ts';
import { columns } from '../../trace/number-columns.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { fact } from '../core/graph.ts';
import { databaseFiles, type DatabaseFiles } from '../core/database-files.ts';
import { Fcntl } from '../../sqlite/constants.ts';

/** Rows of one log and its database, over all threads, in order of time: thread * 2^32 + row. */
export interface WalFile {
  /** Path of the database. */
  path: string;
  /** Storage calls stand for VFS calls that weren't visible. */
  layer: 'vfs' | 'web';
  thread: Uint16Array;
  row: Uint32Array;
  /** 1 = a call on the log, 0 = on the database. */
  onWal: Uint8Array;
  /** Page size in bytes; null = not known. */
  pageSize: number | null;
  /** Checkpoints are marked by xFileControl CKPT_START. */
  bracketed: boolean;
}

/** Storage calls that stand for VFS calls if an engine's aren't visible. */
const STAND_FOR: ReadonlyMap<number, number> = new Map([
  [Op.opfsRead, Op.xRead],
  [Op.opfsWrite, Op.xWrite],
  [Op.opfsFlush, Op.xSync],
  [Op.opfsTruncate, Op.xTruncate],
  [Op.opfsClose, Op.xClose],
]);
/** Operations as the VFS calls that they are or stand for. */
export const AS_VFS = opTable(({ code }) => STAND_FOR.get(code) ?? code);

const CHANGES = opSet(Op.xWrite, Op.xTruncate, Op.xSync, Op.xClose, Op.xDelete, Op.xFileControl);
/** Relevant calls: 1 = on the log, 2 = also on the database. */
const MATTERS = AS_VFS.map((op) => (op === Op.xRead ? 1 : 2 * CHANGES[op]!));

/** Calls of a thread on a log and its database. */
class Calls extends columns({ row: Uint32Array, t0: Float64Array, onWal: Uint8Array }) {
  push(row: number, t0: number, onWal: number): void {
    if (this.count === this.capacity) this.reserve(1); // as in Accesses.push
    const i = this.count++;
    this.row[i] = row;
    this.t0[i] = t0;
    this.onWal[i] = onWal;
  }
}
interface ThreadCalls {
  thread: number;
  events: Calls;
}
/** Calls on a log and its database, and what they showed. */
class FoundCalls {
  used = false;
  bracketed = false;
  readonly threads: ThreadCalls[] = [];

  /** @param path of the database, in its first spelling */
  constructor(
    readonly layer: WalFile['layer'],
    readonly path: string,
  ) {}

  /** For a thread: the last part with calls, or the next one. */
  of(thread: number): Calls {
    const last = this.threads.at(-1);
    if (last?.thread === thread) return last.events;
    const events = new Calls();
    this.threads.push({ thread, events });
    return events;
  }

  inTimeOrder(): Pick<WalFile, 'thread' | 'row' | 'onWal'> {
    const count = this.threads.reduce((n, { events }) => n + events.count, 0);
    const all = {
      thread: new Uint16Array(count),
      row: new Uint32Array(count),
      onWal: new Uint8Array(count),
    };
    let n = 0;
    eachRunInTimeOrder(this.threads, ({ thread, events }, from, to) => {
      for (let i = from; i < to; i++, n++) {
        all.thread[n] = thread;
        all.row[n] = events.row[i]!;
        all.onWal[n] = events.onWal[i]!;
      }
    });
    return all;
  }
}
/** What a thread's id means for a log; null = nothing. */
type Target = { found: FoundCalls; calls: Calls; onWal: 0 | 1 } | null;

/** Whether a definition is of a write-ahead log. */
export const isLog = (d: Definition | undefined): boolean =>
  (d?.kind === 'file' || d?.kind === 'opfs-file') && isWalPath(d.path);

/** Every log that was written or read, with the calls on it and on its database. */
export const wals = fact('wals', 'write-ahead logs', { databaseFiles }, walsOf);

function walsOf(store: TraceStore, { databaseFiles }: { databaseFiles: DatabaseFiles }): WalFile[] {
  /** By layer and path of the database. */
  const files = new Map<string, FoundCalls>();
  for (const thread of store.threads)
    if ([...thread.definitions.values()].some(isLog)) takeCalls(thread, files);
  return [...files.values()].flatMap((found) => {
    const { layer, path, bracketed, used } = found;
    const plain = plainPath(path);
    if (!used || (layer === 'web' && files.has(`vfs\0${plain}`))) return [];
    const file: WalFile = { path, layer, pageSize: null, bracketed, ...found.inTimeOrder() };
    const database = databaseFiles.list.find(
      (d) => plainPath(d.path) === plain && d.pageSize.bytes,
    );
    file.pageSize = database?.pageSize.bytes ?? pageSizeOf(store, file);
    return [file];
  });
}

function targetOf(
  thread: number,
  d: Definition | undefined,
  files: Map<string, FoundCalls>,
): Target {
  if (d?.kind !== 'file' && d?.kind !== 'opfs-file') return null;
  const isWal = d.kind === 'file' ? d.fileKind === 'wal' : isWalPath(d.path);
  if (d.kind === 'file' && !isWal && d.fileKind !== 'main-db') return null;
  const layer = d.kind === 'file' ? 'vfs' : 'web';
  const path = isWal ? databasePath(d.path) : d.path;
  const found = getOrMake(files, `${layer}\0${plainPath(path)}`, () => new FoundCalls(layer, path));
  return { found, calls: found.of(thread), onWal: isWal ? 1 : 0 };
}

/** @param files by layer and path of the database, in the order of first use */
function takeCalls(
  { events, definitions, index }: ThreadStore,
  files: Map<string, FoundCalls>,
): void {
  const targets = new ById<Target>();
  const targetAt = (object: number): Target =>
    getOrMake(targets, object, () => targetOf(index, definitions.get(object), files));
  let lastObject = -1;
  let target: Target = null;
  const { op: ops, endSeq, aux, object: objects, result, t0, count } = events;
  for (let row = 0; row < count; row++) {
    const op = ops[row]!;
    const matters = MATTERS[op]!;
    if (matters === 0) continue;
    const object = objects[row]!;
    if (object !== lastObject) {
      lastObject = object;
      target = targetAt(object);
    }
    if (
      !target ||
      matters < 2 - target.onWal ||
      endSeq[row] === 0 ||
      (isVfsOp(op) && result[row] !== 0 && op !== Op.xFileControl)
    )
      continue;
    const { found, calls, onWal } = target;
    if (op === Op.xFileControl) {
      if (aux[row] === Fcntl.ckptStart) found.bracketed = true;
      else if (aux[row] !== Fcntl.ckptDone && aux[row] !== Fcntl.commitPhaseTwo) continue;
    } else if (
      onWal &&
      (op === Op.xWrite || op === Op.xRead || (op === Op.opfsWrite && aux[row] !== 0))
    )
      found.used = true;
    calls.push(row, t0[row]!, onWal);
  }
}

/**
 * For a database in OPFS whose engine has no visible VFS: from the first page or frame that is
 * written at once.
 */
function pageSizeOf(store: TraceStore, { thread, row, onWal }: WalFile): number | null {
  for (let i = 0; i < row.length; i++) {
    if (!onWal[i]) continue;
    const { events } = store.threads[thread[i]!]!;
    const op = events.op[row[i]!]!;
    if (op !== Op.xWrite && op !== Op.opfsWrite && op !== Op.xRead) continue;
    const length = events.length[row[i]!]!;
    if (isPageSize(length)) return length;
    if (isPageSize(length - WAL_FRAME_HEADER)) return length - WAL_FRAME_HEADER;
  }
  return null;
}
