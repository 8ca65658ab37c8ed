/**
 * What a run of a statement added to the engine's counters, compared with an untraced engine of the
 * same build whose app reads them.
 */
import { afterEach, expect, it } from 'vitest';
import { Op } from '../../src/event/event.ts';
import { Rc, StatementStatus, VALUES_HASH } from '../../src/sqlite/constants.ts';
import { Copy } from '../../src/lab/advisor/copy.ts';
import { nodeSurroundings } from '../../src/lab/command/node.ts';
import { storeOf } from './helpers/store.ts';
import { pageCacheOf } from '../traces/analyses.ts';
import { shellStat, sqliteShell } from './helpers/sqlite-shell.ts';
import { Traced, type Row } from './helpers/traced.ts';
import { loadWaSqlite, type Build, type WaSqlite } from './helpers/wa-sqlite.ts';

const open: Traced[] = [];
afterEach(() => {
  for (const t of open.splice(0)) t.restore();
});
const trace = (...args: ConstructorParameters<typeof Traced>): Traced => {
  const t = new Traced(...args);
  open.push(t);
  return t;
};

const SETUP = `CREATE TABLE a(id INTEGER PRIMARY KEY, g, v); CREATE TABLE b(k, w);
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
    INSERT INTO a SELECT i, i % 7, 'v' || i FROM n;
  INSERT INTO b SELECT v, id FROM a`;
/** More than are read by calls alone (statement-status.ts). */
const LOOKUPS = 150;
/**
 * A lookup by key, a scan, a sort, an automatic index, its filter, a schema that changes before
 * each run. Each with its number of runs.
 */
const QUERIES: readonly [sql: string, runs: number, before?: string][] = [
  ['SELECT v FROM a WHERE id = 77', LOOKUPS],
  ["SELECT id FROM a WHERE v = 'v77'", 2],
  ['SELECT id FROM a ORDER BY v', 2],
  ['SELECT count(*) FROM a JOIN b ON a.v = b.k WHERE a.g = 3', 2],
  ['SELECT count(*) FROM a JOIN b ON a.g = b.k', 2],
  ['SELECT v FROM a WHERE id < 9', 2, 'DROP INDEX IF EXISTS w; CREATE INDEX w ON b(w)'],
];
const RUNS = QUERIES.reduce((sum, [, runs]) => sum + runs, 0);
const { run, memoryUsed, ...COUNTED } = StatementStatus;
type Counts = Record<keyof typeof COUNTED, number>;

/** Runs them all. @param each called after each run, before its statement is reset */
async function work({ sqlite3 }: WaSqlite, each: (stmt: number) => void): Promise<void> {
  const db = await sqlite3.open_v2('status.db');
  await sqlite3.exec(db, SETUP);
  for (const [sql, runs, before] of QUERIES)
    for await (const stmt of sqlite3.statements(db, sql))
      for (let i = 0; i < runs; i++) {
        if (before) await sqlite3.exec(db, before);
        while ((await sqlite3.step(stmt)) === Rc.row);
        each(stmt);
        await sqlite3.reset(stmt);
      }
  await sqlite3.close(db);
}

/** Counts by run, in order. */
function recorded(t: Traced): Counts[] {
  const runs: Counts[] = [];
  const add = (name: keyof Counts, value: number): void => void (runs.at(-1)![name] += value);
  const isQuery = (row: Row): boolean => /^SELECT/.test(t.sqlText(row.object) ?? '');
  for (const row of t.all().filter(isQuery)) {
    if (row.op === Op.sqlStmtStatus) {
      runs.push(Object.fromEntries(Object.keys(COUNTED).map((k) => [k, 0])) as Counts);
      add('vmStep', row.length);
      add('fullScanStep', row.offset);
      add('sort', row.aux2);
    }
    const rare = Object.entries(COUNTED).find(([, code]) => code === row.aux2)?.[0];
    if (row.op === Op.sqlStmtStatusMore && rare) add(rare as keyof Counts, row.length);
  }
  return runs;
}

it.each<Build>(['journey-sync', 'journey-async'])(
  '%s: as the app reads them itself, run by run',
  async (build) => {
    const plain = await loadWaSqlite(build);
    const read = plain.module['_sqlite3_stmt_status'] as (...a: number[]) => number;
    const expected: Counts[] = [];
    await work(plain, (stmt) =>
      expected.push(
        Object.fromEntries(
          Object.entries(COUNTED).map(([name, code]) => [name, read(stmt, code, 1)]),
        ) as Counts,
      ),
    );
    const t = trace();
    await work(await loadWaSqlite(build), () => {});
    expect(recorded(t)).toEqual(expected);
    expect(expected).toHaveLength(RUNS);
    const [lookup] = expected;
    const [scan, , sort, , joined, , filtered, , changed] = expected.slice(LOOKUPS);
    expect([lookup!.fullScanStep, lookup!.sort, lookup!.autoIndex]).toEqual([0, 0, 0]);
    expect(scan!.fullScanStep).toBe(499);
    expect(sort!.sort).toBe(1);
    expect(joined!.autoIndex).toBeGreaterThan(0);
    expect(joined!.filterMiss).toBeGreaterThan(0);
    expect(filtered!.filterHit).toBeGreaterThan(0);
    expect(changed!.reprepare).toBe(1);
    expect(t.faultsOf(t.all())).toEqual([]);
  },
);

