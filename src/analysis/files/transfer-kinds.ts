/**
 * What the reads and writes of a file carry: by SQLite's file formats if possible, else by size.
 *
 *   xRead  app.db          24 +16         change counter
 *   xRead  app.db        8192 +4096       page
 *   xWrite app.db-journal   0 +512        journal header
 *   xWrite app.db-wal      56 +4096       page of a frame
 *   idb.put demo/blocks                   content, by size
 *
 * The counts, bytes and times of a file add up to those of its row in the files table (files.ts).
 */
import { databaseName, suffixOf } from '../../event/file-names.ts';
import { isVfsOp, isWebOp, opTable } from '../../event/operations.ts';
import {
  DATABASE_HEADER,
  SMALLEST_PAGE,
  VERSION_AT,
  VERSION_BYTES,
} from '../../sqlite/page-size.ts';
import { WAL_FRAME_HEADER, WAL_HEADER } from '../../sqlite/wal.ts';
import { bytesCarried } from '../../trace/bytes-moved.ts';
import { definedAs, isInMemory, targetOf } from '../../trace/in-memory.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { threadEndUs } from '../../trace/thread-end.ts';
import { ById } from '../core/by-id.ts';
import { databaseFiles, type DatabaseFiles } from '../core/database-files.ts';
import { fact } from '../core/graph.ts';
import { getOrMake } from '../core/maps.ts';
import { originOfThread } from '../core/thread-origin.ts';
import { fileOf, IS_NAMELESS, UNKNOWN_FILE, type FileRow } from './files.ts';

const CONTENT = {
  title: 'content',
  meaning: 'Bytes of a file or store without a SQLite format, by size only',
} as const;
/** What a call carries. Its index in the list is its number. */
export const TRANSFER_KINDS = [
  {
    id: 'change-counter',
    title: 'change counter',
    meaning:
      'The 16 bytes of the database header that SQLite compares before it uses its page cache',
  },
  {
    id: 'header',
    title: 'database header',
    meaning: 'The first 100 bytes of the database, read when it is opened',
  },
  {
    id: 'first-page',
    title: 'page 1',
    meaning: 'The database header and the root of the schema. Most commits write it',
  },
  { id: 'page', title: 'page', meaning: 'One page of the database' },
  {
    id: 'pages',
    title: 'several pages',
    meaning: 'More than one page of the database in one call',
  },
  {
    id: 'part',
    title: 'part of a page',
    meaning: "Bytes that aren't a whole page, frame, or record",
  },
  {
    id: 'journal-header',
    title: 'journal header',
    meaning:
      'Where the rollback journal stores how many pages it holds. A read looks for a journal that a crash left',
  },
  {
    id: 'journal-page',
    title: 'saved page',
    meaning: 'A page as it was before the transaction, in the rollback journal',
  },
  {
    id: 'journal-word',
    title: 'number, checksum',
    meaning: 'The 4 bytes before and after each saved page',
  },
  { id: 'wal-header', title: 'WAL header', meaning: 'The first 32 bytes of the write-ahead log' },
  {
    id: 'frame-header',
    title: 'frame header',
    meaning: 'The 24 bytes before each page in the write-ahead log',
  },
  { id: 'frame-page', title: 'page of a frame', meaning: 'One page in the write-ahead log' },
  {
    id: 'frame',
    title: 'frame',
    meaning: 'A page in the write-ahead log with its header, in one call',
  },
  { id: 'tiny', ...CONTENT },
  { id: 'small', ...CONTENT },
  { id: 'large', ...CONTENT },
  { id: 'huge', ...CONTENT },
] as const;
export type TransferId = (typeof TRANSFER_KINDS)[number]['id'];
const PLACES = Object.fromEntries(TRANSFER_KINDS.map(({ id }, i) => [id, i])) as Record<
  TransferId,
  number
>;
/** If only sizes are known: classes of up to this many bytes. */
const SIZES = [SMALLEST_PAGE - 1, 4096, 65536];

