// Statements by fingerprint: executions, times, rows, pages, cache, and calls of hand-made traces,
// and totals of any trace.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { StatementRow } from '../../src/analysis/statements/statement-table.ts';
import { StatementStatus } from '../../src/sqlite/constants.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { flameGraph } from '../../src/analysis/statements/flame-graph.ts';
import { frameColumns } from '../../src/analysis/statements/table.ts';
import { shownColumns } from '../../src/viewer/ui/views/statements/statement-columns.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import {
  coldWarmOf,
  diffOf,
  executionsOf,
  statementTable,
  statementsOf,
} from '../traces/analyses.ts';

const [ROW, DONE, BUSY] = [100, 101, 5];
const PAGE = 4096;
const sql = (t: ThreadBuilder, text: string): number => t.define({ kind: 'sql', text });
const rowOf = (t: ThreadBuilder, text: string): StatementRow => {
  const row = statementTable(t.store)!.rows.find((r) => r.text === text);
  if (!row) throw new Error(`no row for ${text}`);
  return row;
};

test('without SQL calls there is no table', () => {
  const t = new ThreadBuilder(newStore());
  t.call('xRead', { object: t.file('a.db'), length: 4096, offset: 0 });
  t.send();
  expect(statementTable(t.store)).toBeNull();
});

test('a view has total time like the flame graph, by name, definition, and number', () => {
  const t = new ThreadBuilder(newStore());
  const a = sql(t, 'SELECT a FROM t');
  t.call('sqlPrepare', { object: a, aux: 1, dur: 3 });
  t.call('sqlStep', { object: a, aux: 1, result: DONE, dur: 10 });
  t.call('sqlFinalize', { object: a, aux: 1, dur: 2 });
  t.send();
  const row = rowOf(t, 'select a from t');
  const columns = shownColumns(null);
  const time = columns.find(({ title }) => title === frameColumns.total.title)!;
  expect(time.value(row)).toBe(row.time.spanUs);
  expect(time.text!(row)).toBe('15 µs');
  expect(columns.find(({ key }) => key === 'total')!.text!(row)).toBe('10 µs'); // its run time
});

describe('executions', () => {
  test("from the first step to done, to a reset with rows left, or to an error; a running one isn't timed", () => {
    const t = new ThreadBuilder(newStore());
    const a = sql(t, 'SELECT a FROM t');
    const step = (aux: number, result: number, dur = 10): number =>
      t.call('sqlStep', { object: a, aux, result, dur });
    t.call('sqlPrepare', { object: a, aux: 1, dur: 3 });
    step(1, ROW);
    step(1, ROW);
    step(1, DONE);
    t.call('sqlReset', { object: a, aux: 1, dur: 2 });
    step(1, ROW, 40);
    t.call('sqlReset', { object: a, aux: 1 });
    step(1, BUSY, 7);
    t.call('sqlFinalize', { object: a, aux: 1, result: BUSY });
    t.call('sqlPrepare', { object: a, aux: 2, result: 1 });
    t.call('sqlStep', { object: a, aux: 3, open: true });
    t.send();
    expect(rowOf(t, 'select a from t')).toMatchObject({
      ...{
        executions: 4,
        running: 1,
        rowsLeft: 1,
        failed: 1,
        failedPrepares: 1,
        prepares: 2,
        rows: 3,
      },
      ...{
        totalUs: 77,
        meanUs: 77 / 3,
        p50Us: 30,
        p95Us: 40,
        maxUs: 40,
        prepareUs: 4,
        endingUs: 4,
      },
      ...{ pages: null, cache: null, vfsCalls: null, statementsInScript: null },
    });
  });

  test('two statements stepped alternately stay two', () => {
    const t = new ThreadBuilder(newStore());
    const [a, b] = [sql(t, 'SELECT 1'), sql(t, 'SELECT 2, 3')];
    for (const result of [ROW, ROW, DONE]) {
      t.call('sqlStep', { object: a, aux: 1, result, dur: 1 });
      t.call('sqlStep', { object: b, aux: 2, result, dur: 2 });
    }
    t.send();
    expect(
      [rowOf(t, 'select ?'), rowOf(t, 'select ?, ?')].map((r) => [r.executions, r.rows, r.totalUs]),
    ).toEqual([
      [1, 2, 3],
      [1, 2, 6],
    ]);
    expect(executionsOf(t.thread).count).toBe(2);
  });

  test('texts that differ in case and white space, on two threads, are one row', () => {
    const store = newStore();
    for (const text of ['SELECT  b FROM t WHERE a=?', 'select b\nfrom t where a=? ;']) {
      const t = new ThreadBuilder(store);
      t.call('sqlExec', { object: sql(t, text), dur: 5, aux2: 1 });
      t.send();
    }
    const { rows, executions } = statementTable(store)!;
    expect([rows.length, executions, rows[0]!.totalUs, rows[0]!.statementsInScript]).toEqual([
      1, 2, 10, 1,
    ]);
  });
});

