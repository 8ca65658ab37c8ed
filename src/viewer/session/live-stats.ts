/**
 * The numbers of the live strip. Counts of calls follow the trace row by row; what needs a look at the whole trace (commits,
 * lock waits, time shares) is computed again at a pace that its own cost sets, so that a long recording stays cheap.
 */
import { leavesOut } from '../../analysis/core/layers-left-out.ts';
import { Facts } from '../../analysis/graph.ts';
import { summaryTime, totalTimeInSql } from '../../analysis/time/summary-time.ts';
import { commits } from '../../analysis/transactions/commits.ts';
import { RequestReadings, type Requests } from '../../timeline/cache-counter.ts';
import { Flag, Op } from '../../event/event.ts';
import { opTable } from '../../event/operations.ts';
import { RowCursor } from '../../trace/row-cursor.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import type { LiveStats } from '../../protocol/session.ts';
import { Rc } from '../../sqlite/constants.ts';

/** A Web Lock that is granted later than this was waited for; sooner is the request's own round trip. */
const LOCK_WAIT_US = 1000;
/** A running recording's batches wait while these are computed: beyond this they wait for its end. Hooks hold 32 MiB back. */
const SLOW_AT_MOST_MS = 400;
/** The whole-trace numbers take at most this share of the worker's time: while recording less than one picture in forty waits for them. */
const SLOW_SHARE = 0.25;
const SLOW_SHARE_LIVE = 0.02;

/** Counted apart: readings of the engine's counters, and connections opened. */
const COUNTERS = 255;
const OPENED = 254;
/** By operation code: VFS calls are 8 and more; what a call counts as is 1 read, 2 write, 3 sync, 0 nothing. */
const VFS = 8;
const COUNTS_AS = opTable(({ code, layer, counts }) => {
  if (code === Op.sqlCounters) return COUNTERS;
  if (code === Op.sqlOpen) return OPENED;
  const as = 1 + ['read', 'write', 'sync'].indexOf(counts ?? '');
  return layer === 'vfs' ? VFS + as : layer === 'web' ? as : 0;
});

interface Calls {
  reads: number;
  writes: number;
  syncs: number;
}
const noCalls = (): Calls => ({ reads: 0, writes: 0, syncs: 0 });

/** Counts of one thread; grows with it. */
class ThreadCounts {
  vfs = noCalls();
  web = noCalls();
  vfsEvents = 0;
  jsEvents = 0;
  /** Page requests that the engine's counters tell of, within what is kept. */
  hits = 0;
  misses = 0;
  private readings = new RequestReadings();
  private readonly rows: RowCursor;

  constructor(private readonly thread: ThreadStore) {
    this.rows = new RowCursor(thread);
  }

  update(): void {
    const { events } = this.thread;
    if (this.rows.restarted()) {
      // the numbers are of what is stored
      this.vfsEvents = this.jsEvents = this.hits = this.misses = 0;
      this.readings = new RequestReadings();
      this.vfs = noCalls();
      this.web = noCalls();
    }
    const { op, flags, count } = events;
    const vfs = [0, 0, 0, 0];
    const web = [0, 0, 0, 0];
    let vfsEvents = 0;
    const first = this.rows.next;
    for (let row = first; row < count; row++) {
      const as = COUNTS_AS[op[row]!]!;
      if (as === COUNTERS)
        this.took(
          this.readings.since(events.context[row]!, events.offset[row]!, events.length[row]!),
        );
      else if (as === OPENED) this.readings.opened(events.context[row]!);
      else if (as < VFS) web[as]!++;
      else {
        vfsEvents++;
        if (!(flags[row]! & Flag.memoryJournal)) vfs[as - VFS]!++; // a journal in memory is no storage
      }
    }
    this.rows.next = count;
    this.vfsEvents += vfsEvents;
    this.jsEvents += count - first - vfsEvents;
    added(this.vfs, vfs);
    added(this.web, web);
  }

  private took(requests: Requests | null): void {
    this.hits += requests?.hits ?? 0;
    this.misses += requests?.misses ?? 0;
  }
}

function added(calls: Calls, [, reads, writes, syncs]: readonly number[]): void {
  calls.reads += reads!;
  calls.writes += writes!;
  calls.syncs += syncs!;
}

interface SlowStats {
  commits: number | null;
  lockWaits: number | null;
  ioShare: number | null;
}

export class LiveCounts {
  private readonly threads: ThreadCounts[] = [];
  private slow: SlowStats = { commits: null, lockWaits: null, ioShare: null };
  private slowVersion = -1;
  /** When they were computed last, and how long it took, ms. */
  private slowAt = -Infinity;
  private slowTook = 0;
  private slowMsPerEvent = 0;
  /** They are of a moment of the recording: once it has ended they are computed at once, and are not shown until then. */
  private passing = false;
  /** Event totals of about the last second, oldest first. */
  private history: { at: number; events: number }[] = [];

