/**
 * A Lab result as a file: one HTML page with charts that loads nothing, the charts as SVG, every
 * number as CSV.
 */
import { describe, expect, it } from 'vitest';
import { experimentFor } from '../../src/lab/experiments/documents/tries.ts';
import { resultOf } from '../../src/lab/experiments/model/aggregate.ts';
import { onVfs } from '../../src/lab/experiments/on-vfs.ts';
import type { LabOutcome } from '../../src/lab/experiments/outcome.ts';
import { runsOf } from '../../src/lab/experiments/plan.ts';
import { experimentResult } from '../../src/lab/experiments/run-experiment.ts';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';
import { reportCsv, reportHtml, reportSvg } from '../../src/lab/results/report.ts';

const SYNCS: Record<string, number> = { full: 600, normal: 400, off: 0 };
const durability = onVfs(experimentFor('durability')!, ['AccessHandlePool'], 'browser');
const results = new Map(
  [...runsOf(durability, {}, { mode: 'time', repeats: 3 })].map(([id, run]) => [
    id,
    resultOf(
      run,
      workloadOf(run.workload),
      [30, 10, 20].map((ms) => ({
        steps: [
          {
            id: 'run',
            title: 'r',
            counters: { ms, 'vfs.xSync': SYNCS[id]!, 'commit.vfs.xSync': SYNCS[id]! },
          },
        ],
        ...{ digest: 'd/1', notes: ['<b>note</b>'], settings: { journal_mode: 'delete' } },
      })),
      { runtime: 'Chrome 156', userAgent: 'u', cores: 2 },
    ),
  ]),
);
const outcome: LabOutcome = {
  experiment: experimentResult(durability, results, { gone: 'no <VFS>' }),
};

describe('the page', () => {
  const html = reportHtml(outcome);
  it('has claims, conclusion, charts, runs, and the environment', () => {
    for (const words of [
      'The same transactions by durability, on AccessHandlePool (OPFS)',
      'synchronous=normal syncs less than full: 400 syncs against 600.',
      'Timed by vfscope in Chrome 156, 3 runs.',
      '10 ms to 30 ms',
      'journal_mode delete',
      'Each level saves syncs.',
    ])
      expect(html).toContain(words);
    expect(html.match(/<svg /g)).toHaveLength(2); // time, syncs
  });
  it('loads nothing, runs nothing, and no text becomes markup', () => {
    expect(html).toContain("default-src 'none'");
    expect(html).not.toMatch(/<script|<b>|no <VFS>|https?:/);
    expect(html).toContain('&lt;b&gt;note&lt;/b&gt;');
  });
});

it('of a question has the answer first, and its charts before those of the runs', () => {
  const question = onVfs(experimentFor('wal-worth')!, ['AccessHandlePool'], 'browser');
  const all = new Map(
    [...runsOf(question, {}, { mode: 'time', repeats: 2 })].map(([id, run]) => [
      id,
      resultOf(
        run,
        workloadOf(run.workload),
        [100, 110].map((ms) => ({
          steps: [{ id: 'run', title: 'r', counters: { ms, 'vfs.xSync': 3, 'vfs.xWrite': 9 } }],
          ...{ digest: 'd/1', notes: [], settings: {} },
        })),
        {},
      ),
    ]),
  );
  const html = reportHtml({ experiment: experimentResult(question, all, {}) });
  const places = [
    '>Answer<',
    'On AccessHandlePool, the passes scatter',
    '>Per transaction<',
    '>Claims<',
    'Time per transaction of 10 writes',
    'Time per transaction of 10 reads',
    '>vfs.xSync<',
  ].map((words) => html.indexOf(words));
  expect(places).toEqual([...places].sort((a, b) => a - b));
  expect(places).not.toContain(-1);
});

it('the charts are one picture with a bar for each run, and the range of its passes', () => {
  const svg = reportSvg(outcome);
  expect(svg).toMatch(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n<svg xmlns=/);
  expect(svg.match(/<rect [^>]*fill="#7d8899"/g)).toHaveLength(6);
  expect(svg.match(/<path d="M[^"]*" stroke="currentColor"/g)).toHaveLength(3);
  expect(svg).toContain('400');
});

it('the CSV has every number: medians with minimum, maximum, and passes, and counts unchanged', () => {
  const lines = reportCsv(outcome).split('\n');
  expect(lines[0]).toBe('run,vfs,step,counter,value,min,max,passes');
  expect(lines).toContain('full,AccessHandlePool,run,ms,20,10,30,30 10 20');
  expect(lines).toContain('normal,AccessHandlePool,total,vfs.xSync,400,,,');
});
