/** Lab results as text: they contain what an experiment's answer is based on. */
import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it, vi } from 'vitest';
import { placed, resultOf } from '../../src/lab/experiments/model/aggregate.ts';
import { decide } from '../../src/lab/experiments/model/assertions.ts';
import { EXPERIMENTS } from '../../src/lab/experiments/documents/index.ts';
import { onVfs, type PlacedExperiment } from '../../src/lab/experiments/on-vfs.ts';
import { leaveOut } from '../../src/lab/experiments/leave-out.ts';
import { runOf } from '../../src/lab/experiments/plan.ts';
import { sampleOf } from '../../src/lab/experiments/run.ts';
import type { Sample } from '../../src/lab/experiments/model/result-types.ts';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';
import { nodeSurroundings } from '../../src/lab/command/node.ts';
import { gridText } from '../../src/lab/command/growth-text.ts';
import { compareText, experimentText, resultText } from '../../src/lab/command/text.ts';
import { verdictSentence } from '../../src/lab/results/verdicts.ts';

const sample = (ms: number): Sample => ({
  steps: [
    {
      id: 'run',
      title: 'r',
      counters: {
        ms,
        'vfs.xSync': 6,
        'begin.ms': 0.1 * ms,
        'body.ms': 0.3 * ms,
        'commit.ms': 0.6 * ms,
      },
    },
  ],
  ...{ digest: 'd/1', notes: [], settings: {} },
});
const workload = workloadOf('sequential-write');
const timed = (passes: readonly number[]) =>
  resultOf(
    runOf(workload, {}, { mode: 'time', repeats: passes.length }),
    workload,
    passes.map(sample),
    {},
  );

it.each(['count', 'time'] as const)(
  'the size of the engine as it is published stands beside its %s',
  async (mode) => {
    const run = runOf(workloadOf('micro-1'), { config: { vfs: 'memory' } }, { mode, repeats: 1 });
    const { engine, settings } = await sampleOf(run, nodeSurroundings());
    const file = createRequire(import.meta.url).resolve(
      '@journeyapps/wa-sqlite/dist/wa-sqlite.wasm',
    );
    expect(engine).toEqual({
      package: '@journeyapps/wa-sqlite',
      version: '2.0.6',
      variant: 'sync',
      sqlite: expect.stringMatching(/^3\.\d+\.\d+$/) as string,
      wasmBytes: statSync(file).size,
    });
    expect(settings).not.toHaveProperty('wasm_bytes');
  },
);

it('parts of a transaction that are shorter than a clock step have their times and their columns', async () => {
  const [, second] = EXPERIMENTS;
  const experiment = onVfs(second!, ['MemoryVFS'], 'node');
  expect(experiment.id).toBe('commit-share');
  const around = nodeSurroundings();
  const stopped = vi.spyOn(performance, 'now').mockReturnValue(5);
  const asked = { config: {}, parameters: { transactions: 2, items: 2 } };
  const run = runOf(workload, asked, { mode: 'time', repeats: 1 });
  const measured = await sampleOf(run, around).finally(() => stopped.mockRestore());
  const { counters } = measured.steps[0]!;
  expect([counters['begin.ms'], counters['body.ms'], counters['commit.ms']]).toEqual([0, 0, 0]);
  // results were saved this way before: without the part that is 0
  const { 'begin.ms': _, ...others } = { ...counters, 'begin.ms': 0, 'body.ms': 1, 'commit.ms': 3 };
  const result = resultOf(
    run,
    workload,
    [{ ...measured, steps: [{ ...measured.steps[0]!, counters: others }] }],
    {},
  );
  const text = experimentText(experiment, {
    experiment: experiment.id,
    results: { 'sequential-write-journal': result },
    ...{ skipped: {}, verdicts: [], growth: [] },
  });
  expect(text).toMatch(/^ {2}sequential-write-journal +0 % +25 % +75 %$/m);
});

