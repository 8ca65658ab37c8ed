/**
 * Query plans in the Lab: of a script, and of a recording's statements on an available database,
 * with their full scans.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scanHint } from '../../src/sqlite/query-plan.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { explainOnly, explainSql, statementsOf } from '../../src/lab/page/query-plan.ts';

const require = createRequire(import.meta.url);
const wasm = (path: string): Promise<Uint8Array<ArrayBuffer>> =>
  Promise.resolve(new Uint8Array(readFileSync(require.resolve(path))));
const golden = join(import.meta.dirname, '..', 'traces', 'golden', 'memory-delete.vfst');

it("scans of a table and of an index are reported, but not searches or scans of what isn't stored", async () => {
  const script = `CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, price REAL); CREATE INDEX item_name ON item(name);
    SELECT price FROM item WHERE price > 3; SELECT name FROM item ORDER BY name; SELECT price FROM item WHERE name = 'a';
    VALUES(1),(2),(3); SELECT 1;`;
  const rows = await explainSql(wasm, null, script);
  const hints = rows.map(({ detail }) => [
    detail.split(' ').slice(0, 2).join(' '),
    scanHint(detail),
  ]);
  expect(hints.slice(0, 3)).toEqual([
    ['SCAN item', 'full scan: every row is read'],
    ['SCAN item', 'full scan: every entry of an index is read'],
    ['SEARCH item', ''],
  ]);
  expect(hints.slice(3).map(([, hint]) => hint)).toEqual(hints.slice(3).map(() => ''));
  expect(
    ['SCAN docs VIRTUAL TABLE INDEX 0:M1', 'SCAN (subquery-1)', 'SCAN CONSTANT ROW'].map(scanHint),
  ).toEqual(['', '', '']);
});

it("a recording's statements on a database with their tables: plans with their scans, and none runs; without the tables this is reported", async () => {
  const recording = new File([readFileSync(golden)], 'a.vfst');
  const { store } = await readTrace(new Uint8Array(readFileSync(golden)));
  const create = store.threads.flatMap(({ said }) =>
    said.flatMap((d) => (d.kind === 'sql' && /^create/i.test(d.text) ? [d.text] : [])),
  );
  const init = require('sql.js') as () => Promise<{
    Database: new () => { run(sql: string): void; export(): Uint8Array<ArrayBuffer> };
  }>;
  const db = new (await init()).Database();
  for (const sql of create) db.run(sql);
  const statements = await statementsOf(recording);
  const there = await explainOnly(wasm, new Blob([db.export()]), statements);
  expect(there.filter(({ detail }) => /^no plan/.test(detail))).toEqual([]);
  expect(there.map(({ detail }) => scanHint(detail))).toContain('full scan: every row is read');
  const empty = await explainOnly(wasm, null, statements);
  expect(empty.map(({ detail }) => detail).join('\n')).toMatch(/^no plan: no such table/m);
});
