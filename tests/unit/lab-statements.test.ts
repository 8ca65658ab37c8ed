/**
 * Count mode: every instruction of a step belongs to a statement, and every instruction between two
 * VFS calls to a gap.
 */
import { describe, expect, it } from 'vitest';
import { nodeSurroundings } from '../../src/lab/command/node.ts';
import { runOf } from '../../src/lab/experiments/plan.ts';
import { sampleOf } from '../../src/lab/experiments/run.ts';
import { DEFAULT_CONFIG, type Config } from '../../src/lab/experiments/model/types.ts';
import type {
  RunResult,
  Sample,
  StatementCount,
} from '../../src/lab/experiments/model/result-types.ts';
import { cpuTables } from '../../src/lab/results/cpu.ts';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';

const around = nodeSurroundings();
const sample = (
  workload: string,
  config: Partial<Config>,
  sql?: string,
  parameters = {},
): Promise<Sample> =>
  sampleOf(
    runOf(
      workloadOf(workload, sql),
      { config, parameters },
      { mode: 'count', repeats: 1, ...(sql ? { sql } : {}) },
    ),
    around,
  );
const sum = (all: readonly number[]): number => all.reduce((a, b) => a + b, 0);

const SCRIPT = `CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);
INSERT INTO t VALUES(1,'one');
INSERT INTO t VALUES(2,'two');
INSERT INTO t VALUES(3,'three');
-- step read
SELECT count(*) FROM t;
SELECT b FROM t WHERE a = 2;
SELECT b FROM t WHERE a = 3;
`;

describe('instructions by statement', () => {
  it.each([
    { vfs: 'memory' },
    { vfs: 'MemoryVFS' },
    { vfs: 'memory', engine: 'wa-sqlite-1.0.0' },
    { vfs: 'MemoryAsyncVFS', build: 'asyncify' },
  ] satisfies Partial<Config>[])(
    '%o: runs of one text together, and the sum is the step, to the last one',
    async (config) => {
      const { steps } = await sample('own-sql', config, SCRIPT);
      const [write, read] = steps.map((s) => s.statements!);
      expect(write!.map(({ sql, runs }) => [sql, runs])).toEqual([
        ['CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);', 1],
        ['INSERT INTO t VALUES(?,?);', 3],
        ['', 0],
      ]);
      expect(read!.map(({ runs }) => runs)).toEqual([1, 2, 0]);
      for (const { statements, counters } of steps) {
        expect(sum(statements!.map((s) => s.instructions))).toBe(counters['instructions']);
        expect(sum(statements!.map((s) => s.calls))).toBe(counters['vfs.calls'] ?? 0);
        for (const { sql, instructions } of statements!)
          expect([sql, instructions > 0]).toEqual([sql, true]);
      }
      // an INSERT with its own commit costs more than a point read
      expect(write![1]!.instructions / 3).toBeGreaterThan(read![1]!.instructions / 2);
    },
  );

  it('bound statements and transactions: BEGIN and COMMIT are separate from the statements between them', async () => {
    const { steps } = await sample('sequential-write', { vfs: 'MemoryVFS' }, undefined, {
      transactions: 7,
      items: 5,
    });
    const run = steps.find((s) => s.id === 'run')!;
    const runs = new Map(
      run.statements!.map(({ sql, runs }) => [sql.split(' ')[0]!.replace(/;$/, ''), runs]),
    );
    expect([runs.get('BEGIN'), runs.get('COMMIT')]).toEqual([7, 7]);
    expect([...runs.values()]).toContain(35);
    expect(sum(run.statements!.map((s) => s.instructions))).toBe(run.counters['instructions']);
  });
});

describe('instructions between VFS calls', () => {
  it('a gap before every call, and after the last one the rest of the step', async () => {
    const { steps } = await sample('own-sql', { vfs: 'MemoryVFS' }, SCRIPT);
    for (const { counters } of steps) {
      const of = (prefix: RegExp): number =>
        sum(Object.entries(counters).flatMap(([name, n]) => (prefix.test(name) ? [n] : [])));
      expect(of(/^gap\.size\./)).toBe(counters['vfs.calls']);
      const gaps = of(/^gap\.[a-z-]+\.x/);
      expect(gaps).toBeGreaterThan(counters['instructions']! / 2);
      expect(gaps).toBeLessThan(counters['instructions']!);
    }
  });

  it('the same numbers every time, and none without a VFS or in time mode', async () => {
    const [first, second] = [
      await sample('ac60', { vfs: 'MemoryVFS' }),
      await sample('ac60', { vfs: 'MemoryVFS' }),
    ];
    expect(first.steps).toEqual(second.steps);
    const memory = await sample('ac60', { vfs: 'memory' });
    expect(
      Object.keys(memory.steps[0]!.counters).filter((name) => name.startsWith('gap.')),
    ).toEqual([]);
    const timed = await sampleOf(
      runOf(workloadOf('ac60'), { config: { vfs: 'MemoryVFS' } }, { mode: 'time', repeats: 1 }),
      around,
    );
    expect(timed.steps[0]!.statements).toBeUndefined();
    expect(Object.keys(timed.steps[0]!.counters).filter((name) => name.startsWith('gap.'))).toEqual(
      [],
    );
  });
});

describe('instructions by function', () => {
  it.each([{ vfs: 'memory' }, { vfs: 'MemoryVFS' }] satisfies Partial<Config>[])(
    '%o: the sum is the step, to the last one',
    async (config) => {
      const run = runOf(
        workloadOf('own-sql', SCRIPT),
        { config },
        { mode: 'count', repeats: 1, sql: SCRIPT, functions: true },
      );
      const { steps } = await sampleOf(run, around);
      const whole = await sample('own-sql', config, SCRIPT);
      for (const [i, { functions, counters, statements }] of steps.entries()) {
        expect(sum(functions!.map((f) => f.instructions))).toBe(counters['instructions']);
        expect(counters['instructions']).toBe(whole.steps[i]!.counters['instructions']);
        expect(statements).toBeUndefined();
        expect(functions!.length).toBeGreaterThan(50);
      }
      expect(steps[1]!.functions!.map(({ name }) => name)).toContain('sqlite3_step');
    },
  );
});

it('as tables: what only one of two has took none in the other, and rows of one result have a mean', () => {
  const counted = (statements: StatementCount[]): RunResult =>
    ({
      run: { config: DEFAULT_CONFIG },
      totals: {},
      steps: [{ id: 'run', counters: {}, statements }],
    }) as unknown as RunResult;
  const select = { sql: 'SELECT ?', runs: 4, instructions: 1000, calls: 0 };
  const begin = { sql: 'BEGIN', runs: 1, instructions: 30, calls: 0 };
  const [one] = cpuTables([counted([select])], 'total', ['A']);
  expect([one!.head, one!.rows]).toEqual([
    ['statement (literals folded)', 'runs', 'instructions', 'each'],
    [['SELECT ?', '4', '1,000', '250']],
  ]);
  const both = [counted([select, begin]), counted([{ ...select, instructions: 900 }])];
  const [two, gaps] = cpuTables(both, 'total', ['A', 'B']);
  expect([two!.head.slice(1), two!.rows]).toEqual([
    ['runs A', 'runs B', 'instructions A', 'instructions B', 'B - A'],
    [
      ['SELECT ?', '4', '4', '1,000', '900', '−100'],
      ['BEGIN', '1', '', '30', '', '−30'],
    ],
  ]);
  expect(gaps!.rows).toEqual([]);
});
