/**
 * The Lab page's texts about settings, runs, and claims: labels, the command, states, comparisons,
 * verdicts of many runs.
 */
import { describe, expect, it } from 'vitest';
import { CPU_COUNTS } from '../../src/lab/experiments/documents/cpu-counts.ts';
import { resultOf } from '../../src/lab/experiments/model/aggregate.ts';
import { verdictsOfEach } from '../../src/lab/experiments/grid-result.ts';
import { labelOf, valueLabel } from '../../src/lab/experiments/model/knobs.ts';
import { runOf } from '../../src/lab/experiments/plan.ts';
import { slopeText } from '../../src/lab/experiments/model/sweep.ts';
import type { RunResult, Sample } from '../../src/lab/experiments/model/result-types.ts';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';
import { offerFor, WORKLOAD_OFFERS } from '../../src/lab/page/catalog.ts';
import { commandOf } from '../../src/lab/page/command.ts';
import { basesOf, stateText } from '../../src/lab/page/compare.ts';
import { compare } from '../../src/lab/results/compare.ts';
import { ratioOf } from '../../src/lab/results/table.ts';
import { runsOfExperiment } from '../../src/lab/page/grid.ts';

const offer = (id: string) => WORKLOAD_OFFERS.find((each) => each.id === id)!;
const counted = (id: string, instructions: number): RunResult => {
  const workload = workloadOf(id);
  const step: Sample['steps'][number] = { id: 's', title: 's', counters: { instructions } };
  return resultOf(
    runOf(workload, {}, { mode: 'count', repeats: 1 }),
    workload,
    [{ steps: [step], digest: 'd/0', notes: [], settings: {} }],
    {},
  );
};

describe('settings as text', () => {
  it('sizes have their unit, numbers their thousands separators', () => {
    expect([
      valueLabel('pageSize', 32768),
      valueLabel('blockSize', 512),
      valueLabel('cacheSize', -2000),
    ]).toEqual(['32 KiB', '512 B', '2,000 KiB']);
    expect([
      valueLabel('cacheSize', 2000),
      valueLabel('journalMode', 'wal'),
      valueLabel('pageSize', null),
    ]).toEqual(['2,000', 'wal', 'default']);
    expect([
      labelOf('cacheSize', -2000),
      labelOf('cacheSize', -2048),
      labelOf('pageSize', 65536),
    ]).toEqual(['cache 2,000 KiB', 'cache 2 MiB', '64 KiB pages']);
  });
  it('the command has what is selected, in the words that it accepts', () => {
    expect(
      commandOf(
        offer('kv-sweep'),
        'time',
        { pageSize: [null, 8192], vfs: [] },
        { items: [100, 1000] },
      ),
    ).toBe('npx vfscope lab run kv-sweep --config pageSize=default,8192 items=100,1000');
    expect(commandOf(offer('own-database'), 'count', {}, {})).toBe(
      'npx vfscope lab run own-database --file DATABASE --sql FILE --count',
    );
    expect(commandOf(offerFor('cpu-counts')!, 'count', { pageSize: [512] }, {})).toBe(
      'npx vfscope lab run cpu-counts',
    );
  });
});

describe('runs and what they are compared with', () => {
  it('reports the progress of a run, and that one of a canceled queue waits for nothing', () => {
    const run = runOf(workloadOf('mix'), {}, { mode: 'time', repeats: 5 });
    const item = (state: 'running' | 'waiting', samples: number) => ({
      run,
      state,
      samples: Array<Sample>(samples),
      result: null,
      message: '',
      left: [],
    });
    expect([stateText(item('running', 0), true), stateText(item('running', 2), true)]).toEqual([
      'warms up',
      'running, pass 2 of 5',
    ]);
    expect([stateText(item('waiting', 2), true), stateText(item('waiting', 2), false)]).toEqual([
      'waiting',
      'canceled',
    ]);
  });
  it("an experiment's variants are compared with the one that they change", () => {
    const cpu = offerFor('cpu-counts')!;
    const order = runsOfExperiment(CPU_COUNTS).map(({ variant }) => variant);
    const against = Object.fromEntries(
      basesOf(cpu, order.length).map((base, i) => [order[i], order[base]]),
    );
    expect(against).toMatchObject({
      'micro-2': 'micro-1',
      'micro-1': 'micro-1',
      index: 'noindex',
      'speedtest1-old': 'speedtest1',
    });
    const [row] = compare(
      [counted('micro-1', 100), counted('micro-1', 200), counted('micro-2', 279)],
      'total',
      ['instructions'],
      [0, 1, 1],
    );
    expect(row!.cells.map((cell) => [cell!.ratio, cell!.difference])).toEqual([
      ['', ''],
      ['', ''],
      ['×1.4', '+79'],
    ]);
    expect([ratioOf(0, 5), ratioOf(5, 0)]).toEqual(['×0', '']);
    expect(ratioOf(1_189_062_817, 1_189_062_824)).toBe('−0.00000059 %');
    expect(ratioOf(1, 30_000_000)).toBe('×0.000000033');
  });
  it('what all runs share appears once, and what differs names each run', () => {
    const verdict = (holds: boolean) => [{ text: 'it holds', holds, left: 1, right: 2 }];
    const named = (...all: boolean[]) =>
      all.map((holds, i) => ({
        name: `run ${i}`,
        result: { ...counted('mix', 1), verdicts: verdict(holds) },
      }));
    expect(verdictsOfEach(named(true, true, true))).toEqual([
      { text: 'it holds (all 3 runs)', holds: true, left: null, right: null },
    ]);
    expect(
      verdictsOfEach(named(true, false)).map(({ text, holds, left }) => [text, holds, left]),
    ).toEqual([
      ['run 0: it holds', true, 1],
      ['run 1: it holds', false, 1],
    ]);
    expect(verdictsOfEach(named(true))[0]!.text).toBe('it holds');
  });
  it('a slope near 0 has no sign', () => {
    expect([slopeText(-0.001), slopeText(-0.01), slopeText(1.234), slopeText(null)]).toEqual([
      '0.00',
      '-0.01',
      '1.23',
      'n/a',
    ]);
  });
});
