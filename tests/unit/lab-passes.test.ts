/**
 * Passes of a run: the first isn't counted, a skipped one has a cause, and of several counts the
 * minimum is used.
 */
import { describe, expect, it } from 'vitest';
import { resultOf } from '../../src/lab/experiments/model/aggregate.ts';
import { functionTable } from '../../src/lab/results/cpu.ts';
import { functionsBetween } from '../../src/lab/experiments/engine/function-counts.ts';
import { leaveOut } from '../../src/lab/experiments/leave-out.ts';
import { runOf } from '../../src/lab/experiments/plan.ts';
import { passesOf, passOf, resultOfPasses } from '../../src/lab/experiments/passes.ts';
import type { Mode, Run } from '../../src/lab/experiments/model/types.ts';
import type { Sample } from '../../src/lab/experiments/model/result-types.ts';
import { countPasses } from '../../src/lab/experiments/worker/builds-here.ts';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';

const workload = workloadOf('sequential-write');
const run = (mode: Mode, repeats: number): Run => ({
  ...runOf(workload, {}, { mode, repeats }),
  repeats,
});
const timed = (ms: number): Sample => ({
  steps: [{ id: 'run', title: 'r', counters: { ms, 'commit.ms': ms / 2, 'vfs.calls': 3 } }],
  ...{ digest: 'd/1', notes: [], settings: {} },
});
const counted = (instructions: number, calls = 3): Sample => ({
  steps: [
    {
      id: 'run',
      title: 'r',
      counters: { instructions, 'vfs.calls': calls },
      statements: [{ sql: '', runs: 0, instructions, calls }],
    },
  ],
  ...{ digest: 'd/1', notes: [], settings: {} },
});

describe('the first pass of a timed run', () => {
  it('is an additional one, is in no median, and is shown next to the others', () => {
    expect([passesOf(run('time', 3)), passesOf(run('count', 1))]).toEqual([4, 1]);
    const result = resultOfPasses(run('time', 3), [timed(90), timed(4), timed(2), timed(6)], {});
    expect(result.totalMs).toMatchObject({ median: 4, most: 6, n: 3, passes: [4, 2, 6] });
    expect(result.steps[0]!.parts['commit.ms']).toMatchObject({ median: 2, n: 3 });
    expect(result.warmUpMs).toBe(90);
  });
  it('is the only one that reads back what is stored', () => {
    expect([0, 1, 2].map((pass) => passOf(run('time', 3), pass).readBack)).toEqual([
      undefined,
      false,
      false,
    ]);
    expect(passOf(run('count', 3), 2).readBack).toBeUndefined();
    const stored = { digest: 'a/1', tables: {} };
    expect(resultOfPasses(run('time', 1), [{ ...timed(9), stored }, timed(1)], {}).stored).toBe(
      stored,
    );
  });
  it('is reported if it returned other rows than the rest', () => {
    expect(
      resultOfPasses(run('time', 1), [{ ...timed(9), digest: 'e/1' }, timed(1)], {}).notes,
    ).toEqual(['The rows that came back differ between the repeats.']);
  });
});

