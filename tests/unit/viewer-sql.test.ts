// SQL over the trace: virtual tables compared with plain loops over the same arrays, pushed-down
// conditions compared with SQLite's own checks, and how a query is stopped.
import { beforeAll, describe, expect, it } from 'vitest';
import { opName } from '../../src/event/operations.ts';
import { MOST_ROWS, sqlQueries } from '../../src/viewer/session/sql/sql-query.ts';
import { eventsOf, numericColumns } from '../../src/viewer/ui/views/sql/result.ts';
import { syntheticStore } from '../traces/synthetic.ts';
import {
  analyseAnew,
  contextOf,
  hostile,
  HOSTILE,
  loadSqlite,
  nextId,
  rows,
  run,
} from './sql-queries.ts';
import { executions } from '../../src/analysis/core/executions.ts';
import { accesses } from '../../src/analysis/pages/page-accesses.ts';
import { transactions } from '../../src/analysis/transactions/transactions.ts';

beforeAll(loadSqlite);

const large = syntheticStore({ events: 30_000, threads: 3, seed: 5 });

describe('the table events', () => {
  it('counts and sums as loops over the columns do', async () => {
    const expected = new Map<string, [number, number, number]>();
    for (const { events } of large.threads)
      for (let i = 0; i < events.count; i++) {
        const sum = expected.get(opName(events.op[i]!)) ?? [0, 0, 0];
        expected.set(opName(events.op[i]!), [
          sum[0] + 1,
          sum[1] + events.length[i]!,
          sum[2] + events.seq[i]!,
        ]);
      }
    const found = await rows(
      large,
      'SELECT op, count(*), sum(length), sum(seq) FROM events GROUP BY op ORDER BY op',
    );
    expect(found.length).toBeGreaterThan(5);
    expect(found).toEqual(
      [...expected].sort(([a], [b]) => (a < b ? -1 : 1)).map(([op, sum]) => [op, ...sum]),
    );
  });

  it('gives the same result whether a comparison is pushed down or not', async () => {
    const [, [from, to]] = [0, large.extent()];
    const middle = (from + to) / 2;
    const { [5]: sixth, [7]: eighth } = large.threads[0]!.events.seq;
    const conditions: [pushed: string, checked: string][] = [
      [`ts >= ${middle}`, `+ts >= ${middle}`],
      [`ts > ${from} AND ts < ${middle}`, `+ts > ${from} AND +ts < ${middle}`],
      [
        `ts BETWEEN ${middle - 1000} AND ${middle + 1000}`,
        `+ts BETWEEN ${middle - 1000} AND ${middle + 1000}`,
      ],
      ['thread = 1', '+thread = 1'],
      ['thread IN (0, 2) AND seq <= 200', '+thread IN (0, 2) AND +seq <= 200'],
      ["op = 'xRead'", "+op = 'xRead'"],
      ["op = 'xread' COLLATE NOCASE", "+op = 'xread' COLLATE NOCASE"],
      ["op = 'xread'", "+op = 'xread'"],
      ["op IN ('xRead', 'xSync', 'no such')", "+op IN ('xRead', 'xSync', 'no such')"],
      ["layer = 'sql' AND ts > 1000", "+layer = 'sql' AND +ts > 1000"],
      [
        "layer = 'vfs' AND op = 'xLock' AND thread = 2",
        "+layer = 'vfs' AND +op = 'xLock' AND +thread = 2",
      ],
      [
        `seq = ${sixth} OR (seq = ${eighth} AND thread = 0)`,
        `+seq = ${sixth} OR (+seq = ${eighth} AND +thread = 0)`,
      ],
      ["seq > 4.5 AND seq < '19'", '+seq > 4.5 AND +seq < 19'],
      ['ts = NULL', '+ts = NULL'],
      ['thread = 99', '+thread = 99'],
      ["thread = '1'", '+thread = 1'],
      ["ts > 'text'", "+ts > 'text'"],
    ];
    let some = 0;
    for (const [pushed, checked] of conditions) {
      const sql = (where: string): string =>
        `SELECT count(*), sum(seq), min(seq), max(ts) FROM events WHERE ${where}`;
      const [a, b] = [await rows(large, sql(pushed)), await rows(large, sql(checked))];
      expect(a, pushed).toEqual(b);
      if (a[0]![0] !== 0) some++;
    }
    expect(some).toBe(13); // the others: another case, NULL, no such thread, a text;
  });

  it('visits no more rows than the range has', async () => {
    const { t0, seq, count } = large.threads[0]!.events;
    const [from, to] = [t0[1000]!, t0[1009]!];
    expect(count).toBeGreaterThan(5000);
    // a scan of everything takes tens of thousands of steps; this must not reach the first check of
    // the clock
    const answer = await run(
      large,
      `SELECT thread, seq FROM events WHERE thread = 0 AND ts BETWEEN ${from} AND ${to}`,
      { maxMs: 0 },
    );
    expect(answer.rows).toEqual(Array.from(seq.subarray(1000, 1010), (n) => [0, n]));
  });

  it('has hostile texts, large numbers, and unknown values', async () => {
    const store = hostile();
    expect(
      (
        await rows(
          store,
          'SELECT object FROM events WHERE object IS NOT NULL GROUP BY object ORDER BY min(seq)',
        )
      ).map(([text]) => text),
    ).toEqual(HOSTILE.map((text) => (text.length > 10_000 ? `${text.slice(0, 10_000)}…` : text)));
    expect(
      await rows(store, 'SELECT offset, length, dur, result_name, failed FROM events LIMIT 2'),
    ).toEqual([
      [2 ** 40, 4_294_967_295, 3, 'SQLITE_IOERR_READ', 1],
      [null, 0, null, null, 0],
    ]);
    expect(
      await rows(
        store,
        'SELECT typeof(offset), typeof(length), typeof(ts), offset FROM events WHERE offset > 1e100',
      ),
    ).toEqual([['real', 'integer', 'real', 1e300]]);
  });
});

