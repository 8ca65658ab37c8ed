/** The comparison of two saved results, and of a result with a budget. */
import { describe, expect, it } from 'vitest';
import { checkResult } from '../../src/lab/command/check.ts';
import { diffText } from '../../src/lab/command/diff.ts';
import { resultOf } from '../../src/lab/experiments/model/aggregate.ts';
import type { Mode } from '../../src/lab/experiments/model/types.ts';
import type { RunResult } from '../../src/lab/experiments/model/result-types.ts';
import { savedOutcome, type LabOutcome } from '../../src/lab/experiments/outcome.ts';
import { runOf } from '../../src/lab/experiments/plan.ts';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';
import { diffCsv, diffHtml, diffSvg } from '../../src/lab/results/diff-report.ts';
import { diffOf } from '../../src/lab/results/result-diff.ts';

const workload = workloadOf('sequential-write');
const result = (
  mode: Mode,
  passes: readonly Record<string, number>[],
  runtime = 'Chrome 156',
): RunResult =>
  resultOf(
    runOf(workload, {}, { mode, repeats: passes.length }),
    workload,
    passes.map((counters) => ({
      steps: [{ id: 'run', title: 'r', counters }],
      ...{ digest: 'd/1', notes: [], settings: {} },
    })),
    { runtime, userAgent: runtime },
  );
const one = (run: RunResult): LabOutcome => ({ runs: [run] });
const timed = (times: readonly number[], syncs: number, runtime?: string): LabOutcome =>
  one(
    result(
      'time',
      times.map((ms) => ({ ms, 'vfs.xSync': syncs, 'vfs.xWrite': 7 })),
      runtime,
    ),
  );