/** Calls of one kind on one file, one way. */
export interface TransferRow {
  path: string;
  kind: FileRow['kind'];
  /** As in the files table: '' if the recording has one origin. */
  origin: string;
  way: 'read' | 'write';
  id: TransferId;
  /** Bytes that the smallest and the largest call ask for. */
  least: number;
  most: number;
  calls: number;
  /** Bytes that they carried: failed and short calls carry none. */
  bytes: number;
  /** Microseconds; a call without an end lasts until its thread's end. */
  us: number;
}
export const transferTitle = ({ id }: Pick<TransferRow, 'id'>): string =>
  TRANSFER_KINDS[PLACES[id]]!.title;
export const transferMeaning = ({ id }: Pick<TransferRow, 'id'>): string =>
  TRANSFER_KINDS[PLACES[id]]!.meaning;

/** By operation: 1 = a read, 2 = a write. Those that the files table counts. */
const WAY = opTable(({ counts }) => (counts === 'read' ? 1 : counts === 'write' ? 2 : 0));

type Format = 'database' | 'journal' | 'wal' | null;
/** A file of a thread, and the layout of its bytes. */
interface Layout {
  path: string;
  kind: FileRow['kind'];
  origin: string;
  format: Format;
  /** Bytes of a page; null = not known. */
  page: number | null;
}

function layoutOf(
  file: Pick<FileRow, 'path' | 'kind'>,
  origin: string,
  pageSizes: ReadonlyMap<string, number | null>,
): Layout {
  const page = pageSizes.get(databaseName(file.path)) ?? null;
  return { path: file.path, kind: file.kind, origin, format: formatOf(file, pageSizes), page };
}

/** Format of an OPFS file by its name: VFSs that use their own names also store their own bytes. */
function formatOf(
  { kind, path }: Pick<FileRow, 'path' | 'kind'>,
  pageSizes: ReadonlyMap<string, number | null>,
): Format {
  if (kind === 'main-db') return 'database';
  if (kind === 'journal' || kind === 'wal') return kind;
  if (kind !== 'opfs' || !pageSizes.has(databaseName(path))) return null;
  const suffix = suffixOf(path);
  return suffix === '-journal' ? 'journal' : suffix === '-wal' ? 'wal' : suffix ? null : 'database';
}

function bySize(length: number): number {
  const at = SIZES.findIndex((most) => length <= most);
  return PLACES.tiny + (at < 0 ? SIZES.length : at);
}

/**
 * Number of what a call carries.
 * @param offset bytes from the file's start @param length requested bytes
 */
function transferKindOf(
  { format, page }: Pick<Layout, 'format' | 'page'>,
  offset: number,
  length: number,
): number {
  if (format === 'database') {
    if (offset === VERSION_AT && length === VERSION_BYTES) return PLACES['change-counter'];
    if (offset === 0 && length <= DATABASE_HEADER) return PLACES.header;
    if (page === null) return bySize(length);
    if (offset % page !== 0 || length % page !== 0 || length === 0) return PLACES.part;
    if (length > page) return PLACES.pages;
    return offset === 0 ? PLACES['first-page'] : PLACES.page;
  }
  if (format === 'journal') {
    // records follow a header at a multiple of 512: number, page, checksum; so a page is never at a
    // multiple of 8
    if (offset < 512 || (offset % 512 === 0 && length !== 4)) return PLACES['journal-header'];
    if (length === 4) return PLACES['journal-word'];
    return page === null ? bySize(length) : PLACES[length === page ? 'journal-page' : 'part'];
  }
  if (format === 'wal') {
    if (offset < WAL_HEADER) return PLACES['wal-header'];
    if (page === null) return bySize(length);
    const within = (offset - WAL_HEADER) % (WAL_FRAME_HEADER + page);
    if (within === 0 && length === WAL_FRAME_HEADER) return PLACES['frame-header'];
    if (within === 0 && length === WAL_FRAME_HEADER + page) return PLACES.frame;
    return PLACES[within === WAL_FRAME_HEADER && length === page ? 'frame-page' : 'part'];
  }
  return bySize(length);
}

/** One read or write. @param way 1 = a read, 2 = a write */
type Each = (thread: ThreadStore, row: number, layout: Layout, way: number, kind: number) => void;

