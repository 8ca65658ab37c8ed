/**
 * Every page of a database that was read or written, in time order. A page in the WAL counts as the page that it is an image of:
 *
 *   xWrite wal 24 @ frame   aux = page number -> this frame holds that page, until its place in the log is written again
 *   xRead wal 4096 @ frame + 24               -> a read of that page, marked Access.wal
 *
 * What a checkpoint moves (between xFileControl CKPT_START and CKPT_DONE) is marked Access.checkpoint: nobody asked for those pages.
 */
import { AUX_WAL_HEADER, Op } from '../event.ts';
import { WAL_FRAME_HEADER, WAL_HEADER } from '../sqlite-format/wal.ts';
import type { ThreadStore, TraceStore } from '../store.ts';
import { Access, Accesses } from './accesses.ts';
import { databaseFilesOf, SMALLEST_PAGE, transferOf, type DatabaseFiles, type DatabasePart } from './database-files.ts';
import { eachInTimeOrder } from './time-order.ts';

const [FCNTL_CKPT_DONE, FCNTL_CKPT_START] = [37, 39];
const SHORT_READ = 522;
const HIGHEST_PAGE = 0xfffffffe;

/** Pages by frame of one WAL. An array where frames follow each other, as SQLite writes them; a map for wild ones. */
class Frames {
  private pages = new Uint32Array(256);
  private readonly beyond = new Map<number, number>();
  /** @param frame from 0 @returns 0 = not known */
  page(frame: number): number {
    return this.pages[frame] || (this.beyond.get(frame) ?? 0);
  }
  set(frame: number, page: number): void {
    const { length } = this.pages;
    if (frame < length) this.pages[frame] = page;
    else if (frame < length * 2) {
      const more = new Uint32Array(length * 2);
      more.set(this.pages);
      more[frame] = page;
      this.pages = more;
    } else this.beyond.set(frame, page);
  }
}

/** Reads and writes of all files: room enough for those of pages. */
function transfersIn(store: TraceStore): number {
  let n = 0;
  for (const { events } of store.threads) {
    const { op, count } = events;
    for (let row = 0; row < count; row++)
      if (op[row] === Op.xRead || op[row] === Op.xWrite || op[row] === Op.opfsRead || op[row] === Op.opfsWrite) n++;
  }
  return n;
}

/** What one thread does with one database: `checkpoint` while it copies the WAL. */
interface Use extends DatabasePart {
  checkpoint: { on: boolean };
}

/**
 * @param files which files are databases; computed when not given
 * @returns objects are the databases, in the order of `files.list`; a database whose page size is not known has no accesses
 */
export function pageAccessesOf(store: TraceStore, files: DatabaseFiles = databaseFilesOf(store)): Accesses {
  const out = new Accesses(Math.max(16, transfersIn(store)));
  // as large as they get: they stay the same arrays
  const { us, object: objects, place, span: spans, what: whats, type: types, bytes: moved, asker, thread: threads, row: rows } = out;
  for (const { path, vfs, pageSize } of files.list) out.objects.push({ path, vfs, kind: 'main-db', unit: pageSize, highest: 0, untied: 0 });
  const frames = files.list.map(() => new Frames());
  const uses = usesOf(store, files);
  const askers = store.threads.map(() => new Map<number, number>());
  let [lastThread, lastId, lastContext, lastAsker] = [-1, -1, -1, -1];
  let use: Use | undefined;

  const askerOf = (thread: ThreadStore, row: number): number => {
    const connection = thread.events.context[row]!;
    if (connection === lastContext) return lastAsker;
    const byContext = askers[thread.index]!;
    // without an SQL layer, all that a thread does with a database counts as one connection's
    const key = connection || -1 - use!.database;
    let found = byContext.get(key);
    if (found === undefined) byContext.set(key, (found = out.askers.push({ thread: thread.index, connection }) - 1));
    lastContext = connection;
    return (lastAsker = found);
  };
  const add = (thread: ThreadStore, row: number, page: number, span: number, what: number, type: number, bytes: number): void => {
    const object = out.objects[use!.database]!;
    if (page < 1 || page + span - 1 > HIGHEST_PAGE || !out.covers(span)) {
      object.untied++;
      return;
    }
    object.highest = Math.max(object.highest, page + span - 1);
    const at = out.add();
    us[at] = thread.events.t0[row]!;
    objects[at] = use!.database;
    place[at] = page;
    spans[at] = span;
    whats[at] = what | (use!.checkpoint.on ? Access.checkpoint : 0);
    types[at] = type;
    moved[at] = bytes;
    asker[at] = askerOf(thread, row);
    threads[at] = thread.index;
    rows[at] = row;
  };

  eachInTimeOrder(store.threads, (thread, row) => {
    const { events } = thread;
    const op = events.op[row]!;
    if (op !== Op.xRead && op !== Op.xWrite && op !== Op.xFileControl && op !== Op.opfsRead && op !== Op.opfsWrite) return;
    const id = events.object[row]!;
    if (id !== lastId || thread.index !== lastThread) {
      use = uses[(lastThread = thread.index)]!.get((lastId = id));
      lastContext = -1; // an asker is one of this thread and database
    }
    if (!use) return;
    if (op === Op.xFileControl) {
      if (events.aux[row] === FCNTL_CKPT_START) use.checkpoint.on = true;
      else if (events.aux[row] === FCNTL_CKPT_DONE) use.checkpoint.on = false;
      return;
    }
    const { opfs, pageSize } = files.list[use.database]!;
    const transfer = transferOf(op, opfs);
    const size = pageSize.bytes;
    if (!transfer || size === null || events.endSeq[row] === 0) return;
    const result = events.result[row]!;
    if (opfs ? result < 0 : result !== 0 && !(transfer === 1 && result === SHORT_READ)) return;
    const length = events.length[row]!;
    const offset = events.offset[row]!;
    if (!(offset >= 0)) return;
    const what = transfer === 2 ? Access.write : 0;
    const bytes = opfs ? result : result === 0 ? length : 0;
    if (!use.wal) {
      if (length >= SMALLEST_PAGE)
        add(thread, row, Math.floor(offset / size) + 1, Math.max(1, Math.floor(length / size)), what, events.aux2[row] ?? 0, bytes);
      return;
    }
    const frameBytes = WAL_FRAME_HEADER + size;
    const frame = Math.floor((offset - WAL_HEADER) / frameBytes);
    const within = offset - WAL_HEADER - frame * frameBytes;
    const aux = events.aux[row]!;
    if (aux === AUX_WAL_HEADER || frame < 0) return;
    const header = within === 0;
    if (header && aux !== 0) frames[use.database]!.set(frame, aux);
    // at a sync point SQLite splits a page over two writes: the first stands for it
    if (header ? length > WAL_FRAME_HEADER : within === WAL_FRAME_HEADER)
      add(thread, row, frames[use.database]!.page(frame), 1, what | Access.wal, header ? 0 : (events.aux2[row] ?? 0), bytes);
  });
  return out;
}

function usesOf(store: TraceStore, files: DatabaseFiles): Map<number, Use>[] {
  return store.threads.map((_, t) => {
    const checkpoints = new Map<number, { on: boolean }>();
    const uses = new Map<number, Use>();
    for (const [id, part] of files.parts[t]!) {
      let checkpoint = checkpoints.get(part.database);
      if (!checkpoint) checkpoints.set(part.database, (checkpoint = { on: false }));
      uses.set(id, { ...part, checkpoint });
    }
    return uses;
  });
}
