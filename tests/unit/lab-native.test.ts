/** Times next to a native SQLite: the same SQL on both sides, and no counts. */
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import {
  findNative,
  measureBesideNative,
  nativeSampler,
  nodeSqlite,
  notNative,
  shellSqlite,
  type NativeSqlite,
} from '../../src/lab/command/native.ts';
import { orderOf, type LabOptions } from '../../src/lab/command/order.ts';
import { nodeSurroundings } from '../../src/lab/command/node.ts';
import { asText, literal, sqlOf } from '../../src/lab/experiments/engine/as-text.ts';
import { spreadOf } from '../../src/lab/experiments/model/aggregate.ts';
import type { RunResult } from '../../src/lab/experiments/model/result-types.ts';
import { runOf } from '../../src/lab/experiments/plan.ts';
import { measure } from '../../src/lab/experiments/run.ts';
import { isRunResult } from '../../src/lab/experiments/saved-result.ts';
import { workload } from '../../src/lab/experiments/workloads/define.ts';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';
import { nativeTable, timesNative } from '../../src/lab/results/native.ts';

const around = nodeSurroundings();
const timed = (id: string, parameters = {}, asked = true) =>
  runOf(
    workloadOf(id),
    { config: { vfs: 'memory' }, parameters },
    { mode: 'time', repeats: 1, ...(asked ? { asText: true } : {}) },
  );

describe('bound values as text', () => {
  it('are literals', () => {
    expect([null, 1, -2.5, 1e21, "it's", new Uint8Array([0, 255])].map(literal)).toEqual([
      'NULL',
      '1',
      '-2.5',
      '1e+21',
      "'it''s'",
      "x'00ff'",
    ]);
  });
  it('replace their parameters, and nothing else', () => {
    const sql = 'INSERT INTO t VALUES(?2, ?1, \'?1\', "?") -- ?1';
    const bound = { kind: 'bound', id: 'b', title: '', oneTransaction: true } as const;
    expect(sqlOf({ ...bound, sql, rows: [[1, 'a']] })).toBe(
      "BEGIN;\nINSERT INTO t VALUES('a', 1, '?1', \"?\") -- ?1\n;\nCOMMIT;\n",
    );
    expect(
      sqlOf({
        ...bound,
        oneTransaction: false,
        sql: 'SELECT ?, ?;',
        rows: [
          [1, 2],
          [3, 4],
        ],
      }),
    ).toBe('SELECT 1, 2;\nSELECT 3, 4;\n');
  });
  it('work for every workload of speedtest1 and transactions', async () => {
    for (const [id, parameters] of [
      ['speedtest1', { size: 1 }],
      ['sequential-write', { transactions: 5 }],
    ] as const) {
      const [text, bound] = await measure(
        [timed(id, parameters), timed(id, parameters, false)],
        around,
      );
      expect([id, text!.digest, text!.stored]).toEqual([id, bound!.digest, bound!.stored]);
      expect(text!.steps.map((step) => step.id)).toEqual(bound!.steps.map((step) => step.id));
    }
  });
  it("leave text that isn't SQL unchanged", () => {
    const only = workload({
      ...{ id: 'x', title: 'x', question: '' },
      steps: () => [{ kind: 'host', id: 'h', title: '', action: 'reopen' }],
    });
    expect([...asText(only).steps({})].map(({ kind }) => kind)).toEqual(['host']);
  });
});

/** 20 ms for each script. */
const slow = (scripts: string[][] = []): NativeSqlite => ({
  ...{ program: 'sqlite3 shell', sqlite: '3.40.1' },
  times: (all) => {
    scripts.push([...all]);
    return Promise.resolve(all.map(() => 20));
  },
});

describe('workloads that both can run', () => {
  const ORDER: Omit<LabOptions, 'what'> = {
    ...{ verb: 'run', config: [], compare: [], count: false, statements: false, functions: false },
    ...{ node: true, json: false, repeats: 1, sql: undefined, database: undefined },
    ...{ headed: false, browser: 'chromium', native: true },
  };
  it.each([
    ['speedtest1', 'memory'],
    ['kv-sweep', 'MemoryVFS'], // it reopens its database
  ])('%s on %s', async (what, vfs) => {
    const { runs } = await orderOf({ ...ORDER, what });
    expect(runs.map(({ config }) => config.vfs)).toEqual([vfs]);
  });
});

