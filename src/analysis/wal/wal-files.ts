/**
 * The calls on each write-ahead log and on its database, of all threads in order of time: what histories of logs and anatomies of
 * checkpoints go through, so that they need not look at every event. VFS calls; OPFS calls where an engine's VFS calls are not seen (Turso).
 */
import { databasePath, isWalPath, plainPath } from '../../event/file-names.ts';
import { Op } from '../../event/event.ts';
import { isVfsOp, opTable } from '../../event/operations.ts';
import { WAL_FRAME_HEADER } from '../../sqlite/wal.ts';
import { isPageSize } from '../../sqlite/page-size.ts';
import { columns } from '../../trace/number-columns.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { fact } from '../graph.ts';
import { Fcntl } from '../../sqlite/constants.ts';

/** Rows of one log and its database, over all threads, in order of time: thread * 2^32 + row. */
export interface WalFile {
  /** Path of the database. */
  path: string;
  /** Storage calls stand for VFS calls that were not seen. */
  layer: 'vfs' | 'web';
  thread: Uint16Array;
  row: Uint32Array;
  /** 1 = a call on the log, 0 = on the database. */
  onWal: Uint8Array;
  /** Page size in bytes; null = not known. */
  pageSize: number | null;
  /** Checkpoints announce themselves, by xFileControl CKPT_START. */
  bracketed: boolean;
}

const CHANGES: ReadonlySet<number> = new Set([
  Op.xWrite,
  Op.xTruncate,
  Op.xSync,
  Op.xClose,
  Op.xDelete,
  Op.xFileControl,
  Op.opfsWrite,
  Op.opfsFlush,
  Op.opfsTruncate,
  Op.opfsClose,
]);
/** Calls that matter: 1 = on the log, 2 = on the database too. */
const MATTERS = opTable(({ code }) =>
  code === Op.xRead || code === Op.opfsRead ? 1 : 2 * Number(CHANGES.has(code)),
);

/** Calls on one log and its database: by thread the rows, twice, plus 1 where the call is on the log. */
interface FoundCalls {
  layer: 'vfs' | 'web';
  threads: Map<number, Rows>;
  used: boolean;
  bracketed: boolean;
}

class Rows extends columns({ value: Uint32Array }) {}

/** Every log that was written or read, with the calls on it and on its database. */
export const wals = fact('wals', 'write-ahead logs', {}, walsOf);

function walsOf(store: TraceStore): WalFile[] {
  const files = new Map<string, FoundCalls>();
  for (const thread of store.threads) callsOnLogs(thread, files);
  const seenByVfs = new Set(
    [...files].flatMap(([key, f]) => (f.layer === 'vfs' ? [key.slice(4)] : [])),
  );
  return [...files].flatMap(([key, found]) => {
    const path = key.slice(4);
    if (!found.used || (found.layer === 'web' && seenByVfs.has(path))) return [];
    const file: WalFile = {
      path,
      layer: found.layer,
      pageSize: null,
      bracketed: found.bracketed,
      ...inTimeOrder(store, found),
    };
    file.pageSize = pageSizeOf(store, file);
    return [file];
  });
}