test('one statement however it is spelled, even if it was cut once: in the table, the headline, and the comparison', () => {
  const t = new ThreadBuilder(newStore());
  const texts = ['SELECT a FROM t', 'select  a from t;', 'SELECT a FROM t'];
  texts.forEach((text, i) => {
    const object = t.define({ kind: 'sql', text, ...(i === 2 && { truncated: true }) });
    t.call('sqlStep', { object, aux: i + 1, result: DONE });
  });
  t.send();
  const rows = statementTable(t.store)!.rows;
  expect(rows).toMatchObject([{ text: 'select a from t', executions: 3, truncated: true }]);
  expect(summaryOf(t.store).statements).toMatchObject({ count: 3, distinct: 1 });
  expect(diffOf(t.store, t.store).statements).toMatchObject([{ executionsA: 3 }]);
});

test('a statement is shown as recorded at its first run, on any thread: in the table, the comparison, and the flame graph', () => {
  const store = newStore();
  const [late, early] = [new ThreadBuilder(store), new ThreadBuilder(store)];
  late.idle(100);
  for (const [t, text] of [
    [late, 'select a\nfrom T'],
    [early, ' SELECT a FROM t;\n'],
    [early, 'Select A from T'],
  ] as const)
    t.call('sqlStep', { object: sql(t, text), aux: 1, result: DONE });
  const refused = sql(late, 'SELECT b FROM t');
  late.call('sqlPrepare', { object: refused, aux: 9, result: 1 });
  late.call('sqlStep', { object: 0, aux: 7, result: DONE });
  for (const t of [late, early]) t.send();
  const shownBy = new Map(statementTable(store)!.rows.map(({ text, sql: shown }) => [text, shown]));
  expect(shownBy.get('select a from t')).toBe('SELECT a FROM t;');
  expect(shownBy.get('select b from t')).toBe('SELECT b FROM t');
  expect(shownBy.get(null)).toBeNull();
  expect(diffOf(store, store).statements.map((row) => [row.fingerprint, row.sql])).toContainEqual([
    'select a from t',
    'SELECT a FROM t;',
  ]);
  const { frames } = flameGraph(new Facts(store), {})!;
  expect(frames.map(({ name, sql: shown }) => [name, shown])).toContainEqual([
    'select a from t',
    'SELECT a FROM t;',
  ]);
});

test('pages, VFS calls, and time belong to the statement whose step made them; prepare is separate', () => {
  const t = new ThreadBuilder(newStore());
  const [db, wal] = [t.file('a.db'), t.file('a.db-wal', 'wal')];
  const [a, b] = [sql(t, 'SELECT a'), sql(t, 'UPDATE b')];
  const read = (): number => t.call('xRead', { object: db, offset: 0, length: PAGE });
  t.call('sqlPrepare', { object: a, aux: 1 }, () => void read());
  t.call('sqlStep', { object: a, aux: 1, result: DONE }, () => {
    t.call('xLock', { object: db, aux: 1 });
    t.call('xRead', { object: db, offset: 24, length: 16 });
    read();
    read();
  });
  t.call('sqlFinalize', { object: a, aux: 1 }, () => void t.call('xUnlock', { object: db }));
  t.call('sqlStep', { object: b, aux: 2, result: DONE }, () => {
    t.call('xWrite', { object: wal, offset: 32, length: 24, aux: 7, aux2: 9 });
    t.call('xWrite', { object: wal, offset: 56, length: PAGE });
    t.call('xWrite', { object: db, offset: PAGE, length: PAGE }); // a checkpoint's
  });
  t.send();
  const table = statementTable(t.store)!;
  expect(rowOf(t, 'select a')).toMatchObject({
    pages: { read: 3, written: 0, walRead: 0, walWritten: 0 },
    ...{ vfsCalls: 5, vfsCallsPerExecution: 5, prepareVfsCalls: 1 },
    callsBy: { read: 3, write: 0, sync: 0, lock: 1 },
  });
  expect(rowOf(t, 'update b')).toMatchObject({
    pages: { read: 0, written: 0, walRead: 0, walWritten: 1 },
    vfsCalls: 3,
    callsBy: { read: 0, write: 3, sync: 0, lock: 0 },
  });
  expect(table.rows.reduce((n, r) => n + r.share!, 0)).toBeCloseTo(1, 12);
  expect(table.rows.reduce((n, r) => n + r.time.spanUs, 0)).toBeCloseTo(table.spanUs, 6);
});

