/**
 * `vfscope record --cpu`: for statements with a known hot function, samples rank it first and
 * report as much CPU time as the trace's time partition. The hot functions in SQLite's code are
 * known from the Lab's exact counts of the same build and SQL.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { grouped } from '../../src/analysis/core/maps.ts';
import { sampleSums, type StatementSamples } from '../../src/analysis/cpu/hot-functions.ts';
import {
  statementTable,
  type StatementRow,
} from '../../src/analysis/statements/statement-table.ts';
import { record } from '../../src/cli/record.ts';
import { nodeSurroundings, packageFile } from '../../src/lab/command/node.ts';
import { Engines } from '../../src/lab/experiments/engine/open-engine.ts';
import { functionNames } from '../../src/lab/meter/function-names.ts';
import { nameFunctions } from '../../src/trace/name-functions.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { EXTENSION } from './extension-harness.ts';
import { recordHarness } from './record-harness.ts';

const command = recordHarness();

const ROWS = 20_000;
const SETUP = [
  'CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT)',
  `WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
   INSERT INTO t SELECT i, 'the quick brown fox ' || i || ' jumps over the lazy dog' FROM n`,
];
/** Takes hundreds of samples. */
const LIKE = `SELECT count(*) FROM t WHERE ${['d%x%t%dig', 'q%k%z', 'o%x%y%q', 't%q%v%z', 'e%b%f%q', 'u%w%x%k'].map((like) => `body LIKE '%${like}%'`).join(' OR ')}`;
/** 200 different texts of 60 KB, because SQLite would parse the same one only once. */
const JSON_SQL = `WITH d(doc) AS MATERIALIZED (SELECT replace(hex(zeroblob(20000)), '00', ',12') || ']'),
  n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
  SELECT sum(json_array_length('[' || i || doc)) FROM n, d`;
const SCALAR = 'SELECT sum(slow_scalar(id)) FROM t';
/**
 * Reads take part of the first one's time. With many reads and little computing the shares would
 * differ: vfscope's own work during a read counts as computing in the time partition, but not in
 * samples.
 */
const RUNS = [
  'PRAGMA cache_size=10',
  [2, SCALAR],
  'PRAGMA cache_size=-4000',
  'SELECT sum(length(body)) FROM t', // from here on all pages are in the cache
  [4, LIKE],
  [3, JSON_SQL],
];

/** The function that executes most of a statement's instructions, by V8's name. */
async function hottestOf(sql: string): Promise<string> {
  const { engines } = nodeSurroundings();
  if (!(engines instanceof Engines)) throw new Error('these are no engines of Node');
  const engine = await engines.open({ engine: 'wa-sqlite-2.0.6', build: 'sync' }, 'functions');
  const db = await engine.sqlite3.open_v2(':memory:');
  for (const each of SETUP) await engine.sqlite3.exec(db, each);
  const before = new Map(engine.functions().map((f) => [f.index, f.instructions]));
  await engine.sqlite3.exec(db, sql);
  const [first] = engine
    .functions()
    .map(({ index, instructions }) => ({ index, n: instructions - (before.get(index) ?? 0n) }))
    .sort((a, b) => Number(b.n - a.n));
  await engine.sqlite3.close(db);
  return `wasm-function[${first!.index}]`;
}

let store: TraceStore;
let rows: readonly StatementRow[];
let sums: readonly StatementSamples[];
beforeAll(async () => {
  const script = path.join(command.folder, 'steps.mjs');
  const list = [...SETUP, ...RUNS];
  await writeFile(
    script,
    `export default async (page) => {
      await page.waitForFunction(() => document.body.dataset.state === 'ready', { polling: 50 });
      await page.evaluate((sql) => window.run('sql', { sql, unchecked: true }), ${JSON.stringify(list)});
    };`,
  );
  const out = path.join(command.folder, 'cpu.vfst');
  const url = `${command.server.origin('cpu')}/journeyapps-wa-sqlite/?vfs=AccessHandlePool&scalar=1`;
  const args = { url, out, script, cpu: true, extension: EXTENSION };
  expect(await record(args), command.said).toBe(0);
  ({ store } = await readTrace(await readFile(out)));
  const facts = new Facts(store);
  rows = facts.get(statementTable)!.rows;
  sums = facts.get(sampleSums)!.statements;
});

const of = (words: string): [StatementSamples, StatementRow] => [
  sums.find(({ sql }) => sql?.includes(words))!,
  rows.find(({ sql }) => sql?.includes(words))!,
];

describe('samples', () => {
  test.each([
    ['slow_scalar', () => Promise.resolve('slowScalar')],
    ['LIKE', () => hottestOf(LIKE)],
    ['json_array_length', () => hottestOf(JSON_SQL)],
  ])('name the hot function of %s first', async (words, known) => {
    const [{ samples, functions }] = of(words);
    expect(samples).toBeGreaterThan(50);
    expect(functions[0]!.name).toBe(await known());
  });

  test.each(['slow_scalar', 'LIKE', 'json_array_length'])(
    'say as much computing in %s as the time partition',
    (words) => {
      const [{ samples, onCpu }, { time }] = of(words);
      const points = 100 * (onCpu / samples - time.cpuUs / time.spanUs);
      expect(Math.abs(points), `${onCpu} of ${samples}, ${JSON.stringify(time)}`).toBeLessThan(5);
    },
  );

  test('are placed by a clock with an error below a millisecond', () => {
    const sampled = store.threads.filter(({ cpu }) => cpu);
    expect(sampled.map(({ info }) => info.kind).sort()).toEqual(['page', 'worker']);
    for (const { cpu } of sampled) expect(cpu!.clockErrorUs).toBeLessThan(1000);
  });

  // the last test, because it changes names
  test('take names only from a wasm file of the same build', async () => {
    const named = async (build: string): Promise<number> => {
      const bytes = await readFile(packageFile(`@journeyapps/wa-sqlite/dist/${build}.wasm`));
      const { functions, starts } = functionNames(bytes);
      const names = new Map(Array.from({ length: functions }, (_, i) => [i, `f${i}`]));
      return nameFunctions(store, { names, functions, starts });
    };
    const inWasm = store.threads
      .flatMap(({ cpu }) => cpu?.functions ?? [])
      .filter(({ name }) => name.startsWith('wasm-function['));
    expect(inWasm.filter(({ column }) => column === 0)).toEqual([]);
    // another module: vfscope's trampolines
    const ofSqlite = Math.max(
      ...[...grouped(inWasm, ({ url }) => url).values()].map(({ length }) => length),
    );
    expect(await named('wa-sqlite-async')).toBe(0);
    expect(await named('wa-sqlite')).toBe(ofSqlite);
  });
});