/** @param files by layer and path of the database, in the order of their first use */
function callsOnLogs(
  { events, definitions, index }: ThreadStore,
  files: Map<string, FoundCalls>,
): void {
  if (
    ![...definitions.values()].some(
      (d) => (d.kind === 'file' || d.kind === 'opfs-file') && isWalPath(d.path),
    )
  )
    return;
  interface Target {
    found: FoundCalls;
    onWal: number;
    rows: Rows | null;
  }
  const targets = new Map<number, Target | null>(); // ids come from the page: no array by id, which one large id would stretch
  const targetOf = (object: number): Target | null => {
    const d = definitions.get(object);
    if (d?.kind !== 'file' && d?.kind !== 'opfs-file') return null;
    const isWal = d.kind === 'file' ? d.fileKind === 'wal' : isWalPath(d.path);
    if (d.kind === 'file' && !isWal && d.fileKind !== 'main-db') return null;
    const layer = d.kind === 'file' ? 'vfs' : 'web';
    const key = `${layer}\0${plainPath(isWal ? databasePath(d.path) : d.path)}`;
    let found = files.get(key);
    if (!found)
      files.set(key, (found = { layer, threads: new Map(), used: false, bracketed: false }));
    return { found, onWal: isWal ? 1 : 0, rows: null };
  };
  const { op: ops, endSeq, aux, object: objects, result, count } = events;
  let lastObject = -1;
  let target: Target | null = null;
  for (let row = 0; row < count; row++) {
    const op = ops[row]!;
    const matters = MATTERS[op]!;
    if (matters === 0) continue;
    const object = objects[row]!;
    if (object !== lastObject) {
      lastObject = object;
      const known = targets.get(object);
      if (known === undefined) targets.set(object, (target = targetOf(object)));
      else target = known;
    }
    if (
      !target ||
      matters < 2 - target.onWal ||
      endSeq[row] === 0 ||
      (isVfsOp(op) && result[row] !== 0 && op !== Op.xFileControl)
    )
      continue;
    const { found, onWal } = target;
    if (op === Op.xFileControl) {
      if (aux[row] === Fcntl.ckptStart) found.bracketed = true;
      else if (aux[row] !== Fcntl.ckptDone && aux[row] !== Fcntl.commitPhaseTwo) continue;
    } else if (
      onWal &&
      (op === Op.xWrite || op === Op.xRead || (op === Op.opfsWrite && aux[row] !== 0))
    )
      found.used = true;
    if (!target.rows) {
      target.rows = found.threads.get(index) ?? new Rows();
      found.threads.set(index, target.rows);
    }
    const i = target.rows.add();
    target.rows.value[i] = row * 2 + onWal;
  }
}

/** Calls of one thread, in order, and how far they are taken: `us` = begin of the next one, Infinity behind the last. */
interface ThreadCalls {
  index: number;
  t0: Float64Array;
  values: Uint32Array;
  count: number;
  at: number;
  us: number;
}

/** Calls of all threads in order of time; those of one thread are in order already. */
function inTimeOrder(
  store: TraceStore,
  { threads }: FoundCalls,
): Pick<WalFile, 'thread' | 'row' | 'onWal'> {
  const lists = [...threads].map(([index, { value: values, count }]): ThreadCalls => {
    const { t0 } = store.threads[index]!.events;
    return { index, t0, values, count, at: 0, us: count ? t0[values[0]! >>> 1]! : Infinity };
  });
  const total = lists.reduce((n, { count }) => n + count, 0);
  const merged = {
    thread: new Uint16Array(total),
    row: new Uint32Array(total),
    onWal: new Uint8Array(total),
  };
  for (let n = 0; n < total;) {
    let [first, secondUs] = [lists[0]!, Infinity];
    for (let i = 1; i < lists.length; i++) {
      const list = lists[i]!;
      if (list.us < first.us) {
        secondUs = first.us;
        first = list;
      } else if (list.us < secondUs) secondUs = list.us;
    }
    n = takeUntil(first, secondUs, merged, n);
  }
  return merged;
}

/** The next call of a thread, and those behind it until another thread's next one is as early. @returns place of the next */
function takeUntil(
  list: ThreadCalls,
  untilUs: number,
  { thread, row, onWal }: Pick<WalFile, 'thread' | 'row' | 'onWal'>,
  n: number,
): number {
  const { t0, values, count, index } = list;
  let { at, us } = list;
  do {
    const value = values[at++]!;
    thread[n] = index;
    row[n] = value >>> 1;
    onWal[n++] = value & 1;
    us = at < count ? t0[values[at]! >>> 1]! : Infinity;
  } while (us < untilUs);
  list.at = at;
  list.us = us;
  return n;
}

/** From the page that follows a frame's header, or a frame written in one piece. */
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
