// How an engine was loaded into a thread, and its first actions, with modules as real builds load
// them.
import { afterEach, expect, it } from 'vitest';
import { Op } from '../../src/event/event.ts';
import { loadSqlJs, sqlJsWasm } from './helpers/sql-js.ts';
import { storeOf } from './helpers/store.ts';
import { Traced } from './helpers/traced.ts';
import { loadWaSqlite } from './helpers/wa-sqlite.ts';
import { loadTimesOf } from '../traces/analyses.ts';

let traced: Traced | null = null;
afterEach(() => {
  traced?.restore();
  traced = null;
});

it.each(['journey-sync', 'journey-async', 'wa1-sync'] as const)(
  '%s: instantiate, open, first statement and first read',
  async (build) => {
    const t = (traced = new Traced());
    const { sqlite3 } = await loadWaSqlite(build);
    const db = await sqlite3.open_v2('app.db');
    await sqlite3.exec(db, 'CREATE TABLE t(a)');
    await sqlite3.exec(db, 'INSERT INTO t VALUES(1)');
    const rows = t.all();
    const first = (...ops: number[]) => rows.find((r) => ops.includes(r.op))!;
    const [load] = loadTimesOf(storeOf(t));
    const is = Object.fromEntries(load!.parts.map((part) => [part.step, part]));
    expect(load!.parts.map(({ step, us }) => [step, us !== null])).toEqual([
      ['fetch', false],
      ['compile', false],
      ['instantiate', true],
      ['open', true],
      ['first statement', true],
      ['first read', true],
    ]);
    // Node has its own modules
    const instantiate = rows.find((r) => r.op === Op.wasmInstantiate && r.length > 500_000)!;
    expect(load!.bytes).toBe(instantiate.length);
    expect(rows[is['instantiate']!.row]!.seq).toBe(instantiate.seq);
    for (const [step, ops] of [
      ['open', [Op.sqlOpen]],
      ['first statement', [Op.sqlPrepare, Op.sqlExec]],
      ['first read', [Op.xRead]],
    ] as const)
      expect(rows[is[step]!.row]!.seq, step).toBe(first(...ops).seq);
    // the engine names its instance
    expect(t.engines[0]!.load).toBe(instantiate.seq);
    const end = is['first statement']!.fromUs! + is['first statement']!.us!;
    expect(load!.totalUs).toBeCloseTo(end - is['instantiate']!.fromUs!, 3);
  },
);

it('a module that was compiled earlier is distinguished, and one that fails to compile is reported', async () => {
  const t = (traced = new Traced());
  const module = await WebAssembly.compile(sqlJsWasm());
  await expect(WebAssembly.compile(new Uint8Array(5000))).rejects.toThrow(WebAssembly.CompileError);
  // glue creates modules of a few bytes for functions in a table, which are too small to record
  new WebAssembly.Instance(
    new WebAssembly.Module(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])),
  );
  expect(() => new WebAssembly.Module(new Uint8Array(8))).toThrow(WebAssembly.CompileError);
  const SQL = await loadSqlJs({
    instantiate: (imports) => WebAssembly.instantiate(module, imports),
  });
  new SQL.Database().run('CREATE TABLE t(a)');
  const rows = t.all();
  const compiles = rows.filter((r) => r.op === Op.wasmCompile);
  expect(compiles.map((r) => [r.length, r.result, r.endSeq > r.seq])).toEqual([
    [sqlJsWasm().byteLength, 0, true],
    [5000, 1, true],
  ]);
  const [load] = loadTimesOf(storeOf(t));
  const is = Object.fromEntries(load!.parts.map((part) => [part.step, part]));
  expect(rows[is['compile']!.row]!.seq).toBe(compiles[0]!.seq);
  expect(load!.fromUs).toBe(is['compile']!.fromUs);
  expect(load!.bytes).toBe(sqlJsWasm().byteLength);
  expect(t.counters().faults).toBe(0);
  expect(
    rows.filter((r) => r.op === Op.wasmInstantiate && r.context === 0 && r.length < 1024),
  ).toEqual([]);
});

it("two engines of one thread: their first actions can't be distinguished", async () => {
  const t = (traced = new Traced());
  for (let i = 0; i < 2; i++) {
    const { sqlite3 } = await loadWaSqlite('journey-sync');
    await sqlite3.exec(await sqlite3.open_v2('app.db'), 'CREATE TABLE t(a)');
  }
  const loads = loadTimesOf(storeOf(t));
  expect(
    loads.map(({ totalUs, parts }) => [
      totalUs,
      parts.filter(({ us }) => us !== null).map(({ step }) => step),
    ]),
  ).toEqual([
    [null, ['instantiate']],
    [null, ['instantiate']],
  ]);
});