describe('the other tables', () => {
  it('join without repeated scans', async () => {
    const runs = large.threads.reduce(
      (n, t) => n + contextOf(large).facts.get(executions).of(t).count,
      0,
    );
    expect(
      await rows(
        large,
        'SELECT count(*) FROM executions e JOIN objects s ON s.thread = e.thread AND s.object_id = e.statement_id',
      ),
    ).toEqual([[runs]]);
    const inside = await rows(
      large,
      `SELECT count(*), sum(n > 0) FROM (SELECT (SELECT count(*) FROM events e WHERE e.thread = t.thread AND e.seq BETWEEN t.seq AND t.last_seq) n FROM transactions t)`,
    );
    const { list } = contextOf(large).facts.get(transactions);
    expect(inside).toEqual([[list.length, list.length]]);
  });

  it('have the same pages as the analysis', async () => {
    const all = contextOf(large).facts.get(accesses);
    expect(await rows(large, 'SELECT count(*), sum(bytes) FROM page_accesses')).toEqual([
      [all.count, [...all.bytes.subarray(0, all.count)].reduce((a, b) => a + b, 0)],
    ]);
    const [[reads, accessed]] = (await rows(
      large,
      'SELECT (SELECT sum(reads + wal_reads) FROM pages), (SELECT count(*) FROM page_accesses WHERE NOT write AND NOT checkpoint)',
    )) as [[number, number]];
    expect(reads).toBe(accessed);
    expect(reads).toBeGreaterThan(1000);
  });

  it('are all described, and every column is readable', async () => {
    const tables = sqlQueries.sqlTables(contextOf(large), {});
    expect(tables.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'events',
        'statements',
        'executions',
        'transactions',
        'files',
        'threads',
        'locks',
        'checkpoints',
        'pages',
        'page_accesses',
      ]),
    );
    for (const { name, columns, help } of tables) {
      expect(help).not.toBe('');
      for (const column of columns) expect(column.help, `${name}.${column.name}`).not.toBe('');
      expect((await run(large, `SELECT * FROM ${name} LIMIT 3`)).columns).toEqual(
        columns.map((c) => c.name),
      );
    }
  });
});