/** @param each called for every read and write that the files table counts */
function eachTransfer(store: TraceStore, { list }: DatabaseFiles, each: Each): void {
  const pageSizes = new Map(list.map(({ path, pageSize }) => [databaseName(path), pageSize.bytes]));
  const used = store.threads.filter(({ events }) => events.count > 0);
  const originOf = (thread: ThreadStore): string => originOfThread(thread) || 'unknown origin';
  const one = new Set(used.map(originOf)).size <= 1;
  for (const thread of used) {
    const { events, definitions } = thread;
    const { op, offset, length, count } = events;
    const origin = one ? '' : originOf(thread);
    const unknown = layoutOf(UNKNOWN_FILE, origin, pageSizes);
    const inMemory = layoutOf({ ...UNKNOWN_FILE, kind: 'memory-journal' }, origin, pageSizes);
    const layouts = new ById<Layout | null>();
    const find = (id: number): Layout | null => {
      const definition = definedAs(definitions, id);
      if (!definition) return layouts.set(id, unknown);
      const file = fileOf(definition);
      return layouts.set(id, file && layoutOf(file, origin, pageSizes));
    };
    for (let row = 0; row < count; row++) {
      const code = op[row]!;
      const way = WAY[code]!;
      if (way === 0 || !(isVfsOp(code) || isWebOp(code))) continue;
      const id = targetOf(events, row);
      let layout = layouts.get(id);
      if (layout === undefined) layout = find(id);
      if (layout === null || (layout === unknown && !IS_NAMELESS[code])) continue;
      if (layout === unknown && isInMemory(events, row)) layout = inMemory;
      each(thread, row, layout, way, transferKindOf(layout, offset[row]!, length[row]!));
    }
  }
}

/** By file, direction, and kind; for each file reads before writes, the most time first. */
export const transferKinds = fact(
  'transferKinds',
  'what files are read and written for',
  { databaseFiles },
  (store, { databaseFiles: files }): TransferRow[] => {
    const found = new Map<string, (TransferRow | undefined)[]>();
    const [, traceEndUs] = store.extent();
    let last: Layout | null = null;
    let rows: (TransferRow | undefined)[] = [];
    eachTransfer(store, files, (thread, row, layout, way, kind) => {
      const { events } = thread;
      if (layout !== last) {
        last = layout;
        const key = `${layout.origin}\0${layout.kind}\0${layout.path}`;
        rows = getOrMake(found, key, () => []);
      }
      const length = events.length[row]!;
      const sum = (rows[2 * kind + way - 1] ??= rowOf(layout, way, kind));
      sum.least = Math.min(sum.least, length);
      sum.most = Math.max(sum.most, length);
      sum.calls++;
      sum.bytes += bytesCarried(events, row);
      sum.us +=
        events.endSeq[row] === 0
          ? Math.max(0, threadEndUs(thread, traceEndUs) - events.t0[row]!)
          : events.dur[row]!;
    });
    return [...found.values()].flatMap((some) =>
      some
        .filter((one) => one !== undefined)
        .sort((a, b) => a.way.localeCompare(b.way) || b.us - a.us || b.calls - a.calls),
    );
  },
);

const rowOf = ({ path, kind, origin }: Layout, way: number, place: number): TransferRow => ({
  ...{ path, kind, origin, way: way === 1 ? 'read' : 'write', id: TRANSFER_KINDS[place]!.id },
  ...{ least: Infinity, most: 0, calls: 0, bytes: 0, us: 0 },
});

/** Identifies rows of the table. @param origin '' = all */
export type TransferChoice = Pick<TransferRow, 'path' | 'kind' | 'origin' | 'way' | 'id'>;

/** @param each called with each call of a row of `transferKinds`, thread by thread */
export function eachCallOf(
  store: TraceStore,
  files: DatabaseFiles,
  { path, kind, origin, way, id }: TransferChoice,
  each: (thread: ThreadStore, row: number) => void,
): void {
  const [wantedWay, wantedKind] = [way === 'read' ? 1 : 2, PLACES[id]];
  eachTransfer(store, files, (thread, row, layout, itsWay, itsKind) => {
    if (
      itsWay === wantedWay &&
      itsKind === wantedKind &&
      layout.path === path &&
      layout.kind === kind &&
      (origin === '' || layout.origin === origin)
    )
      each(thread, row);
  });
}
