/**
 * The caches between a statement and the storage: SQLite's page cache, whose hits make no VFS call
 * and are known from the engine's counters only, and the VFS's own block cache (an xRead without a
 * storage call below).
 *
 *   page request -> SQLite's page cache -> xRead -> block cache of the VFS -> idb.get, opfs.read, or a wait for another thread
 */
import { CACHE_COUNTS, hitRate, NO_COUNTS } from '../core/counter-deltas.ts';
import { getOrMake } from '../core/maps.ts';
import { Op } from '../../event/event.ts';
import { hasMoved } from '../../trace/bytes-moved.ts';
import { isVfsOp, isWebOp, opTable } from '../../event/operations.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { ById } from '../core/by-id.ts';
import { connectionCaches, type ConnectionCache } from './connection-caches.ts';
import type { CacheCounts } from '../core/counter-deltas.ts';
import { SMALLEST_PAGE } from '../../sqlite/page-size.ts';
import { leavesOut } from '../core/layers.ts';
import { owners } from '../core/owners.ts';
import type { Owners } from '../../trace/owners.ts';
import { pages } from '../pages/pages.ts';
import { fact, type ByThread, type Known } from '../core/graph.ts';

export interface BlockCache {
  /** Name of the VFS. */
  vfs: string;
  /** Reads of pages from the database file. */
  reads: number;
  /** Those with a storage read, or a wait for another thread, below. */
  fromStorage: number;
  /** Share of the reads without one; null if not known, see `cause`. */
  hitRate: number | null;
  cause: string | null;
}

/** 1 = a read of storage, 2 = a wait in which another thread may read. */
const FETCHES = opTable(({ layer, counts, activity }) =>
  activity === 'wait' ? 2 : layer === 'web' && counts === 'read' ? 1 : 0,
);

/** By name of the VFS. One without page reads is left out. */
function blockCachesOf(store: TraceStore, owners: ByThread<Owners>): BlockCache[] {
  const found = new Map<string, Counts>();
  const cacheOf = (vfs: string): Counts => {
    const none = { vfs, reads: 0, fromStorage: 0, hitRate: null, cause: null };
    return getOrMake(found, vfs, () => ({ ...none, storageCalls: 0, loose: 0 }));
  };
  for (const thread of store.threads) countCaches(thread, owners.of(thread), cacheOf);
  const leftOut = leavesOut(store, 'web');
  return [...found.values()]
    .filter((c) => c.reads > 0)
    .map(({ storageCalls, loose, ...c }) => {
      if (storageCalls) return { ...c, hitRate: (c.reads - c.fromStorage) / c.reads };
      const cause = loose
        ? 'the storage calls of this thread cannot be tied to VFS calls'
        : leftOut
          ? 'the recording leaves storage calls out'
          : 'no storage call under this VFS was seen: its files are in memory, or its storage is not recorded';
      return { ...c, cause };
    })
    .sort((a, b) => b.reads - a.reads);
}

interface Counts extends BlockCache {
  storageCalls: number;
  /** Storage calls of its threads that don't belong to a file. */
  loose: number;
}
/** A file of a thread: its VFS if it is a database, or only the name. */
interface CachedFile {
  name: string;
  database: boolean;
  cache: Counts | null;
  used: boolean;
}

function countCaches(thread: ThreadStore, owners: Owners, cacheOf: (vfs: string) => Counts): void {
  const { op: ops, object, length, count } = thread.events;
  const files = new ById<CachedFile | null>();
  const fileOf = (id: number): CachedFile | null => {
    const d = thread.definitions.get(id);
    return files.set(
      id,
      d?.kind === 'file'
        ? { name: d.vfs, database: d.fileKind === 'main-db', cache: null, used: false }
        : null,
    );
  };
  const isRead = (row: number, file: CachedFile): boolean =>
    ops[row] === Op.xRead &&
    file.database &&
    length[row]! >= SMALLEST_PAGE &&
    hasMoved(thread.events, row);
  /** By row: 1 = a read that went to storage. */
  let counted: Uint8Array | null = null;
  const here = new Set<string>();
  let loose = 0;
  for (let row = 0; row < count; row++) {
    const op = ops[row]!;
    if (!isVfsOp(op) && !isWebOp(op)) continue;
    const call = isVfsOp(op) ? row : owners.vfs(row);
    let file: CachedFile | null | undefined = null;
    if (call >= 0) {
      file = files.get(object[call]!);
      if (file === undefined) file = fileOf(object[call]!);
    }
    if (isVfsOp(op)) {
      if (!file) continue;
      if (!file.used) here.add(file.name);
      file.used = true;
      if (isRead(row, file)) (file.cache ??= cacheOf(file.name)).reads++;
      continue;
    }
    if (!file) {
      if (FETCHES[op] === 1) loose++;
      continue;
    }
    file.cache ??= cacheOf(file.name);
    file.cache.storageCalls++;
    if (!FETCHES[op] || !isRead(call, file)) continue;
    counted ??= new Uint8Array(count);
    if (counted[call]) continue;
    counted[call] = 1;
    file.cache.fromStorage++;
  }
  for (const name of here) cacheOf(name).loose += loose;
}

export interface RereadRatio {
  path: string;
  vfs: string;
  /** Page reads from database and WAL, without checkpoints. */
  reads: number;
  /**
   * Those of a page that the connection had had, and that no other connection has written since.
   */
  rereads: number;
  distinctPages: number;
  /** reads / distinctPages, null without reads. */
  readsPerPage: number | null;
}

export interface CacheReport {
  /** All connections together; null if no engine has counters. */
  pageCache: (CacheCounts & { hitRate: number | null }) | null;
  connections: readonly ConnectionCache[];
  blockCaches: BlockCache[];
  rereads: RereadRatio[];
}

const NEEDS = { owners, pages, connectionCaches };

/** Over the whole trace. */
export const cacheReport = fact('cacheReport', 'caches', NEEDS, cacheReportOf);

function cacheReportOf(
  store: TraceStore,
  { owners, pages, connectionCaches: connections }: Known<typeof NEEDS>,
): CacheReport {
  const sum = { ...NO_COUNTS };
  for (const c of connections) for (const name of CACHE_COUNTS) sum[name] += c[name];
  return {
    pageCache: connections.length ? { ...sum, hitRate: hitRate(sum) } : null,
    connections,
    blockCaches: blockCachesOf(store, owners),
    rereads: pages.map(({ path, vfs, reads, rereads, placesRead, readsPerPlace }) => ({
      path,
      vfs,
      reads,
      rereads,
      distinctPages: placesRead,
      readsPerPage: readsPerPlace,
    })),
  };
}