describe('a query', () => {
  it("keeps its user's tables and views, for this trace only", async () => {
    const other = hostile();
    await run(
      large,
      "CREATE VIEW reads AS SELECT * FROM events WHERE op = 'xRead'; CREATE TEMP TABLE mine AS SELECT count(*) n FROM reads",
    );
    expect((await rows(large, 'SELECT n = (SELECT count(*) FROM reads) FROM mine'))[0]).toEqual([
      1,
    ]);
    await expect(run(other, 'SELECT * FROM reads')).rejects.toThrow('no such table: reads');
  });

  it("can't write to the trace", async () => {
    for (const sql of [
      'DELETE FROM events',
      'UPDATE events SET dur = 0',
      'INSERT INTO threads DEFAULT VALUES',
      'DROP TABLE events',
    ])
      await expect(run(large, sql), sql).rejects.toThrow(
        /may not be (modified|dropped)|no such table/,
      );
  });

  it("fails with SQLite's message, and the next one runs", async () => {
    await expect(run(large, 'SELECT unknown FROM events')).rejects.toThrow(
      'no such column: unknown',
    );
    await expect(run(large, 'SELEC 1')).rejects.toThrow('near "SELEC": syntax error');
    expect(await rows(large, 'SELECT 1')).toEqual([[1]]);
  });

  it('shows the result of the last statement that has one, and no more rows than fit', async () => {
    const answer = await run(large, 'SELECT 1 AS a; SELECT seq FROM events; ');
    expect([answer.columns, answer.rows.length, answer.more, answer.statements]).toEqual([
      ['seq'],
      MOST_ROWS,
      true,
      2,
    ]);
    expect(await run(large, "SELECT x'00ff', 9007199254740993, 'ä'")).toMatchObject({
      rows: [["x'00ff'", '9007199254740993', 'ä']],
      more: false,
    });
  });

  it('ends at its time limit, and when it is canceled from inside or between rows', async () => {
    const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT';
    await expect(run(large, `${endless} count(*) FROM n`, { maxMs: 30 })).rejects.toThrow(
      'stopped after 0.03 s',
    );
    await expect(
      run(large, `${endless} count(*) FROM n`, { stop: new Int32Array([1]) }),
    ).rejects.toThrow('canceled');
    const id = nextId();
    const slow = sqlQueries.sqlCsv(contextOf(large), {
      id,
      sql: `${endless} i FROM n`,
      maxMs: 60_000,
      stop: null,
    });
    const cancel = new Promise((done) =>
      setImmediate(() => done(sqlQueries.sqlCancel(contextOf(large), { id }))),
    );
    await expect(slow).rejects.toMatchObject({ name: 'AbortError' });
    await cancel;
    expect(await rows(large, 'SELECT 2')).toEqual([[2]]);
  });

  it('names events as before when a flight recorder has dropped some', async () => {
    const store = syntheticStore({ events: 4000, threads: 1 });
    const cut = 1000;
    const first = await rows(store, 'SELECT min(seq), count(*) FROM events');
    const { count } = store.threads[0]!.events;
    const seqs = store.threads[0]!.events.seq.slice(0, count);
    expect(first).toEqual([[seqs[0], count]]);
    store.threads[0]!.forget(cut);
    analyseAnew(store);
    expect(await rows(store, 'SELECT min(seq), count(*) FROM events')).toEqual([
      [seqs[cut], count - cut],
    ]);
    expect(
      await rows(store, `SELECT count(*) FROM events WHERE thread = 0 AND seq < ${seqs[cut + 10]}`),
    ).toEqual([[10]]);
  });

  it('ends if the flight recorder drops rows during it', async () => {
    const store = syntheticStore({ events: 20_000, threads: 1 });
    // SQLite is loaded, so the next query begins at once
    expect(await rows(store, 'SELECT 1')).toEqual([[1]]);
    const sql = 'SELECT a.seq, b.seq FROM executions a, executions b';
    const reading = sqlQueries.sqlCsv(contextOf(store), {
      id: nextId(),
      sql,
      maxMs: 20_000,
      stop: null,
    });
    const forgotten = new Promise<void>((done) =>
      setImmediate(() => done(store.threads[0]!.forget(1000))),
    );
    await expect(reading).rejects.toThrow('dropped rows in the meantime');
    await forgotten;
  });

  it('is saved with all its rows as CSV', async () => {
    const csv = await sqlQueries.sqlCsv(contextOf(large), {
      id: nextId(),
      sql: 'SELECT seq, op FROM events WHERE thread = 0',
      maxMs: 60_000,
      stop: null,
    });
    const lines = (await csv.text()).split('\n');
    const { events } = large.threads[0]!;
    expect(lines.length).toBe(events.count + 2);
    expect([lines[0], lines[1], lines.at(-1)]).toEqual([
      'seq,op',
      `${events.seq[0]!},${opName(events.op[0]!)}`,
      '',
    ]);
    const formula = await sqlQueries.sqlCsv(contextOf(large), {
      id: nextId(),
      sql: `SELECT '=1+1' AS "a,b", NULL, 'x"y'`,
      maxMs: 1000,
      stop: null,
    });
    expect(await formula.text()).toBe(`"a,b",NULL,"'x""y'"\n'=1+1,,"x""y"\n`);
  });
});

it('a result names events by thread and seq, and its number columns', () => {
  const result = {
    columns: ['Thread', 'SEQ', 'n', 'text'],
    rows: [
      [1, 5, null, 'a'],
      ['x', 6, 2.5, 'b'],
    ],
  };
  const eventOf = eventsOf(result)!;
  expect([eventOf(0), eventOf(1), eventOf(9)]).toEqual([{ thread: 1, seq: 5 }, null, null]);
  expect(eventsOf({ columns: ['seq'], rows: [] })).toBeNull();
  expect(numericColumns(result)).toEqual([false, true, true, false]);
});
