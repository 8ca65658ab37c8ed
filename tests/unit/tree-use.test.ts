// Which statements touched which tables and indexes, and the time inside those calls.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { bTrees } from '../../src/analysis/pages/b-trees.ts';
import {
  statementsOfTable,
  timesByTree,
  treeOf,
  treeUse,
  treeUseIn,
} from '../../src/analysis/pages/tree-use.ts';
import { statementTable } from '../../src/analysis/statements/statement-table.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

const PAGE = 4096;
const GOLDEN = path.join(import.meta.dirname, '..', 'traces', 'golden');

/** An UPDATE of orders and its index, a SELECT of customers, and a read while no SQL ran. */
function app(): TraceStore {
  const store = newStore();
  const t = new ThreadBuilder(store);
  const file = t.file('app.db');
  const [update, select] = ['update', 'select'].map((text) => t.define({ kind: 'sql', text })) as [
    number,
    number,
  ];
  const touch = (op: 'xRead' | 'xWrite', page: number, type: number): number =>
    t.call(op, { object: file, offset: (page - 1) * PAGE, length: PAGE, aux2: type, dur: 2 }, () =>
      t.call(op === 'xRead' ? 'opfsRead' : 'opfsWrite', { dur: 10 }),
    );
  t.call('sqlStep', { object: update, aux: 1, result: 101, dur: 5 }, () => {
    touch('xRead', 1, 13);
    touch('xRead', 2, 13);
    touch('xRead', 3, 10);
    touch('xWrite', 2, 13);
    touch('xWrite', 3, 10);
  });
  t.idle(100);
  let last = 0;
  t.call('sqlStep', { object: select, aux: 2, result: 101, dur: 5 }, () => {
    last = touch('xRead', 4, 13);
  });
  touch('xRead', 99, 13);
  t.say({
    ...{ kind: 'b-tree-names', id: 1000, file, at: last, page: 1 },
    roots: [2, 3, 4],
    names: ['orders', 'orders_by_date', 'customers'],
    tables: ['', 'orders', ''],
  });
  t.send();
  return store;
}

const lines = (facts: Facts, range = {}): string[] =>
  treeUseIn(facts, range)
    .map(
      (use) =>
        `${use.statement} ${treeOf(facts.get(bTrees), use)?.name} ${use.reads}r ${use.writes}w ${use.time.spanUs} us`,
    )
    .sort();

describe('statements by table', () => {
  test('pages and time of each, also while no SQL ran', () => {
    const facts = new Facts(app());
    expect(lines(facts)).toEqual([
      'null undefined 1r 0w 12 us',
      'select customers 1r 0w 12 us',
      'update orders 1r 1w 24 us',
      'update orders_by_date 1r 1w 24 us',
      'update sqlite_schema 1r 0w 12 us',
    ]);
    const times = timesByTree(facts.get(treeUse), 0, 4);
    expect(
      times.map(({ spanUs, readUs, writeUs, cpuUs }) => [spanUs, readUs, writeUs, cpuUs]),
    ).toEqual([
      [12, 10, 0, 2],
      [24, 10, 10, 4],
      [24, 10, 10, 4],
      [12, 10, 0, 2],
      [12, 10, 0, 2],
    ]);
  });

  test('of a range', () => {
    const facts = new Facts(app());
    expect(lines(facts, { fromUs: 0, toUs: 120 })).not.toContain('select customers 1r 0w 12 us');
  });

  test('statements of a table, including those of its indexes', () => {
    const facts = new Facts(app());
    const of = (table: string) => [
      ...statementsOfTable(facts.get(treeUse), facts.get(bTrees), table),
    ];
    expect(of('orders')).toEqual(['update']);
    expect(of('customers')).toEqual(['select']);
    expect(of('none')).toEqual([]);
  });

  test.each(['checkpoint-storm', 'idb-batch-atomic', 'opfs-sahpool', 'wal-never-shrinks'])(
    'agrees with the table of statements: %s',
    async (name) => {
      const { store } = await readTrace(readFileSync(path.join(GOLDEN, `${name}.vfst`)));
      const facts = new Facts(store);
      const use = facts.get(treeUse);
      expect(use.length).toBeGreaterThan(0);
      for (const row of facts.get(statementTable)!.rows) {
        if (row.text === null) continue; // there, opening counts for no statement
        const own = use.filter(({ statement }) => statement === row.text);
        const sum = (count: 'reads' | 'writes') => own.reduce((n, one) => n + one[count], 0);
        expect([row.text, sum('reads'), sum('writes')]).toEqual([
          row.text,
          (row.pages?.read ?? 0) + (row.pages?.walRead ?? 0),
          (row.pages?.written ?? 0) + (row.pages?.walWritten ?? 0),
        ]);
        expect(own.reduce((us, one) => us + one.time.spanUs, 0)).toBeLessThanOrEqual(
          row.time.spanUs + 0.001,
        );
      }
    },
  );
});