it('match the counts of the Lab and the sqlite3 shell for the same texts', async () => {
  const t = trace();
  const engine = await loadWaSqlite('journey-sync');
  await work(engine, () => {});
  const runs = recorded(t);
  open.pop()!.restore();
  type Kept = Map<string, { data: ArrayBuffer; size: number }>;
  const [kept] = (engine.vfs['mapNameToFile'] as Kept).values();
  const file = new Blob([kept!.data.slice(0, kept!.size)]);
  const copy = await Copy.open(nodeSurroundings().engines, file);
  let at = 0;
  for (const [sql, times] of QUERIES) {
    const first = runs[at]!;
    const { scanSteps, sorts, autoIndexRows, vmSteps } = await copy.run(sql, false);
    expect(
      { fullScanStep: scanSteps, sort: sorts, autoIndex: autoIndexRows, vmStep: vmSteps },
      sql,
    ).toEqual({
      fullScanStep: first.fullScanStep,
      sort: first.sort,
      autoIndex: first.autoIndex,
      vmStep: first.vmStep,
    });
    const out = await sqliteShell(file, `.stats on\n${sql};`);
    if (out !== null)
      expect(
        ['Fullscan Steps', 'Sort Operations', 'Autoindex Inserts'].map(
          (name) => shellStat(out, name)[0],
        ),
        sql,
      ).toEqual([first.fullScanStep, first.sort, first.autoIndex]);
    at += times;
  }
  await copy.close();
});

it('an app that reads and resets them gets its own counts, and so does the recording', async () => {
  const counts = async (engine: WaSqlite): Promise<number[]> => {
    const read = engine.module['_sqlite3_stmt_status'] as (...a: number[]) => number;
    const seen: number[] = [];
    await work(engine, (stmt) =>
      seen.push(
        ...Object.values(COUNTED).map((code) => read(stmt, code, 1)),
        read(stmt, run, seen.length % 2),
      ),
    );
    return seen;
  };
  const expected = await counts(await loadWaSqlite('journey-sync'));
  const t = trace();
  expect(await counts(await loadWaSqlite('journey-sync'))).toEqual(expected);
  const own = Object.keys(COUNTED).length + 1;
  expect(
    recorded(t).flatMap((each) => Object.keys(COUNTED).map((name) => each[name as keyof Counts])),
  ).toEqual(expected.filter((_, i) => i % own < own - 1));
});

it("reset while a statement still runs: what is left isn't counted, and the next run is", async () => {
  const t = trace();
  const { sqlite3, module } = await loadWaSqlite('journey-sync');
  const read = module['_sqlite3_stmt_status'] as (...a: number[]) => number;
  const db = await sqlite3.open_v2('midway.db');
  await sqlite3.exec(db, SETUP);
  for await (const stmt of sqlite3.statements(db, 'SELECT id FROM a'))
    for (const resets of [COUNTED.vmStep, COUNTED.fullScanStep, 0]) {
      for (let i = 0; i < 3; i++) await sqlite3.step(stmt);
      if (resets) read(stmt, resets, 1);
      await sqlite3.reset(stmt);
    }
  await sqlite3.close(db);
  // the first run has nothing before it, so only the steps show it
  expect(recorded(t).map(({ fullScanStep }) => fullScanStep)).toEqual([2]);
});

it.each([
  ['resets them', null],
  ['detaches a database', 'DETACH other'],
])('of a page cache nothing is known after the app %s', async (_, sql) => {
  const t = trace();
  const { sqlite3, module } = await loadWaSqlite('journey-sync');
  const [status, malloc] = ['_sqlite3_db_status', '_malloc'].map(
    (name) => module[name] as (...args: number[]) => number,
  );
  const db = await sqlite3.open_v2('cache.db');
  await sqlite3.exec(db, `ATTACH 'other.db' AS other; CREATE TABLE other.o(x); ${SETUP}`);
  const work = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) {
      await sqlite3.exec(db, 'SELECT count(*) FROM a');
      await sqlite3.exec(db, 'INSERT INTO other.o VALUES (1)');
    }
  };
  await work();
  const before = pageCacheOf(storeOf(t));
  expect(before.hits).toBeGreaterThan(20);
  if (sql) await sqlite3.exec(db, sql);
  else for (const op of [7, 8, 9]) status!(db, op, malloc!(4), malloc!(4), 1);
  for (let i = 0; i < 500; i++) await sqlite3.exec(db, 'SELECT count(*) FROM a WHERE id < 20');
  await sqlite3.close(db);
  expect(pageCacheOf(storeOf(t))).toEqual(before);
});

