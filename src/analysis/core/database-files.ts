/**
 * Which files of a trace are databases and their WALs, and their page sizes. SQLite moves a
 * database in whole pages, so the lengths of its aligned reads and writes show the size. Calls
 * shorter than 512 bytes (the header at open, the change counter) don't.
 */
import { getOrMake } from './maps.ts';
import { hasVfs } from './layers.ts';
import { databasePath, isWalPath, plainPath } from '../../event/file-names.ts';
import { Op } from '../../event/event.ts';
import type { Definition } from '../../event/definitions.ts';
import type { TraceStore } from '../../trace/store.ts';
import { isPageSize, SMALLEST_PAGE } from '../../sqlite/page-size.ts';
import { WAL_FRAME_HEADER, WAL_HEADER } from '../../sqlite/wal.ts';
import { fact } from './graph.ts';

/** The size of a page or block, and how it is known. */
export interface Unit {
  /** Bytes; null = not known, see `how`. */
  bytes: number | null;
  /** Where the size comes from, or why it isn't known, as text. */
  how: string;
  /** Every call agrees with it. */
  certain: boolean;
}

export interface DatabaseFile {
  path: string;
  vfs: string;
  /** VFS calls weren't recorded, so calls of OPFS are examined. */
  opfs: boolean;
  pageSize: Unit;
}
/** What a thread's id means for the pages of a database. */
export interface DatabasePart {
  /** Index in the list of databases. */
  database: number;
  wal: boolean;
}
export interface DatabaseFiles {
  list: DatabaseFile[];
  /** By index in TraceStore.threads, by object id. */
  parts: Map<number, DatabasePart>[];
}

/** Names of databases in OPFS if nothing else shows what a file is. */
const DATABASE_NAME = /\.(db|db3|sqlite|sqlite3)$/i;

/** Files with the same path and VFS count as one, on any thread. */
export const databaseFiles = fact('databaseFiles', 'databases', {}, databaseFilesOf);

function databaseFilesOf(store: TraceStore): DatabaseFiles {
  const list: DatabaseFile[] = [];
  const places = new Map<string, number>();
  const anyVfs = store.threads.some(hasVfs);
  const place = (path: string, vfs: string, opfs: boolean): number => {
    const pageSize = { bytes: null, how: '', certain: false };
    const key = `${vfs}\0${plainPath(path)}`;
    return getOrMake(places, key, () => list.push({ path, vfs, opfs, pageSize }) - 1);
  };
  const known = new Set<string>();
  if (!anyVfs)
    for (const { definitions } of store.threads)
      for (const d of definitions.values())
        if (d.kind === 'opfs-file') {
          const main = databasePath(d.path);
          if (main !== d.path) known.add(main);
          else if (DATABASE_NAME.test(d.path)) known.add(d.path);
        }
  const partOf = (d: Definition): DatabasePart | null => {
    if (d.kind === 'file' && (d.fileKind === 'main-db' || d.fileKind === 'wal')) {
      const wal = d.fileKind === 'wal';
      return { database: place(wal ? databasePath(d.path) : d.path, d.vfs, false), wal };
    }
    if (anyVfs || d.kind !== 'opfs-file') return null;
    const wal = isWalPath(d.path);
    const main = wal ? databasePath(d.path) : d.path;
    return known.has(main) ? { database: place(main, '', true), wal } : null;
  };
  const parts = store.threads.map(({ definitions }) => {
    const byId = new Map<number, DatabasePart>();
    for (const [id, d] of definitions) {
      const part = partOf(d);
      if (part) byId.set(id, part);
    }
    return byId;
  });
  findPageSizes(store, list, parts);
  return { list, parts };
}

/** Whether a row reads or writes bytes of a file, by a VFS or OPFS: 0 no, 1 read, 2 write. */
export function transferOf(op: number, opfs: boolean): 0 | 1 | 2 {
  if (op === (opfs ? Op.opfsRead : Op.xRead)) return 1;
  return op === (opfs ? Op.opfsWrite : Op.xWrite) ? 2 : 0;
}

/** `a % b` of whole numbers below 2^53. The engine's own is slow for numbers above 31 bits. */
const remainder = (a: number, b: number): number => a - Math.floor(a / b) * b;

function findPageSizes(
  store: TraceStore,
  list: DatabaseFile[],
  parts: readonly Map<number, DatabasePart>[],
): void {
  /** Calls by database and log2 of the length: of the database file, and of frames. */
  const inFile = list.map(() => new Float64Array(17));
  const inWal = list.map(() => new Float64Array(17));
  const others = new Float64Array(list.length);
  const divisor = new Float64Array(list.length);
  store.threads.forEach((thread, t) => {
    const byId = parts[t]!;
    if (byId.size === 0) return;
    let id = -1;
    let part: DatabasePart | undefined;
    const { op, object, length, offset, count } = thread.events;
    for (let row = 0; row < count; row++) {
      const code = op[row]!;
      if (code !== Op.xRead && code !== Op.xWrite && code !== Op.opfsRead && code !== Op.opfsWrite)
        continue;
      if (object[row] !== id) part = byId.get((id = object[row]!));
      if (!part || !transferOf(code, list[part.database]!.opfs)) continue;
      const bytes = length[row]!;
      const at = offset[row]!;
      if (bytes < SMALLEST_PAGE || !(at >= 0)) continue;
      const { database } = part;
      if (part.wal) {
        // a whole frame, or its page
        const page = remainder(at - WAL_HEADER, bytes) === 0 ? bytes - WAL_FRAME_HEADER : bytes;
        if (
          isPageSize(page) &&
          remainder(
            at - WAL_HEADER - (page === bytes ? WAL_FRAME_HEADER : 0),
            WAL_FRAME_HEADER + page,
          ) === 0
        )
          inWal[database]![31 - Math.clz32(page)]!++;
      } else if (isPageSize(bytes) && remainder(at, bytes) === 0)
        inFile[database]![31 - Math.clz32(bytes)]!++;
      else {
        others[database]!++;
        divisor[database] = gcd(gcd(divisor[database]!, bytes), at);
      }
    }
  });
  list.forEach(
    (file, i) => (file.pageSize = sizeFrom(inFile[i]!, inWal[i]!, others[i]!, divisor[i]!)),
  );
}

function sizeFrom(
  inFile: Float64Array,
  inWal: Float64Array,
  others: number,
  divisor: number,
): Unit {
  const sum = (counts: Float64Array): number => counts.reduce((a, b) => a + b, 0);
  const most = (counts: Float64Array): number => counts.indexOf(Math.max(...counts));
  const pages = sum(inFile);
  if (pages) {
    const log = most(inFile);
    const certain = inFile[log] === pages && others === 0;
    const how = certain
      ? 'length of every page read and written'
      : 'length of most pages read and written';
    return { bytes: 2 ** log, how, certain };
  }
  const frames = sum(inWal);
  if (frames)
    return {
      bytes: 2 ** most(inWal),
      how: 'length of the frames in the WAL',
      certain: inWal[most(inWal)] === frames,
    };
  if (isPageSize(divisor))
    return {
      bytes: divisor,
      how: 'greatest common divisor of offsets and lengths',
      certain: false,
    };
  return {
    bytes: null,
    how: others ? 'no call has the length of a page' : 'no page was read or written',
    certain: false,
  };
}

function gcd(a: number, b: number): number {
  while (b) [a, b] = [b, a % b];
  return a;
}
