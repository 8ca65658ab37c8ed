// A fleet's data set: what DuckDB reads from it. Adding data again, concurrently, or after a kill
// loses and duplicates nothing.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { fleetAdd } from '../../src/cli/fleet.ts';
import { exportCommand } from '../../src/cli/export.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { findings } from '../../src/analysis/findings/index.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { REPORT_FORMAT, type FieldReport } from '../../src/field/report.ts';
import { compact } from '../../src/fleet/compact.ts';
import { DataSet } from '../../src/fleet/data-set.ts';
import { idOf } from '../../src/fleet/inputs.ts';
import { fleetReport } from '../../src/fleet/report.ts';
import { FLEET_TABLES } from '../../src/fleet/tables.ts';
import { emptyPart, type Part } from '../../src/fleet/unit.ts';
import { PARQUET_SCHEMA_VERSION } from '../../src/formats/parquet.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { buildCommand } from './cli-command.ts';
import { comparable, questions } from './fleet-queries.ts';

const GOLDEN = 'tests/traces/golden';
const folder = mkdtempSync(join(tmpdir(), 'vfscope-fleet-'));
const traces = join(folder, 'traces');
const set = join(folder, 'set');
/** One trace per kind of storage. */
const golden = [
  'absurd-sql',
  'idb-batch-atomic',
  'kvvfs',
  'opfs-coop-sync',
  'opfs-sahpool',
  'opfs-wl-two-tabs',
].map((name) => `${name}.vfst`);

let command: string;
beforeAll(async () => {
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  mkdirSync(traces);
  for (const name of golden) copyFileSync(join(GOLDEN, name), join(traces, name));
  command = await buildCommand('vfscope-fleet-test');
  for (const shard of ['1/2', '2/2'])
    expect(await fleetAdd({ paths: [traces], out: set, labels: ['release=1.0'], shard })).toBe(0);
}, 90_000);
afterAll(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

const table = (name: string, of = set): string =>
  `read_parquet('${join(of, name, '*', '*.parquet')}')`;
async function query(sql: string): Promise<Record<string, unknown>[]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const rows = (await connection.runAndReadAll(sql)).getRowObjects();
  connection.closeSync();
  instance.closeSync();
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([k, v]) => [k, typeof v === 'bigint' ? Number(v) : (v ?? null)]),
    ),
  );
}
/** The rows of each table, equal for data sets with the same contents. */
async function contents(of: string): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const name of FLEET_TABLES.keys())
    [found[name]] = await query(
      `SELECT count(*) AS n, sum(hash(t)::HUGEINT)::VARCHAR AS hash FROM (SELECT * EXCLUDE (day) FROM ${table(name, of)}) t`,
    );
  return found;
}
const stores = Promise.all(
  golden.map(async (name) => (await readTrace(readFileSync(join(GOLDEN, name)))).store),
);

describe('DuckDB reads', () => {
  test('every trace, event, commit, and finding', async () => {
    const all = await stores;
    const sum = (of: (store: (typeof all)[number]) => number): number =>
      all.reduce((n, store) => n + of(store), 0);
    expect(
      await query(`SELECT count(*) AS n, sum(commits) AS commits FROM ${table('traces')}`),
    ).toEqual([{ n: all.length, commits: sum((store) => summaryOf(store).commits ?? 0) }]);
    expect(
      await query(`SELECT count(*) AS n, count(DISTINCT trace) AS traces FROM ${table('events')}`),
    ).toEqual([{ n: sum(({ eventCount }) => eventCount), traces: all.length }]);
    expect(await query(`SELECT count(*) AS n FROM ${table('findings')}`)).toEqual([
      { n: sum((store) => new Facts(store).get(findings).length) },
    ]);
  });

  test('labels and the class of the VFS', async () => {
    const rows = await query(
      `SELECT vfs_class, release, count(*) AS n FROM ${table('traces')} GROUP BY ALL ORDER BY ALL`,
    );
    expect(new Set(rows.map(({ release }) => release))).toEqual(new Set(['1.0']));
    // the app's own names aren't classes: most of these traces call theirs wa-sqlite
    expect(rows.map(({ vfs_class: name }) => name)).not.toContain('wa-sqlite');
    expect(rows.length).toBeGreaterThan(3);
  });

  test('the documented questions', async () => {
    for (const [question, sql] of questions((name) => table(name)))
      expect(comparable(await query(sql)).length, question).toBeGreaterThan(0);
  });

  test('the schema that docs/fleet.md promises', async () => {
    const document = readFileSync('docs/fleet.md', 'utf8');
    expect(document).toContain(`schema version ${PARQUET_SCHEMA_VERSION}`);
    for (const name of FLEET_TABLES.keys()) {
      const rows = await query(`SELECT column_name AS name, column_type AS type FROM
        (DESCRIBE SELECT * EXCLUDE (day) FROM ${table(name)})`);
      const section = document.slice(document.indexOf(`### ${name}\n`)).split('\n###')[0]!;
      const documented = [...section.matchAll(/^\| `(\w+)` \| (\w+) /gm)].map(([, n, type]) => ({
        name: n,
        type,
      }));
      expect(documented, name).toEqual(rows);
    }
  });
});

