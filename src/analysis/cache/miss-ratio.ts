/**
 * The miss-ratio curve: the share of page requests that a cache of n pages would miss, by
 * connection and database. F11, the Cache view, and the Lab's replay use it.
 *
 *   misses ^ |####|\                     #### not known: a cache smaller than the recording's; or one in which SQLite spills
 *          | |####| \___                 exact: every page request reached the VFS (cache_size=0, or no hits at all)
 *          | |####|     \_____           at most: which pages were hit is not known, see references.ts
 *          +----------------------> pages
 *
 * Requests are page reads, from database and WAL, and the hits that the engine counted; writing a
 * page uses it, but isn't a request. When another connection writes, SQLite drops its whole cache.
 * Checkpoints don't request pages.
 */
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { Op } from '../../event/event.ts';
import { getOrMake, grouped } from '../core/maps.ts';
import { counterDeltas, hitRate, type CounterDeltas } from '../core/counter-deltas.ts';
import { databaseFiles, type DatabaseFiles, type Unit } from '../core/database-files.ts';
import { pragmas } from '../core/pragmas.ts';
import { Access, type Asker } from '../pages/accesses.ts';
import type { Evidence } from '../rules/context.ts';
import { fact, type Known } from '../core/graph.ts';
import { rowsByOperation, type RowsByOperation } from '../core/rows-by-operation.ts';
import { databaseHeaders } from '../pages/database-headers.ts';
import { accesses } from '../pages/page-accesses.ts';
import { transactions } from '../transactions/transactions.ts';
import type { TransactionTable } from '../transactions/transaction-table.ts';
import { connectionCaches, type ConnectionCache } from './connection-caches.ts';
import {
  cacheKib,
  cacheSizeOf,
  pagesHeld,
  sizeToHold,
  SMALLEST_CACHE,
  type CacheSize,
} from './cache-size.ts';
import { References, type Surroundings, type Writes } from './references.ts';
import type { Scans } from './scans.ts';
import { staleCaches } from './stale-caches.ts';

/** Minimum share of the repeated reads that the goal avoids. */
const GOAL = 0.95;
/** Fewer, or a smaller share of all reads, aren't worth a larger cache. */
const FEW_READS_AGAIN = 50;
const SMALL_PART = 1 / 3;

export interface MissRatio {
  path: string;
  vfs: string;
  pageSize: Unit;
  /** Place in TraceStore.threads, and connection id there (0 = not known). */
  thread: number;
  connection: number;
  /** Page reads, and the hits that the engine counted. */
  requests: number;
  reads: number;
  /** Reads that every cache makes. */
  cold: number;
  distinctPages: number;
  /** Repeated reads of pages that a cache could have held. */
  again: Evidence;
  /** Those that a larger cache avoids, without pages that were dropped although they fit. */
  avoidable: number;
  /** A page was requested three times or more without a write in between. */
  hot: boolean;
  /** Among the other reads. */
  scans: Scans;
  /**
   * Minimum requests that a cache of n pages answers; n = 0 .. the last one that changes anything.
   */
  hits: Uint32Array;
  kind: 'exact' | 'at most';
  /** How the curve is known, as text. */
  note: string;
  /** The size of the recording's cache, and so the curve, is a guess. */
  assumed: boolean;
  /**
   * Share of the connection's page requests that reached the VFS; null if the engine has no
   * counters.
   */
  seenShare: number | null;
  /** The smallest cache_size, in pages, that the curve covers. */
  fromPages: number;
  /** What SQLite's own cache did; null without counters. */
  measured: { hits: number; misses: number; hitRate: number } | null;
  /** From its PRAGMA. */
  size: CacheSize;
  /** null if no larger cache avoids a read. */
  goal: CacheGoal | null;
}

/**
 * The smallest cache that avoids 95 % of the repeated reads, and enough of them that F11 isn't
 * found once it is set.
 */
export interface CacheGoal {
  share: number;
  /** For `PRAGMA cache_size`, in pages. */
  pages: number;
  /** For `PRAGMA cache_size=-KiB`; null if the page size isn't known. */
  kib: number | null;
  /** Minimum share of all requests. */
  hitRate: number;
  /** Minimum reads that it avoids. */
  avoided: number;
}

const NEEDS = {
  accesses,
  databaseFiles,
  databaseHeaders,
  transactions,
  pragmas,
  staleCaches,
  connectionCaches,
  counterDeltas,
  rowsByOperation,
};

/** Over the whole trace. */
export const missRatios = fact('missRatios', 'misses at every cache size', NEEDS, missRatiosOf);

