/**
 * The query layer on sqlite.org's build and on sql.js: counts of runs compared with the engine's
 * own, and findings about prepared, bound, and forgotten statements.
 */
import { afterEach, expect, it } from 'vitest';
import { Op } from '../../src/event/event.ts';
import { StatementStatus } from '../../src/sqlite/constants.ts';
import { findingsOf } from '../traces/analyses.ts';
import { loadSqlJs, sqlJsWasm } from './helpers/sql-js.ts';
import { storeOf } from './helpers/store.ts';
import { Traced } from './helpers/traced.ts';

interface Prepared {
  pointer: number;
  bind(values: unknown): Prepared;
  step(): boolean;
  reset(): Prepared;
  finalize(): void;
}
interface Database {
  exec(sql: string | { sql: string; bind: unknown[] }): void;
  prepare(sql: string): Prepared;
  close(): void;
}
interface Sqlite3 {
  oo1: { DB: new (name: string, flags?: string) => Database };
  capi: { sqlite3_stmt_status(stmt: Prepared, op: number, reset: number): number };
}
const load = async (): Promise<Sqlite3> =>
  (
    (await import('@sqlite.org/sqlite-wasm')) as unknown as { default: () => Promise<Sqlite3> }
  ).default();

const open: Traced[] = [];
afterEach(() => {
  for (const t of open.splice(0)) t.restore();
});
async function traced(): Promise<{ t: Traced; s: Sqlite3; db: Database }> {
  const t = new Traced({}, { salt: 1 });
  open.push(t);
  const s = await load();
  const db = new s.oo1.DB('/query-layer.db', 'c');
  db.exec(`CREATE TABLE notes(id INTEGER PRIMARY KEY, name, part); CREATE TABLE log(note);
    WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 600)
      INSERT INTO notes SELECT i, 'n' || i, i % 50 FROM c`);
  return { t, s, db };
}
const rules = (t: Traced): string[] =>
  findingsOf(storeOf(t))
    .flatMap(({ rule, confidence }) => (/^F5[0-7]$/.test(rule) ? [`${rule} ${confidence}`] : []))
    .sort();

it("each run's counts are what the app itself reads", async () => {
  const { t, s, db } = await traced();
  const { fullScanStep, vmStep, sort } = StatementStatus;
  const own: number[][] = [];
  for (const sql of [
    'SELECT id FROM notes WHERE name = ?',
    'SELECT id FROM notes WHERE id < ? ORDER BY name',
    'UPDATE notes SET part = 0 WHERE name = ?',
    'SELECT count(*) FROM notes a JOIN notes b ON a.name = b.name WHERE a.id < ?',
  ]) {
    const stmt = db.prepare(sql);
    const before = new Map<number, number>();
    for (let i = 0; i < 5; i++) {
      stmt.bind([`n${i}`]);
      while (stmt.step());
      own.push(
        [fullScanStep, vmStep, sort].map((code) => {
          const now = s.capi.sqlite3_stmt_status(stmt, code, 0);
          const added = now - (before.get(code) ?? 0);
          before.set(code, now);
          return added;
        }),
      );
      stmt.reset();
    }
    stmt.finalize();
  }
  const bound = t
    .all()
    .filter(
      ({ op, object }) =>
        op === Op.sqlStmtStatus &&
        t.sqlText(object)?.includes('?') &&
        !t.sqlText(object)!.startsWith('WITH'),
    );
  expect(
    bound.slice(-own.length).map(({ offset, length, aux2 }) => [offset, length, aux2]),
  ).toEqual(own);
  expect(t.faultsOf(t.all())).toEqual([]);
});