describe('adding', () => {
  const add = (out: string): string[] => [
    ...[command, 'fleet', 'add', traces],
    ...['--out', out, '--label', 'release=1.0'],
  ];
  test('twice at once, and again, gives the same', async () => {
    const out = join(folder, 'twice');
    const runs = [1, 2].map(() => spawn(process.execPath, add(out), { stdio: 'ignore' }));
    expect(await Promise.all(runs.map((run) => once(run, 'exit')))).toEqual([
      [0, null],
      [0, null],
    ]);
    const { status, stderr } = spawnSync(process.execPath, add(out), { encoding: 'utf8' });
    expect([status, stderr]).toEqual([
      0,
      expect.stringContaining(`0 added to ${out}, ${golden.length} already in it, 0 left out.`),
    ]);
    expect(await contents(out)).toEqual(await contents(set));
  });

  test('removes nothing from a process that added the same input, if it fails itself', () => {
    const out = join(folder, 'failed');
    const id = '0123456789abcdef';
    const places = (): string[] => new DataSet(out).files().map(({ table }) => table);
    const part = (name: string): Part => ({ ...emptyPart(name), day: '2026-11-29' });
    const failing = function* (meanwhile: () => void): Generator<Part> {
      yield part('events');
      meanwhile();
      throw new Error('it fails');
    };
    expect(() => new DataSet(out).add(id, failing(() => {}))).toThrow('it fails'); // prettier-ignore
    expect([places(), new DataSet(out).has(id)]).toEqual([[], false]);
    const other = (): void => new DataSet(out).add(id, [part('events'), part('traces')]);
    expect(() => new DataSet(out).add(id, failing(other))).toThrow('it fails');
    expect([places().sort(), new DataSet(out).has(id)]).toEqual([['events', 'traces'], true]);
    expect(readdirSync(join(out, '_tmp'))).toEqual([]);
  });

  test('continues after a kill in the middle', async () => {
    const out = join(folder, 'killed');
    mkdirSync(join(out, '_manifest'), { recursive: true });
    const run = spawn(process.execPath, [...add(out), '--shard', '1/1'], { stdio: 'ignore' });
    const entries = watch(join(out, '_manifest'));
    await once(entries, 'change'); // one trace is in, others are not
    run.kill('SIGKILL');
    await once(run, 'exit');
    entries.close();
    const before = new DataSet(out).ids().length;
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(golden.length);
    expect(await fleetAdd({ paths: [traces], out, labels: ['release=1.0'], shard: '1/1' })).toBe(0);
    expect(await contents(out)).toEqual(await contents(set));
  });

  test("leaves out files that aren't traces, and names them", async () => {
    const from = join(folder, 'odd');
    mkdirSync(from);
    writeFileSync(join(from, 'broken.vfst'), 'no trace');
    writeFileSync(join(from, 'other.json'), '{"vfscope": 1}');
    copyFileSync(join(GOLDEN, golden[0]!), join(from, golden[0]!));
    const out = join(folder, 'odd-set');
    expect(await exportCommand({ file: from, format: 'parquet', out, sanitize: true })).toBe(2);
    const said = vi.mocked(process.stderr.write).mock.calls.flat().join('');
    expect(said).toMatch(/broken\.vfst: .*isn't a vfscope recording/);
    // only traces can be exported
    expect(said).toContain(`1 added to ${out}, 0 already in it, 1 left out.`);
    expect(await query(`SELECT name FROM ${table('traces', out)}`)).toEqual([{ name: null }]);
    expect(await exportCommand({ file: from, format: 'csv', out })).toBe(2);
    expect(await fleetAdd({ paths: [join(from, 'other.json')], out })).toBe(2);
    expect(vi.mocked(process.stderr.write).mock.calls.flat().join('')).toMatch(
      /other\.json: it has no reports/,
    );
  });
});

describe('compacting', () => {
  test('leaves one file for each table and day, with the same rows, and so does a second run', async () => {
    const before = await contents(set);
    const report = await fleetReport(set, null);
    for (const round of ['first', 'second']) {
      await compact(set);
      const places = new DataSet(set).files().map((file) => `${file.table} ${file.day}`);
      expect(places.length, round).toBe(new Set(places).size);
      expect(await contents(set), round).toEqual(before);
      expect(await fleetReport(set, null), round).toEqual(report);
    }
    // what was added earlier is still known
    expect(await fleetAdd({ paths: [traces], out: set, shard: '1/1' })).toBe(0);
    expect(await contents(set)).toEqual(before);
  });

  test('counts nothing twice if it was interrupted before it removed what it had copied', async () => {
    const out = join(folder, 'half');
    await fleetAdd({ paths: [traces], out, labels: ['release=1.0'], shard: '1/1' });
    const files = new DataSet(out).files();
    const saved = files.map(({ path }) => [path, readFileSync(path)] as const);
    await compact(out);
    const report = await fleetReport(out, null);
    for (const [path, bytes] of saved) writeFileSync(path, bytes);
    expect(await fleetReport(out, null)).toEqual(report);
    await compact(out);
    expect(await contents(out)).toEqual(await contents(set));
  });

  test('of one data set runs one at a time', async () => {
    const out = join(folder, 'busy');
    await fleetAdd({ paths: [join(traces, golden[0]!)], out });
    const mark = join(out, '_manifest', 'compacting');
    const { pid } = process;
    const { hostname } = await import('node:os');
    writeFileSync(mark, `${hostname()} ${pid}`);
    await expect(compact(out)).rejects.toThrow(`is being compacted by process ${pid}`);
    writeFileSync(mark, ''); // killed before it could write its process id
    await expect(compact(out)).rejects.toThrow('is being compacted by another process');
    const gone = spawnSync(process.execPath, ['-e', '']).pid;
    writeFileSync(mark, `${hostname()} ${gone}`); // it was killed
    expect(await compact(out)).toMatchObject({ before: expect.any(Number) as number });
  });
});

describe('reports of the field', () => {
  const report = (n: number, more: Partial<FieldReport> = {}): FieldReport => ({
    vfscope: REPORT_FORMAT,
    id: `life-${n}`,
    at: Date.UTC(2026, 10, 20 + (n % 2)),
    ms: 60_000,
    weight: 100,
    labels: { release: n % 2 ? '1.1' : '1.0' },
    origin: 'https://app.example',
    agent:
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36',
    engine: 'wa-sqlite',
    sqlite: '3.50.1',
    storage: 'opfs',
    statements: [
      {
        text: 'SELECT * FROM t WHERE id = ?',
        hash: '0123abcd',
        runs: 10,
        us: 1000,
        failed: 0,
        histogram: [20, 9, 60, 1],
      },
    ],
    runs: 10,
    failed: 0,
    syncs: [40, 3],
    locks: n < 3 ? [70, 1] : [],
    lockUs: n < 3 ? 200_000 : 0,
    busy: 0,
    errors: n === 0 ? [['SQLITE_FULL', 'sqlite3_step', 2]] : [],
    findings: n % 2 ? [['F06', 25]] : [],
    faults: 0,
    trace: null,
    ...more,
  });
  const from = join(folder, 'reports');
  const out = join(folder, 'reported');
  const lines = (reports: readonly unknown[]): string =>
    reports.map((each) => JSON.stringify(each)).join('\n');
  beforeAll(async () => {
    mkdirSync(from);
    writeFileSync(join(from, 'a.jsonl'), lines([0, 1, 2, 3, 4, 5].map((n) => report(n))));
    // one was sent twice, one is damaged
    writeFileSync(
      join(from, 'b.jsonl'),
      `${lines([report(5), report(6), report(7, { weight: 0 })])}\n{"vfscope":1,`,
    );
    // with the trace of the same page life
    writeFileSync(join(from, 'opfs-coop-sync.json'), JSON.stringify(report(9)));
    copyFileSync(join(GOLDEN, 'opfs-coop-sync.vfst'), join(from, 'opfs-coop-sync.vfst'));
    expect(await fleetAdd({ paths: [from], out })).toBe(0);
  });

  test('are shares by release, weighted, with each page life once and a trace to open', async () => {
    const found = await fleetReport(out, 'release');
    expect(found.groups).toEqual([
      { name: '1.0', lives: 4, weight: 400 },
      { name: '1.1', lives: 4, weight: 400 },
    ]);
    const busy = found.findings.find(({ rule }) => rule === 'F06')!;
    expect(busy.shares.map(({ share }) => share)).toEqual([0, 1]);
    const name = 'opfs-coop-sync';
    const trace = idOf(readFileSync(join(GOLDEN, `${name}.vfst`)));
    expect(busy.example).toEqual({ trace, name });
    expect(found.waits.shares.map(({ share }) => share)).toEqual([0.5, 0.25]);
    expect(found.errors[0]).toMatchObject({ error: 'SQLITE_FULL', count: 2, lives: 1 });
    const [statement] = found.statements.filter(
      ({ fingerprint }) => fingerprint === 'select * from t where id = ?',
    );
    expect(statement).toMatchObject({ runs: 80, lives: 8 });
    expect([statement!.p50Us, statement!.p99Us]).toEqual([2 ** 5, 2 ** 15]);
  });

  test('add up statements of one fingerprint, also in a report that was sent twice', async () => {
    const [one] = report(0).statements;
    const alike = ['SELECT a FROM u', 'select  a\nFROM u'].map((text) => ({ ...one!, text }));
    const path = join(folder, 'alike.json');
    const other = join(folder, 'alike-again.jsonl');
    writeFileSync(path, JSON.stringify(report(0, { statements: alike })));
    writeFileSync(other, lines([report(0, { statements: alike }), report(1)]));
    const alikeOut = join(folder, 'alike');
    expect(await fleetAdd({ paths: [path, other], out: alikeOut })).toBe(0);
    const found = await fleetReport(alikeOut, null);
    expect(found.statements.find(({ fingerprint }) => fingerprint?.endsWith('from u'))?.runs).toBe(
      20,
    );
    expect(
      await query(
        `SELECT sum(count) AS runs FROM (SELECT DISTINCT * FROM ${table('histograms', alikeOut)})
         WHERE fingerprint LIKE '%from u'`,
      ),
    ).toEqual([{ runs: 20 }]);
  });

  test('give no weight to a trace whose report is present', async () => {
    expect(await query(`SELECT weight, release FROM ${table('traces', out)}`)).toEqual([
      { weight: 0, release: '1.1' },
    ]);
    expect(
      await query(`SELECT count(*) AS n FROM ${table('reports', out)} WHERE source = 'trace'`),
    ).toEqual([{ n: 0 }]);
  });
});

test('the report on the golden traces is the stored one (UPDATE_GOLDENS=1 writes it)', () => {
  const out = join(folder, 'all');
  const fleet = (...args: string[]): string => {
    const { stdout, stderr, status } = spawnSync(process.execPath, [command, 'fleet', ...args], {
      encoding: 'utf8',
    });
    expect(status, stderr).toBe(0);
    return stdout;
  };
  // enough files to use all cores
  fleet(
    'add',
    ...readdirSync(GOLDEN)
      .filter((n) => n.endsWith('.vfst'))
      .map((n) => join(GOLDEN, n)),
    '--out',
    out,
  );
  const stdout = fleet('report', out, '--by', 'vfs_class', '--markdown');
  const stored = join(GOLDEN, 'fleet-report.md');
  if (process.env['UPDATE_GOLDENS'] === '1') writeFileSync(stored, stdout);
  expect(stdout).toBe(readFileSync(stored, 'utf8'));
});
