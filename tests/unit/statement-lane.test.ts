/**
 * The SQL track: the kind of each statement, many short runs as one, and where else a statement
 * runs.
 */
import { describe, expect, it } from 'vitest';
import { executions } from '../../src/analysis/core/executions.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { statementKind, STATEMENT_KINDS } from '../../src/sqlite/statement-kind.ts';
import { StatementSpans } from '../../src/timeline/statement-runs.ts';
import { CallLanes } from '../../src/trace/lanes/frame.ts';
import { labelOf } from '../../src/trace/describe.ts';
import { joined } from '../../src/viewer/session/queries/statement-marks.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

describe('the kind of a statement', () => {
  it.each([
    ['SELECT 1', 'select'],
    ['  -- why\n select a FROM t', 'select'],
    ['WITH x(a) AS (SELECT 1) INSERT INTO t SELECT a FROM x', 'insert'],
    ['EXPLAIN QUERY PLAN DELETE FROM t', 'delete'],
    ['REPLACE INTO t VALUES (?)', 'insert'],
    ['UPDATE t SET a = ?', 'update'],
    ['CREATE TABLE t(a)', 'schema'],
    ['END', 'transaction'],
    ['PRAGMA cache_size', 'other'],
    ['', 'other'],
  ])('of %s is %s', (sql, kind) => expect(statementKind(sql)).toBe(kind));
});

/** 59 inserts of 10 us each with gaps of 10 us, a pause, 3 more inserts, then a SELECT of 1 ms. */
function recorded(): { store: ReturnType<typeof newStore>; end: number } {
  const store = newStore();
  const b = new ThreadBuilder(store, { name: 'db' });
  const insert = b.define({ kind: 'sql', text: 'INSERT INTO notes VALUES (?)' });
  const select = b.define({ kind: 'sql', text: 'SELECT * FROM notes' });
  const run = (object: number, dur: number, instance: number): void => {
    b.call('sqlStep', { object, dur, result: 101, aux: instance });
  };
  for (let i = 0; i < 59; i++) {
    run(insert, 10, 1);
    b.idle(10);
  }
  b.idle(2000);
  for (let i = 0; i < 3; i++) {
    run(insert, 10, 1);
    b.idle(10);
  }
  run(select, 1000, 2);
  b.send();
  return { store, end: b.now };
}

describe('many short runs of one statement', () => {
  const { store, end } = recorded();
  const [thread] = store.threads;
  const lanes = new CallLanes(store);
  lanes.update(end);
  const spans = new StatementSpans(thread!, new Facts(store).get(executions).of(thread!));
  const runsAt = (fromUs: number, toUs: number, width: number): (string | number)[][] => {
    const [frame] = lanes.frames(['0:sql'], fromUs, toUs, width);
    const { runs, labels } = spans.runs(fromUs, toUs, frame!.busy);
    return Array.from({ length: runs.length / 5 }, (_, i) => [
      Math.round(runs[5 * i]!),
      Math.round(runs[5 * i + 1]!),
      STATEMENT_KINDS[runs[5 * i + 2]!]!,
      runs[5 * i + 3]!,
      labels[runs[5 * i + 4]!]!,
    ]);
  };

  it('are one box with their number, split where a visible time has no runs', () => {
    const begin = thread!.events.t0[0]!;
    const found = runsAt(begin, begin + 4000, 800); // 5 us a column: 59 runs of 4 columns
    expect(found).toEqual([[0, 234, 'insert', 59, 'INSERT INTO notes VALUES (?)']]);
  });
  it('stay separate if each fits', () => {
    const begin = thread!.events.t0[0]!;
    expect(runsAt(begin, begin + 200, 800)).toEqual([]); // 80 columns each
  });
  it('leave the others unchanged', () => {
    const [frame] = lanes.frames(['0:sql'], 0, end, 1000);
    const kinds = new Set([...frame!.activity].filter((_, i) => frame!.busy[i]));
    expect([...kinds].map((kind) => STATEMENT_KINDS[kind]).sort()).toEqual(['insert', 'select']);
  });
});

it('marks are merged by pixel, for any number of runs', () => {
  const begins = Float64Array.from({ length: 1000 }, (_, i) => i * 10 + (i >= 500 ? 5000 : 0));
  const ends = begins.map((us) => us + 4);
  expect([...joined({ begins, ends }, 0, 20_000, 20)]).toEqual([0, 4994, 10_000, 14_994]);
  expect([...joined({ begins, ends }, 0, 35, 1)]).toEqual([0, 4, 10, 14, 20, 24, 30, 34]);
});

it("a VFS call shows the kind of its file if it isn't the database", () => {
  const store = newStore();
  const b = new ThreadBuilder(store, { name: 'db' });
  const db = b.file('/long/path/app.db');
  const journal = b.file('/long/path/app.db-journal', 'journal');
  b.call('xRead', { object: db, dur: 1 });
  b.call('xWrite', { object: journal, dur: 1 });
  b.send();
  expect([0, 1].map((row) => labelOf(store.threads[0]!, row))).toEqual(['xRead', 'xWrite journal']);
});
