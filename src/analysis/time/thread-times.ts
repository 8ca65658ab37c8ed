/**
 * Where the time of an entire thread went: by part, by statement, and moment by moment. One sweep
 * over the thread's calls finds all three, because the panel shows all of them, and a second sweep
 * would cost more than it saves.
 */
import type { ThreadStore } from '../../trace/store.ts';
import type { ByThread } from '../core/graph.ts';
import { threadFact } from '../core/graph.ts';
import { appDatabases } from '../core/app-databases.ts';
import { owners } from '../core/owners.ts';
import type { Owners } from '../../trace/owners.ts';
import { lockWaitTimes, NO_WAITS, type LockWaitTimes } from '../locks/lock-waits.ts';
import { CallTimes, type PathKeys } from './call-times.ts';
import {
  keepTimes,
  partitionThread,
  timesOfThread,
  type ThreadTimes,
  type TimePartition,
  type TimeRange,
} from './time-partition.ts';
import { Shares, type TimeKeeper } from './time-shares.ts';
import { timePieces, type TimePieces } from './time-pieces.ts';
import { TimeSweep } from './time-sweep.ts';

export class Sweeps {
  private made: TimePieces | null = null;

  constructor(
    private readonly thread: ThreadStore,
    private readonly owners: ByThread<Owners>,
    private readonly waits: LockWaitTimes,
    private readonly app: ReadonlySet<number>,
  ) {}

  private get sweep(): TimeSweep {
    return new TimeSweep(this.thread, this.waits, this.app);
  }
  get pieces(): TimePieces {
    return (this.made ??= timePieces(this.sweep, this.owners.of(this.thread)));
  }
  /** The same for a time range: one sweep each time. */
  within(range: TimeRange = {}): ThreadTimes {
    return timesOfThread(this.sweep, this.owners.of(this.thread), range);
  }
  /** The time of a range by call path. */
  callTimes(keys: PathKeys, range: TimeRange): CallTimes {
    return this.into(new CallTimes(this.thread.events, this.owners.of(this.thread), keys), range);
  }
  /** The time of a range, summed by a keeper. */
  into<K extends TimeKeeper>(keeper: K, range: TimeRange): K {
    keepTimes(this.sweep, keeper, range);
    return keeper;
  }
  /**
   * Every moment of the thread, in order, with its statement.
   * @param each called with nanoseconds of the trace, and the id of an `sql` definition: 0 = not
   * known, -1 = no SQL ran
   */
  eachStatement(each: (fromNs: number, toNs: number, text: number) => void): void {
    const { sweep } = this;
    const shares = new Shares(this.thread.events, this.owners.of(this.thread));
    sweep.onPiece = (fromNs, toNs, _part, place) =>
      each(fromNs, toNs, place < 0 ? -1 : shares.ids[place]!);
    keepTimes(sweep, shares, {});
  }
  partitionWithin(range: TimeRange): TimePartition {
    return partitionThread(this.sweep, range);
  }
}

export const sweeps = threadFact(
  'sweeps',
  'time while SQL runs',
  { owners, lockWaitTimes, appDatabases },
  (thread, { owners, lockWaitTimes: waits, appDatabases: app }) =>
    new Sweeps(thread, owners, waits.get(thread) ?? NO_WAITS, app.of(thread)),
);

/** The time while SQL runs moment by moment, as the timeline draws it. */
export const pieces = threadFact(
  'pieces',
  'time while SQL runs',
  { sweeps },
  (thread, { sweeps }) => sweeps.of(thread).pieces,
);
/** The same by statement. */
export const byStatement = threadFact(
  'byStatement',
  'time of each statement',
  { sweeps },
  (thread, { sweeps }) => sweeps.of(thread).pieces.byStatement,
);
export const partition = threadFact(
  'partition',
  'where the time went',
  { sweeps },
  (thread, { sweeps }) => sweeps.of(thread).pieces.partition,
);
