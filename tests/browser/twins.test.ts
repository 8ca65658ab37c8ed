/**
 * One pair of tests/twins: F01's prediction for 300 inserts matches what one transaction saves. All
 * pairs: tests/long/twins.test.ts.
 */
import { expect, test } from 'vitest';
import { callsHold, timeError } from '../twins/measure.ts';
import { PAIRS } from '../twins/pairs.ts';
import { runPair } from '../twins/run.ts';
import { recordHarness } from './record-harness.ts';

const harness = recordHarness();

test('one transaction avoids the calls that F01 names', async () => {
  const pair = PAIRS.find(({ rule }) => rule === 'F01')!;
  const outcome = await runPair(pair, 1, harness);
  console.info(
    `F01 ${Math.round(100 * timeError(outcome)!)} % off in time: ${JSON.stringify(outcome)}`,
  );
  // likely if other syncs of the recording took much longer
  expect(outcome.confidence).not.toBe('possible');
  expect(outcome.seenInTwin).toBe(0);
  expect(outcome.calls).not.toEqual([]);
  expect(callsHold(outcome, pair), JSON.stringify(outcome.calls)).toBe(true);
  // a single pair on a busy machine: only the sign and the magnitude
  expect(Math.abs(timeError(outcome)!)).toBeLessThan(1);
});
