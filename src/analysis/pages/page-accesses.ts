/**
 * Every page of a database that was read or written, in time order. A page in the WAL counts as the
 * database's page of which it is an image:
 *
 *   xWrite wal 24 @ frame   aux = page number -> this frame holds that page, until its place in the log is written again
 *   xRead wal 4096 @ frame + 24               -> a read of that page, marked Access.wal
 *
 * What a checkpoint copies (wal/checkpoints.ts) is marked Access.checkpoint: the app didn't request
 * those pages. Pages of the pointer map are detected by their numbers if a header shows that the
 * database has one, because their first byte looks like a b-tree's.
 */
import { AUX_WAL_HEADER, Op } from '../../event/event.ts';
import { hasMoved } from '../../trace/bytes-moved.ts';
import { IN_BYTES, opSet } from '../../event/operations.ts';
import { isPointerMapPage, PageType } from '../../sqlite/page.ts';
import { WAL_FRAME_HEADER, WAL_HEADER } from '../../sqlite/wal.ts';
import { longer } from '../../trace/typed-arrays.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { Access, Accesses, type AccessedObject } from './accesses.ts';
import {
  databaseFiles,
  transferOf,
  type DatabaseFiles,
  type DatabasePart,
} from '../core/database-files.ts';
import { SMALLEST_PAGE } from '../../sqlite/page-size.ts';
import { grouped } from '../core/maps.ts';
import { ById } from '../core/by-id.ts';
import { fact, type ByThread } from '../core/graph.ts';
import { rowsByOperation, type RowsByOperation } from '../core/rows-by-operation.ts';
import { databaseHeaders, type DatabaseHeaders } from './database-headers.ts';
import { partsInTimeOrder } from '../core/time-order.ts';
import { checkpoints, type Checkpoint } from '../wal/checkpoints.ts';
import { plainPath } from '../../event/file-names.ts';
import { Rc } from '../../sqlite/constants.ts';

const HIGHEST_PAGE = 0xfffffffe;

/**
 * Pages by frame of one WAL. An array if frames are consecutive, as SQLite writes them; a map for
 * others.
 */
class Frames {
  private pages: Uint32Array = new Uint32Array(256);
  private readonly beyond = new Map<number, number>();
  /** @param frame from 0 @returns 0 = not known */
  page(frame: number): number {
    return this.pages[frame] || (this.beyond.get(frame) ?? 0);
  }
  set(frame: number, page: number): void {
    const { length } = this.pages;
    if (frame >= length * 2) this.beyond.set(frame, page);
    else {
      this.pages = longer(this.pages, frame + 1);
      this.pages[frame] = page;
    }
  }
}

const TRANSFERS = opSet(Op.xRead, Op.xWrite, Op.opfsRead, Op.opfsWrite);

/** Reads and writes of all files, as the capacity for those of pages. */
function transfersIn({ threads }: TraceStore, rows: ByThread<RowsByOperation>): number {
  let n = 0;
  for (const thread of threads)
    TRANSFERS.forEach((is, op) => (n += is ? rows.of(thread).count(op) : 0));
  return n;
}

/** What one thread does with one file of a database. */
interface Use extends DatabasePart {
  opfs: boolean;
  /** Bytes of a page; null = not known. */
  size: number | null;
  object: AccessedObject;
  frames: Frames;
  /** The thread's checkpoints of the database that aren't over yet, the last one first. */
  checkpoints: Checkpoint[];
}

/** Rows between two pauses for other work: about 0.1 s. */
const ROWS_AT_ONCE = 1 << 20;

/**
 * Objects are the databases, in the order of `databaseFiles.list`. A database with an unknown page
 * size has no accesses.
 */
export const accesses = fact(
  'accesses',
  'reads and writes of pages',
  { databaseFiles, databaseHeaders, checkpoints, rowsByOperation },
  function* (store, { databaseFiles: files, databaseHeaders: headers, checkpoints, ...known }) {
    const room = Math.max(16, transfersIn(store, known.rowsByOperation));
    const scan = new PageScan(store, room, files, headers, checkpoints);
    yield* partsInTimeOrder(
      store.threads,
      (thread, from, to) => scan.take(thread, from, to),
      ROWS_AT_ONCE,
    );
    return scan.out;
  },
);

/** The target of a thread's last call, and its asker. */
class LastCall {
  id = -1;
  use: Use | undefined = undefined;
  context = -1;
  database = -1;
  asker = -1;
}

class PageScan {
  readonly out: Accesses;
  private readonly uses: ById<Use>[];
  /** Indices in `askers` by thread, by connection. */
  private readonly askers: Map<number, number>[];
  /** By database: the page size if it has a pointer map, else 0. */
  private readonly mapped: number[];
  /** By thread: threads alternate, and each continues with its own. */
  private readonly lasts: LastCall[];

  constructor(
    store: TraceStore,
    room: number,
    files: DatabaseFiles,
    headers: readonly DatabaseHeaders[],
    checkpoints: readonly Checkpoint[],
  ) {
    this.out = new Accesses(room);
    const { objects } = this.out;
    for (const { path, vfs, pageSize } of files.list)
      objects.push({ path, vfs, kind: 'main-db', unit: pageSize, highest: 0, untied: 0 });
    this.uses = usesOf(store, files, objects, checkpoints);
    this.askers = store.threads.map(() => new Map());
    this.lasts = store.threads.map(() => new LastCall());
    // the stored part of a header doesn't have the reserved bytes; databases with both are rare,
    // and treated as if they had none
    this.mapped = headers.map(({ vacuum, pageSize }) => (vacuum ? (pageSize ?? 0) : 0));
  }

