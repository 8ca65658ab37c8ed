/**
 * The numbers of the live strip. Counts of calls follow the trace row by row; what needs a look at the whole trace (commits,
 * lock waits, time shares) is computed again at a pace that its own cost sets, so that a long recording stays cheap.
 */
import { unseenWork } from '../../analysis/core/unrecorded-workers.ts';
import { CallCounts } from '../../analysis/files/call-counts.ts';
import {
  numbersFrom,
  type HeadlineNumber,
  type NumberId,
} from '../../analysis/report/headline-numbers.ts';
import { Facts, type AnyFact } from '../../analysis/core/graph.ts';
import { lockWaits } from '../../analysis/locks/lock-waits.ts';
import { summaryTime, totalTimeInSql } from '../../analysis/time/summary-time.ts';
import { statements } from '../../analysis/statements/statements.ts';
import { commits } from '../../analysis/transactions/commits.ts';
import type { LiveNumber, LiveStats } from '../../protocol/session.ts';
import type { TraceStore } from '../../trace/store.ts';

/** A running recording's batches wait while these are computed: beyond this they wait for its end. Hooks hold 32 MiB back. */
const SLOW_AT_MOST_MS = 400;
/** The whole-trace numbers take at most this share of the worker's time: while recording less than one picture in forty waits for them. */
const SLOW_SHARE = 0.25;
const SLOW_SHARE_LIVE = 0.02;

/** While a recording runs, numbers of one that had fewer of the events there are now, by this share, would contradict those beside them. */
const FRESH_SHARE = 0.9;

/** What stands in the strip while a recording runs, by the name of its place. */
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
/** Of one that has ended: what it has, the most telling first, for those behind may not fit. */
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
/** Those that need a look at the whole trace, and what they are computed from. */
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
  /** When they were computed last, and how long it took, ms. */
  private slowAt = -Infinity;
  private slowTook = 0;
  private slowMsPerEvent = 0;
  /** Events seen by then. */
  private slowSeen = 0;
  /** They are of a moment of the recording: once it has ended they are computed at once, and are not shown until then. */
  private passing = false;
  /** Event totals of about the last second, oldest first. */
  private history: { at: number; events: number }[] = [];

  constructor(private readonly store: TraceStore) {
    this.calls = new CallCounts(store);
  }

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

  /** @param now ms, any steady clock @param settled the trace grows no more: it has no rate @param version of the trace @param flight the older events are forgotten */
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
      // about the recorder: of a recording that is there only a loss counts
      return slot !== 'dropped' || !settled || value !== 0 || also !== '';
    };
    const shown = Object.entries(settled ? LINE : STRIP)
      .map(([slot, id]): LiveNumber => ({ ...numberOf(id), slot }))
      .filter(isShown);
    // a recording shows its pace instead
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
