/**
 * The miss-ratio curve: which part of the page requests a cache of n pages would miss, by connection and database.
 *
 *   misses ^ |####|\                     #### spill zone: SQLite pins dirty pages, no LRU says what such a cache does
 *          | |####| \___                 exact: every page request reached the VFS (cache_size=0, or no hits at all)
 *          | |####|     \_____           below: SQLite's own cache answered some, the curve is that of a cache below SQLite's
 *          +----------------------> pages
 *
 * Requests are page reads, from database and WAL; a page that is written is used, not asked for. When another connection writes, SQLite
 * throws its whole cache away. Checkpoints ask for nothing.
 */
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { longer } from '../../trace/typed-arrays.ts';
import type { Unit } from '../core/database-files.ts';
import { Access, type Accesses, type Asker } from '../pages/accesses.ts';
import { Evidence } from '../rules/context.ts';
import { fact, type Known } from '../core/graph.ts';
import { accesses } from '../pages/page-accesses.ts';
import { dirtyPages } from '../pages/dirty-pages.ts';
import { connectionCaches, type ConnectionCache } from './connection-caches.ts';
import { Slots } from '../core/slots.ts';
import { Scans } from './scans.ts';
import { Reference, stackDistances } from './stack-distance.ts';

/** Smaller caches suffer from pinned pages: measured errors above 2 %. */
const SMALLEST_CACHE = 20;
/** Bytes beside each page that SQLite counts in a cache_size of KiB (its MemPage; 136 on 64 bits, less in wasm). */
export const BYTES_BESIDE_PAGE = 136;
const GOAL = 0.95;

export interface MissRatio {
  path: string;
  vfs: string;
  pageSize: Unit;
  /** Place in TraceStore.threads, and connection id there (0 = not known). */
  thread: number;
  connection: number;
  /** Page reads, and of them those that every cache misses. */
  requests: number;
  cold: number;
  distinctPages: number;
  /** Reads of pages that a cache could have held. */
  again: Evidence;
  /** A page was asked for three times or more, with no write of it between. */
  hot: boolean;
  /** Of the other reads. */
  scans: Scans;
  /** Requests that a cache of n pages hits, n = 0 .. the last that changes anything. */
  hits: Uint32Array;
  kind: 'exact' | 'below';
  /** In words what the curve is of. */
  note: string;
  /** Share of the connection's page requests that reached the VFS; null where the engine gives no counters. */
  seenShare: number | null;
  /** Caches below this many pages are in the spill zone: leave them blank. */
  fromPages: number;
  /** What SQLite's cache, of a size that the trace does not say, did; null without counters. */
  measured: { hits: number; misses: number; hitRate: number } | null;
  /** Smallest cache with 95 % of the hits that any cache has; null where no page is asked for twice. */
  goal: CacheGoal | null;
}

export interface CacheGoal {
  /** Of the hits that any cache has. */
  share: number;
  pages: number;
  /** For `PRAGMA cache_size=-KiB`; null where the page size is not known. */
  kib: number | null;
  /** Of all requests. */
  hitRate: number;
}

const NEEDS = { accesses, dirtyPages };

/** Over the whole trace. */
export const missRatios = fact('missRatios', 'misses at every cache size', NEEDS, missRatiosOf);

function missRatiosOf(
  store: TraceStore,
  { accesses, dirtyPages }: Known<typeof NEEDS>,
): MissRatio[] {
  const { askers, objects } = accesses;
  const caches = connectionCaches(store);
  const found: MissRatio[] = [];
  for (const refs of referencesOf(store, accesses)) {
    const { object, asker } = refs;
    const distances = stackDistances(refs.pages, refs.slots.count, refs.flags);
    if (distances.requests === 0) continue;
    const hits = cumulative(distances.byDistance);
    const measured = countersOf(caches, askers[asker]!);
    const exact = measured !== null && measured.hits === 0 && measured.misses > 0;
    const { path, vfs, unit } = objects[object]!;
    found.push({
      path,
      vfs,
      pageSize: unit,
      ...askers[asker]!,
      requests: distances.requests,
      cold: distances.cold,
      distinctPages: refs.slots.count,
      again: refs.again,
      hot: refs.hot,
      scans: refs.scans,
      hits,
      kind: exact ? 'exact' : 'below',
      note: exact
        ? 'every page request was seen'
        : measured
          ? "a cache below SQLite's: requests that SQLite's own page cache answered are not in it"
          : "a cache below SQLite's: how many requests its own page cache answered is not known, for the engine gives no counters",
      seenShare:
        measured && measured.hits + measured.misses > 0
          ? measured.misses / (measured.hits + measured.misses)
          : null,
      fromPages: Math.max(SMALLEST_CACHE, (refs.writes ? dirtyPages[object]?.most : 0) ?? 0),
      measured: measured && {
        ...measured,
        hitRate: measured.hits / Math.max(1, measured.hits + measured.misses),
      },
      goal: goalOf(hits, distances.requests, unit.bytes),
    });
  }
  return found.sort(
    (a, b) => b.requests - a.requests || a.thread - b.thread || a.connection - b.connection,
  );
}

/** Part of the requests that a cache of `pages` misses; null in the spill zone. */
export function missRatioAt(curve: MissRatio, pages: number): number | null {
  if (pages < curve.fromPages) return null;
  return (curve.requests - curve.hits[Math.min(pages, curve.hits.length - 1)]!) / curve.requests;
}

