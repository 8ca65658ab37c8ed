/** A connection's memory, compared with what the app itself can read from SQLite. */
import { afterEach, expect, it } from 'vitest';
import { Op } from '../../src/event/event.ts';
import { plainPath } from '../../src/event/file-names.ts';
import { HeldFiles } from '../../src/analysis/memory/held-files.ts';
import { MemoryCounter } from '../../src/timeline/memory-counter.ts';
import { findingsOf } from '../traces/analyses.ts';
import { storeOf } from './helpers/store.ts';
import { Traced } from './helpers/traced.ts';
import { loadWaSqlite, type Build } from './helpers/wa-sqlite.ts';

let traced: Traced | null = null;
afterEach(() => {
  traced?.restore();
  traced = null;
});
/** Milliseconds between two readings of the clock. */
const LONG = 300;

it.each<Build>(['journey-sync', 'journey-async'])('%s: each reading', async (build) => {
  let ms = 0;
  const t = (traced = new Traced({ now: () => (ms += LONG) }));
  const { sqlite3, module } = await loadWaSqlite(build);
  const call = (name: string, ...args: number[]): number =>
    (module[`_sqlite3_${name}`] as (...of: number[]) => number)(...args);
  const db = await sqlite3.open_v2('memory.db');
  const at = (module['_malloc'] as (bytes: number) => number)(8);
  const own = (): number[] => {
    const heap = module['HEAPU8'] as Uint8Array;
    const words = [1, 2, 3].map((code) => {
      expect(call('db_status', db, code, at, at + 4, 0)).toBe(0);
      return new DataView(heap.buffer).getInt32(at, true);
    });
    return [heap.buffer.byteLength, ...words];
  };
  const seen: number[][] = [];
  for (const sql of [
    'CREATE TABLE t(a, b)',
    'CREATE INDEX t_a ON t(a)',
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
      INSERT INTO t SELECT i, printf('%0100d', i) FROM n`,
    'SELECT count(*) FROM t',
  ])
    for await (const stmt of sqlite3.statements(db, sql)) {
      await sqlite3.step(stmt);
      await sqlite3.reset(stmt); // the last reading of this run
      seen.push(own());
    }
  const said = t
    .all()
    .filter(({ op }) => op === Op.sqlMemory)
    .map(({ offset, length, aux, aux2 }) => [offset, length, aux, aux2]);
  expect(said.at(-1)).toEqual(seen.at(-1));
  for (const reading of seen) expect(said).toContainEqual(reading);
  await sqlite3.close(db);
  expect(t.faultsOf(t.all())).toEqual([]);
});

it('two engines of a thread, one of them with a database in memory: each reading belongs to its own engine', async () => {
  let ms = 0;
  const t = (traced = new Traced({ now: () => (ms += LONG) }));
  const engines = [await loadWaSqlite('journey-sync'), await loadWaSqlite('journey-sync')];
  (engines[1]!.module['_malloc'] as (n: number) => number)(40e6);
  for (const [i, { sqlite3 }] of engines.entries()) {
    const db = await sqlite3.open_v2(i ? ':memory:' : 'one.db');
    await sqlite3.exec(db, 'CREATE TABLE t(a); INSERT INTO t VALUES(1)');
  }
  const bytes = engines.map(({ module }) => (module['HEAPU8'] as Uint8Array).byteLength);
  const store = storeOf(t);
  const counter = new MemoryCounter(store.threads[0]!);
  counter.update();
  expect(counter.engines).toEqual(t.engines.map(({ id }) => id));
  const most = (engine: number | null): number =>
    counter.most(engine, 'memory', 0, ms * 1000, 1)[0]!;
  expect(counter.engines.map(most)).toEqual(bytes);
  expect(bytes[1]).toBeGreaterThan(bytes[0]!);
  expect(t.faultsOf(t.all())).toEqual([]);
});

it('reports where memory grew while a call was suspended', async () => {
  const t = (traced = new Traced());
  const { sqlite3, module, vfs } = await loadWaSqlite('journey-async');
  const db = await sqlite3.open_v2('grows.db');
  await sqlite3.exec(db, 'CREATE TABLE t(a)');
  const bytes = (): number => (module['HEAPU8'] as Uint8Array).byteLength;
  const before = bytes();
  const read = vfs['jRead'] as (...args: unknown[]) => Promise<unknown>;
  let grown = 0;
  vfs['jRead'] = async (...args: unknown[]) => {
    await Promise.resolve();
    if (!grown) {
      (module['_malloc'] as (n: number) => number)(20e6);
      grown = bytes();
    }
    return read.apply(vfs, args);
  };
  await sqlite3.exec(db, 'SELECT * FROM t');
  await sqlite3.close(db);
  const rows = t.all();
  const said = rows.filter(({ op }) => op === Op.sqlMemoryGrew);
  expect(said.map(({ length, offset }) => [length, offset])).toEqual([[before, grown]]);
  expect(rows.find(({ seq }) => seq === said[0]!.aux)?.op).toBe(Op.xRead);
  expect(findingsOf(storeOf(t)).map(({ rule }) => rule)).toContain('F31');
  expect(t.faultsOf(rows)).toEqual([]);
});

it('is read at most four times a second', async () => {
  let ms = 0;
  const t = (traced = new Traced({ now: () => (ms += 0.01) }));
  const { sqlite3 } = await loadWaSqlite('journey-sync');
  const db = await sqlite3.open_v2('memory.db');
  for (let i = 0; i < 200; i++) await sqlite3.exec(db, `CREATE TABLE t${i}(a)`);
  expect(t.all().filter(({ op }) => op === Op.sqlMemory)).toHaveLength(1 + Math.floor(ms / 250));
  await sqlite3.close(db);
});

it.each<Build>(['journey-sync', 'journey-async', 'wa1-sync', 'wa1-async'])(
  '%s: files that the VFS keeps, as large as it says',
  async (build) => {
    const t = (traced = new Traced());
    const { sqlite3, vfs } = await loadWaSqlite(build);
    const db = await sqlite3.open_v2('kept.db');
    const kept = vfs['mapNameToFile'] as Map<string, { size: number }>;
    const sizes: [string, number][][] = [];
    for (const sql of [
      'PRAGMA journal_mode=persist; CREATE TABLE t(a, b)',
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
        INSERT INTO t SELECT i, printf('%0100d', i) FROM n`,
      'PRAGMA journal_mode=truncate; DELETE FROM t WHERE a > 20',
      'PRAGMA journal_mode=delete; VACUUM',
    ]) {
      await sqlite3.exec(db, sql);
      const { files } = new HeldFiles(storeOf(t).threads[0]!).update();
      const sized = (all: [string, number][]): [string, number][] =>
        all.flatMap(([path, bytes]) => (bytes ? [[plainPath(path), bytes]] : [])).sort() as [
          string,
          number,
        ][];
      sizes.push(sized([...kept].map(([path, { size }]) => [path, size])));
      expect(sized([...files.values()].map(({ path, bytes }) => [path, bytes]))).toEqual(
        sizes.at(-1),
      );
    }
    expect(sizes[0]).toHaveLength(2);
    expect(sizes[1]![0]![1]).toBeGreaterThan(200_000);
    expect(sizes[3]).toHaveLength(1);
    await sqlite3.close(db);
  },
);

it('distinguishes a cache of statements keyed by their texts from forgotten statements', async () => {
  const opened = async (
    values: (i: number) => number,
    runs: number,
  ): Promise<string | undefined> => {
    const t = (traced = new Traced({}, { salt: 12_345 }));
    const { sqlite3 } = await loadWaSqlite('journey-sync');
    const db = await sqlite3.open_v2('cache.db');
    await sqlite3.exec(db, 'CREATE TABLE t(a INTEGER PRIMARY KEY, b)');
    const kept: number[] = [];
    for (let i = 0; i < 25; i++)
      for await (const stmt of sqlite3.statements(db, `SELECT b FROM t WHERE a = ${values(i)}`, {
        unscoped: true,
      }))
        kept.push(stmt);
    for (let run = 0; run < runs; run++)
      for (const stmt of kept) {
        await sqlite3.step(stmt);
        await sqlite3.reset(stmt);
      }
    const found = findingsOf(storeOf(t)).find(({ rule }) => rule === 'F56');
    t.restore();
    return found?.confidence;
  };
  expect(await opened((i) => i, 2)).toBeUndefined();
  expect(await opened((i) => i, 1)).toBe('likely');
  expect(await opened((i) => i % 24, 1)).toBe('certain');
});
