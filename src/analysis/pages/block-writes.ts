/**
 * The cost of writes below the VFS: read-modify-write, writes that don't fill a block, write
 * amplification.
 *
 *   xWrite 24 bytes @ 8224      a part of block 1 (8192 bytes) ...
 *     idb.get  block 1          ... that exists: it must be read, or the rest of it would be lost
 *     idb.put  block 1          16 KiB moved for 24 bytes
 *
 * A read-modify-write is a storage read below an xWrite that only fills a part of the block read,
 * or a get and a later put of the same key in one IndexedDB transaction. Reads shorter than the
 * smallest page are a VFS's metadata. If every xWrite of the trace fills whole blocks, a store
 * whose VFS works on another thread has none: its gets look for changes.
 */
import { getOrMake } from '../core/maps.ts';
import { databaseName, plainPath } from '../../event/file-names.ts';
import { idbMode, READONLY } from '../../event/idb-modes.ts';
import { Flag, Op } from '../../event/event.ts';
import { isWebOp, opTable } from '../../event/operations.ts';
import type { FileKind } from '../../event/definitions.ts';
import type { EventColumns } from '../../trace/columns.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { ById } from '../core/by-id.ts';
import { SMALLEST_PAGE } from '../../sqlite/page-size.ts';
import { dirtyPages } from './dirty-pages.ts';
import { accesses } from './page-accesses.ts';
import { fact, type ByThread, type Known } from '../core/graph.ts';
import { bytesMoved } from '../../trace/bytes-moved.ts';
import { fileOf } from '../files/files.ts';
import { Evidence } from '../rules/context.ts';
import { owners } from '../core/owners.ts';
import type { Owners } from '../../trace/owners.ts';
import { definedAs, isInMemory, targetOf } from '../../trace/in-memory.ts';

export interface BlockWrites {
  /** A file of SQLite, or a store if no VFS call is known. */
  path: string;
  kind: FileKind | 'idb-store' | 'opfs';
  /**
   * Bytes of the blocks in which the file is stored; null if it has none, or if none was written.
   */
  blockBytes: number | null;
  /** xWrite calls, and those that don't begin and end with a block; null if blockBytes is. */
  writes: number;
  partialWrites: number | null;
  readModifyWrites: number;
  /** Bytes read for them, and bytes written that weren't in the xWrite. */
  readBytes: number;
  rewrittenBytes: number;
  /** Their sum. */
  wastedBytes: number;
  /** Time of the reads, microseconds. */
  readUs: number;
  /** The reads themselves. */
  reads: Evidence;
}

interface Entry extends BlockWrites {
  /** Storage puts by log2 of their bytes: all blocks have one size. */
  puts: Float64Array;
}
/** Reads of storage. */
const READS = opTable(({ layer, counts }) => layer === 'web' && counts === 'read');
/** Writes to storage: 1 = a value into a store of IndexedDB, 2 = another. */
const WRITES = opTable(({ layer, counts, api }) =>
  layer !== 'web' || counts !== 'write' ? 0 : api === 'idb' ? 1 : 2,
);

class Entries {
  readonly byName = new Map<string, Entry>();
  /** @param id from `targetOf` */
  of(thread: ThreadStore, id: number): Entry | null {
    const file = fileOf(definedAs(thread.definitions, id));
    if (!file || file.kind === 'storage' || file.kind === 'memory-journal') return null;
    const key = `${file.kind}\0${file.path}`;
    const { path, kind } = file;
    return getOrMake(this.byName, key, () => ({
      path,
      kind,
      blockBytes: null,
      writes: 0,
      partialWrites: null,
      readModifyWrites: 0,
      readBytes: 0,
      rewrittenBytes: 0,
      wastedBytes: 0,
      readUs: 0,
      puts: new Float64Array(33),
      reads: new Evidence(),
    }));
  }
}

/** By file, without those that have neither a write nor a read-modify-write. */
export const blockWrites = fact('blockWrites', 'how files are used', { owners }, blockWritesOf);

function blockWritesOf(store: TraceStore, { owners }: { owners: ByThread<Owners> }): BlockWrites[] {
  const entries = new Entries();
  for (const thread of store.threads) scanStorage(thread, owners.of(thread), entries);
  for (const entry of entries.byName.values())
    if ((entry.blockBytes = blockOf(entry.puts)) !== null) entry.partialWrites = 0;
  for (const thread of store.threads) countWrites(thread, entries);
  for (const entry of entries.byName.values())
    if (
      entry.kind === 'idb-store' &&
      entry.readModifyWrites &&
      entry.blockBytes !== null &&
      fillsBlocks(store, entry.blockBytes)
    )
      Object.assign(entry, {
        readModifyWrites: 0,
        readBytes: 0,
        rewrittenBytes: 0,
        readUs: 0,
        reads: new Evidence(),
      });
  return [...entries.byName.values()]
    .filter((e) => e.writes + e.readModifyWrites > 0)
    .map(({ puts: _puts, ...e }) => ({ ...e, wastedBytes: e.readBytes + e.rewrittenBytes }))
    .sort((a, b) => b.wastedBytes - a.wastedBytes || b.writes - a.writes);
}

