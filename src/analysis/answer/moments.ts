/**
 * The worst moments of a recording: its longest transactions, statements, and waits for locks, each
 * moment once.
 */
import { cut, oneLine, UNKNOWN_SQL } from '../../text/clean.ts';
import { countOf, formatDuration } from '../../text/numbers.ts';
import { objectName } from '../../trace/describe.ts';
import { KINDS, type IntervalIndex } from '../../trace/lanes/interval-index.ts';
import { toNs } from '../../trace/lanes/sweep.ts';
import type { EventRef, ThreadStore, TraceStore } from '../../trace/store.ts';
import { executions, ExecutionState } from '../core/executions.ts';
import { fact, type ByThread, type Facts, type Known } from '../core/graph.ts';
import { isInScope, type Scope } from '../core/scope.ts';
import { SQL_PARTS, type Part } from '../core/time-parts.ts';
import { heldFromSqlite, lockWaits, lockWaitTimes, NO_WAITS } from '../locks/lock-waits.ts';
import { locks } from '../locks/locks.ts';
import {
  statementsIn,
  testOfTexts,
  type StatementTest,
} from '../statements/statements-in-scope.ts';
import { pieces } from '../time/thread-times.ts';
import { anatomies } from '../transactions/transaction-anatomy.ts';

export interface Moment extends EventRef {
  kind: 'transaction' | 'statement' | 'wait';
  /** What happened, without its time. */
  title: string;
  fromUs: number;
  toUs: number;
  /**
   * What it is ranked by, microseconds: its length, or its share of the requested part of the time.
   */
  us: number;
}

/** Moments shown. */
const MOMENTS = 4;
/** Candidates of each kind: most of the longest ones are the same moments. */
const LONGEST = 16;
/** If this share of a moment is in a longer one, it is the same. */
const SAME = 0.5;
const SQL_LENGTH = 60;

/** Replaces the length of a moment that isn't requested. */
const OUT = -1;
/** If a lock blocked a moment for more than this share, its title mentions that. */
const MOSTLY = 0.3;

const NEEDS = { anatomies, executions, lockWaits, lockWaitTimes, locks };

/** The longest first. */
export const moments = fact('moments', 'worst moments', NEEDS, (store, known) =>
  momentsOf(store, known, {}, null),
);

/**
 * The same for moments within a range, on a thread, or of runs of a statement. For a part of the
 * time, those that have most of it.
 */
export const momentsIn = (facts: Facts, scope: Scope): Moment[] =>
  momentsOf(
    facts.store,
    facts.known(NEEDS),
    scope,
    statementsIn(facts, scope),
    scope.part && partOf(facts.get(pieces), scope.part),
  );

/** How much of a time on a thread counts, microseconds. */
type Measure = (thread: ThreadStore, fromUs: number, toUs: number) => number;
const length: Measure = (_, fromUs, toUs) => toUs - fromUs;

/** Counts the time of one part. */
function partOf(pieces: ByThread<{ index: IntervalIndex }>, part: Part): Measure {
  const kind = SQL_PARTS.indexOf(part);
  const [before, behind] = [new Float64Array(KINDS), new Float64Array(KINDS)];
  const upTo = (index: IntervalIndex, us: number, into: Float64Array): number => {
    const ns = toNs(us);
    const i = index.before(ns);
    index.totals(i, into);
    // the last one may continue after it
    const cut = i > 0 && index.kind[i - 1] === kind ? Math.max(0, index.endOf(i - 1) - ns) : 0;
    return into[kind]! - cut;
  };
  return (thread, fromUs, toUs) => {
    const { index } = pieces.of(thread);
    return (upTo(index, toUs, behind) - upTo(index, fromUs, before)) / 1000;
  };
}

/**
 * @param taken the statements whose runs are requested; null = all, and everything else that took
 * long
 */
function momentsOf(
  store: TraceStore,
  known: Known<typeof NEEDS>,
  scope: Scope,
  taken: StatementTest | null,
  measure: Measure = length,
): Moment[] {
  const statements = longestStatements(store, known, scope, taken, measure);
  const all = (
    taken
      ? statements
      : [
          ...longestTransactions(store, known, scope, measure),
          ...statements,
          ...longestWaits(store, known, scope, measure),
        ]
  ).sort((a, b) => b.us - a.us);
  const found: Moment[] = [];
  for (const moment of all) {
    if (found.length === MOMENTS) break;
    if (!found.some((other) => isIn(moment, other))) found.push(moment);
  }
  return found.map((moment) => withWait(moment, store, known));
}

/** Adds the wait to a moment that another connection's lock made long. */
function withWait(
  moment: Moment,
  { threads }: TraceStore,
  { lockWaitTimes }: Known<typeof NEEDS>,
): Moment {
  if (moment.kind === 'wait') return moment;
  const { blocked } = lockWaitTimes.get(threads[moment.thread]!) ?? NO_WAITS;
  let us = 0;
  for (let i = 0; i < blocked.length; i += 2)
    us += Math.max(
      0,
      Math.min(moment.toUs, blocked[i + 1]! / 1000) - Math.max(moment.fromUs, blocked[i]! / 1000),
    );
  return us > MOSTLY * lengthOf(moment)
    ? { ...moment, title: `${moment.title}, ${formatDuration(us)} of it waiting for a lock` }
    : moment;
}

