/**
 * The lanes of a thread: its SQL calls, VFS calls, the browser's storage calls, and SQLite's lock
 * level. `update` takes in what is new as the thread grows.
 */
import { Op } from '../../event/event.ts';
import { ACTIVITIES, OPS } from '../../event/operations.ts';
import type { IntervalIndex } from './interval-index.ts';
import { LockLadder } from './lock-ladder.ts';
import { RowCursor } from '../row-cursor.ts';
import type { ThreadStore } from '../store.ts';
import { statementCodes } from './statement-codes.ts';
import { Sweep, toNs } from './sweep.ts';
import { threadEndUs } from '../thread-end.ts';

export type LaneKind = 'sql' | 'vfs' | 'web' | 'lock';
export const LANE_KINDS: readonly LaneKind[] = ['sql', 'vfs', 'web', 'lock'];

/**
 * Lane of an operation by its code: -1 none, else the place in LANE_KINDS. Held locks and counters
 * aren't calls.
 */
const LANE_OF_OP: readonly number[] = OPS.map((info) => {
  if (!info || info.code === Op.lockHeld || (info.aside && info.layer === 'sql')) return -1;
  return info.layer === 'sql' ? 0 : info.layer === 'vfs' ? 1 : info.layer === 'web' ? 2 : -1;
});
const SQL = LANE_KINDS.indexOf('sql');
/**
 * In lanes of the browser's storage: an IndexedDB transaction is open, but none of its requests
 * runs. Files store `sync` for it.
 */
export const IDB_WAIT = ACTIVITIES.length;
/** Kind of an operation's intervals, by code: its activity, or IDB_WAIT. */
export const ACTIVITY_OF_OP: readonly number[] = OPS.map((info) =>
  !info ? 0 : info.spent === 'idbTransaction' ? IDB_WAIT : ACTIVITIES.indexOf(info.activity),
);

/** The lane of an operation's calls; null for events of the host, held locks, and counters. */
export function laneOfOp(code: number): 'sql' | 'vfs' | 'web' | null {
  const lane = LANE_OF_OP[code] ?? -1;
  return lane < 0 ? null : (LANE_KINDS[lane] as 'sql' | 'vfs' | 'web');
}

/**
 * One lane: disjoint intervals, settled ones and those that may still change. An interval's kind is
 * its activity; in lock lanes the level, in SQL lanes the place in STATEMENT_KINDS.
 */
export interface Lane {
  /** `<thread index>:<kind>` */
  readonly key: string;
  readonly thread: ThreadStore;
  readonly kind: LaneKind;
  /** Rows in the lane. */
  events: number;
  readonly settled: IntervalIndex;
  readonly tail: IntervalIndex;
  /** false: its rows aren't rows of events. */
  readonly ofEvents?: false;
  /** A slice's text, if it isn't its event's name. */
  readonly labelOf?: (row: number, kind: number) => string;
}

/** From this many rows on, the rest can be estimated. */
const TELLING_ROWS = 16_384;

/** Share of a thread's rows that is loaded from its file; 0 = not known, or too few to estimate. */
export const shareRead = ({ events, expected }: ThreadStore): number =>
  events.count >= TELLING_ROWS && expected > events.count ? events.count / expected : 0;

/** The lanes of one thread. */
export class ThreadLanes {
  private sweeps: Sweep[] = [];
  private ladder: LockLadder;
  private all: Lane[] = [];
  private readonly statementOf: (id: number) => number;
  private readonly rows: RowCursor;

  constructor(readonly thread: ThreadStore) {
    this.rows = new RowCursor(thread);
    this.statementOf = statementCodes(thread);
    this.ladder = this.begin();
  }

  private begin(): LockLadder {
    const { thread } = this;
    const sweeps = [0, 1, 2].map(() => new Sweep(thread.events));
    const ladder = new LockLadder(thread.events);
    this.sweeps = sweeps;
    this.all = LANE_KINDS.map((kind, i) => {
      const from = sweeps[i] ?? ladder;
      return {
        key: `${thread.index}:${kind}`,
        thread,
        kind,
        events: 0,
        get settled() {
          return from.settled;
        },
        get tail() {
          return from.tail;
        },
      };
    });
    return ladder;
  }

  /** Lanes that aren't empty, in the order of LANE_KINDS. */
  get lanes(): Lane[] {
    return this.all.filter((lane) => lane.events > 0);
  }

  /**
   * Take in rows and ends that arrived since the last update.
   * @param horizonUs the trace's end so far: calls without an end run until here, or to their
   * thread's end
   */
  update(horizonUs: number): void {
    const { rows } = this;
    const { events } = this.thread;
    if (rows.restarted()) this.ladder = this.begin();
    for (; rows.next < events.count; rows.next++) {
      const op = events.op[rows.next]!;
      const lane = LANE_OF_OP[op] ?? -1;
      if (lane >= 0) {
        const kind =
          lane === SQL ? this.statementOf(events.object[rows.next]!) : ACTIVITY_OF_OP[op]!;
        this.sweeps[lane]!.add(rows.next, kind);
        this.all[lane]!.events++;
      }
      this.ladder.add(rows.next, op);
    }
    const horizon = toNs(threadEndUs(this.thread, horizonUs));
    const share = shareRead(this.thread);
    for (const sweep of this.sweeps) {
      if (share > 0) sweep.expect(share);
      sweep.settle(horizon);
    }
    this.all[3]!.events = this.ladder.settle(horizon);
  }
}
