/**
 * The Lab's workloads in Node: their exact counts, and invariants of each. `npx vitest run
 * --project contract tests/contract/lab-workloads.test.ts -u` rewrites the counts.
 */
import { describe, expect, it } from 'vitest';
import { nodeSurroundings } from '../../src/lab/command/node.ts';
import { EXPERIMENTS } from '../../src/lab/experiments/documents/index.ts';
import { onVfs } from '../../src/lab/experiments/on-vfs.ts';
import { runOf, runsOf, type Asked } from '../../src/lab/experiments/plan.ts';
import { experimentResult, runExperiment } from '../../src/lab/experiments/run-experiment.ts';
import { hindrance, measure } from '../../src/lab/experiments/run.ts';
import type { Counters, Workload } from '../../src/lab/experiments/model/types.ts';
import type { RunResult } from '../../src/lab/experiments/model/result-types.ts';
import { WORKLOADS, workloadOf } from '../../src/lab/experiments/workloads/index.ts';

const around = nodeSurroundings();
const counted = async (
  workload: Workload,
  asked: Partial<Asked> = {},
  sql?: string,
): Promise<RunResult> =>
  (await measure([runOf(workload, asked, { mode: 'count', repeats: 1, sql })], around))[0]!;
const step = (result: RunResult, id: string): RunResult['steps'][number] => {
  const found = result.steps.find((s) => s.id === id);
  if (!found) throw new Error(`no step ${id} in ${result.steps.map((s) => s.id).join(', ')}`);
  return found;
};

/** Smaller than the default if the default takes seconds. */
const SMALLER: Readonly<Record<string, Record<string, number>>> = {
  'sql-speed': { rows: 2500, commits: 100 },
};
const inNode = WORKLOADS.filter(
  (w) =>
    w.config.vfs !== 'memory' &&
    !w.needs?.includes('workers') &&
    w.id !== 'own-sql' &&
    !w.needs?.includes('database'),
);

describe('every workload: the same counts in two fresh instances, and as stored', () => {
  it.each(inNode.map((w) => [w.id, w] as const))('%s', async (id, workload) => {
    const asked = { parameters: SMALLER[id] ?? {} };
    const first = await counted(workload, asked);
    expect(await counted(workload, asked)).toEqual(first);
    expect(first.verdicts.filter((v) => v.holds === false)).toEqual([]);
    expect(first.notes).toEqual([]);
    const words = (counters: Counters): string =>
      Object.entries(counters)
        // gaps: equal above, and they add up to the instructions
        .flatMap(([name, n]) => (n && !name.startsWith('gap.') ? [`${name} ${n}`] : []))
        .join(', ');
    const lines = first.steps.map((s) => `${s.id}: ${s.skipped ?? words(s.counters)}`);
    await expect(
      [`version ${first.version}`, `rows ${first.digest}`, ...lines, ''].join('\n'),
    ).toMatchFileSnapshot(`goldens/lab/${id}.txt`);
  });
});

it('speedtest1: one count in 5 of 5 runs', async () => {
  const run = runOf(
    workloadOf('speedtest1'),
    { config: { vfs: 'memory' } },
    { mode: 'count', repeats: 1 },
  );
  const counts = [];
  for (let i = 0; i < 5; i++) counts.push((await measure([run], around))[0]!.totals.instructions);
  expect(counts).toEqual(Array.from({ length: 5 }, () => 1_277_269_881));
});