  constructor(private readonly store: TraceStore) {}

  /**
   * ms from `now` until the whole-trace numbers are worth computing again; null when they are those of this version, or must wait
   * for the end of the recording.
   */
  slowDueIn(version: number, now: number, recording = false): number | null {
    if (recording && this.slowMsPerEvent * this.store.eventCount > SLOW_AT_MOST_MS) {
      this.slowVersion = -1; // old numbers would be wrong ones
      return null;
    }
    if (version === this.slowVersion) return null;
    return !recording && this.passing
      ? 0
      : Math.max(0, this.slowAt + this.slowTook / (recording ? SLOW_SHARE_LIVE : SLOW_SHARE) - now);
  }
  /** Compute the whole-trace numbers. @param version of the trace: they are kept as long as it stands @param now ms, any steady clock @param also whose cost counts as theirs @param facts of the trace as it is now @param recording the trace grows */
  computeSlow(
    version: number,
    now: number,
    also: () => void = () => {},
    facts = new Facts(this.store),
    recording = false,
  ): void {
    const began = performance.now();
    also();
    this.slow = slowStats(facts);
    this.slowVersion = version;
    this.passing = recording;
    const took = performance.now() - began;
    this.slowAt = now;
    this.slowTook = took;
    this.slowMsPerEvent = took / Math.max(10_000, this.store.eventCount);
  }

  /** @param now ms, any steady clock @param settled the trace grows no more: it has no rate @param version of the trace */
  counts(
    now: number,
    settled: boolean,
    version = this.slowVersion,
  ): Pick<
    LiveStats,
    | 'events'
    | 'seen'
    | 'eventsPerSecond'
    | 'reads'
    | 'writes'
    | 'syncs'
    | 'cacheHitRate'
    | 'costNsPerEvent'
    | 'commits'
    | 'lockWaits'
    | 'ioShare'
    | 'computing'
  > {
    const { threads } = this.store;
    for (let i = this.threads.length; i < threads.length; i++)
      this.threads.push(new ThreadCounts(threads[i]!));
    const sum = noCalls();
    let hits = 0;
    let misses = 0;
    let costNs = 0;
    let costEvents = 0;
    this.threads.forEach((t, i) => {
      t.update();
      const calls = t.vfsEvents ? t.vfs : t.web; // a thread whose VFS is not seen is judged by the storage beneath
      sum.reads += calls.reads;
      sum.writes += calls.writes;
      sum.syncs += calls.syncs;
      hits += t.hits;
      misses += t.misses;
      const { cost } = threads[i]!;
      if (!cost) return;
      costNs +=
        t.jsEvents * cost.nsPerJsEvent + t.vfsEvents * (cost.nsPerVfsEvent ?? cost.nsPerJsEvent);
      costEvents += t.jsEvents + t.vfsEvents;
    });
    const events = this.store.eventCount;
    const seen = events + this.store.forgotten;
    return {
      events,
      seen,
      eventsPerSecond: settled ? 0 : this.rate(seen, now),
      ...sum,
      ...this.slow,
      computing: this.slowVersion < 0 || (settled && this.passing && version !== this.slowVersion),
      cacheHitRate: hits + misses > 0 ? hits / (hits + misses) : null,
      costNsPerEvent: costEvents > 0 ? costNs / costEvents : null,
    };
  }

  private rate(events: number, now: number): number {
    this.history.push({ at: now, events });
    while (this.history.length > 2 && this.history[1]!.at <= now - 1000) this.history.shift();
    const oldest = this.history[0]!;
    return now - oldest.at < 50 ? 0 : ((events - oldest.events) * 1000) / (now - oldest.at);
  }
}

function slowStats(facts: Facts): SlowStats {
  const { store } = facts;
  let lockWaits = 0;
  for (const { events } of store.threads)
    for (let i = 0; i < events.count; i++) {
      const op = events.op[i]!;
      if (op === Op.xLock) {
        if ((events.result[i]! & 255) === Rc.busy) lockWaits++;
      } else if (op === Op.lockRequest && events.dur[i]! > LOCK_WAIT_US) lockWaits++;
    }
  const time = facts.get(summaryTime);
  const withSql = facts.get(totalTimeInSql);
  return {
    commits: facts.get(commits).count,
    lockWaits,
    ioShare: time && withSql && !leavesOut(store, 'web') ? time.ioUs / withSql : null,
  };
}
