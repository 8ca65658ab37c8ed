/**
 * SQLite's reads, writes, and syncs, and what its page cache did, counted row by row. The live
 * strip follows a recording with it. At the end it has the totals of the entire trace.
 *
 * A storage call below a VFS call is the same work again, often on another thread, so if VFS calls
 * are recorded, only they count.
 */
import { Op } from '../../event/event.ts';
import { isSqlOp, opTable } from '../../event/operations.ts';
import { RowCursor } from '../../trace/row-cursor.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { isInMemory } from '../../trace/in-memory.ts';
import { conditionsOf } from '../core/conditions.ts';
import { CacheSums } from '../core/counter-deltas.ts';
import { leavesOut, saysVfs } from '../core/layers.ts';
import { fact } from '../core/graph.ts';
import { costNs, countCost, type CostCounts } from './call-cost.ts';

const WAYS = ['read', 'write', 'sync'] as const;
type Way = (typeof WAYS)[number];

/**
 * By operation: where it is counted. Calls of the VFS from VFS on, storage calls and all others
 * below, plus 1 for each way.
 */
const VFS = 4;
/** VFS calls on the in-memory journal: it isn't storage. */
const IN_MEMORY = 8;
const SQL = 9;
/** Readings of the page cache's counters, and connections opened. */
const COUNTERS = 10;
const PLACE = opTable(({ code, layer, counts }) => {
  if (code === Op.sqlCounters || code === Op.sqlOpen) return COUNTERS;
  if (isSqlOp(code)) return SQL;
  const way = 1 + WAYS.indexOf(counts as Way);
  return layer === 'vfs' ? VFS + way : layer === 'web' ? way : 0;
});

class ThreadCalls {
  counts = new Float64Array(COUNTERS + 1);
  cache = new CacheSums();
  cost: CostCounts = [0, 0, 0];
  private readonly rows: RowCursor;

  constructor(readonly thread: ThreadStore) {
    this.rows = new RowCursor(thread);
  }

  update(): void {
    const { events } = this.thread;
    if (this.rows.restarted()) {
      this.counts = new Float64Array(COUNTERS + 1); // the numbers are about storage
      this.cache = new CacheSums();
      this.cost = [0, 0, 0];
    }
    const { op, count } = events;
    const { counts } = this;
    for (let row = this.rows.next; row < count; row++) {
      const place = PLACE[op[row]!]!;
      const inMemory = place >= VFS && place < IN_MEMORY && isInMemory(events, row);
      counts[inMemory ? IN_MEMORY : place]!++;
      countCost(this.cost, events, row);
      if (place === COUNTERS) this.cache.take(events, row);
    }
    this.rows.next = count;
  }

  /** VFS calls on files; with `all`, also those on the in-memory journal. */
  vfsCalls(all: boolean): number {
    return this.counts.subarray(VFS, IN_MEMORY + Number(all)).reduce((a, b) => a + b, 0);
  }
}

export class CallCounts {
  private readonly threads: ThreadCalls[] = [];

  constructor(private readonly store: TraceStore) {}

  /** Take in what has arrived since. */
  update(): this {
    const { threads } = this.store;
    for (let i = this.threads.length; i < threads.length; i++)
      this.threads.push(new ThreadCalls(threads[i]!));
    for (const thread of this.threads) thread.update();
    return this;
  }

  /** VFS calls are recorded on some thread (layers.ts, hasVfs). */
  get seesVfs(): boolean {
    return this.threads.some((t) => saysVfs(t.thread) || t.vfsCalls(true) > 0);
  }
  /** SQL calls are recorded: one was seen (layers.ts, hasSql). */
  get seesSql(): boolean {
    return this.threads.some((t) => t.counts[SQL]! + t.counts[COUNTERS]! > 0);
  }

  /**
   * xRead, xWrite, or xSync calls without the in-memory journal. If no VFS call was recorded, those
   * of IndexedDB, OPFS, and localStorage that do the same.
   * @returns null if the recording leaves them out, too
   */
  of(way: Way): number | null {
    const vfs = this.seesVfs;
    if (!vfs && leavesOut(this.store, 'web')) return null;
    const place = (vfs ? VFS : 0) + 1 + WAYS.indexOf(way);
    return this.threads.reduce((n, { counts }) => n + counts[place]!, 0);
  }

  /** VFS calls on files, without the in-memory journal. */
  get onFiles(): number {
    return this.threads.reduce((n, t) => n + t.vfsCalls(false), 0);
  }

  /** Readings of the page cache's counters, by thread. */
  get cacheSums(): readonly CacheSums[] {
    return this.threads.map(({ cache }) => cache);
  }

  /**
   * What recording cost the app's threads, nanoseconds: for its calls and for its start; and how
   * many events the calls are.
   */
  get cost(): { ns: number; startNs: number; events: number } {
    const { slowed } = conditionsOf(this.store);
    let [ns, startNs, events] = [0, 0, 0];
    for (const { thread, cost: counts } of this.threads) {
      if (!thread.cost) continue;
      const { nsPerJsEvent: js, nsPerVfsEvent: vfs } = thread.cost;
      const took = costNs(counts, Math.min(js, vfs ?? js), thread.engines.length > 0, slowed);
      ns += took.calls;
      startNs += took.start;
      events += counts.reduce((sum, n) => sum + n, 0);
    }
    return { ns, startNs, events };
  }
}

export const callCounts = fact('callCounts', 'calls of SQLite', {}, (store) =>
  new CallCounts(store).update(),
);
