/** The worst moments of a recording: its longest transactions, statements, and waits for locks, each moment once. */
import { cut, oneLine, UNKNOWN_SQL } from '../../text/clean.ts';
import { countOf, formatDuration } from '../../text/numbers.ts';
import { objectName } from '../../trace/describe.ts';
import type { EventRef, ThreadStore, TraceStore } from '../../trace/store.ts';
import { executions, ExecutionState } from '../core/executions.ts';
import { fact, type Facts, type Known } from '../core/graph.ts';
import { isInScope, type Scope } from '../core/scope.ts';
import { heldFromSqlite, lockWaits, lockWaitTimes, NO_WAITS } from '../locks/lock-waits.ts';
import { locks } from '../locks/locks.ts';
import {
  statementsIn,
  testOfTexts,
  type StatementTest,
} from '../statements/statements-in-scope.ts';
import { anatomies } from '../transactions/transaction-anatomy.ts';

export interface Moment extends EventRef {
  kind: 'transaction' | 'statement' | 'wait';
  /** What happened, without its time. */
  title: string;
  fromUs: number;
  toUs: number;
}

/** Shown. */
const MOMENTS = 4;
/** Looked at of each kind: most of the longest ones are the same moments. */
const LONGEST = 16;
/** A moment of which so much lies in a longer one is the same. */
const SAME = 0.5;
const SQL_LENGTH = 60;

/** In place of the length of a moment that isn't asked for. */
const OUT = -1;
/** Of a moment: more is said of it. */
const MOSTLY = 0.3;

const NEEDS = { anatomies, executions, lockWaits, lockWaitTimes, locks };

/** The longest first. */
export const moments = fact('moments', 'worst moments', NEEDS, (store, known) =>
  momentsOf(store, known, {}, null),
);

/** The same of moments that lie in a range, on a thread, or are runs of a statement. */
export const momentsIn = (facts: Facts, scope: Scope): Moment[] =>
  momentsOf(facts.store, facts.known(NEEDS), scope, statementsIn(facts, scope));

/** @param taken statements whose runs are asked for; null = all, and whatever else took long */
function momentsOf(
  store: TraceStore,
  known: Known<typeof NEEDS>,
  scope: Scope,
  taken: StatementTest | null,
): Moment[] {
  const statements = longestStatements(store, known, scope, taken);
  const all = (
    taken
      ? statements
      : [
          ...longestTransactions(store, known, scope),
          ...statements,
          ...longestWaits(store, known, scope),
        ]
  ).sort((a, b) => lengthOf(b) - lengthOf(a));
  const found: Moment[] = [];
  for (const moment of all) {
    if (found.length === MOMENTS) break;
    if (!found.some((other) => isIn(moment, other))) found.push(moment);
  }
  return found.map((moment) => withWait(moment, store, known));
}

/** A moment that another connection's lock made long says so. */
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

/** Whether all of a time lies in the scope's range. */
const isWithin = (
  { fromUs = -Infinity, toUs = Infinity }: Scope,
  from: number,
  to: number,
): boolean => from >= fromUs && to <= toUs;

/** The places of the largest values from 0 up, the largest first. */
function largest(count: number, valueOf: (i: number) => number): number[] {
  const places: number[] = [];
  let least = -Infinity;
  for (let i = 0; i < count; i++) {
    const value = valueOf(i);
    if (value < 0) continue;
    if (places.length === LONGEST && value <= least) continue;
    let at = places.length;
    while (at > 0 && valueOf(places[at - 1]!) < value) at--;
    places.splice(at, 0, i);
    places.length = Math.min(places.length, LONGEST);
    least = valueOf(places.at(-1)!);
  }
  return places;
}

/** @param text id of the `sql` definition */
const sqlOf = (thread: ThreadStore, text: number): string =>
  cut(oneLine(objectName(thread, text)) || UNKNOWN_SQL, SQL_LENGTH);

function longestTransactions(
  { threads }: TraceStore,
  { anatomies: all }: Known<typeof NEEDS>,
  scope: Scope,
): Moment[] {
  const usOf = (i: number): number =>
    isInScope(threads[all.transactions.thread[i]!]!, scope) &&
    isWithin(scope, all.fromUs[i]!, all.toUs[i]!)
      ? all.durationUs(i)
      : OUT;
  return largest(all.length, usOf).map((i): Moment => {
    const { transaction: t, fromUs, toUs, statements, statementRows } = all.at(i);
    const thread = threads[t.thread]!;
    const what = t.kind === 'write' ? 'Write transaction' : 'Read transaction';
    const title =
      statements === 1
        ? `${sqlOf(thread, thread.events.object[statementRows[0]!]!)}, with its transaction`
        : `${what}${statements ? `, ${countOf(statements, 'statement')}` : ''}`;
    return { ...thread.ref(t.beginRow), kind: 'transaction', title, fromUs, toUs };
  });
}

function longestStatements(
  { threads }: TraceStore,
  { executions }: Known<typeof NEEDS>,
  scope: Scope,
  taken: StatementTest | null,
): Moment[] {
  return threads.flatMap((thread) => {
    if (!isInScope(thread, scope)) return [];
    const runs = executions.of(thread);
    const isAsked = testOfTexts(thread, taken);
    const us = (i: number): number => {
      const fromUs = thread.events.t0[runs.firstRow[i]!]!;
      if (isAsked && !isAsked(runs.text[i]!)) return OUT;
      if (!isWithin(scope, fromUs, fromUs + runs.us[i]!)) return OUT;
      return runs.state[i] === ExecutionState.running ? 0 : runs.us[i]!;
    };
    return largest(runs.count, us).map((i): Moment => {
      const row = runs.firstRow[i]!;
      const fromUs = thread.events.t0[row]!;
      const title = `One run of ${sqlOf(thread, runs.text[i]!)}`;
      return { ...thread.ref(row), kind: 'statement', title, fromUs, toUs: fromUs + us(i) };
    });
  });
}

function longestWaits(
  { threads }: TraceStore,
  { lockWaits, locks: { waits, resources } }: Known<typeof NEEDS>,
  scope: Scope,
): Moment[] {
  const held = heldFromSqlite(lockWaits).filter(
    ({ wait }) =>
      isInScope(threads[waits.thread[wait]!]!, scope) &&
      isWithin(scope, waits.from[wait]!, waits.to[wait]!),
  );
  return largest(held.length, (i) => waits.to[held[i]!.wait]! - waits.from[held[i]!.wait]!).map(
    (i): Moment => {
      const { wait } = held[i]!;
      const [fromUs, toUs] = [waits.from[wait]!, waits.to[wait]!];
      const { name } = resources[waits.resource[wait]!]!;
      return {
        ...threads[waits.thread[wait]!]!.ref(waits.row[wait]!),
        kind: 'wait',
        title: `Waited for the lock on ${name}`,
        fromUs,
        toUs,
      };
    },
  );
}
