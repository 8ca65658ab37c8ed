// The answer of *Try it*: times that the passes can't tell apart.
import { expect, it } from 'vitest';
import { resultOf } from '../../src/lab/experiments/model/aggregate.ts';
import type { RunResult } from '../../src/lab/experiments/model/result-types.ts';
import { runOf } from '../../src/lab/experiments/plan.ts';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';
import { beforeAndAfter } from '../../src/lab/results/tried.ts';

function timed(...passes: number[]): RunResult {
  const workload = workloadOf('sequential-write');
  const samples = passes.map((ms) => ({
    steps: [{ id: 'run', title: 'run', counters: { ms, 'vfs.xSync': 3 } }],
    ...{ digest: 'd', notes: [], settings: {} },
  }));
  return resultOf(
    runOf(workload, {}, { mode: 'time', repeats: passes.length }),
    workload,
    samples,
    {},
  );
}
const tried = (before: RunResult, after: RunResult): string[] =>
  beforeAndAfter([
    { name: 'as recorded', result: before },
    { name: 'one transaction', result: after },
  ]);

it('says so where the times differ by less than the noise', () => {
  expect(tried(timed(400, 470, 690), timed(80, 380, 1000))).toEqual([
    expect.stringMatching(/^Before, as recorded: 470 ms \(.*\), .*3 syncs\.$/),
    expect.stringMatching(
      /^After, one transaction: 380 ms \(.*\), .*3 syncs\. The times differ by less than the noise\.$/,
    ),
  ]);
  expect(tried(timed(400, 410, 420), timed(80, 90, 100))[1]).toMatch(/3 syncs\.$/);
});