function missRatiosOf(store: TraceStore, known: Known<typeof NEEDS>): MissRatio[] {
  const { askers, objects } = known.accesses;
  const caches = known.connectionCaches;
  const found: MissRatio[] = [];
  for (const refs of referencesOf(store, known)) {
    const { requests: reads, cold } = refs;
    if (reads === 0) continue;
    const asker = askers[refs.asker]!;
    const { path, vfs, unit } = objects[refs.object]!;
    const said = refs.around.sizes.map(({ value }) => value);
    const size = cacheSizeOf(said, unit.bytes);
    const measured = countersOf(caches, asker);
    const exact = measured !== null && measured.hits === 0 && measured.misses > 0;
    const needs = refs.needs(size, exact);
    const counted = measured?.hits ?? 0;
    const hits = cumulative(needs.pages, counted);
    const requests = reads + counted;
    const avoidable = needs.pages.length;
    // don't advise less than a cache that may already be larger
    const fromPages = Math.max(
      SMALLEST_CACHE,
      exact ? refs.mostDirty : sizeToHold(Math.max(needs.cache, size.least)),
    );
    const least = Math.max(fromPages, (!exact && size.assumed && size.pages) || 0);
    found.push({
      path,
      vfs,
      pageSize: unit,
      ...asker,
      requests,
      reads,
      cold,
      distinctPages: refs.slots.count,
      again: refs.again,
      avoidable,
      hot: refs.hot,
      scans: refs.scans,
      hits,
      kind: exact ? 'exact' : 'at most',
      note: exact ? 'every page request was seen' : noteOf(measured !== null, needs.assumed),
      assumed: !exact && needs.assumed,
      seenShare:
        measured && measured.hits + measured.misses > 0
          ? measured.misses / (measured.hits + measured.misses)
          : null,
      fromPages,
      measured: measured && {
        ...measured,
        hitRate: hitRate(measured) ?? 0,
      },
      size,
      goal: goalOf(hits, reads, requests, avoidable, unit.bytes, least),
    });
  }
  return found.sort(
    (a, b) => b.reads - a.reads || a.thread - b.thread || a.connection - b.connection,
  );
}

/**
 * Share of the requests that a cache of `cacheSize` pages misses, or its maximum if the curve isn't
 * exact; null if not known.
 */
export function missRatioAt(curve: MissRatio, cacheSize: number): number | null {
  const { requests, hits, fromPages } = curve;
  if (cacheSize < fromPages) return null;
  return (requests - hits[Math.min(pagesHeld(cacheSize), hits.length - 1)]!) / requests;
}

function noteOf(counted: boolean, assumed: boolean): string {
  const hits = counted
    ? "it isn't known which pages were hits"
    : 'the hits of this connection are not counted';
  return assumed ? `${hits}, and its cache is assumed to have SQLite's default size` : hits;
}

function referencesOf(store: TraceStore, known: Known<typeof NEEDS>): References[] {
  const { accesses } = known;
  const { what, asker, object, objects, askers, count } = accesses;
  const list: References[] = [];
  const byKey = new Map<number, References>();
  const around = new Around(store, known);
  /** By asker: its last References. Usually the next read is on the same database. */
  const lasts = askers.map((): References | null => null);
  const of = (who: number, database: number): References =>
    getOrMake(byKey, who * objects.length + database, () => {
      const { thread } = askers[who]!;
      const its = around.of(askers[who]!, database);
      const refs = new References(database, who, store.threads[thread]!, its);
      list.push(refs);
      return refs;
    });
  const writes = objects.map((): Writes => ({ asker: -1, at: -1, othersAt: -1 }));
  for (let i = 0; i < count; i++) {
    if (what[i]! & Access.checkpoint) continue;
    const [who, database] = [asker[i]!, object[i]!];
    let refs = lasts[who]!;
    if (refs?.object !== database) refs = lasts[who] = of(who, database);
    refs.take(accesses, i, writes[database]!);
  }
  return list;
}

/** What is known about connections besides their reads and writes. */
class Around {
  private readonly readings: ReturnType<typeof readingsOf>[];
  private readonly opened: ReturnType<typeof openingsOf>[];
  /** PRAGMAs by thread and connection, write transactions by thread and path. */
  private readonly sizes: Map<string, Surroundings['sizes'][number][]>;
  private readonly writes: Map<number, number[]>;

  constructor(
    store: TraceStore,
    private readonly known: Known<typeof NEEDS>,
  ) {
    const { databaseFiles, pragmas, transactions } = known;
    this.readings = store.threads.map((thread) => readingsOf(known.counterDeltas.of(thread)));
    this.opened = store.threads.map((thread, t) =>
      openingsOf(thread, known.rowsByOperation.of(thread), databaseFiles.parts[t]!),
    );
    this.sizes = grouped(
      pragmas.filter(({ name }) => name === 'cache_size'),
      ({ thread, context }) => `${thread} ${context}`,
    );
    const { list } = transactions;
    const places = Array.from({ length: list.length }, (_, i) => i);
    this.writes = grouped(
      places.filter((i) => list.isWrite(i)),
      (i) => this.writesKey(list.thread[i]!, list.pathOf[i]!),
    );
  }
  private writesKey(thread: number, path: number): number {
    return path * this.readings.length + thread;
  }