it("unrecorded runs aren't part of the first recorded one", async () => {
  const t = trace();
  const { sqlite3 } = await loadWaSqlite('journey-sync');
  const db = await sqlite3.open_v2('late.db');
  await sqlite3.exec(db, SETUP);
  t.recorder.enabled = false;
  for await (const stmt of sqlite3.statements(db, "SELECT id FROM a WHERE v = 'v77'"))
    for (const enabled of [false, false, true, false, true]) {
      t.recorder.enabled = enabled;
      while ((await sqlite3.step(stmt)) === Rc.row);
      await sqlite3.reset(stmt);
    }
  await sqlite3.close(db);
  expect(recorded(t).map(({ fullScanStep }) => fullScanStep)).toEqual([499, 499]);
});

it('a run that ends with rows left is counted when it is finalized, and its memory is reported once', async () => {
  const t = trace();
  const { sqlite3 } = await loadWaSqlite('journey-sync');
  const db = await sqlite3.open_v2('left.db');
  await sqlite3.exec(db, SETUP);
  for await (const stmt of sqlite3.statements(db, 'SELECT id FROM a'))
    for (let i = 0; i < 3; i++) await sqlite3.step(stmt);
  await sqlite3.close(db);
  const rows = t.all().filter((row) => t.sqlText(row.object) === 'SELECT id FROM a');
  const status = rows.filter((row) => row.op === Op.sqlStmtStatus);
  expect(status.map(({ offset }) => offset)).toEqual([2]);
  const finalize = rows.find((row) => row.op === Op.sqlFinalize)!;
  expect(status[0]!.seq).toBeLessThan(finalize.seq);
  const memory = rows.filter((row) => row.op === Op.sqlStmtStatusMore && row.aux2 === memoryUsed);
  expect(memory).toHaveLength(1);
  expect(memory[0]!.length).toBeGreaterThan(500);
});

it('are missing if the build lacks the function', async () => {
  const t = trace();
  await work(await loadWaSqlite('wa1-sync'), () => {});
  expect(recorded(t)).toEqual([]);
  expect(t.counters().faults).toBe(0);
});

it("are missing if they weren't selected", async () => {
  const t = trace({}, { query: false });
  await work(await loadWaSqlite('journey-sync'), () => {});
  expect(
    t.all().filter(({ op }) => op === Op.sqlStmtStatus || op === Op.sqlStmtStatusMore),
  ).toEqual([]);
});

it("a query's runs have the hash of their values, bound ones and literals; other statements have none", async () => {
  const t = trace({}, { salt: 12_345 });
  const { sqlite3 } = await loadWaSqlite('journey-sync');
  const db = await sqlite3.open_v2('hash.db');
  await sqlite3.exec(db, SETUP);
  const bound: unknown[][] = [
    [1, 'one'],
    [1, 'two'],
    [2, 'one'],
    [1, 'one'],
    [1n, 'one'],
    [1.5, null],
    [1.5, new Uint8Array([1, 2])],
    [1.5, new Uint8Array([1, 3])],
  ];
  for await (const stmt of sqlite3.statements(db, 'SELECT ?, ? FROM a WHERE id = 1'))
    for (const values of bound) {
      sqlite3.bind_collection(stmt, values as never);
      while ((await sqlite3.step(stmt)) === Rc.row);
      await sqlite3.reset(stmt);
    }
  for (const id of [7, 8, 7]) await sqlite3.exec(db, `SELECT v FROM a WHERE id = ${id}`);
  for (const id of [7, 7]) await sqlite3.exec(db, `UPDATE a SET v = v WHERE id = ${id}`);
  await sqlite3.close(db);
  const hashes = (like: RegExp): number[] =>
    t
      .all()
      .filter((row) => row.op === Op.sqlStmtStatusMore && row.aux2 === VALUES_HASH)
      .filter((row) => like.test(t.sqlText(row.object) ?? ''))
      .map(({ length }) => length);
  const [first, ...others] = hashes(/^SELECT \?, \?/);
  expect(others).toHaveLength(bound.length - 1);
  expect([first, ...others].every((hash) => hash! > 0 && hash! <= 0xffff_ffff)).toBe(true);
  expect(others[2]).toBe(first);
  expect(new Set([first, others[0], others[1], others[4], others[5], others[6]]).size).toBe(6);
  const [seven, eight, again] = hashes(/^SELECT v FROM a WHERE id/);
  expect([again === seven, eight === seven]).toEqual([true, false]);
  expect(hashes(/^UPDATE/)).toEqual([]);
  expect(t.faultsOf(t.all())).toEqual([]);
});

it('with the query counters excluded nothing of a run is read, and no bind is recorded', async () => {
  const t = trace({}, { query: false, salt: 12_345 });
  const engine = await loadWaSqlite('journey-sync');
  const plain = new Set(Object.getOwnPropertyNames(Object.prototype));
  expect([...plain].filter((name) => name.startsWith('_sqlite3_bind'))).toEqual([]);
  await work(engine, () => {});
  const ops = new Set(t.all().map(({ op }) => op));
  expect(
    [Op.sqlStmtStatus, Op.sqlStmtStatusMore, Op.sqlMemory].filter((op) => ops.has(op)),
  ).toEqual([]);
  expect(ops.has(Op.sqlStep)).toBe(true);
});