/** Whether a write doesn't begin and end with a block. */
const fillsPart = ({ offset, length }: EventColumns, row: number, block: number): boolean =>
  offset[row]! % block !== 0 || length[row]! % block !== 0;

/** @param each called with each xWrite that fills a part of a block, by thread */
export function eachPartialWrite(
  store: TraceStore,
  { path, kind, blockBytes }: Pick<BlockWrites, 'path' | 'kind' | 'blockBytes'>,
  each: (thread: ThreadStore, row: number) => void,
): void {
  if (blockBytes === null) return;
  for (const thread of store.threads) {
    const { events, definitions } = thread;
    for (let row = 0; row < events.count; row++) {
      if (events.op[row] !== Op.xWrite || !fillsPart(events, row, blockBytes)) continue;
      const file = fileOf(definedAs(definitions, targetOf(events, row)));
      if (file?.path === path && file.kind === kind) each(thread, row);
    }
  }
}

function countWrites(thread: ThreadStore, entries: Entries): void {
  const { events } = thread;
  const { op, count } = events;
  const byId = new ById<Entry | null>();
  for (let row = 0; row < count; row++) {
    if (op[row] !== Op.xWrite) continue;
    const id = targetOf(events, row);
    const entry = getOrMake(byId, id, () => entries.of(thread, id));
    if (!entry) continue;
    entry.writes++;
    const block = entry.blockBytes;
    if (block !== null && fillsPart(events, row, block)) entry.partialWrites!++;
  }
}

/**
 * This trace has VFS calls that write to files, and each of them writes whole blocks of this size.
 */
function fillsBlocks(store: TraceStore, block: number): boolean {
  let writes = 0;
  for (const { events } of store.threads)
    for (let row = 0; row < events.count; row++) {
      if (events.op[row] !== Op.xWrite || isInMemory(events, row)) continue;
      if (fillsPart(events, row, block)) return false;
      writes++;
    }
  return writes > 0;
}

/**
 * The size of nine of ten puts, to a power of two: a value has a few bytes in addition to its
 * block. null if a VFS has no fixed blocks.
 */
function blockOf(puts: Float64Array): number | null {
  const all = puts.reduce((a, b) => a + b, 0);
  const bits = puts.indexOf(Math.max(...puts));
  return bits >= 10 && puts[bits]! >= 0.9 * all ? 2 ** (bits - 1) : null;
}

/** Storage calls of one thread: read-modify-writes, and the size of blocks. */
function scanStorage(thread: ThreadStore, owners: Owners, entries: Entries): void {
  const { events } = thread;
  const isWrite = (row: number): boolean => row >= 0 && events.op[row] === Op.xWrite;
  /** The read returned a block that the xWrite above it doesn't fill. */
  const isPart = (read: number, write: number): boolean => {
    const block = bytesMoved(thread.events, read);
    return (
      block >= SMALLEST_PAGE &&
      (block > events.length[write]! || events.offset[write]! % block !== 0)
    );
  };
  /** The last gets of each store within its readwrite transaction: rows by key. */
  const gets = new Map<number, { transaction: number; rows: Map<number, number> }>();
  const readwrite = new Set<number>();
  /** Rows of reads that are already counted, and xWrites with one. */
  const counted = new Uint8Array(events.count);
  const count = (read: number): void => {
    if (counted[read]) return;
    counted[read] = 1;
    const call = owners.vfs(read);
    const entry = entries.of(thread, events.object[call < 0 ? read : call]!);
    if (!entry) return;
    entry.readModifyWrites++;
    entry.readBytes += bytesMoved(thread.events, read);
    entry.readUs += events.dur[read]!;
    entry.reads.add(thread, read);
    if (call >= 0) counted[call] = 1;
  };
  for (let row = 0; row < events.count; row++) {
    const op = events.op[row]!;
    if (!isWebOp(op)) continue;
    if (op === Op.idbTransaction) {
      if (idbMode(events.aux[row]!) !== READONLY) readwrite.add(events.context[row]!);
      continue;
    }
    const done = events.endSeq[row] !== 0 && !(events.flags[row]! & Flag.threw);
    if (READS[op] && done && bytesMoved(thread.events, row) > 0) {
      const call = owners.vfs(row);
      if (isWrite(call) && isPart(row, call)) count(row);
      if (op !== Op.idbGet || !readwrite.has(events.context[row]!)) continue;
      const id = events.object[row]!;
      const known = gets.get(id);
      if (known && known.transaction === events.context[row])
        known.rows.set(events.offset[row]!, row);
      else
        gets.set(id, {
          transaction: events.context[row]!,
          rows: new Map([[events.offset[row]!, row]]),
        });
    } else if (WRITES[op] && done) {
      const call = owners.vfs(row);
      const put = bytesMoved(thread.events, row);
      if (WRITES[op] === 1) {
        const known = gets.get(events.object[row]!);
        const read = known?.rows.get(events.offset[row]!);
        if (read !== undefined && known!.transaction === events.context[row]) {
          const block = isWrite(call)
            ? isPart(read, call)
            : bytesMoved(thread.events, read) >= SMALLEST_PAGE;
          if (block) count(read);
          known!.rows.delete(events.offset[row]!);
        }
        const entry = entries.of(thread, events.object[call < 0 ? row : call]!);
        if (entry && events.op[row] !== Op.idbCursorUpdate) entry.puts[32 - Math.clz32(put)]!++;
      }
      if (isWrite(call) && counted[call]) {
        const entry = entries.of(thread, events.object[call]!);
        if (entry) entry.rewrittenBytes += Math.max(0, put - events.length[call]!);
      }
    }
  }
}

