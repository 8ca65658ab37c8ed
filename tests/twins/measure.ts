/**
 * Compares a rule's prediction for a recording with its twin: calls exactly, time as the median of
 * the pairs.
 */
import type { AvoidedCalls, Finding } from '../../src/analysis/rules/types.ts';
import { isVfsOp, opName } from '../../src/event/operations.ts';
import { Flag } from '../../src/event/event.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { findingContextOf, findingsOf } from '../traces/analyses.ts';
import type { Pair } from './pairs.ts';
import type { Recorded } from './record.ts';

/** The outcome of a pair, as tests/oracle/twins.json stores it. */
export interface Outcome {
  confidence: Finding['confidence'];
  /** Amount of evidence with the fault, and with the advice followed. */
  seen: number;
  seenInTwin: number;
  /** Milliseconds; null if the rule claims no saving. */
  predictedMs: number | null;
  measuredMs: number;
  /** Spread of the pairs: the smallest and the largest difference. */
  rangeMs: [number, number];
  pairs: number;
  /** Avoided calls by their name, predicted and measured. */
  calls: { name: string; predicted: number; measured: number }[];
}

const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
};
const tenth = (ms: number): number => Math.round(ms * 10) / 10;

/** Number of calls of a kind in a recording. */
function callsIn(store: TraceStore, { op, kind }: Pick<AvoidedCalls, 'op' | 'kind'>): number {
  const ctx = findingContextOf(store);
  let calls = 0;
  ctx.each(op, (thread, row) => {
    const { flags, object } = thread.events;
    if (!kind || !isVfsOp(op)) return calls++;
    const memory = (flags[row]! & Flag.memoryJournal) !== 0;
    if (memory ? kind === 'memory-journal' : ctx.file(thread, object[row]!)?.kind === kind) calls++;
  });
  return calls;
}

const found = ({ store }: Recorded, rule: string): Finding[] =>
  findingsOf(store).filter((f) => f.rule === rule);
const seenOf = (findings: readonly Finding[]): number =>
  findings.reduce((n, { evidence }) => n + evidence.count, 0);
const SURE = ['certain', 'likely', 'possible'] as const;

/** Avoided calls of all findings of a rule, by operation and kind of file. */
function avoidsOf(findings: readonly Finding[]): AvoidedCalls[] {
  const sums = new Map<string, AvoidedCalls>();
  for (const { op, kind, calls } of findings.flatMap(({ avoids = [] }) => avoids)) {
    const sum = sums.get(`${op} ${kind}`) ?? { op, kind, calls: 0 };
    sums.set(`${op} ${kind}`, { ...sum, calls: sum.calls + calls });
  }
  return [...sums.values()];
}

/** @param rounds the recordings, in pairs as they were made */
export function outcomeOf(
  pair: Pair,
  rounds: readonly { wrong: Recorded; right: Recorded }[],
): Outcome {
  const [first] = rounds as [(typeof rounds)[0]];
  const [before, after] = [found(first.wrong, pair.rule), found(first.right, pair.rule)];
  const savings = rounds.map(({ wrong }) => {
    const known = found(wrong, pair.rule).flatMap(({ savingUs }) =>
      savingUs === null ? [] : [savingUs / 1000],
    );
    return known.length ? known.reduce((a, b) => a + b) : null;
  });
  const known = savings.filter((ms) => ms !== null);
  const clock = pair.clock === 'wall' ? 'wallMs' : 'ms';
  const differences = rounds.map(({ wrong, right }) => wrong[clock] - right[clock]);
  return {
    confidence:
      SURE.find((sure) => before.some(({ confidence }) => confidence === sure)) ?? 'possible',
    seen: seenOf(before),
    seenInTwin: seenOf(after),
    predictedMs: known.length ? tenth(median(known)) : null,
    measuredMs: tenth(median(differences)),
    rangeMs: [tenth(Math.min(...differences)), tenth(Math.max(...differences))],
    pairs: rounds.length,
    calls: avoidsOf(before).map((avoided) => ({
      name: `${avoided.kind ? `${avoided.kind} ` : ''}${opName(avoided.op)}`,
      predicted: avoided.calls,
      measured: callsIn(first.wrong.store, avoided) - callsIn(first.right.store, avoided),
    })),
  };
}

/**
 * Error of a predicted time, as a share of the measured one: 0.1 = 10 % too much; null if nothing
 * is predicted.
 */
export const timeError = ({ predictedMs, measuredMs }: Outcome): number | null =>
  predictedMs === null ? null : (predictedMs - measuredMs) / Math.abs(measuredMs);

/** With a larger error, a rule may not be certain. */
const MOST_ERROR = 0.3;
/** Whether the time roughly matches the prediction. */
export const timeHolds = (outcome: Outcome): boolean =>
  outcome.predictedMs === null ||
  (outcome.measuredMs > 0 && Math.abs(timeError(outcome)!) <= MOST_ERROR);

/** Whether the twin makes fewer calls by the predicted number. */
export const callsHold = ({ calls }: Outcome, { calls: how }: Pick<Pair, 'calls'>): boolean =>
  calls.every(({ predicted, measured }) =>
    how === 'least' ? measured >= predicted : measured === predicted,
  );