describe('compared with measurements by other tools', () => {
  it('a checkpoint of 560 pages in one run, then of 60 pages in 58', async () => {
    const result = await counted(workloadOf('checkpoint-anatomy'));
    const { passive, truncate } = {
      passive: step(result, 'passive').counters,
      truncate: step(result, 'truncate').counters,
    };
    expect([
      passive['checkpoint.walReads'],
      passive['checkpoint.dbWrites'],
      passive['checkpoint.runs'],
    ]).toEqual([560, 560, 1]);
    expect([
      truncate['checkpoint.walReads'],
      truncate['checkpoint.dbWrites'],
      truncate['checkpoint.runs'],
    ]).toEqual([60, 60, 58]);
  });

  it('hits and misses of 20,000 rows by page size and cache', async () => {
    const misses = async (pageSize: number, cacheSize: number): Promise<unknown> => {
      const result = await counted(workloadOf('kv-sweep'), { config: { pageSize, cacheSize } });
      return ['sum-1', 'sum-2'].map((id) => [
        step(result, id).counters['cache.hit'],
        step(result, id).counters['cache.miss'],
      ]);
    };
    expect(await misses(4096, 500)).toEqual([
      [3, 192],
      [195, 0],
    ]);
    expect(await misses(4096, 20)).toEqual([
      [3, 192],
      [2, 193],
    ]);
    expect(await misses(8192, 500)).toEqual([
      [3, 96],
      [99, 0],
    ]);
    expect(await misses(32768, 500)).toEqual([
      [3, 23],
      [26, 0],
    ]);
  });

  it('1,000 transactions of one INSERT: calls of the journal modes', async () => {
    const t1 = async (config: Asked['config']): Promise<unknown> => {
      const { counters } = step(
        await counted(workloadOf('sql-speed'), { config, parameters: { rows: 100 } }),
        'T1',
      );
      return ['xRead', 'xWrite', 'xSync', 'xLock'].map((op) => counters[`vfs.${op}`] ?? 0);
    };
    expect(await t1({ journalMode: 'delete' })).toEqual([2002, 10018, 3003, 3003]);
    expect(await t1({ journalMode: 'wal', lockingMode: 'exclusive' })).toEqual([16, 2075, 4, 0]);
  });
});

it("a user's script: steps by their markers, and an error with the step and SQLite's message", async () => {
  const sql =
    'CREATE TABLE t(a);\n-- step fill\nINSERT INTO t VALUES(1),(2);\n-- step read\nSELECT a FROM t;\n-- step read\nSELECT sum(a) FROM t;';
  const result = await counted(workloadOf('own-sql', sql), {}, sql);
  expect(result.steps.map((s) => [s.id, s.counters.rows])).toEqual([
    ['script', 0],
    ['fill', 0],
    ['read', 2],
    ['read (2)', 1],
  ]);
  const wrong = '-- step broken\nSELEC 1;';
  await expect(counted(workloadOf('own-sql', wrong), {}, wrong)).rejects.toThrow(
    /step "broken": .*syntax error/,
  );
});

it('each function separately: the sum is the total', async () => {
  const { Engines } = await import('../../src/lab/experiments/engine/open-engine.ts');
  const sum = async (metering: 'total' | 'functions'): Promise<[bigint, number]> => {
    const engine = await (around.engines instanceof Engines ? around.engines : null)!.open(
      { engine: 'wa-sqlite-2.0.6', build: 'sync' },
      metering,
    );
    const db = await engine.sqlite3.open_v2(':memory:');
    await engine.sqlite3.exec(db, 'CREATE TABLE t(a); INSERT INTO t VALUES(1);');
    const functions = engine.functions();
    return [engine.instructions!(), functions.length];
  };
  const [total, none] = await sum('total');
  const [apart, functions] = await sum('functions');
  expect(none).toBe(0);
  expect(functions).toBeGreaterThan(300);
  // the engine's own random numbers aren't seeded here, and both databases differ only in them
  expect(Math.abs(Number(apart - total))).toBeLessThan(1000);
});

describe('experiments in Node', () => {
  it.each(EXPERIMENTS.filter((e) => e.id !== 'write-policy').map((e) => [e.id, e] as const))(
    '%s',
    async (_, experiment) => {
      const result = await runExperiment(
        onVfs(experiment, [], 'node'),
        {},
        { mode: 'count', repeats: 1 },
        around,
      );
      expect(result.verdicts.filter((v) => v.holds === false)).toEqual([]);
      expect(result.verdicts.filter((v) => v.holds).length).toBeGreaterThan(3);
      const runs = [...runsOf(experiment, {}, { mode: 'count', repeats: 1 })];
      expect(Object.keys(result.skipped)).toEqual(
        runs.flatMap(([id, run]) => (hindrance(run, around) ? [id] : [])),
      );
    },
  );

  it('an expectation whose variant did not run stays open, with the cause', () => {
    const { verdicts } = experimentResult(onVfs(EXPERIMENTS[0]!, [], 'node'), new Map(), {});
    expect(verdicts.every((v) => v.holds === null && /^not known here: /.test(v.why ?? ''))).toBe(
      true,
    );
  });
});