test("SQLite's counters of each run belong to that run, and add up by statement", () => {
  const t = new ThreadBuilder(newStore());
  const [a, b] = [sql(t, 'SELECT a'), sql(t, 'SELECT b')];
  const run = (object: number, aux: number): number =>
    t.call('sqlStep', { object, aux, result: DONE });
  const status = (object: number, aux: number, scanned: number, steps: number, sorts = 0): number =>
    t.call('sqlStmtStatus', { object, aux, offset: scanned, length: steps, aux2: sorts, dur: 0 });
  const more = (object: number, aux: number, code: number, length: number): number =>
    t.call('sqlStmtStatusMore', { object, aux, aux2: code, length, dur: 0 });
  run(a, 1);
  status(a, 1, 499, 1500, 1);
  more(a, 1, StatementStatus.autoIndex, 500);
  more(a, 1, StatementStatus.memoryUsed, 2048);
  run(b, 2); // no reading
  run(a, 1);
  status(a, 1, 499, 1400);
  more(a, 1, StatementStatus.filterHit, 7);
  more(a, 1, 1234, 9); // one that SQLite may add one day
  t.send();
  expect(rowOf(t, 'select a')).toMatchObject({
    query: {
      ...{ runs: 2, scanned: 998, vmSteps: 2900, sorts: 1, autoIndexRows: 500 },
      ...{ reprepares: 0, filterHits: 7, filterMisses: 0 },
    },
    memory: 2048,
  });
  expect(rowOf(t, 'select b')).toMatchObject({ query: null, memory: null });
  const runs = executionsOf(t.store.threads[0]!);
  expect([...runs.counted.subarray(0, runs.count)]).toEqual([1, 0, 1]);
  expect([...runs.sorts.subarray(0, runs.count)]).toEqual([1, 0, 0]);
});

describe('cache by statement', () => {
  const counters = (t: ThreadBuilder, hits: number, misses: number, writes = 0, aux2 = 0): number =>
    t.call('sqlCounters', { offset: hits, length: misses, aux: writes, aux2, context: 4, dur: 0 });
  const step = (t: ThreadBuilder, object: number, aux: number, result = DONE): number =>
    t.call('sqlStep', { object, aux, result, context: 4 });

  test("the work of one statement alone is its own, and shared work isn't guessed", () => {
    const t = new ThreadBuilder(newStore());
    const [a, b, c] = [sql(t, 'SELECT a'), sql(t, 'SELECT b'), sql(t, 'SELECT c')];
    t.call('sqlOpen', { context: 4 });
    step(t, a, 1);
    counters(t, 10, 2);
    step(t, b, 2); // nothing changed: no reading
    step(t, a, 1);
    counters(t, 15, 2, 1, 1);
    step(t, a, 1, ROW);
    step(t, c, 3);
    counters(t, 20, 5, 1, 1);
    t.call('sqlReset', { object: a, aux: 1, context: 4 });
    t.send();
    expect(rowOf(t, 'select a').cache).toEqual({ hits: 15, misses: 2, writes: 1, spills: 1 });
    expect([rowOf(t, 'select b').cache, rowOf(t, 'select c').cache]).toEqual([null, null]);
    expect(statementTable(t.store)!.cacheShared).toMatchObject({ hits: 5, misses: 3 });
  });

  test("a connection opened before the recording: its first reading isn't a difference", () => {
    const t = new ThreadBuilder(newStore());
    const a = sql(t, 'SELECT a');
    step(t, a, 1);
    counters(t, 1_000_000, 500);
    step(t, a, 1);
    counters(t, 1_000_003, 501);
    t.send();
    expect(rowOf(t, 'select a').cache).toMatchObject({ hits: 3, misses: 1 });
  });

  test('counters that fall were reset by the app, so nothing is known from there on', () => {
    const t = new ThreadBuilder(newStore());
    const a = sql(t, 'SELECT a');
    t.call('sqlOpen', { context: 4 });
    step(t, a, 1);
    counters(t, 50, 9);
    step(t, a, 1);
    counters(t, 4, 1);
    t.send();
    expect(rowOf(t, 'select a').cache).toMatchObject({ hits: 50, misses: 9 });
  });
});

