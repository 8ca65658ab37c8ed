/**
 * Failed calls that the app does not hear of: a call inside an SQL call that did not fail itself, and an SQL call that was made again at
 * once, with no other on its connection between. wa-sqlite repeats what answers SQLITE_BUSY while a VFS prepares (`retryOps`).
 *
 *   sqlite3_open_v2  BUSY   sqlite3_open_v2  ok        handled: the app waits for both
 *     xOpen BUSY              xOpen ok                 handled with it
 *   sqlite3_step  BUSY      sqlite3_reset              the app hears of it
 */
import { isFailure } from '../../trace/describe.ts';
import type { EventColumns } from '../../trace/columns.ts';
import { Op } from '../../event/event.ts';
import { isSqlOp, isWebOp } from '../../event/operations.ts';
import { RETRIED_WITHIN_MS } from '../../sqlite/rule-limits.ts';
import { threadFact } from './graph.ts';
import { servedThreads } from './helper-threads.ts';
import { owners } from './owners.ts';

const fails = ({ op, result, flags }: EventColumns, row: number): boolean =>
  isFailure(op[row]!, result[row]!, flags[row]!);

/** Who is still at it after this long would be told. */
export const RETRIED_WITHIN_US = RETRIED_WITHIN_MS * 1000;

/** Whether an SQL call is the one before it again, soon. @param next the SQL call that follows it on its connection; of an attempt to open a database, which has none yet, on its thread */
export function isRepeated(events: EventColumns, row: number, next: number): boolean {
  const { op, object, parent, t0, dur } = events;
  return (
    op[next] === op[row] &&
    (object[next] === object[row] || op[row] === Op.sqlOpen) &&
    parent[next] === parent[row] &&
    t0[next]! - (t0[row]! + dur[row]!) <= RETRIED_WITHIN_US
  );
}

/** Of a thread's own calls. */
const handledHere = threadFact(
  'handledHere',
  'which failed calls the app hears of',
  { owners },
  (thread, { owners }): ReadonlySet<number> => {
    const { events } = thread;
    const whose = owners.of(thread);
    const handled = new Set<number>();
    const below: number[] = [];
    /** By connection: the SQL call that follows. */
    const next = new Map<number, number>();
    let last = -1;
    for (let row = events.count - 1; row >= 0; row--) {
      const failed = fails(events, row);
      if (!isSqlOp(events.op[row]!)) {
        if (failed) below.push(row);
        continue;
      }
      const connection = events.context[row]!;
      const behind = events.op[row] === Op.sqlOpen ? last : (next.get(connection) ?? -1);
      if (failed && behind >= 0 && isRepeated(events, row, behind)) handled.add(row);
      next.set(connection, (last = row));
    }
    for (const row of below) {
      const answer = whose.answering(row);
      if (answer < 0 || answer === row || events.endSeq[answer] === 0) continue;
      if (handled.has(answer) || !fails(events, answer)) handled.add(row);
    }
    return handled;
  },
);

/** Rows of such calls; of a worker that does storage for another thread those during an SQL call there whose failure the app hears of, if any. */
export const handledFailures = threadFact(
  'handledFailures',
  'which failed calls the app hears of',
  { handledHere, servedThreads },
  (thread, { handledHere, servedThreads }): ReadonlySet<number> => {
    const own = handledHere.of(thread);
    const served = servedThreads[thread.index];
    if (!served) return own;
    const handled = new Set(own);
    const heard = (us: number): boolean => {
      const { events } = served;
      for (let row = events.lowerBound(us) - 1; row >= 0; row--) {
        if (!isSqlOp(events.op[row]!)) continue;
        const isOpen = events.endSeq[row] === 0 || events.t0[row]! + events.dur[row]! >= us;
        return isOpen && fails(events, row) && !handledHere.of(served).has(row);
      }
      return false;
    };
    const { events } = thread;
    for (let row = 0; row < events.count; row++)
      if (isWebOp(events.op[row]!) && fails(events, row) && !heard(events.t0[row]!))
        handled.add(row);
    return handled;
  },
);