describe('timed', () => {
  it('a result lists every pass in order, and the share of it that is commit', () => {
    const text = resultText(workload, timed([40, 8, 42]));
    expect(text).toContain('  passes: 40 ms, 8 ms, 42 ms\n');
    expect(text).toContain('  share of time (run): begin 10 %, body 30 %, commit 60 %\n');
    expect(resultText(workload, timed([40]))).not.toContain('  passes:');
  });
  it('an excluded pass is in brackets, with its cause', () => {
    const text = resultText(
      workload,
      leaveOut(timed([40, 8, 42]), [{ pass: 2, reason: 'the disk slept' }]),
    );
    expect(text).toContain(
      '  passes: 40 ms, [8 ms], 42 ms\n  pass 2 is left out: the disk slept\n',
    );
  });
  it('so do two side by side, and an experiment', () => {
    expect(compareText(workload, timed([40, 8]), timed([7, 9]))).toMatch(
      / {2}passes A: 40 ms, 8 ms\n {2}passes B: 7 ms, 9 ms\n/,
    );
    const placed = (id: string): PlacedExperiment =>
      onVfs(
        EXPERIMENTS.find((e) => e.id === id)!,
        [],
        'node',
      );
    const experiment = placed('commit-share');
    const results = { 'sequential-write-journal': timed([40, 8, 42]) };
    const text = experimentText(experiment, {
      experiment: experiment.id,
      results,
      skipped: {},
      verdicts: [],
      growth: [],
    });
    expect(text).toMatch(
      /Share of time\n {2}variant +begin +body +commit\n {2}sequential-write-journal +10 % +30 % +60 %\n/,
    );
    expect(text).toMatch(/sequential-write-journal +40 ms, 8 ms, 42 ms\n/);
    const cpu = placed('cpu-counts');
    expect(
      experimentText(cpu, {
        experiment: cpu.id,
        results: {},
        skipped: {},
        verdicts: [],
        growth: [],
      }),
    ).not.toContain('Share of');
  });
});

describe('a clock whose step is 1 ms', () => {
  const coarse = { clockStepUs: 1000 };
  const asked = { mode: 'time', repeats: 2 } as const;
  const passes = [sample(0), sample(3)];

  it("of a single run, of two, and in a claim: a shorter time isn't shown as 0", () => {
    const result = resultOf(runOf(workload, {}, asked), workload, passes, coarse, sample(0));
    const text = resultText(workload, result);
    expect(text).toMatch(/^ {2}run +1\.5 ms +< 1 ms to 3 ms +< 1 ms +< 1 ms +< 1 ms/m);
    expect(text).toContain('passes: [< 1 ms], < 1 ms, 3 ms');
    const none = resultOf(runOf(workload, {}, asked), workload, [sample(0), sample(0)], coarse);
    for (const shown of [text, compareText(workload, none, result), resultText(workload, none)])
      expect(shown).not.toMatch(/(?:^|[^.\d])0 ms/);
    const verdict = decide({ text: 'It is fast', ...comparison }, ({ variant }) =>
      placed(variant === 'a' ? none : result, { step: 'total', counter: 'ms' }),
    );
    expect(verdictSentence({ ...verdict, holds: true, why: '' })).toBe(
      'It is fast: < 1 ms against 1.5 ms.',
    );
  });
  const comparison = {
    left: { variant: 'a', step: 'total', counter: 'ms' },
    is: '<',
    right: { variant: 'b', step: 'total', counter: 'ms' },
  } as const;
});

it('a time that another run has too is noise, and its own base is equal to itself', () => {
  const grid = { workload: workload.id, skipped: {}, verdicts: [], growth: [] };
  const text = gridText({ ...grid, runs: [timed([1, 2]), timed([1, 2])] });
  expect(text).toMatch(/^ {2}1\. .* = +6$/m);
  expect(text).toMatch(/^ {2}2\. .* noise +6$/m);
});

describe('a run that a fault ended', () => {
  const asked = { config: { vfs: 'OPFSCoopSync', quota: 8 }, parameters: {} } as const;
  const ended = (steps: Sample['steps'], step: string) =>
    resultOf(
      runOf(workload, asked, { mode: 'time', repeats: 1 }),
      workload,
      [
        {
          ...{ steps, digest: '', notes: [], settings: {} },
          fault: {
            ...{ flushes: 0, handles: 1, refused: 1, overQuota: 0, whole: true, damage: '' },
            answer: { step, code: 'SQLITE_CANTOPEN', message: 'no' },
          },
        },
      ],
      {},
    );

  it('before its first step finished, says so, and has no table', () => {
    for (const result of [
      ended([], 'open'),
      ended([{ id: 'run', title: 'r', counters: {}, skipped: 'SQLite answered no' }], 'run'),
    ]) {
      const text = resultText(workload, result);
      expect(text).toContain('\n\n  No step finished.\n');
      expect(text).not.toMatch(/^ {2}(?:step|total|rows) /m);
      expect(text).toMatch(/SQLite answered SQLITE_CANTOPEN/);
    }
  });

  it('after its first step, adds up the finished steps, and has no time for the whole', () => {
    const result = ended(
      [...sample(2).steps, { id: 'more', title: 'm', counters: {}, skipped: 'SQLite answered no' }],
      'more',
    );
    expect([result.totalMs, result.totals]).toMatchObject([null, { 'vfs.xSync': 6 }]);
    expect(resultText(workload, result)).toMatch(/^ {2}finished steps +6/m);
  });
});
