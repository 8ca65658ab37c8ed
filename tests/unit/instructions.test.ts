/** Instructions of calls: of statements, transactions, commits, and gaps, by hand. */
import { expect, test } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { instructions } from '../../src/analysis/core/instructions.ts';
import { countedInstructions } from '../../src/analysis/numbers/headline-numbers.ts';
import { reportOf } from '../../src/analysis/report/report.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { reportText } from '../../src/terminal/report-text.ts';
import { formatCount } from '../../src/text/numbers.ts';
import { statementTable } from '../../src/analysis/statements/statement-table.ts';
import { TABLES } from '../../src/analysis/tables.ts';
import { transactionRows } from '../../src/analysis/transactions/table.ts';
import { LockLevel } from '../../src/sqlite/constants.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

const BIG = 2 ** 33;

/** An autocommit write, with the thread's instruction count at the start and end of each call. */
function counted(): ThreadBuilder {
  const t = new ThreadBuilder(newStore());
  const object = t.file('/app.db');
  const text = t.define({ kind: 'sql', text: 'INSERT INTO t VALUES(?)' });
  const says = (seq: number, from: number, to: number): number =>
    t.call('sqlInstructions', {
      ...{ aux: seq, offset: from, length: (to - from) % 2 ** 32, dur: 0 },
      aux2: Math.floor((to - from) / 2 ** 32),
    });
  const readings: (() => void)[] = [];
  const vfs = (op: Parameters<typeof t.call>[0], aux: number, from: number, to: number): void => {
    const seq = t.call(op, { object, context: 1, aux, length: op === 'xWrite' ? 4096 : 0 });
    readings.push(() => says(seq, from, to));
  };
  const prepared = t.call('sqlPrepare', { object: text, context: 1, aux: 5 });
  says(prepared, 1000, 1500);
  const step = t.call('sqlStep', { object: text, context: 1, aux: 5, result: 101 }, () => {
    vfs('xLock', LockLevel.shared, 2100, 2100);
    vfs('xLock', LockLevel.reserved, 2300, 2310);
    vfs('xLock', LockLevel.exclusive, BIG, BIG);
    vfs('xWrite', 0, BIG + 50, BIG + 60);
    vfs('xSync', 0, BIG + 70, BIG + 70);
    vfs('xUnlock', LockLevel.none, BIG + 90, BIG + 95);
  });
  readings.forEach((say) => say());
  says(step, 2000, BIG + 200);
  t.send();
  return t;
}

test('of each call, and of the gaps between them', () => {
  const { store, thread } = counted();
  const all = new Facts(store).get(instructions).of(thread);
  const column = (name: 'first' | 'own' | 'gap'): number[] => [...all[name].subarray(0, all.count)];
  expect(column('first')).toEqual([1000, 2000, 2100, 2300, BIG, BIG + 50, BIG + 70, BIG + 90]);
  expect(column('own')).toEqual([500, BIG - 1800, 0, 10, 0, 10, 0, 5]);
  expect(column('gap')).toEqual([1000, 500, 100, 200, BIG - 2310, 50, 10, 20]);
});

test("in total, in the summary, its report, and the panel's numbers", () => {
  const { store } = counted();
  const facts = new Facts(store);
  const all = BIG + 200;
  expect(summaryOf(store).instructions).toBe(all);
  expect(reportText(reportOf(facts))).toMatch(new RegExp(`Instructions +${formatCount(all)}`));
  expect(facts.get(countedInstructions)).toMatchObject({ value: all, cause: null });
});

test('of a statement, its transaction, and the commit', () => {
  const { store } = counted();
  const facts = new Facts(store);
  const [row] = facts.get(statementTable)!.rows;
  expect(row!.instructions).toBe(500 + BIG - 1800);
  const transactions = facts.get(transactionRows);
  expect(transactions.count).toBe(1);
  expect(transactions.at(0)).toMatchObject({
    instructions: BIG + 95 - 2100,
    commitInstructions: 95,
  });
});

test('are n/a if nothing was counted', () => {
  const t = new ThreadBuilder(newStore());
  t.call('sqlStep', { object: t.define({ kind: 'sql', text: 'SELECT 1' }), result: 101 });
  t.send();
  const facts = new Facts(t.store);
  expect(summaryOf(t.store)).not.toHaveProperty('instructions');
  expect(facts.get(countedInstructions)).toBeNull();
  expect(facts.get(statementTable)!.rows[0]!.instructions).toBeNull();
  const table = TABLES.find(({ name }) => name === 'instructions')!;
  expect((facts.get(table.rows) as { count: number }).count).toBe(0);
});
