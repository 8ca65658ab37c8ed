/**
 * Calls that failed, and errors that the page didn't catch, grouped by cause, with the statements
 * that they served.
 */
import { isFailure, objectName, resultText, statementText } from '../../trace/describe.ts';
import { Flag, Op } from '../../event/event.ts';
import { OPS, opName, type Layer } from '../../event/operations.ts';
import { meaningOfException, meaningOfResult } from '../../sqlite/result-meaning.ts';
import { fact, type Facts, type Known } from '../core/graph.ts';
import { handledFailures } from '../core/handled-failures.ts';
import { isInScope, isUnlimited, type Scope } from '../core/scope.ts';
import {
  statementsIn,
  testOfTexts,
  type StatementTest,
} from '../statements/statements-in-scope.ts';
import { ownersOf } from '../../trace/owners.ts';
import type { EventRef, TraceStore } from '../../trace/store.ts';

/** Events that failed in the same way: the same call with the same result on the same object. */
export interface ErrorGroup {
  key: string;
  layer: Layer;
  /** `SQLITE_BUSY`, `QuotaExceededError`, `threw`, the text of an uncaught error. */
  what: string;
  /** As text; '' if there is none. */
  meaning: string;
  call: string;
  object: string;
  count: number;
  /** The app didn't see it: SQLite or its VFS continued, or repeated the call and it succeeded. */
  handled: boolean;
  firstUs: number;
  lastUs: number;
  /** At most MOST_EVENTS of them, by time, named by numbers that don't change. */
  events: (EventRef & { us: number })[];
  /** Distinct statements that they served, the most frequent first; at most 5. */
  statements: { text: string; count: number }[];
}
const MOST_EVENTS = 500;
const MOST_GROUPS = 2000;

const UNCAUGHT = ['uncaught error', 'unhandled rejection'] as const;

interface Making extends ErrorGroup {
  texts: Map<string, number>;
}

/**
 * Groups that the app saw come first, then by frequency. Groups beyond MOST_GROUPS are in the
 * counts only.
 */
export interface FailedCalls {
  groups: ErrorGroup[];
  /** Events that the app saw, and those that were handled before. */
  events: number;
  handled: number;
  more: number;
}

const NEEDS = { handledFailures };
export const failedCalls = fact('errors', 'errors', NEEDS, (store, known) =>
  failedCallsOf(store, known, {}, null),
);

/** The same for a part of the recording: the events that the Events view lists with that filter. */
export const failedCallsIn = (facts: Facts, scope: Omit<Scope, 'part'>): FailedCalls =>
  isUnlimited(scope)
    ? facts.get(failedCalls)
    : failedCallsOf(facts.store, facts.known(NEEDS), scope, statementsIn(facts, scope));

/** SQLite's result means little if it continues, but a storage exception is always meaningful. */
function meaningOf(layer: Layer, result: number, text: string, handled: boolean): string {
  const ofSqlite = layer === 'sql' || layer === 'vfs';
  if (!handled) return ofSqlite ? meaningOfResult(result) : meaningOfException(text);
  const how = "Your app didn't see it: SQLite or its VFS handled it, or made the call again.";
  return ofSqlite ? how : `${meaningOfException(text)} ${how}`.trimStart();
}

/** @param taken the statements whose calls are requested; null = all calls */
function failedCallsOf(
  store: TraceStore,
  known: Known<typeof NEEDS>,
  scope: Omit<Scope, 'part'>,
  taken: StatementTest | null,
): FailedCalls {
  const { fromUs = -Infinity, toUs = Infinity } = scope;
  const groups = new Map<string, Making>();
  let [total, handledTotal, more] = [0, 0, 0];
  for (const thread of store.threads) {
    if (!isInScope(thread, scope)) continue;
    const { events } = thread;
    const handledRows = known.handledFailures.of(thread);
    const isTaken = testOfTexts(thread, taken);
    const owners = isTaken && ownersOf(thread);
    for (let row = 0; row < events.count; row++) {
      const op = events.op[row]!;
      const result = events.result[row]!;
      const flags = events.flags[row]!;
      const uncaught = op === Op.error;
      if (!uncaught && !isFailure(op, result, flags)) continue;
      const t0 = events.t0[row]!;
      if (t0 >= toUs || t0 + events.dur[row]! < fromUs) continue;
      const call = owners?.statement(row) ?? -1;
      if (isTaken && (call < 0 || !isTaken(events.object[call]!))) continue;
      const handled = handledRows.has(row);
      if (handled) handledTotal++;
      else total++;
      const object = objectName(thread, events.object[row]!);
      const key = `${op} ${result} ${flags & Flag.threw} ${handled} ${object}`;
      let group = groups.get(key);
      if (!group) {
        if (groups.size >= MOST_GROUPS) {
          more++;
          continue;
        }
        const layer = OPS[op]?.layer ?? 'host';
        group = {
          key,
          layer,
          what: uncaught ? UNCAUGHT[result === 1 ? 1 : 0] : resultText(op, result, flags),
          call: opName(op),
          object,
          count: 0,
          handled,
          events: [],
          statements: [],
          meaning: uncaught
            ? "The page's own code failed."
            : meaningOf(layer, result, resultText(op, result, flags), handled),
          texts: new Map(),
          firstUs: t0,
          lastUs: t0,
        };
        groups.set(key, group);
      }
      group.count++;
      group.firstUs = Math.min(group.firstUs, t0);
      group.lastUs = Math.max(group.lastUs, t0);
      if (group.events.length < MOST_EVENTS) group.events.push({ ...thread.ref(row), us: t0 });
      const text = statementText(thread, row);
      if (text) group.texts.set(text, (group.texts.get(text) ?? 0) + 1);
    }
  }
  const list = [...groups.values()].sort(
    (a, b) => Number(a.handled) - Number(b.handled) || b.count - a.count,
  );
  return {
    events: total,
    handled: handledTotal,
    more,
    groups: list.map(({ texts, ...group }) => ({
      ...group,
      events: group.events.sort((a, b) => a.us - b.us),
      statements: [...texts]
        .sort((a, b) => b[1] - a[1])
        .slice(0, 5)
        .map(([text, count]) => ({ text, count })),
    })),
  };
}
