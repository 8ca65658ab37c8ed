/**
 * The raw twin of a workload: it is in no total, and is shown next to the step that does the same
 * by SQL.
 */
import { describe, expect, it } from 'vitest';
import { resultOf } from '../../src/lab/experiments/model/aggregate.ts';
import type { Mode } from '../../src/lab/experiments/model/types.ts';
import type { RunResult, Sample } from '../../src/lab/experiments/model/result-types.ts';
import { runOf } from '../../src/lab/experiments/plan.ts';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';
import { twinLines } from '../../src/lab/command/tables.ts';
import { twinNote, twinTable } from '../../src/lab/results/twins.ts';

const kv = workloadOf('kv-sweep');
const step = (
  id: string,
  counters: Record<string, number>,
  twin = false,
): Sample['steps'][number] => ({ id, title: id, counters, ...(twin ? { twin } : {}) });
const result = (mode: Mode, steps: Sample['steps'], repeats = 1): RunResult =>
  resultOf(
    runOf(kv, {}, { mode, repeats }),
    kv,
    Array.from({ length: repeats }, () => ({ steps, digest: 'd/0', notes: [], settings: {} })),
    {},
  );

const timed = result(
  'time',
  [
    step('insert', { ms: 20, 'block.put': 3, 'block.get': 1, 'block.tx': 4 }),
    step('sum-1', { ms: 5, 'block.put': 0, 'block.get': 195, 'block.tx': 195 }),
    step('raw-put', { ms: 100, rows: 1000, 'idb.put': 1000, 'idb.transactions': 1 }, true),
    step(
      'raw-cursor',
      { ms: 50, rows: 1000, 'idb.cursor': 1, 'idb.cursorContinue': 1000, 'idb.transactions': 1 },
      true,
    ),
  ],
  2,
);

describe('totals', () => {
  it('contain only the steps by SQL: time and counts', () => {
    expect(timed.totalMs!.passes).toEqual([25, 25]);
    expect(timed.totals['rows']).toBeUndefined();
    expect(timed.totals['block.get']).toBe(196);
    expect(timed.totals['idb.put']).toBeUndefined();
    expect(timed.steps.map(({ twin }) => twin)).toEqual([undefined, undefined, true, true]);
  });
});

describe('side by side', () => {
  it('times and requests with their ratios, without a column for transactions that were not counted', () => {
    const table = twinTable([{ name: 'A', result: timed }])!;
    expect(table.head.slice(1, 4)).toEqual(['time, SQL', 'time, IndexedDB', 'ratio']);
    expect(table.rows).toEqual([
      ['insert / raw-put', '20 ms', '100 ms', '×0.20', '4', '1,000', '×0.0040'],
      ['sum-1 / raw-cursor', '5 ms', '50 ms', '×0.10', '195', '1,001', '×0.19'],
    ]);
  });
  it('says why the requests of a step are unknown', () => {
    const other = result(
      'time',
      [
        step('insert', { ms: 20 }),
        step('raw-put', { ms: 100, 'idb.put': 1000, 'idb.transactions': 1 }, true),
      ],
      2,
    );
    const runs = [
      { name: 'A', result: timed },
      { name: 'B', result: other },
    ];
    const table = twinTable(runs)!;
    expect(table.rows.at(-1)).toEqual([
      ...['B: insert / raw-put', '20 ms', '100 ms', '×0.20', 'n/a', '1,000', ''],
    ]);
    expect(twinNote(table)).toMatch(/^n\/a: the VFS isn't on IndexedDB, or only count mode/);
    expect(twinLines(runs).at(-1)).toContain(twinNote(table));
    expect(twinNote(twinTable(runs.slice(0, 1))!)).toBe('');
  });
  it('in count mode requests to the browser, without times', () => {
    const counted = result('count', [
      step('insert', { instructions: 9, 'idb.put': 10, 'idb.get': 2, 'idb.transactions': 5 }),
      step('raw-put', { rows: 1000, 'idb.put': 1000, 'idb.transactions': 1 }, true),
    ]);
    expect(twinTable([{ name: 'A', result: counted }])!.rows).toEqual([
      ['insert / raw-put', '12', '1,000', '×0.012', '5', '1', '×5.0'],
    ]);
    expect(counted.totals).toEqual({
      instructions: 9,
      'idb.put': 10,
      'idb.get': 2,
      'idb.transactions': 5,
    });
  });
  it('nothing if no twin ran', () => {
    const skipped = { ...step('raw-put', {}, true), skipped: 'no IndexedDB' };
    expect(
      twinTable([{ name: 'A', result: result('time', [step('insert', { ms: 1 }), skipped]) }]),
    ).toBeNull();
  });
});