it("each fault is found, and its fix isn't", async () => {
  const { t, db } = await traced();
  const again = (sql: string, n: number, value: (i: number) => unknown, keep = true): void => {
    let stmt = db.prepare(sql);
    for (let i = 0; i < n; i++) {
      stmt.bind([value(i)]);
      while (stmt.step());
      stmt.reset();
      if (!keep) {
        stmt.finalize();
        stmt = db.prepare(sql);
      }
    }
    stmt.finalize();
  };
  again('SELECT part FROM notes WHERE id = ?', 40, (i) => i);
  again('UPDATE notes SET part = 1 WHERE id = ?', 40, (i) => i);
  expect(rules(t)).toEqual([]);
  again('UPDATE notes SET part = 1 WHERE name = ?', 4, (i) => `n${i}`);
  expect(rules(t)).toEqual(['F50 likely']);
  again('SELECT part FROM notes WHERE id = ?', 40, (i) => i + 40, false);
  expect(rules(t)).toEqual(['F50 likely', 'F53 likely']);
  again('SELECT name FROM notes WHERE id = ?', 20, () => 7);
  expect(rules(t)).toEqual(['F50 likely', 'F53 likely', 'F55 likely']);
  for (let i = 0; i < 20; i++)
    db.prepare('SELECT name, part FROM notes WHERE id = ?').bind([i]).step();
  expect(rules(t)).toEqual(['F50 likely', 'F53 likely', 'F55 likely', 'F56 likely']);
});

it.each([
  ['between the rows of a list', 'nested', 30, 'F54 likely'],
  ['behind a list, in its transaction', 'behind', 30, 'F54 possible'],
  ['nine of them', 'nested', 9, ''],
  ['with one value', 'same', 30, 'F55 likely'],
  ['joined instead', 'join', 30, ''],
])('a query for each row, %s', async (_, how, n, found) => {
  const { t, db } = await traced();
  const part = db.prepare('SELECT part FROM notes WHERE id = ?');
  const ask = (id: number): void => {
    part.bind([id]);
    while (part.step());
    part.reset();
  };
  db.exec('BEGIN');
  const list = db.prepare(
    how === 'join'
      ? 'SELECT a.id, b.part FROM notes a JOIN notes b ON b.id = a.id WHERE a.id <= ?'
      : 'SELECT id FROM notes WHERE id <= ?',
  );
  list.bind([n]);
  for (let id = 1; list.step(); id++) {
    if (how === 'nested') ask(id);
    if (how === 'same') ask(1);
  }
  list.finalize();
  for (let id = 1; how === 'behind' && id <= n; id++) ask(id);
  db.exec('COMMIT');
  part.finalize();
  expect(rules(t).join()).toBe(found);
});

/** sql.js's additional members. */
interface SqlJsDatabase {
  run(sql: string): void;
  prepare(sql: string): { bind(values: unknown[]): void; step(): boolean; free(): void };
}
it('sql.js has no counters, and findings that need none are still found', async () => {
  const t = new Traced({}, { salt: 1 });
  open.push(t);
  const SQL = await loadSqlJs({
    instantiate: async (imports) => (await WebAssembly.instantiate(sqlJsWasm(), imports)).instance,
  });
  const db = new SQL.Database() as unknown as SqlJsDatabase;
  db.run('CREATE TABLE notes(id INTEGER PRIMARY KEY, name)');
  db.run(`WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 600)
    INSERT INTO notes SELECT i, 'n' || i FROM c`);
  const ask = (sql: string, value: unknown, frees = true): void => {
    const stmt = db.prepare(sql);
    stmt.bind([value]);
    while (stmt.step());
    if (frees) stmt.free();
  };
  // a scan, and the same again
  for (let i = 0; i < 15; i++) ask('SELECT id FROM notes WHERE name = ?', 'n7');
  expect(t.engines).toEqual([
    expect.objectContaining({
      layers: expect.objectContaining({ sql: true, query: false }) as unknown,
    }),
  ]);
  expect(rules(t)).toEqual([]);
  for (let i = 0; i < 15; i++) ask('SELECT id FROM notes WHERE name = ?', `n${i}`);
  expect(rules(t)).toEqual(['F53 likely']);
  for (let i = 0; i < 20; i++) ask('SELECT name FROM notes WHERE id = ?', i, false);
  expect(rules(t)).toEqual(['F53 likely', 'F56 likely']);
  expect(t.faultsOf(t.all())).toEqual([]);
});
