/**
 * Single checkpoints, from their start and end to a table over steps and passes, and rates over
 * threads.
 */
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { EngineModule } from '../../src/lab/experiments/engine/builds.ts';
import { gridText } from '../../src/lab/command/growth-text.ts';
import { VfsTally } from '../../src/lab/experiments/engine/vfs-tally.ts';
import { leaveOut } from '../../src/lab/experiments/leave-out.ts';
import { resultOf } from '../../src/lab/experiments/model/aggregate.ts';
import type { RunResult } from '../../src/lab/experiments/model/result-types.ts';
import { runOf } from '../../src/lab/experiments/plan.ts';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';
import { checkpointChart, checkpointTable } from '../../src/lab/results/checkpoints.ts';
import { rateChart, rateTable } from '../../src/lab/results/rates.ts';
import { Fcntl } from '../../src/sqlite/constants.ts';

afterEach(() => vi.restoreAllMocks());

it('a checkpoint lasts from its start to its end, and each is counted once', () => {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const vfs = { xFileControl: (..._: number[]): number => 0 };
  const tally = new VfsTally(vfs, 2, {} as EngineModule);
  for (const [at, op] of [
    [10, Fcntl.ckptStart],
    [14, Fcntl.ckptDone],
    [20, Fcntl.ckptDone], // of no checkpoint
    [30, Fcntl.ckptStart],
    [39, Fcntl.ckptDone],
  ] as const) {
    now = at;
    vfs.xFileControl(1, op, 0);
  }
  expect(tally.takeCheckpoints()).toEqual([4, 9]);
  expect(tally.takeCheckpoints()).toEqual([]);
});

describe('the table', () => {
  /** By pass and step, ms. */
  const timed = (...passes: number[][][]): RunResult => {
    const workload = workloadOf('checkpoint-storm');
    return resultOf(
      runOf(workload, {}, { mode: 'time', repeats: passes.length }),
      workload,
      passes.map((steps) => ({
        steps: steps.map((checkpoints, i) => ({
          ...{ id: `s${i}`, title: 's', counters: { ms: 100 } },
          ...(checkpoints.length ? { checkpoints } : {}),
        })),
        ...{ digest: 'd', notes: [], settings: {} },
      })),
      {},
    );
  };
  const rows = (result: RunResult): readonly (readonly string[])[] | undefined =>
    checkpointTable([{ name: 'run', result }])?.rows;

  it('has mean, median, and spread over all steps and passes', () => {
    const result = timed([[1, 2], [3]], [[10], []]);
    expect(rows(result)).toEqual([['run', '4', '4 ms', '2.5 ms', '1 ms', '1 ms', '10 ms']]);
    expect(checkpointChart([{ name: 'run', result }])!.bars).toEqual([
      { label: 'run', value: 2.5, text: '2.5 ms', range: [1, 10] },
    ]);
  });
  it('leaves out the checkpoints of an excluded pass', () => {
    const result = leaveOut(timed([[1, 2], [3]], [[10], []]), [
      { pass: 2, reason: 'a backup ran' },
    ]);
    expect(rows(result)).toEqual([['run', '3', '2 ms', '2 ms', '1 ms', '1 ms', '3 ms']]);
  });
  it('is missing if no checkpoint was timed', () => {
    expect(rows(timed([[], []]))).toBeUndefined();
  });
});

it('rates: what threads complete together, per second, from the slowest to the fastest pass', () => {
  const workload = workloadOf('contention');
  const timed = (writers: number, ...ms: number[]): RunResult =>
    resultOf(
      runOf(workload, { parameters: { writers, readers: 1 } }, { mode: 'time', repeats: 3 }),
      workload,
      ms.map((each) => ({
        steps: [
          {
            ...{ id: 'actors', title: 'all at once' },
            counters: {
              ms: each,
              'writer.transactions': 200 * writers,
              'reader.transactions': 100,
            },
          },
        ],
        ...{ digest: 'd', notes: [], settings: {} },
      })),
      {},
    );
  const runs = [
    { name: 'two', result: timed(2, 1000, 800, 2000) },
    { name: 'one', result: timed(1, 500, 500, 500) },
  ];
  expect(rateTable(runs)!.rows).toEqual([
    ['one', '2', '1 writer', '400', '400', '400', '400'],
    ['one', '2', '1 reader', '200', '200', '200', '200'],
    ['two', '3', '2 writers', '400', '200', '200', '500'],
    ['two', '3', '1 reader', '100', '100', '50', '125'],
  ]);
  expect(rateChart(runs)!.bars.map(({ label, text }) => [label, text])).toEqual([
    ['2 threads, 1 writer (one)', '400/s'],
    ['2 threads, 1 reader (one)', '200/s'],
    ['3 threads, 2 writers (two)', '400/s'],
    ['3 threads, 1 reader (two)', '100/s'],
  ]);
  const grid = { workload: workload.id, skipped: {}, verdicts: [], growth: [] };
  expect(gridText({ ...grid, runs: runs.map(({ result }) => result) })).toMatch(
    /\nTransactions per second\n.*\n {2}2\. 1 writer +2 +1 writer +400 /,
  );
  expect(rateTable([{ name: 'none', result: { ...runs[0]!.result, steps: [] } }])).toBeNull();
});