  /** The next rows of a thread. */
  take(thread: ThreadStore, from: number, to: number): void {
    const { index, events } = thread;
    const {
      op: ops,
      object,
      aux,
      result: results,
      length: lengths,
      offset: offsets,
      aux2,
    } = events;
    const last = this.lasts[index]!;
    for (let row = from; row < to; row++) {
      const op = ops[row]!;
      if (TRANSFERS[op] === 0) continue;
      if (object[row] !== last.id) {
        last.id = object[row]!;
        last.use = this.uses[index]!.get(last.id);
      }
      const { use } = last;
      if (!use) continue;
      const { opfs, size } = use;
      const transfer = transferOf(op, opfs);
      if (!transfer || size === null) continue;
      // anything after the end reads as zeros
      const isShort = !opfs && transfer === 1 && results[row] === Rc.shortRead;
      const moved = hasMoved(events, row);
      if (!moved && !isShort) continue;
      const length = lengths[row]!;
      const offset = offsets[row]!;
      if (!(offset >= 0)) continue;
      const what = transfer === 2 ? Access.write : 0;
      const bytes = moved ? (IN_BYTES[op] ? results[row]! : length) : 0;
      if (!use.wal) {
        if (length < SMALLEST_PAGE) continue;
        const span = Math.max(1, Math.floor(length / size));
        const page = Math.floor(offset / size) + 1;
        this.add(thread, row, use, page, span, what, aux2[row]!, bytes);
        continue;
      }
      const frameBytes = WAL_FRAME_HEADER + size;
      const frame = Math.floor((offset - WAL_HEADER) / frameBytes);
      const within = offset - WAL_HEADER - frame * frameBytes;
      if (aux[row] === AUX_WAL_HEADER || frame < 0) continue;
      const header = within === 0;
      if (header && aux[row] !== 0) use.frames.set(frame, aux[row]!);
      // at a sync point SQLite splits a page over two writes: only the first counts
      if (header ? length > WAL_FRAME_HEADER : within === WAL_FRAME_HEADER) {
        const [page, type] = [use.frames.page(frame), header ? 0 : aux2[row]!];
        this.add(thread, row, use, page, 1, what | Access.wal, type, bytes);
      }
    }
  }

  private add(
    thread: ThreadStore,
    row: number,
    use: Use,
    page: number,
    span: number,
    what: number,
    type: number,
    bytes: number,
  ): void {
    const { object, database } = use;
    if (page < 1 || page + span - 1 > HIGHEST_PAGE || !this.out.covers(span)) {
      object.untied++;
      return;
    }
    object.highest = Math.max(object.highest, page + span - 1);
    const connection = use.opfs ? 0 : thread.events.context[row]!; // for OPFS calls it is a handle
    const last = this.lasts[thread.index]!;
    if (connection !== last.context || database !== last.database) {
      last.context = connection;
      last.database = database;
      last.asker = this.askerOf(thread.index, connection, database);
    }
    const bits = what | (isCopied(use, row, what) ? Access.checkpoint : 0);
    const mapped = this.mapped[database]!;
    const kind =
      mapped > 0 && span === 1 && isPointerMapPage(page, mapped) ? PageType.pointerMap : type;
    this.out.push(thread, row, database, page, span, bits, kind, bytes, last.asker);
  }

  private askerOf(thread: number, connection: number, database: number): number {
    // without an SQL layer, everything that a thread does with a database counts as one
    // connection's
    const key = connection || -1 - database;
    let found = this.askers[thread]!.get(key);
    if (found === undefined)
      this.askers[thread]!.set(key, (found = this.out.askers.push({ thread, connection }) - 1));
    return found;
  }
}

/**
 * Whether a checkpoint made this read of the WAL, or this write to the database. Call it in the
 * order of a thread's rows.
 */
function isCopied({ checkpoints, wal }: Use, row: number, what: number): boolean {
  if (((what & Access.write) !== 0) === wal) return false;
  while (checkpoints.length && checkpoints.at(-1)!.toRow < row) checkpoints.pop();
  return checkpoints.length > 0 && checkpoints.at(-1)!.fromRow <= row;
}

/** By thread, by object id. */
function usesOf(
  store: TraceStore,
  { list, parts }: DatabaseFiles,
  objects: readonly AccessedObject[],
  checkpoints: readonly Checkpoint[],
): ById<Use>[] {
  const frames = list.map(() => new Frames());
  const byPlace = grouped([...checkpoints].reverse(), (c) => `${c.thread} ${plainPath(c.path)}`);
  return store.threads.map((_, t) => {
    const uses = new ById<Use>();
    for (const [id, part] of parts[t]!) {
      const { database } = part;
      const { opfs, path, pageSize } = list[database]!;
      uses.set(id, {
        ...part,
        opfs,
        size: pageSize.bytes,
        object: objects[database]!,
        frames: frames[database]!,
        checkpoints: byPlace.get(`${t} ${plainPath(path)}`) ?? [],
      });
    }
    return uses;
  });
}
