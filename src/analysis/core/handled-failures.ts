/**
 * Failed calls whose failure the app never sees: a call inside an SQL call that didn't fail itself,
 * and an SQL call that the engine repeated at once (event/engine-retry.ts), with no other call on
 * its connection in between.
 *
 *   sqlite3_open_v2  BUSY   sqlite3_open_v2  ok        handled: the app waits for both
 *     xOpen BUSY              xOpen ok                 handled with it
 *   sqlite3_step  BUSY      sqlite3_reset              the app hears of it
 */
import { isFailure } from '../../trace/describe.ts';
import type { EventColumns } from '../../trace/columns.ts';
import { Op } from '../../event/event.ts';
import { isEngineRetry, isRepeat, retriesCalls, type SqlCall } from '../../event/engine-retry.ts';
import { isSqlOp, isWebOp } from '../../event/operations.ts';
import { RETRIED_WITHIN_MS } from '../../sqlite/rule-limits.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { threadFact } from './graph.ts';
import { servedThreads } from './helper-threads.ts';
import { getOrMake } from './maps.ts';
import { owners } from './owners.ts';

const fails = ({ op, result, flags }: EventColumns, row: number): boolean =>
  isFailure(op[row]!, result[row]!, flags[row]!);

/** If the retries take longer than this, the app is told. */
export const RETRIED_WITHIN_US = RETRIED_WITHIN_MS * 1000;

const callAt = ({ op, object, parent, t0, dur, result }: EventColumns, row: number): SqlCall => ({
  op: op[row]!,
  statement: object[row]!,
  parent: parent[row]!,
  fromMs: t0[row]! / 1000,
  toMs: (t0[row]! + dur[row]!) / 1000,
  result: result[row]!,
});

/**
 * Whether the engine repeated an SQL call of a thread. Traces of `vfscope/field` don't name the
 * engine, so any may have.
 * @param before the previous SQL call on its connection, or on its thread for an attempt to open a
 * database; -1 = none @param next the following one
 */
export function isRetried(
  { events, engines }: Pick<ThreadStore, 'events' | 'engines'>,
  row: number,
  before: number,
  next: number,
): boolean {
  if (engines.length && !engines.some(({ name }) => retriesCalls(name))) return false;
  const call = callAt(events, row);
  const repeats = before >= 0 && isRepeat(callAt(events, before), call);
  return isEngineRetry(call, callAt(events, next), repeats);
}

interface LastTwo {
  before: number;
  row: number;
}

/** Of a thread's own calls. */
const handledHere = threadFact(
  'handledHere',
  'which failed calls the app sees',
  { owners },
  (thread, { owners }): ReadonlySet<number> => {
    const { events } = thread;
    const whose = owners.of(thread);
    const handled = new Set<number>();
    const below: number[] = [];
    /** By connection: its last two SQL calls; then those of the thread. */
    const lastTwo = new Map<number, LastTwo>();
    const last: LastTwo = { before: -1, row: -1 };
    const decide = ({ before, row }: LastTwo, next: number): void => {
      if (fails(events, row) && isRetried(thread, row, before, next)) handled.add(row);
    };
    for (let row = 0; row < events.count; row++) {
      if (!isSqlOp(events.op[row]!)) {
        if (fails(events, row)) below.push(row);
        continue;
      }
      const own = getOrMake(lastTwo, events.context[row]!, (): LastTwo => ({
        before: -1,
        row: -1,
      }));
      if (own.row >= 0 && events.op[own.row] !== Op.sqlOpen) decide(own, row);
      if (last.row >= 0 && events.op[last.row] === Op.sqlOpen) decide(last, row);
      for (const two of [own, last]) {
        two.before = two.row;
        two.row = row;
      }
    }
    for (const row of below) {
      const answer = whose.answering(row);
      if (answer < 0 || answer === row || events.endSeq[answer] === 0) continue;
      if (handled.has(answer) || !fails(events, answer)) handled.add(row);
    }
    return handled;
  },
);

/**
 * Rows of such calls. For a worker that does storage for another thread, also those during an SQL
 * call there, unless the app sees that call fail.
 */
export const handledFailures = threadFact(
  'handledFailures',
  'which failed calls the app sees',
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
