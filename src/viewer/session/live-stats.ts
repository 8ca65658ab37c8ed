/**
 * The numbers of the live strip. Counts of calls are updated row by row. Numbers that need the
 * whole trace (commits, lock waits, time shares) are recomputed at intervals that depend on their
 * own cost, so that a long recording stays cheap.
 */
import { unseenWork } from '../../analysis/core/unrecorded-workers.ts';
import { CallCounts } from '../../analysis/files/call-counts.ts';
import {
  numbersFrom,
  type HeadlineNumber,
  type NumberId,
} from '../../analysis/numbers/headline-numbers.ts';
import { Facts, type AnyFact } from '../../analysis/core/graph.ts';
import { lockWaits } from '../../analysis/locks/lock-waits.ts';
import { summaryTime, totalTimeInSql } from '../../analysis/time/summary-time.ts';
import { statements } from '../../analysis/statements/statements.ts';
import { commits } from '../../analysis/transactions/commits.ts';
import type { LiveNumber, LiveStats } from '../../protocol/session.ts';
import type { TraceStore } from '../../trace/store.ts';

/**
 * A running recording's batches wait while these are computed. If that takes longer than this, they
 * are computed after it ends. Threads hold back beyond the limits in hooks/transport.ts.
 */
const SLOW_AT_MOST_MS = 400;
/**
 * Maximum share of the worker's time for the whole-trace numbers: during a recording, less than one
 * picture in forty waits for them.
 */
const SLOW_SHARE = 0.25;
const SLOW_SHARE_LIVE = 0.02;

/**
 * During a recording, whole-trace numbers from a time with fewer events than this share of the
 * current ones would contradict the other numbers.
 */
const FRESH_SHARE = 0.9;

/** Contents of the strip during a recording, by name. */
const STRIP = {
  events: 'events',
  seen: 'seen',
  reads: 'reads',
  writes: 'writes',
  syncs: 'syncs',
  commits: 'commits',
  'lock-waits': 'lockWaits',
  'io-share': 'ioShare',
  'cache-hit': 'hitRate',
  dropped: 'dropped',
  cost: 'cost',
} as const satisfies Record<string, NumberId>;
/**
 * Contents after a recording: only known numbers, the most important first, because the last ones
 * may not fit.
 */
const LINE = {
  recorded: 'duration',
  dropped: 'dropped',
  'sql-time': 'sqlTime',
  statements: 'statements',
  commits: 'commits',
  reads: 'reads',
  writes: 'writes',
  syncs: 'syncs',
  events: 'events',
  seen: 'seen',
} as const satisfies Record<string, NumberId>;
/** Numbers that need the whole trace, and the facts that they are computed from. */
const SLOW = {
  commits: [commits],
  lockWaits: [lockWaits],
  ioShare: [summaryTime, totalTimeInSql],
  sqlTime: [totalTimeInSql],
  statements: [statements],
} as const satisfies Partial<Record<NumberId, readonly AnyFact[]>>;
export const SLOW_NEEDS = [unseenWork, ...Object.values(SLOW).flat()];
type SlowId = keyof typeof SLOW;
const isSlow = (id: NumberId): id is SlowId => id in SLOW;

export class LiveCounts {
  private readonly calls: CallCounts;
  private readonly slow = new Map<SlowId, HeadlineNumber>();
  private slowVersion = -1;
  /** When they were last computed, and how long it took, ms. */
  private slowAt = -Infinity;
  private slowTook = 0;
  private slowMsPerEvent = 0;
  /** Number of events at that time. */
  private slowSeen = 0;
  /**
   * Computed during the recording. Once it has ended, they are recomputed at once, and hidden until
   * then.
   */
  private passing = false;
  /** Event totals of about the last second, oldest first. */
  private history: { at: number; events: number }[] = [];

  constructor(private readonly store: TraceStore) {
    this.calls = new CallCounts(store);
  }

  /**
   * ms from `now` until the whole-trace numbers should be recomputed; null if they belong to this
   * version, or must wait for the end of the recording.
   */
  slowDueIn(version: number, now: number, recording = false): number | null {
    if (recording && this.slowMsPerEvent * this.store.eventCount > SLOW_AT_MOST_MS) {
      this.slowVersion = -1; // outdated numbers would be wrong
      return null;
    }
    if (version === this.slowVersion) return null;
    return !recording && this.passing
      ? 0
      : Math.max(0, this.slowAt + this.slowTook / (recording ? SLOW_SHARE_LIVE : SLOW_SHARE) - now);
  }
  /**
   * Compute the whole-trace numbers. @param version of the trace that they are valid for @param now
   * ms, any steady clock @param also work whose cost is included @param facts of the current trace
   * @param recording the trace grows
   */
  computeSlow(
    version: number,
    now: number,
    also: () => void = () => {},
    facts = new Facts(this.store),
    recording = false,
  ): void {
    const began = performance.now();
    also();
    const numbers = numbersFrom(facts);
    for (const id of Object.keys(SLOW) as SlowId[]) this.slow.set(id, numbers.get(id));
    this.slowVersion = version;
    this.passing = recording;
    this.slowSeen = this.store.eventCount + this.store.forgotten;
    const took = performance.now() - began;
    this.slowAt = now;
    this.slowTook = took;
    this.slowMsPerEvent = took / Math.max(10_000, this.store.eventCount);
  }

  /**
   * @param now ms, any steady clock @param settled the trace doesn't grow, so it has no rate @param
   * version of the trace @param flight older events are dropped
   */
  counts(
    now: number,
    settled: boolean,
    version = this.slowVersion,
    flight = false,
  ): Pick<LiveStats, 'events' | 'seen' | 'numbers'> {
    const events = this.store.eventCount;
    const seen = events + this.store.forgotten;
    const numbers = numbersFrom(new Facts(this.store), this.calls.update());
    const stale = settled
      ? this.passing && version !== this.slowVersion
      : this.slowSeen < seen * FRESH_SHARE;
    const computing = this.slowVersion < 0 || stale;
    const numberOf = (id: NumberId): HeadlineNumber => {
      if (!this.store.threads.length)
        return { ...numbers.words(id), cause: 'nothing is recorded yet' };
      if (!isSlow(id)) return numbers.get(id);
      return (computing ? null : this.slow.get(id)) ?? numbers.words(id);
    };
    const isShown = ({ slot, value, also }: LiveNumber): boolean => {
      if (slot === 'seen') return flight;
      // about the recorder: of a finished recording, only losses matter
      return slot !== 'dropped' || !settled || value !== 0 || also !== '';
    };
    const shown = Object.entries(settled ? LINE : STRIP)
      .map(([slot, id]): LiveNumber => ({ ...numberOf(id), slot }))
      .filter(isShown);
    // a running recording shows its pace instead
    if (!settled) {
      const rate = this.rate(seen, now);
      Object.assign(shown[0]!, {
        short: 'Events/s',
        value: shown[0]!.value === null ? null : rate,
      });
    }
    return { events, seen, numbers: shown };
  }

  private rate(events: number, now: number): number {
    this.history.push({ at: now, events });
    while (this.history.length > 2 && this.history[1]!.at <= now - 1000) this.history.shift();
    const oldest = this.history[0]!;
    return now - oldest.at < 50 ? 0 : ((events - oldest.events) * 1000) / (now - oldest.at);
  }
}