/** The last write to a database, and the last one of another connection than its writer; -1 = none. */
interface Writes {
  asker: number;
  at: number;
  othersAt: number;
}

/** What one connection asks of one database. */
class References {
  calls = 0;
  writes = false;
  pages = new Uint32Array(0);
  flags = new Uint8Array(0);
  count = 0;
  readonly slots = new Slots();
  readonly again = new Evidence();
  readonly scans = new Scans();
  hot = false;
  /** Of a cache that holds all: how often it was emptied, by page the same when the page came in last (0 = never), and requests since then or since its last write. */
  private emptied = 1;
  private cameIn: Uint32Array = new Uint32Array(16);
  private asked: Uint8Array = new Uint8Array(16);
  /** Access at which it was here last; -1 = not yet. */
  private lastAt = -1;

  constructor(
    readonly object: number,
    readonly asker: number,
    private readonly thread: ThreadStore,
  ) {}

  /** Room for all its calls. */
  reserve(): void {
    this.pages = new Uint32Array(this.calls);
    this.flags = new Uint8Array(this.calls);
  }

  /** The access `i`, in order of time. @param last writes to the database so far */
  take({ what, place, span, row }: Accesses, i: number, last: Writes): void {
    const foreign = last.asker === this.asker ? last.othersAt : last.at;
    const write = (what[i]! & Access.write) !== 0;
    let flag =
      (write ? Reference.touch : 0) |
      (this.lastAt >= 0 && foreign > this.lastAt ? Reference.emptied : 0);
    if (flag & Reference.emptied) this.emptied++;
    let held = false;
    for (let page = place[i]!, end = page + span[i]!; page < end; page++) {
      const slot = this.slots.slot(page);
      this.pages[this.count] = slot;
      this.flags[this.count++] = flag;
      flag &= ~Reference.emptied;
      held = this.comesIn(slot, write) || held;
    }
    this.lastAt = i;
    if (!write) {
      const { thread } = this;
      if (held) this.again.add(thread, row[i]!);
      this.scans.read(thread, row[i]!, place[i]!, span[i]!, !held);
      return;
    }
    if (last.asker !== this.asker) {
      last.othersAt = last.at;
      last.asker = this.asker;
    }
    last.at = i;
  }

  /** @returns whether a cache that holds all had the page */
  private comesIn(slot: number, write: boolean): boolean {
    this.cameIn = longer(this.cameIn, slot + 1);
    this.asked = longer(this.asked, slot + 1);
    const held = this.cameIn[slot] === this.emptied;
    this.cameIn[slot] = this.emptied;
    if (!held || write) this.asked[slot] = 0;
    if (!write && !this.hot) this.hot = ++this.asked[slot]! === 3;
    return held;
  }
}

function referencesOf(store: TraceStore, accesses: Accesses): References[] {
  const { what, asker, object, span, objects, askers, count } = accesses;
  const list: References[] = [];
  const byKey = new Map<number, number>();
  /** Place in the list by access: who asks what; the same as before, most often. */
  let [lastAsker, lastObject, last] = [-1, -1, -1];
  const placeOf = (i: number): number => {
    if (asker[i] === lastAsker && object[i] === lastObject) return last;
    lastAsker = asker[i]!;
    lastObject = object[i]!;
    const key = lastAsker * objects.length + lastObject;
    const known = byKey.get(key);
    if (known !== undefined) return (last = known);
    const thread = store.threads[askers[lastAsker]!.thread]!;
    last = list.push(new References(lastObject, lastAsker, thread)) - 1;
    byKey.set(key, last);
    return last;
  };
  for (let i = 0; i < count; i++) {
    if (what[i]! & Access.checkpoint) continue;
    const own = list[placeOf(i)]!;
    own.calls += span[i]!;
    if (what[i]! & Access.write) own.writes = true;
  }
  for (const own of list) own.reserve();
  const writes = objects.map((): Writes => ({ asker: -1, at: -1, othersAt: -1 }));
  for (let i = 0; i < count; i++) {
    if (what[i]! & Access.checkpoint) continue;
    const own = list[placeOf(i)]!;
    own.take(accesses, i, writes[own.object]!);
  }
  return list;
}

/** Up to the last distance that occurs. */
function cumulative(byDistance: Uint32Array): Uint32Array {
  let last = byDistance.length - 1;
  while (last > 0 && byDistance[last] === 0) last--;
  const hits = new Uint32Array(last + 1);
  for (let n = 1; n <= last; n++) hits[n] = hits[n - 1]! + byDistance[n]!;
  return hits;
}

function goalOf(hits: Uint32Array, requests: number, pageBytes: number | null): CacheGoal | null {
  const most = hits[hits.length - 1]!;
  if (most === 0) return null;
  let pages = hits.findIndex((n) => n >= GOAL * most);
  pages = Math.max(pages, SMALLEST_CACHE);
  const kib =
    pageBytes === null ? null : Math.ceil((pages * (pageBytes + BYTES_BESIDE_PAGE)) / 1024);
  return { share: GOAL, pages, kib, hitRate: hits[Math.min(pages, hits.length - 1)]! / requests };
}

/** null where they are not known: no counters, no connection, or a connection with several databases, whose counters are of all. */
function countersOf(
  caches: readonly ConnectionCache[],
  { thread, connection }: Asker,
): { hits: number; misses: number } | null {
  const own = connection
    ? caches.find((c) => c.thread === thread && c.connection === connection)
    : undefined;
  return own && own.databases <= 1 ? { hits: own.hits, misses: own.misses } : null;
}
