// Verified advice: every rule has a pair of recordings or a reason why not, and a rule that its
// pair contradicts isn't called certain.
import { readFileSync } from 'node:fs';
import { expect, it, test } from 'vitest';
import { RULES } from '../../src/analysis/findings/index.ts';
import { callsHold, timeError, timeHolds, type Outcome } from '../twins/measure.ts';
import { findingsOf } from '../traces/analyses.ts';
import { FAILURES } from '../traces/findings/failures.ts';
import { QUERIES } from '../traces/findings/queries.ts';
import { IDB } from '../traces/findings/idb.ts';
import { play } from '../traces/findings/stage.ts';
import { STORAGE } from '../traces/findings/storage.ts';
import { WAITS } from '../traces/findings/waits.ts';
import { PAIRS } from '../twins/pairs.ts';
import { storedOutcomes } from '../twins/stored.ts';
import { twinText } from '../twins/text.ts';

const outcomes = storedOutcomes();

it('every rule has a pair, or a reason why not', () => {
  const page = readFileSync('docs/rules-tested.md', 'utf8');
  const reasons = /^## (F\d\d) (?:(?!^## )[^])*?^- \*\*Twin\*\*: None: (?!TODO).+\.$/gm;
  const without = [...page.matchAll(reasons)].map(([, id]) => id!);
  const named = [...PAIRS.map(({ rule }) => rule), ...without].sort();
  expect(named).toEqual(RULES.map(({ id }) => id).sort());
});

it('every pair was recorded (to fix it: UPDATE_TWINS=1 npx vitest run --project long twins)', () => {
  expect(Object.keys(outcomes)).toEqual(PAIRS.map(({ rule }) => rule).sort());
});

test.each(PAIRS)(
  '$rule is detected with the fault, and less after following the advice',
  ({ rule }) => {
    const { seen, seenInTwin } = outcomes[rule]!;
    expect(seen).toBeGreaterThan(0);
    expect(seenInTwin).toBeLessThan(seen);
  },
);

test.each(PAIRS)('$rule is certain of no saving that its twin contradicts', (pair) => {
  const outcome = outcomes[pair.rule]!;
  if (outcome.predictedMs === null || outcome.confidence !== 'certain') return;
  expect(callsHold(outcome, pair), JSON.stringify(outcome.calls)).toBe(true);
  expect(timeHolds(outcome), `${timeError(outcome)} off`).toBe(true);
});

test.each([...FAILURES, ...IDB, ...STORAGE, ...WAITS, ...QUERIES])(
  '$rule, $name: certain of a saving only if a pair proves it',
  ({ rule, wrong }) => {
    for (const found of findingsOf(play(wrong))) {
      if (found.rule !== rule || found.savingUs === null || found.confidence !== 'certain')
        continue;
      const [pair, outcome] = [PAIRS.find((each) => each.rule === rule), outcomes[rule]];
      expect(outcome?.predictedMs).toEqual(expect.any(Number));
      expect(callsHold(outcome!, pair!) && timeHolds(outcome!)).toBe(true);
    }
  },
);

const OUTCOME: Outcome = {
  confidence: 'certain',
  seen: 300,
  seenInTwin: 0,
  predictedMs: 1200,
  measuredMs: 1000,
  rangeMs: [900, 1100],
  pairs: 3,
  calls: [{ name: 'main-db xSync', predicted: 299, measured: 299 }],
};

test('time is off by a share of the measured value', () => {
  expect(timeError(OUTCOME)).toBeCloseTo(0.2);
  expect(timeHolds(OUTCOME)).toBe(true);
  expect(timeHolds({ ...OUTCOME, predictedMs: 1301 })).toBe(false);
  expect(timeHolds({ ...OUTCOME, measuredMs: -1 })).toBe(false);
  expect(timeError({ ...OUTCOME, predictedMs: null })).toBeNull();
});

test('calls match exactly, or at least', () => {
  const off = { ...OUTCOME, calls: [{ name: 'xRead', predicted: 10, measured: 11 }] };
  expect(callsHold(OUTCOME, {})).toBe(true);
  expect(callsHold(off, {})).toBe(false);
  expect(callsHold(off, { calls: 'least' })).toBe(true);
});

test('the page has the prediction, the measurement, and the difference', () => {
  const [pair] = PAIRS;
  expect(twinText({ ...pair!, shows: '300 inserts', instead: 'all in one' }, OUTCOME)).toBe(
    'Recorded: 300 inserts. Its twin: all in one. Predicted 1.2 s, measured 1 s (median of 3 pairs, 900 ms to 1.1 s): 20 % too high. Calls avoided: 299 `main-db xSync`, as predicted.',
  );
});