/**
 * Bytes of the xWrite calls on database, journal, and WAL, and of the storage writes below calls on
 * them; null if there are none.
 */
interface WrittenBytes {
  vfs: number;
  storage: number | null;
}

export interface WriteAmplification {
  path: string;
  vfs: string;
  pageBytes: number | null;
  /** Distinct pages written, in all and summed over the transactions. */
  dirtyPages: number;
  dirtyPagesByTransaction: number;
  /** As in WrittenBytes; null if no such call was recorded. */
  vfsBytes: number | null;
  storageBytes: number | null;
  /**
   * Bytes written / (dirty pages x page size), with the pages of each transaction; null if one of
   * them isn't known.
   */
  vfsAmplification: number | null;
  storageAmplification: number | null;
}

const NEEDS = { owners, accesses, dirtyPages };

/** By database with a written page. */
export const writeAmplification = fact(
  'writeAmplification',
  'how files are used',
  NEEDS,
  writeAmplificationOf,
);

const amplification = (bytes: number | null, changed: number | null): number | null =>
  changed && bytes !== null ? bytes / changed : null;

function writeAmplificationOf(
  store: TraceStore,
  { owners, accesses, dirtyPages }: Known<typeof NEEDS>,
): WriteAmplification[] {
  const written = new Map<string, WrittenBytes>();
  for (const thread of store.threads) addBytes(thread, owners.of(thread), written);
  return accesses.objects.flatMap(({ path, vfs, unit }, i) => {
    const { distinct, perTransaction } = dirtyPages[i]!;
    if (distinct === 0) return [];
    const bytes = written.get(`${vfs}\0${plainPath(path)}`);
    const { vfs: vfsBytes, storage: storageBytes } = bytes ?? { vfs: null, storage: null };
    const changed = unit.bytes === null ? null : perTransaction * unit.bytes;
    return {
      path,
      vfs,
      pageBytes: unit.bytes,
      dirtyPages: distinct,
      dirtyPagesByTransaction: perTransaction,
      vfsBytes,
      storageBytes,
      vfsAmplification: amplification(vfsBytes, changed),
      storageAmplification: amplification(storageBytes, changed),
    };
  });
}

/**
 * For all these databases: from the bytes that reached storage, or if they aren't known for one of
 * them, from the VFS's.
 */
export function amplificationOf(all: readonly WriteAmplification[]): {
  ratio: number | null;
  storage: boolean;
} {
  const list = all.filter((a) => a.vfsAmplification !== null);
  const storage = list.length > 0 && list.every((a) => a.storageBytes !== null);
  const changed = list.reduce((n, a) => n + a.dirtyPagesByTransaction * a.pageBytes!, 0);
  const bytes = list.reduce((n, a) => n + (storage ? a.storageBytes! : a.vfsBytes!), 0);
  return { ratio: amplification(bytes, changed), storage };
}

/** Add the bytes that a thread wrote, by VFS and path of the database. */
function addBytes(thread: ThreadStore, owners: Owners, written: Map<string, WrittenBytes>): void {
  const { op, object, count } = thread.events;
  const byId = new ById<WrittenBytes | null>();
  const bytesOf = (id: number): WrittenBytes | null => {
    const d = thread.definitions.get(id);
    if (
      d?.kind !== 'file' ||
      (d.fileKind !== 'main-db' && d.fileKind !== 'journal' && d.fileKind !== 'wal')
    )
      return byId.set(id, null);
    const name = `${d.vfs}\0${databaseName(d.path)}`;
    return byId.set(
      id,
      getOrMake(written, name, () => ({ vfs: 0, storage: null })),
    );
  };
  for (let row = 0; row < count; row++) {
    const code = op[row]!;
    if (code !== Op.xWrite && WRITES[code] === 0) continue;
    const call = owners.vfs(row);
    if (call < 0) continue;
    const id = object[call]!;
    let bytes = byId.get(id);
    if (bytes === undefined) bytes = bytesOf(id);
    if (!bytes) continue;
    const moved = bytesMoved(thread.events, row);
    if (code === Op.xWrite) bytes.vfs += moved;
    else bytes.storage = (bytes.storage ?? 0) + moved;
  }
}