describe('the reference', () => {
  it('runs the same SQL under the same pragmas, equally often, alternating', async () => {
    const scripts: string[][] = [];
    const run = runOf(
      workloadOf('sequential-write'),
      { config: { vfs: 'memory', cacheSize: 50 }, parameters: { transactions: 2 } },
      { mode: 'time', repeats: 2, asText: true },
    );
    const [result] = await measureBesideNative([run], around, () => Promise.resolve(slow(scripts)));
    const { native, run: ran } = result as RunResult;
    expect(scripts).toHaveLength(3); // one warms up
    expect(scripts[0]![0]).toMatch(/^PRAGMA cache_size=50;\n/);
    expect(scripts[0]![1]!.match(/^COMMIT;$/gm)).toHaveLength(2);
    expect(native).toMatchObject({ program: 'sqlite3 shell', sqlite: '3.40.1' });
    expect(native!.totalMs).toMatchObject({ median: 20, n: 2 });
    expect(ran.config.engine).toBe('wa-sqlite-2.0.6');
    expect(isRunResult(JSON.parse(JSON.stringify(result)))).toBe(true);
  });
  it('is n/a with its cause if it is missing, and the run is still there', async () => {
    const why = 'no sqlite3 program was found, and Node 20.0.0 has no node:sqlite';
    const [result] = await measureBesideNative([timed('ac60')], around, () => Promise.resolve(why));
    expect((result as RunResult).native).toBeUndefined();
    expect((result as RunResult).notes).toContain(`Times native: n/a, ${why}.`);
  });
  it('is n/a with its message if it fails', async () => {
    const broken = { ...slow(), times: () => Promise.reject(new Error('no such module: fts5.')) };
    const [result] = await measureBesideNative([timed('ac60')], around, () =>
      Promise.resolve(broken),
    );
    expect((result as RunResult).notes).toContain('Times native: n/a, no such module: fts5.');
  });
  it("has no counterpart for workers or for a user's database", () => {
    expect(notNative(workloadOf('contention'))).toBe('it runs in workers');
    expect(notNative(workloadOf('own-database', 'SELECT 1'))).toBe(
      'it runs on a copy of your database',
    );
    expect(notNative(workloadOf('speedtest1'))).toBeNull();
  });
  it('by node:sqlite, if it exists', async () => {
    const ran: string[] = [];
    let open = 0;
    class DatabaseSync {
      constructor() {
        open++;
      }
      exec(sql: string): void {
        ran.push(sql);
      }
      prepare = () => ({ get: () => ({ version: '3.50.1' }) });
      close(): void {
        open--;
      }
    }
    const native = nodeSqlite({ DatabaseSync });
    expect(native).toMatchObject({ program: 'node:sqlite', sqlite: '3.50.1' });
    const sample = await nativeSampler(native)(timed('ac60'), workloadOf('ac60'));
    expect(sample.steps[0]!.counters.ms).toBeGreaterThanOrEqual(0);
    expect([ran.length, open]).toEqual([2, 0]);
  });
  it('reports why there is none', async () => {
    const found = await findNative('no-such-sqlite3');
    // a newer Node has node:sqlite
    if (typeof found === 'string')
      expect(found).toMatch(/^no sqlite3 program was found, and Node [\d.]+ has no node:sqlite$/);
    else expect(found.program).toBe('node:sqlite');
    await expect(shellSqlite(process.execPath)).rejects.toThrow('names no version of SQLite');
  });
});

const hasShell = ((): boolean => {
  try {
    return /^3\./.test(execFileSync('sqlite3', ['--version'], { encoding: 'utf8' }));
  } catch {
    return false;
  }
})();
describe.runIf(hasShell)("the system's sqlite3", () => {
  it('times each step of a workload', async () => {
    const native = await shellSqlite('sqlite3');
    expect(native.sqlite).toMatch(/^3\.\d+\.\d+$/);
    const run = timed('speedtest1', { size: 1 });
    const sample = await nativeSampler(native)(run, workloadOf('speedtest1'));
    expect(sample.steps.length).toBeGreaterThan(20);
    expect(sample.steps.every(({ counters }) => counters.ms! >= 0)).toBe(true);
    expect(sample.steps.reduce((sum, { counters }) => sum + counters.ms!, 0)).toBeGreaterThan(5);
  });
  it('reports what it could not parse', async () => {
    const native = await shellSqlite('sqlite3');
    await expect(native.times(['SELECT 1;', 'SELEC 1;'])).rejects.toThrow(/SELEC/);
  });
});

describe('the table', () => {
  const time = (ms: number) => spreadOf([ms]);
  it('has a ratio if native takes long enough for its clock', () => {
    expect(timesNative(time(30), time(20))).toBe(1.5);
    expect(timesNative(time(30), time(9))).toBeNull();
    expect(timesNative(null, time(20))).toBeNull();
  });
  it('has a row for each step, and its total is n/a if native left out a step', async () => {
    const [result] = (await measureBesideNative([timed('speedtest1', { size: 1 })], around, () =>
      Promise.resolve(slow()),
    )) as RunResult[];
    const table = nativeTable([{ name: 'a', result: result! }])!;
    expect(table.title).toBe('Times native (sqlite3 shell, SQLite 3.40.1)');
    expect(table.rows).toHaveLength(result!.steps.length + 1);
    expect(table.rows[0]!.slice(2)).toEqual(['20 ms', expect.stringMatching(/^×[\d.]+$/)]);
    const { '100': _, ...others } = result!.native!.steps;
    const less = { ...result!, native: { ...result!.native!, steps: others } };
    const rows = nativeTable([{ name: 'a', result: less }])!.rows;
    expect([rows[0]!.slice(2), rows.at(-1)!.slice(2)]).toEqual([
      ['n/a', 'n/a'],
      ['n/a', 'n/a'],
    ]);
  });
});
