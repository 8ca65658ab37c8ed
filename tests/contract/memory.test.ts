/** What a connection holds in memory, as the app itself may ask SQLite for it. */
import { afterEach, expect, it } from 'vitest';
import { Op } from '../../src/event/event.ts';
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

it('is read four times a second at most', async () => {
  let ms = 0;
  const t = (traced = new Traced({ now: () => (ms += 0.01) }));
  const { sqlite3 } = await loadWaSqlite('journey-sync');
  const db = await sqlite3.open_v2('memory.db');
  for (let i = 0; i < 200; i++) await sqlite3.exec(db, `CREATE TABLE t${i}(a)`);
  expect(t.all().filter(({ op }) => op === Op.sqlMemory)).toHaveLength(1 + Math.floor(ms / 250));
  await sqlite3.close(db);
});