  of({ thread, connection }: Asker, object: number): Surroundings {
    const { staleCaches, accesses, databaseHeaders, transactions } = this.known;
    const { connections, files } = this.opened[thread]!;
    const stale = staleCaches.filter(
      (s) => s.thread === thread && s.connection === connection && s.database === object,
    );
    // without an SQL layer, connections aren't distinguished: a connection that opens the file has
    // an empty cache
    const opened = (connection ? connections.get(connection) : files.get(object)) ?? [];
    const path = transactions.list.paths.indexOf(accesses.objects[object]!.path);
    const writes = this.writes.get(this.writesKey(thread, path)) ?? [];
    return {
      emptied: [...opened, ...stale.flatMap(({ rows }) => rows)].sort((a, b) => a - b),
      readings: this.readings[thread]!.get(connection) ?? { row: [], hits: [] },
      transactions: spansOf(transactions.list, writes, connection),
      sizes: this.sizes.get(`${thread} ${connection}`) ?? [],
      lengths: databaseHeaders[object]!,
    };
  }
}

/** By connection. */
function readingsOf(deltas: CounterDeltas): Map<number, { row: number[]; hits: number[] }> {
  const found = new Map<number, { row: number[]; hits: number[] }>();
  const { connection, row, hits, count } = deltas;
  for (let i = 0; i < count; i++) {
    const of = getOrMake(found, connection[i]!, () => ({ row: [], hits: [] }));
    of.row.push(row[i]!);
    of.hits.push((of.hits.at(-1) ?? 0) + hits[i]!);
  }
  return found;
}

/**
 * Rows at which connections, and files of databases (by index in DatabaseFiles.list), were opened.
 */
function openingsOf(
  { events: { object, context } }: ThreadStore,
  rows: RowsByOperation,
  parts: DatabaseFiles['parts'][number],
): Record<'connections' | 'files', Map<number, number[]>> {
  const found = { connections: new Map<number, number[]>(), files: new Map<number, number[]>() };
  for (const row of rows.of(Op.sqlOpen))
    getOrMake(found.connections, context[row]!, (): number[] => []).push(row);
  for (const row of rows.of(Op.xOpen)) {
    const part = parts.get(object[row]!);
    if (part && !part.wal) getOrMake(found.files, part.database, (): number[] => []).push(row);
  }
  return found;
}

/** A connection's write transactions; one over all rows if the end of none was seen. */
function spansOf(
  { context, beginRow, endRow }: TransactionTable,
  places: readonly number[],
  connection: number,
): Surroundings['transactions'] {
  const own = places
    .filter((i) => context[i] === connection || context[i] === 0)
    .sort((a, b) => endRow[a]! - endRow[b]!);
  if (own.length === 0) return { begin: [0], end: [Infinity] };
  return { begin: own.map((i) => beginRow[i]!), end: own.map((i) => endRow[i]!) };
}

/**
 * By pages held, up to the last number that changes anything.
 * @param always hits in any cache of the curve
 */
function cumulative(needs: Uint32Array, always: number): Uint32Array {
  const hits = new Uint32Array(needs.reduce((most, n) => Math.max(most, n), 0) + 1);
  for (const pages of needs) hits[pages]!++;
  hits[0] = always;
  for (let n = 1; n < hits.length; n++) hits[n]! += hits[n - 1]!;
  return hits;
}

/** Whether the avoided reads are worth a larger cache. */
const isWorthACache = (avoidable: number, reads: number): boolean =>
  avoidable >= FEW_READS_AGAIN && avoidable >= SMALL_PART * reads;

/**
 * Whether finding F11 and the Cache view advise a larger cache. They don't if the cache is already
 * as large.
 */
export const advisesCache = <R extends Omit<MissRatio, 'hits' | 'again' | 'scans'>>(
  ratio: R,
): ratio is R & { goal: CacheGoal } => {
  const { goal, hot, avoidable, reads, size } = ratio;
  return (
    goal !== null &&
    hot &&
    isWorthACache(avoidable, reads) &&
    (size.pages === null || goal.pages > size.pages)
  );
};

function goalOf(
  hits: Uint32Array,
  reads: number,
  requests: number,
  avoidable: number,
  pageBytes: number | null,
  least: number,
): CacheGoal | null {
  if (avoidable === 0) return null;
  const most = hits.at(-1)!;
  const others = reads - avoidable;
  const held = hits.findIndex((n) => {
    const left = most - n;
    return left <= (1 - GOAL) * avoidable && !isWorthACache(left, others + left);
  });
  const pages = Math.max(sizeToHold(held), least);
  const reached = hits[Math.min(pagesHeld(pages), hits.length - 1)]!;
  return {
    share: GOAL,
    pages,
    kib: pageBytes === null ? null : cacheKib(pages, pageBytes),
    hitRate: reached / requests,
    avoided: avoidable - (most - reached),
  };
}

/**
 * null if not known: without counters, without a connection, or for a connection with several
 * databases, whose counters cover all of them.
 */
function countersOf(
  caches: readonly ConnectionCache[],
  { thread, connection }: Asker,
): { hits: number; misses: number } | null {
  const own = connection
    ? caches.find((c) => c.thread === thread && c.connection === connection)
    : undefined;
  return own && own.databases <= 1 ? { hits: own.hits, misses: own.misses } : null;
}
