/** Experiments as data: definitions are consistent, and verdicts don't claim more than is known. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isTime, placed, resultOf, spreadOf } from '../../src/lab/experiments/model/aggregate.ts';
import { decide } from '../../src/lab/experiments/model/assertions.ts';
import { EXPERIMENTS } from '../../src/lab/experiments/documents/index.ts';
import { readWords, runOf, runsOf } from '../../src/lab/experiments/plan.ts';
import type { Assertion, Step } from '../../src/lab/experiments/model/types.ts';
import type { Sample, Spread } from '../../src/lab/experiments/model/result-types.ts';
import { parametersOf } from '../../src/lab/experiments/model/parameters.ts';
import { WORKLOADS, workloadOf } from '../../src/lab/experiments/workloads/index.ts';
import { numberWords, seeded } from '../../src/lab/experiments/workloads/random.ts';

const all = [
  ...WORKLOADS.flatMap((w) => w.assertions),
  ...EXPERIMENTS.flatMap((e) => e.expectations),
];

describe('the data', () => {
  it('ids are unique', () => {
    for (const ids of [
      WORKLOADS.map((w) => w.id),
      EXPERIMENTS.map((e) => e.id),
      ...EXPERIMENTS.map((e) => e.variants.map((v) => v.id)),
    ])
      expect(new Set(ids).size).toBe(ids.length);
  });

  it('no assertion is about an absolute time', () => {
    const faults = all.filter(
      ({ left, right }) =>
        isTime(left.counter) !== (typeof right === 'number' ? false : isTime(right.counter)),
    );
    expect(faults).toEqual([]);
  });

  it('every path of an expectation is a variant and a step of its workload', () => {
    for (const experiment of EXPERIMENTS) {
      const steps = new Map(
        experiment.variants.map((v) => {
          const workload = workloadOf(v.workload);
          return [
            v.id,
            new Set([
              'total',
              ...[...workload.steps(parametersOf(workload, v.parameters))].map((s) => s.id),
            ]),
          ];
        }),
      );
      expect(steps.has(experiment.baseline)).toBe(true);
      for (const { text, left, right } of experiment.expectations)
        for (const place of [left, ...(typeof right === 'number' ? [] : [right])])
          expect(
            steps.get(place.variant ?? '')?.has(place.step),
            `${experiment.id}, "${text}": ${place.variant} ${place.step}`,
          ).toBe(true);
    }
  });

  it('every claim is quoted from the documents', () => {
    const claims = [...WORKLOADS, ...EXPERIMENTS].flatMap((x) => x.claims);
    const known = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'seeds.md'), 'utf8');
    expect(claims.filter((c) => !new RegExp(`\\b${c.replace('.', '\\.')}\\b`).test(known))).toEqual(
      [],
    );
  });

  it('a workload generates the same bytes every time', () => {
    const text = (steps: Iterable<Step>): string => {
      const out: string[] = [];
      for (const s of steps) {
        if (s.kind === 'sql') out.push(s.sql);
        if (s.kind === 'bound') out.push(s.sql, JSON.stringify([...s.rows]));
        if (s.kind === 'sequence') out.push(text(s.steps));
        if (s.kind === 'transactions')
          for (let t = 0; t < 3; t++) out.push(JSON.stringify([...s.rows(t)]));
      }
      return out.join('\n');
    };
    for (const workload of WORKLOADS) {
      const p = parametersOf(workload, workload.id === 'sql-speed' ? { rows: 500 } : {});
      expect(text(workload.steps(p)), workload.id).toBe(text(workload.steps(p)));
    }
  });

  it('every variant runs with what its VFS needs', () => {
    for (const experiment of EXPERIMENTS)
      for (const [id, run] of runsOf(experiment, {}, { mode: experiment.mode, repeats: 3 }))
        expect(run.config.build === 'sync' && /IDB/.test(run.config.vfs), id).toBe(false);
  });
});

describe('text into settings', () => {
  it('settings by their names or as PRAGMAs, everything else as parameters', () => {
    expect(
      readWords([
        'pageSize=8192',
        'cache_size=-500',
        'journalMode=wal',
        'rows=10',
        'synchronous=default',
      ]),
    ).toEqual({
      config: { pageSize: 8192, cacheSize: -500, journalMode: 'wal', synchronous: null },
      parameters: { rows: 10 },
    });
  });
  it.each([
    ['pageSize=5', /expected one of 512, 1024/],
    ['vfs=Nowhere', /expected one of memory, MemoryVFS/],
    ['rows=many', /expected a whole number/],
    ['rows', /expected setting=value/],
    ['__proto__=1', /has no parameter "__proto__"|no parameter/],
  ])('%s is refused', (word, expected) => {
    expect(() =>
      runOf(workloadOf('sql-speed'), readWords([word]), { mode: 'count', repeats: 1 }),
    ).toThrow(expected);
  });
  it('rejects a parameter that is out of range, or of another workload', () => {
    expect(() => parametersOf(workloadOf('speedtest1'), { size: 101 })).toThrow(/from 1 to 100/);
    expect(() => parametersOf(workloadOf('speedtest1'), { rows: 1 })).toThrow(
      /no parameter "rows"; it has size/,
    );
    expect(() => workloadOf('nothing')).toThrow(
      /there is no workload "nothing"; there are sql-speed,/,
    );
  });
  it('an asynchronous VFS gets a build that can wait', () => {
    const build = (
      vfs: 'BlockIDB' | 'MemoryAsyncVFS' | 'MemoryVFS',
      engine: 'wa-sqlite-2.0.6' | 'wa-sqlite-1.0.0',
    ): string =>
      runOf(workloadOf('mix'), { config: { vfs, engine } }, { mode: 'count', repeats: 9 }).config
        .build;
    expect([
      build('BlockIDB', 'wa-sqlite-2.0.6'),
      build('BlockIDB', 'wa-sqlite-1.0.0'),
      build('MemoryVFS', 'wa-sqlite-2.0.6'),
    ]).toEqual(['jspi', 'asyncify', 'sync']);
    expect(runOf(workloadOf('mix'), {}, { mode: 'count', repeats: 9 }).repeats).toBe(1);
  });
});

describe('verdicts', () => {
  const assertion: Assertion = {
    text: 't',
    left: { step: 'a', counter: 'n', times: 2 },
    is: '<',
    right: { step: 'b', counter: 'n' },
  };
  const at = (a?: number, b?: number, mad?: number, n = 3, stepMs = 0) =>
    decide(assertion, ({ step }) => {
      const value = step === 'a' ? a : b;
      const spread: Spread | null =
        mad === undefined ? null : { median: 0, least: 0, most: 0, mad, n, passes: [] };
      return value === undefined ? undefined : { value, spread, stepMs };
    });
  it('counts decide exactly, with `times` applied, and are shown as measured', () => {
    expect(at(5, 11)).toMatchObject({ holds: true, left: 5, right: 11 });
    expect(at(5, 10)).toMatchObject({ holds: false });
  });
  it('what is unknown stays open and names its cause', () => {
    expect(at(5)).toMatchObject({ holds: null, why: 'not known here: b n' });
    expect(at(undefined, 1)).toMatchObject({ holds: null, why: 'not known here: a n' });
  });
  it('times within their noise decide nothing', () => {
    expect(at(5, 12, 1)).toMatchObject({ holds: null, why: 'the difference is within the noise' });
    expect(at(5, 13, 1)).toMatchObject({ holds: true });
    expect(at(5, 13, 0, 1)).toMatchObject({
      holds: null,
      why: 'a single pass shows no noise: run several',
    });
  });
  it('nor do times that differ by less than a step of the clock', () => {
    expect(at(0, 1, 0, 3, 1)).toMatchObject({
      holds: null,
      why: 'the difference is within the noise',
    });
    expect(at(0, 2, 0, 3, 1)).toMatchObject({ holds: true });
  });
});

describe('samples into a result', () => {
  const run = runOf(workloadOf('mix'), {}, { mode: 'time', repeats: 3 });
  const sample = (ms: number, reads: number, digest = 'd/1'): Sample => ({
    steps: [{ id: 's', title: 's', counters: { ms, 'vfs.calls': reads, 'commit.ms': ms / 2 } }],
    digest,
    notes: [],
    settings: {},
  });
  it('median and spread of times; counters that differ are named', () => {
    const result = resultOf(
      run,
      workloadOf('mix'),
      [sample(3, 7), sample(1, 7), sample(8, 9, 'e/1')],
      {},
    );
    expect(result.steps[0]).toMatchObject({
      ms: { median: 3, least: 1, most: 8, mad: 2, n: 3, passes: [3, 1, 8] },
      unstable: ['vfs.calls'],
      counters: { 'vfs.calls': 7 },
    });
    expect(result.steps[0]!.parts['commit.ms']).toMatchObject({ median: 1.5 });
    expect(result.notes.join('\n')).toMatch(/rows that came back differ[\s\S]*vfs\.calls differed/);
    expect(placed(result, { step: 's', counter: 'vfs.xSync' })).toEqual({
      value: 0,
      spread: null,
      stepMs: 0,
    });
    expect(placed(result, { step: 's', counter: 'block.put' })).toBeUndefined();
    expect(placed(result, { step: 'x', counter: 'ms' })).toBeUndefined();
  });
  it('a median of two lies between them', () => {
    expect(spreadOf([4, 2]).median).toBe(3);
  });
});

describe('seeded values', () => {
  it('numbers as words', () => {
    expect([0, 13, 20, 47, 100, 19_147, 1_000_001].map(numberWords)).toEqual([
      'zero',
      'thirteen',
      'twenty',
      'forty-seven',
      'one hundred',
      'nineteen thousand one hundred forty-seven',
      'one million one',
    ]);
  });
  it('the same draws from the same seed, spread over the range', () => {
    const draw = (): number[] => {
      const next = seeded(5);
      return Array.from({ length: 1000 }, () => next(10));
    };
    expect(draw()).toEqual(draw());
    expect(new Set(draw()).size).toBe(10);
  });
});
