/**
 * Every pair of tests/twins: recorded alternately with the fault and with the advice followed; the
 * rule's prediction is compared with the difference. UPDATE_TWINS=1 stores the outcome, which `npm
 * run docs -- findings` prints. VFSCOPE_TWINS=F01,F02 runs some. VFSCOPE_ROUNDS is the number of
 * pairs for the median time.
 */
import { expect, test } from 'vitest';
import { recordHarness } from '../browser/record-harness.ts';
import { callsHold, timeHolds } from '../twins/measure.ts';
import { PAIRS } from '../twins/pairs.ts';
import { runPair } from '../twins/run.ts';
import { storeOutcome } from '../twins/stored.ts';

const ROUNDS = Number(process.env['VFSCOPE_ROUNDS'] ?? 3);
const ONLY = process.env['VFSCOPE_TWINS']?.split(',');

const harness = recordHarness();

test.each(PAIRS.filter(({ rule }) => ONLY?.includes(rule) ?? true))(
  '$rule: $shows; $instead',
  async (pair) => {
    const outcome = await runPair(pair, ROUNDS, harness);
    console.info(`${pair.rule} ${JSON.stringify(outcome)}`);
    if (process.env['UPDATE_TWINS']) storeOutcome(pair.rule, outcome);
    expect(outcome.seen).toBeGreaterThan(0);
    expect(outcome.seenInTwin).toBeLessThan(outcome.seen);
    if (outcome.predictedMs === null || outcome.confidence !== 'certain') return;
    expect(callsHold(outcome, pair), JSON.stringify(outcome.calls)).toBe(true);
    expect(timeHolds(outcome)).toBe(true);
  },
);