const lengthOf = ({ fromUs, toUs }: Moment): number => toUs - fromUs;
const isIn = (a: Moment, b: Moment): boolean =>
  a.thread === b.thread &&
  Math.min(a.toUs, b.toUs) - Math.max(a.fromUs, b.fromUs) > SAME * lengthOf(a);

/** Whether a time is completely in the scope's range. */
const isWithin = (
  { fromUs = -Infinity, toUs = Infinity }: Scope,
  from: number,
  to: number,
): boolean => from >= fromUs && to <= toUs;

/** The indices of the largest positive values, the largest first, each with its value. */
function largest(count: number, valueOf: (i: number) => number): [place: number, us: number][] {
  const found: [number, number][] = [];
  for (let i = 0; i < count; i++) {
    const value = valueOf(i);
    if (value < 0) continue;
    let at = found.length;
    if (at === LONGEST && value <= found[at - 1]![1]) continue;
    while (at > 0 && found[at - 1]![1] < value) at--;
    found.splice(at, 0, [i, value]);
    found.length = Math.min(found.length, LONGEST);
  }
  return found;
}
/** How much of a moment counts. One without any requested time is left out. */
function valueOf(measure: Measure, thread: ThreadStore, fromUs: number, toUs: number): number {
  const us = measure(thread, fromUs, toUs);
  return us > 0 || measure === length ? us : OUT;
}

/** @param text id of the `sql` definition */
const sqlOf = (thread: ThreadStore, text: number): string =>
  cut(oneLine(objectName(thread, text)) || UNKNOWN_SQL, SQL_LENGTH);

function longestTransactions(
  { threads }: TraceStore,
  { anatomies: all }: Known<typeof NEEDS>,
  scope: Scope,
  measure: Measure,
): Moment[] {
  const usOf = (i: number): number => {
    const thread = threads[all.transactions.thread[i]!]!;
    const [fromUs, toUs] = [all.fromUs[i]!, all.toUs[i]!];
    return isInScope(thread, scope) && isWithin(scope, fromUs, toUs)
      ? valueOf(measure, thread, fromUs, toUs)
      : OUT;
  };
  return largest(all.length, usOf).map(([i, us]): Moment => {
    const { transaction: t, fromUs, toUs, statements, statementRows } = all.at(i);
    const thread = threads[t.thread]!;
    const what = t.kind === 'write' ? 'Write transaction' : 'Read transaction';
    const title =
      statements === 1
        ? `${sqlOf(thread, thread.events.object[statementRows[0]!]!)}, with its transaction`
        : `${what}${statements ? `, ${countOf(statements, 'statement')}` : ''}`;
    return { ...thread.ref(t.beginRow), kind: 'transaction', title, fromUs, toUs, us };
  });
}

function longestStatements(
  { threads }: TraceStore,
  { executions }: Known<typeof NEEDS>,
  scope: Scope,
  taken: StatementTest | null,
  measure: Measure,
): Moment[] {
  return threads.flatMap((thread) => {
    if (!isInScope(thread, scope)) return [];
    const runs = executions.of(thread);
    const isAsked = testOfTexts(thread, taken);
    const beginOf = (i: number): number => thread.events.t0[runs.firstRow[i]!]!;
    /** Nothing is known about a run that hasn't ended. */
    const lengthOfRun = (i: number): number =>
      runs.state[i] === ExecutionState.running ? 0 : runs.us[i]!;
    const usOf = (i: number): number => {
      const fromUs = beginOf(i);
      if (isAsked && !isAsked(runs.text[i]!)) return OUT;
      if (!isWithin(scope, fromUs, fromUs + runs.us[i]!)) return OUT;
      return valueOf(measure, thread, fromUs, fromUs + lengthOfRun(i));
    };
    return largest(runs.count, usOf).map(([i, us]): Moment => {
      const [row, fromUs] = [runs.firstRow[i]!, beginOf(i)];
      const title = `One run of ${sqlOf(thread, runs.text[i]!)}`;
      const toUs = fromUs + lengthOfRun(i);
      return { ...thread.ref(row), kind: 'statement', title, fromUs, toUs, us };
    });
  });
}

function longestWaits(
  { threads }: TraceStore,
  { lockWaits, locks: { waits, resources } }: Known<typeof NEEDS>,
  scope: Scope,
  measure: Measure,
): Moment[] {
  const held = heldFromSqlite(lockWaits)
    .map(({ wait }) => wait)
    .filter(
      (wait) =>
        isInScope(threads[waits.thread[wait]!]!, scope) &&
        isWithin(scope, waits.from[wait]!, waits.to[wait]!),
    );
  const usOf = (i: number): number => {
    const wait = held[i]!;
    return valueOf(measure, threads[waits.thread[wait]!]!, waits.from[wait]!, waits.to[wait]!);
  };
  return largest(held.length, usOf).map(([i, us]): Moment => {
    const wait = held[i]!;
    return {
      ...threads[waits.thread[wait]!]!.ref(waits.row[wait]!),
      kind: 'wait',
      title: `Waited for the lock on ${resources[waits.resource[wait]!]!.name}`,
      fromUs: waits.from[wait]!,
      toUs: waits.to[wait]!,
      us,
    };
  });
}