test('for any steps, executions are those of the summary, times and rows add up, and percentiles are times', () => {
  const call = fc.record({
    text: fc.nat(2),
    instance: fc.integer({ min: 1, max: 4 }),
    op: fc.constantFrom(
      'sqlStep',
      'sqlStep',
      'sqlStep',
      'sqlReset',
      'sqlFinalize',
      'sqlExec',
      'sqlPrepare',
    ),
    result: fc.constantFrom(0, ROW, ROW, DONE, DONE, BUSY),
    dur: fc.nat(30),
  });
  fc.assert(
    fc.property(
      fc.array(fc.array(call, { maxLength: 40 }), { minLength: 1, maxLength: 3 }),
      (threads) => {
        const store = newStore();
        let [stepUs, rows] = [0, 0];
        for (const calls of threads) {
          const t = new ThreadBuilder(store);
          const texts = ['SELECT 1', 'select  2', 'UPDATE t SET a=3'].map((text) => sql(t, text));
          for (const { text, instance, op, result, dur } of calls) {
            const steps = op === 'sqlStep' || op === 'sqlExec';
            // an instance has one text
            t.call(op as 'sqlStep', {
              object: texts[op === 'sqlExec' ? text : instance % 3]!,
              aux: op === 'sqlExec' ? 0 : instance,
              result,
              dur,
            });
            if (steps) stepUs += dur;
            if (op === 'sqlStep' && result === ROW) rows++;
          }
          t.send();
        }
        const table = statementTable(store);
        if (!table) return;
        expect(table.executions).toBe(statementsOf(store).count);
        const sum = (of: (r: StatementRow) => number): number =>
          table.rows.reduce((n, r) => n + of(r), 0);
        expect(sum((r) => r.totalUs)).toBeCloseTo(stepUs, 6);
        expect(sum((r) => r.rows)).toBe(rows);
        expect(new Set(table.rows.map((r) => r.text)).size).toBe(table.rows.length);
        for (const r of table.rows) {
          if (r.executions === 0) continue;
          expect(r.p50Us!).toBeLessThanOrEqual(r.p95Us!);
          expect(r.p95Us!).toBeLessThanOrEqual(r.maxUs!);
          expect(r.meanUs! * r.executions).toBeCloseTo(r.totalUs, 6);
        }
      },
    ),
    { numRuns: 200 },
  );
});

test('cold against warm: the first time range, and the first execution against later ones', () => {
  const t = new ThreadBuilder(newStore());
  const [db, a] = [t.file('a.db'), sql(t, 'SELECT a')];
  const run = (pages: number, dur: number): void => {
    t.call('sqlStep', { object: a, aux: 1, result: DONE, dur }, () => {
      for (let i = 0; i < pages; i++)
        t.call('xRead', { object: db, offset: i * PAGE, length: PAGE });
    });
  };
  t.idle(500);
  run(8, 100);
  t.idle(1_000_000);
  run(1, 10);
  run(0, 20);
  t.send();
  const { cold, warm, firstExecutions } = coldWarmOf(t.store);
  expect([cold!.pageReads, warm!.pageReads, cold!.hitRate]).toEqual([8, 1, null]);
  expect(firstExecutions).toEqual([
    {
      text: 'select a',
      sql: 'SELECT a',
      executions: 3,
      firstUs: 108,
      laterUs: 15.5,
      firstPages: 8,
      laterPages: 0.5,
    },
  ]);
  expect(coldWarmOf(newStore())).toEqual({ cold: null, warm: null, firstExecutions: [] });
});