describe('an excluded pass', () => {
  const result = resultOf(run('time', 4), workload, [5, 100, 7, 6].map(timed), {});
  it('is in no median, and stays among the passes with its cause', () => {
    const without = leaveOut(result, [{ pass: 2, reason: ' a  scan of\nthe disk ' }]);
    expect(without.totalMs).toMatchObject({ median: 6, most: 7, n: 3, passes: [5, 100, 7, 6] });
    expect(without.steps[0]!.ms).toMatchObject({ median: 6, n: 3 });
    expect(without.steps[0]!.parts['commit.ms']).toMatchObject({ most: 3.5, n: 3 });
    expect(without.leftOut).toEqual([{ pass: 2, reason: 'a scan of the disk' }]);
    expect(JSON.parse(JSON.stringify(without))).toMatchObject({
      leftOut: [{ pass: 2, reason: 'a scan of the disk' }],
    });
    expect(leaveOut(without, [])).toEqual(result);
  });
  it('decides again what the workload expects of its times', () => {
    const kv = workloadOf('kv-sweep');
    const sample = (sum: number): Sample => ({
      ...timed(1),
      steps: [
        { id: 'sum-1', title: '', counters: { ms: sum } },
        { id: 'raw-cursor', title: '', counters: { ms: 10 } },
      ],
    });
    const four = resultOf(
      { ...runOf(kv, {}, { mode: 'time', repeats: 4 }) },
      kv,
      [sample(11), sample(12), sample(2), sample(2)],
      {},
    );
    const decided = (r: typeof four): unknown =>
      r.verdicts.find(({ text }) => /less time than by a cursor/.test(text))!.holds;
    expect([
      decided(four),
      decided(
        leaveOut(four, [
          { pass: 1, reason: 'r' },
          { pass: 2, reason: 'r' },
        ]),
      ),
    ]).toEqual([null, true]);
  });
  it.each([
    [[{ pass: 5, reason: 'r' }], /no pass 5: there are 1 to 4/],
    [[{ pass: 1.5, reason: 'r' }], /no pass 1\.5/],
    [[{ pass: 1, reason: ' ' }], /Pass 1 needs a reason/],
    [[1, 2, 3, 4].map((pass) => ({ pass, reason: 'r' })), /At least one pass must stay/],
  ])('%j is refused', (leftOut, message) => {
    expect(() => leaveOut(result, leftOut)).toThrow(message);
  });
  it('a counted result has none', () => {
    expect(() =>
      leaveOut(resultOf(run('count', 1), workload, [counted(1)], {}), [{ pass: 1, reason: 'r' }]),
    ).toThrow(/a timed run/);
  });
});

describe('several passes of a counted run', () => {
  it('are made only in JavaScriptCore', () => {
    expect([
      countPasses('Apple Computer, Inc.'),
      countPasses('Google Inc.'),
      countPasses(''),
      countPasses(undefined),
    ]).toEqual([3, 1, 1, 1]);
  });
  it('the minimum is the count, with everything that belongs to it, and the others are reported', () => {
    const result = resultOf(
      run('count', 3),
      workload,
      [counted(1007), counted(1000), counted(1000)],
      {},
    );
    expect(result.totals).toEqual({ instructions: 1000, 'vfs.calls': 3 });
    expect(result.steps[0]!.statements![0]!.instructions).toBe(1000);
    expect(result.notes).toEqual([
      'Step run: instructions differed between the passes. The one with the fewest instructions is shown.',
    ]);
    expect(resultOf(run('count', 2), workload, [counted(5), counted(5)], {}).notes).toEqual([]);
  });
});

describe('by function', () => {
  const at = (...counts: number[]) =>
    counts.map((n, i) => ({ index: i, name: i ? null : 'sqlite3_step', instructions: BigInt(n) }));
  it('differences, the most expensive first, without functions that did not run', () => {
    expect(functionsBetween(at(5, 2, 7), at(6, 9, 7))).toEqual([
      { name: '#1', instructions: 7 },
      { name: 'sqlite3_step', instructions: 1 },
    ]);
  });
  it('unlisted functions are one number', () => {
    const all = functionsBetween([], at(...Array.from({ length: 310 }, (_, i) => 1000 - i)));
    expect([all.length, all.at(-1)]).toEqual([
      301,
      {
        name: '',
        instructions: Array.from({ length: 10 }, (_, i) => 700 - i).reduce((a, b) => a + b),
      },
    ]);
  });
  it('side by side by name; a number identifies a function only within its module', () => {
    const of = (engine: 'wa-sqlite-2.0.6' | 'wa-sqlite-1.0.0', n: number) => {
      const functions = functionsBetween(at(0, 0), at(n, 2 * n));
      const sample = { ...counted(3 * n), steps: [{ ...counted(3 * n).steps[0]!, functions }] };
      const asked = runOf(workload, { config: { engine } }, { mode: 'count', repeats: 1 });
      return resultOf(asked, workload, [sample], {});
    };
    const both = [of('wa-sqlite-2.0.6', 5), of('wa-sqlite-1.0.0', 7)];
    expect(functionTable(both, 'total', ['A', 'B']).rows).toEqual([
      ['#1 of wa-sqlite-1.0.0 sync', '', '14', '+14'],
      ['#1 of wa-sqlite-2.0.6 sync', '10', '', '−10'],
      ['sqlite3_step', '5', '7', '+2'],
    ]);
  });
});
