/**
 * The caches between a statement and the storage: SQLite's page cache (hits make no VFS call: only the engine's counters tell) and the
 * VFS's own block cache (an xRead with no storage call beneath).
 *
 *   page request -> SQLite's page cache -> xRead -> block cache of the VFS -> idb.get, opfs.read, or a wait for another thread
 */
import { Op } from '../event.ts';
import type { TraceStore } from '../store.ts';
import { connectionCaches, NO_COUNTS, type CacheCounts, type ConnectionCache } from './connection-caches.ts';
import { SMALLEST_PAGE } from './database-files.ts';
import { leavesOut } from './layers-left-out.ts';
import { pagesOf } from './pages.ts';
import { Analyses } from './shared.ts';
import type { TimeRange } from './time-partition.ts';

export interface BlockCache {
  /** Name of the VFS. */
  vfs: string;
  /** Reads of pages from the database file. */
  reads: number;
  /** Of these, reads with a storage read, or a wait for another thread, beneath. */
  fromStorage: number;
  /** Share of the reads that needed none; null where that cannot be told, see `cause`. */
  hitRate: number | null;
  cause: string | null;
}

/** Storage calls that fetch, and waits in which another thread does. */
const FETCHES = new Uint8Array(256);
for (const op of [Op.idbGet, Op.idbGetKey, Op.idbGetAll, Op.idbGetAllKeys, Op.idbOpenCursor, Op.idbCursorContinue]) FETCHES[op] = 1;
for (const op of [Op.opfsRead, Op.opfsFileRead, Op.opfsGetFile, Op.localStorageGet, Op.atomicsWait, Op.atomicsWaitAsync]) FETCHES[op] = 1;

/** By name of the VFS; one without reads of pages is left out. */
export function blockCachesOf(store: TraceStore, range: TimeRange = {}, shared: Analyses = new Analyses(store)): BlockCache[] {
  const { fromUs = -Infinity, toUs = Infinity } = range;
  const found = new Map<string, BlockCache & { storageCalls: number; loose: number }>();
  for (const thread of store.threads) {
    const { events, definitions } = thread;
    const { vfs: owner } = shared.owners(thread);
    /** By object id: its VFS where it is a database, and the name alone for its other files. */
    const files: ({ name: string; database: boolean } | null)[] = [];
    const fileOf = (id: number): { name: string; database: boolean } | null => {
      const known = files[id];
      if (known !== undefined) return known;
      const d = definitions.get(id);
      return (files[id] = d?.kind === 'file' ? { name: d.vfs, database: d.fileKind === 'main-db' } : null);
    };
    const cacheOf = (vfs: string): BlockCache & { storageCalls: number; loose: number } => {
      let c = found.get(vfs);
      if (!c) found.set(vfs, (c = { vfs, reads: 0, fromStorage: 0, hitRate: null, cause: null, storageCalls: 0, loose: 0 }));
      return c;
    };
    const counted = new Uint8Array(events.count);
    const here = new Set<string>();
    let loose = 0;
    for (let row = 0; row < events.count; row++) {
      const op = events.op[row]!;
      if (op === 0 || op >= 128) continue;
      if (op < 64) {
        const file = fileOf(events.object[row]!);
        if (!file) continue;
        here.add(file.name);
        const isRead = op === Op.xRead && file.database && events.length[row]! >= SMALLEST_PAGE && events.result[row] === 0;
        if (isRead && events.t0[row]! >= fromUs && events.t0[row]! < toUs) {
          counted[row] = 1;
          cacheOf(file.name).reads++;
        }
        continue;
      }
      const call = owner[row]!;
      const file = call < 0 ? null : fileOf(events.object[call]!);
      if (!file) {
        if (FETCHES[op] && op < Op.atomicsWait) loose++;
        continue;
      }
      const cache = cacheOf(file.name);
      cache.storageCalls++;
      if (!FETCHES[op] || counted[call] !== 1) continue;
      counted[call] = 2;
      cache.fromStorage++;
    }
    for (const name of here) cacheOf(name).loose += loose;
  }
  const leftOut = leavesOut(store, 'web');
  return [...found.values()]
    .filter((c) => c.reads > 0)
    .map(({ storageCalls, loose, ...c }) => {
      if (storageCalls) return { ...c, hitRate: (c.reads - c.fromStorage) / c.reads };
      const cause = loose
        ? 'the storage calls of this thread cannot be tied to VFS calls'
        : leftOut
          ? 'the recording leaves storage calls out'
          : 'no storage call beneath this VFS was seen: it keeps its files in memory, or its storage is not recorded';
      return { ...c, cause };
    })
    .sort((a, b) => b.reads - a.reads);
}

export interface RereadRatio {
  path: string;
  vfs: string;
  /** Page reads from database and WAL, checkpoints left out. */
  reads: number;
  /** Of these: the connection had had the page, and nobody else wrote it since. */
  rereads: number;
  distinctPages: number;
  /** reads / distinctPages, null where nothing was read. */
  readsPerPage: number | null;
}

export interface CacheReport {
  /** All connections; null where no engine gives its counters. */
  pageCache: (CacheCounts & { hitRate: number | null }) | null;
  connections: ConnectionCache[];
  blockCaches: BlockCache[];
  rereads: RereadRatio[];
}

export function cacheReport(store: TraceStore, range: TimeRange = {}, shared: Analyses = new Analyses(store)): CacheReport {
  const connections = connectionCaches(store, range);
  const sum = { ...NO_COUNTS };
  for (const c of connections) for (const name of ['hits', 'misses', 'writes', 'spills'] as const) sum[name] += c[name];
  const requests = sum.hits + sum.misses;
  return {
    pageCache: connections.length ? { ...sum, hitRate: requests ? sum.hits / requests : null } : null,
    connections,
    blockCaches: blockCachesOf(store, range, shared),
    rereads: pagesOf(store, range, shared.accesses).map(({ path, vfs, reads, rereads, placesRead, readsPerPlace }) => ({
      ...{ path, vfs, reads, rereads },
      distinctPages: placesRead,
      readsPerPage: readsPerPlace,
    })),
  };
}