describe('diff', () => {
  const diff = diffOf(timed([10, 11, 12], 300), timed([20, 22, 24], 3, 'Firefox 153'));
  it('counts exactly, the equal ones counted; times with their spread', () => {
    expect(diff.counts.rows).toEqual([['run vfs.xSync', '300', '3', '−297', '×0.010']]);
    expect(diff.equal).toBe(1);
    expect(diff.times.rows).toEqual([
      ['run ms', '11 ms', '10 ms to 12 ms', '22 ms', '20 ms to 24 ms', '+11 ms', '×2.0'],
    ]);
  });
  it('as text, with both environments', () => {
    const text = diffText('Many transactions', { a: 'a.json', b: 'b.json' }, diff);
    expect(text).toContain('1 count is equal; 1 count differs');
    expect(text).toMatch(/Runtime +Chrome 156 \(A\)\n +Firefox 153 \(B\)\n/);
  });
  it('as files: a page that loads nothing, a bar for each side of what differs, every number', () => {
    const compared = { title: 'Many <b>', a: 'a.json', b: 'b.json', diff };
    const html = diffHtml(compared);
    for (const words of [
      'A: a.json. B: b.json.',
      '1 count is equal. 1 count differs.',
      'Chrome 156 (A)',
      'Firefox 153 (B)',
      '10 ms to 12 ms',
    ])
      expect(html).toContain(words);
    expect(html).not.toMatch(/<script|<b>|https?:/);
    const svg = diffSvg(compared);
    expect(svg.match(/<rect [^>]*fill="#7d8899"/g)).toHaveLength(4); // time and syncs, not writes
    expect(svg).not.toContain('vfs.xWrite');
    expect(diffCsv(compared).split('\n')).toEqual([
      'run,step,counter,a,a_min,a_max,b,b_min,b_max',
      'A,run,ms,11,10,12,22,20,24',
      'A,run,vfs.xSync,300,,,3,,',
      'A,run,vfs.xWrite,7,,,7,,',
      '',
    ]);
  });
  it('tells A from B by what ran them, above the numbers', () => {
    expect(diff.apart.rows).toEqual([['Runtime', 'Chrome 156', 'Firefox 153']]);
  });
  it('of many runs names a side, or the pairs, and no run twice', () => {
    const grid = (runtime: string): LabOutcome => ({
      grid: {
        workload: workload.id,
        runs: ['delete', 'wal'].map((journalMode) => {
          const run = result('count', [{ instructions: 5 }], runtime);
          const config = { ...run.run.config, journalMode: journalMode as 'delete' | 'wal' };
          return { ...run, run: { ...run.run, config }, settings: { journal_mode: journalMode } };
        }),
        ...{ skipped: {}, verdicts: [], growth: [] },
      },
    });
    const { environment, apart, equal } = diffOf(grid('Chrome 156'), grid('Firefox 153'));
    expect(equal).toBe(2);
    expect(apart.rows).toEqual([['Runtime', 'Chrome 156', 'Firefox 153']]);
    const [first] = environment.find(({ label }) => label === 'Pragmas')!.values;
    expect([first!.text, first!.of?.length]).toEqual(['journal_mode delete', 1]);
    expect(first!.of![0]).toMatch(/^delete/);
  });
  it('a time below the step of its clock is a bound, and nearer than that is noise', () => {
    const fine = (outcome: LabOutcome, clockStepUs: number): LabOutcome => ({
      runs: (outcome as { runs: RunResult[] }).runs.map((run) => ({
        ...run,
        environment: { ...run.environment, clockStepUs },
      })),
    });
    const rowOf = (a: number, b: number): readonly string[] =>
      diffOf(fine(timed([a, a, a], 3), 5), fine(timed([b, b, b], 3), 1000)).times.rows[0]!;
    expect(rowOf(0.025, 0)).toEqual(['run ms', '25 µs', '25 µs', '< 1 ms', '< 1 ms', '', 'noise']);
    expect(rowOf(50, 0).slice(3)).toEqual(['< 1 ms', '< 1 ms', '', '< ×0.020']);
    expect(rowOf(3.57, 4).at(-1)).toBe('noise');
    expect(rowOf(3.57, 5).at(-1)).toBe('×1.4');
  });
  it('times within their spread are noise', () => {
    const near = diffOf(timed([10, 11, 14], 3), timed([10, 12, 14], 3));
    expect(near.times.rows[0]!.at(-1)).toBe('noise');
  });
  it('refuses what is not of one order', () => {
    const counted = one(result('count', [{ instructions: 5 }]));
    expect(() => diffOf(timed([1], 1), counted)).toThrow(/one is counted, the other timed/);
    const other: LabOutcome = {
      experiment: { experiment: 'durability', results: {}, skipped: {}, verdicts: [], growth: [] },
    };
    expect(() => diffOf(timed([1], 1), other)).toThrow(
      'A is of the workload sequential-write, B of the experiment durability',
    );
  });
  it('takes what was saved', () => {
    const saved = savedOutcome(JSON.stringify([result('count', [{ instructions: 5 }])]), 'a.json');
    expect(diffOf(saved, saved).equal).toBe(1);
    expect(() => savedOutcome('{}', 'a.json')).toThrow(/a\.json isn't the result of a run/);
    // what the parser quotes of the file reaches a terminal
    expect(() => savedOutcome('\u001b[31m\n{', 'a.json')).toThrow(/^a\.json isn't JSON: [ -~]+$/);
  });
});

describe('a budget', () => {
  const outcome = one(result('count', [{ instructions: 500, 'vfs.xSync': 3 }]));
  it('holds counts of a step and of the total', () => {
    const rows = checkResult(
      outcome,
      JSON.stringify({ 'run/vfs.xSync': { max: 3 }, 'total/instructions': { max: 499 } }),
    );
    expect(rows.map(({ ok, value, cause }) => [ok, value, cause])).toEqual([
      [true, 3, null],
      [false, 500, 'above 499'],
    ]);
  });
  it.each([
    ['{', /it isn't JSON/],
    ['{"xSync": {"max": 1}}', /expected step\/counter, as in total\/vfs\.xSync/],
    ['{"gone/vfs.xSync": {"max": 1}}', /there is no step "gone"/],
    ['{"C/run/vfs.xSync": {"max": 1}}', /there is no run "C"/],
    ['{"total/ms": {"max": 1}}', /a time can't have a budget/],
  ])('%s is refused', (budget, message) => {
    expect(() => checkResult(outcome, budget)).toThrow(message);
  });
  it('is broken by what was not counted, unless it is optional', () => {
    const rows = checkResult(
      outcome,
      '{"total/idb.put": {"max": 1}, "total/block.put": {"max": 1, "optional": true}}',
    );
    expect(rows.map(({ ok, value }) => [ok, value])).toEqual([
      [false, null],
      [true, null],
    ]);
  });
});
