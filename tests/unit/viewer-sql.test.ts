// SQL over the trace: virtual tables against plain loops over the same arrays, what is pushed down against what SQLite checks itself, and what stops a query.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { beforeAll, describe, expect, it } from 'vitest';
import { Analyses } from '../../src/trace/analysis/shared.ts';
import { opName } from '../../src/trace/event.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import type { QueryContext } from '../../src/viewer/worker/queries/context.ts';
import { MOST_ROWS, sqlQueries, useWasm, type SqlAnswer } from '../../src/viewer/worker/queries/sql.ts';
import { compareTexts } from '../../src/viewer/worker/sql/events-order.ts';
import { EXAMPLES } from '../../src/viewer/views/sql/examples.ts';
import { eventsOf, numericColumns } from '../../src/viewer/views/sql/result.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { syntheticStore } from '../traces/synthetic.ts';

const contexts = new WeakMap<TraceStore, QueryContext>();
function contextOf(store: TraceStore): QueryContext {
  let context = contexts.get(store);
  if (context) return context;
  const kept = new Map<string, unknown>();
  const memo = <T>(key: string, make: () => T): T => {
    if (!kept.has(key)) kept.set(key, make());
    return kept.get(key) as T;
  };
  context = { store, shared: new Analyses(store), memo } as unknown as QueryContext;
  contexts.set(store, context);
  return context;
}
let lastId = 0;
const run = (store: TraceStore, sql: string, options: { maxMs?: number; stop?: Int32Array } = {}): Promise<SqlAnswer> =>
  sqlQueries.sqlRun(contextOf(store), { id: ++lastId, sql, maxMs: options.maxMs ?? 60_000, stop: options.stop ?? null });
const rows = async (store: TraceStore, sql: string): Promise<unknown[][]> => (await run(store, sql)).rows;

beforeAll(() => useWasm(readFileSync(createRequire(import.meta.url).resolve('wa-sqlite/dist/wa-sqlite.wasm'))));

const large = syntheticStore({ events: 30_000, threads: 3, seed: 5 });
const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  '\u202egnp.exe',
  "'; DROP TABLE events; --",
  'tab\tline\nnul\u0001',
  '💾'.repeat(2000),
  'x'.repeat(100_000),
];

function hostile(): TraceStore {
  const store = newStore();
  const t = new ThreadBuilder(store, { name: 'hostile' });
  for (const path of HOSTILE) {
    const file = t.file(path);
    t.call('xRead', { object: file, offset: 2 ** 40, length: 4_294_967_295, result: 266, dur: 3 });
    t.call('xRead', { object: file, offset: NaN, open: true });
  }
  t.call('xRead', { object: 4_000_000_000, offset: 1e300 });
  t.send();
  return store;
}

describe('the table events', () => {
  it('counts and sums as loops over the columns do', async () => {
    const expected = new Map<string, [number, number, number]>();
    for (const { events } of large.threads)
      for (let i = 0; i < events.count; i++) {
        const sum = expected.get(opName(events.op[i]!)) ?? [0, 0, 0];
        expected.set(opName(events.op[i]!), [sum[0] + 1, sum[1] + events.length[i]!, sum[2] + events.seq[i]!]);
      }
    const found = await rows(large, 'SELECT op, count(*), sum(length), sum(seq) FROM events GROUP BY op ORDER BY op');
    expect(found.length).toBeGreaterThan(5);
    expect(found).toEqual([...expected].sort(([a], [b]) => (a < b ? -1 : 1)).map(([op, sum]) => [op, ...sum]));
  });

  it('answers the same whether a comparison is pushed down or not', async () => {
    const [, [from, to]] = [0, large.extent()];
    const middle = (from + to) / 2;
    const conditions: [pushed: string, checked: string][] = [
      [`ts >= ${middle}`, `+ts >= ${middle}`],
      [`ts > ${from} AND ts < ${middle}`, `+ts > ${from} AND +ts < ${middle}`],
      [`ts BETWEEN ${middle - 1000} AND ${middle + 1000}`, `+ts BETWEEN ${middle - 1000} AND ${middle + 1000}`],
      ['thread = 1', '+thread = 1'],
      ['thread IN (0, 2) AND row <= 100', '+thread IN (0, 2) AND +row <= 100'],
      ["op = 'xRead'", "+op = 'xRead'"],
      ["op = 'xread' COLLATE NOCASE", "+op = 'xread' COLLATE NOCASE"],
      ["op = 'xread'", "+op = 'xread'"],
      ["op IN ('xRead', 'xSync', 'no such')", "+op IN ('xRead', 'xSync', 'no such')"],
      ["layer = 'sql' AND ts > 1000", "+layer = 'sql' AND +ts > 1000"],
      ["layer = 'vfs' AND op = 'xLock' AND thread = 2", "+layer = 'vfs' AND +op = 'xLock' AND +thread = 2"],
      ['row = 5 OR (row = 7 AND thread = 0)', '+row = 5 OR (+row = 7 AND +thread = 0)'],
      ["row > 4.5 AND row < '9'", '+row > 4.5 AND +row < 9'],
      ['ts = NULL', '+ts = NULL'],
      ['thread = 99', '+thread = 99'],
      ["thread = '1'", '+thread = 1'],
      ["ts > 'text'", "+ts > 'text'"],
    ];
    let some = 0;
    for (const [pushed, checked] of conditions) {
      const sql = (where: string): string => `SELECT count(*), sum(seq), min(row), max(ts) FROM events WHERE ${where}`;
      const [a, b] = [await rows(large, sql(pushed)), await rows(large, sql(checked))];
      expect(a, pushed).toEqual(b);
      if (a[0]![0] !== 0) some++;
    }
    expect(some).toBe(13); // the others: another case, NULL, no such thread, a text;
  });

  it('visits no more rows than the range has', async () => {
    const { t0, count } = large.threads[0]!.events;
    const [from, to] = [t0[1000]!, t0[1009]!];
    expect(count).toBeGreaterThan(5000);
    // a scan of everything takes tens of thousands of steps; this must not reach the first look at the clock
    const answer = await run(large, `SELECT thread, row FROM events WHERE thread = 0 AND ts BETWEEN ${from} AND ${to}`, { maxMs: 0 });
    expect(answer.rows).toEqual(Array.from({ length: 10 }, (_, i) => [0, 1000 + i]));
  });

  it('holds hostile texts, large numbers and what is not known', async () => {
    const store = hostile();
    expect(
      (await rows(store, 'SELECT object FROM events WHERE object IS NOT NULL GROUP BY object ORDER BY min(row)')).map(([text]) => text),
    ).toEqual(HOSTILE.map((text) => (text.length > 10_000 ? `${text.slice(0, 10_000)}…` : text)));
    expect(await rows(store, 'SELECT offset, length, dur, result_name, failed FROM events LIMIT 2')).toEqual([
      [2 ** 40, 4_294_967_295, 3, 'SQLITE_IOERR_READ', 1],
      [null, 0, null, null, 0],
    ]);
    expect(await rows(store, 'SELECT typeof(offset), typeof(length), typeof(ts), offset FROM events WHERE offset > 1e100')).toEqual([
      ['real', 'integer', 'real', 1e300],
    ]);
  });
});

describe('orders that the table brings itself', () => {
  const SORTED = ['thread', 'layer', 'op', 'activity', 'object', 'kind', 'statement'];
  /** The same question in words that the table is not asked: an expression is no column. */
  const bySqlite = (sql: string): string => sql.replace(/ BY (\w+)/g, ' BY +$1').replace('DISTINCT ', 'DISTINCT +');
  const sorter = async (store: TraceStore, sql: string): Promise<boolean> =>
    (await rows(store, `EXPLAIN QUERY PLAN ${sql}`)).some((row) => /TEMP B-TREE/.test(String(row[3])));
  const someThreads = (): TraceStore => {
    const store = hostile();
    for (const name of ['one', 'two']) {
      const t = new ThreadBuilder(store, { name });
      const files = ['/b.db', '/a.db', '\ue000.db', '\u{1f4be}.db', '/é.db'].map((path) => t.file(path));
      for (let i = 0; i < 40; i++) t.call(i % 3 ? 'xRead' : 'xWrite', { object: files[(i * 7) % 5]!, offset: i, length: i, dur: i });
      t.send();
    }
    return store;
  };
  for (const [name, store] of [
    ['a trace of several threads', syntheticStore({ events: 6000, threads: 3, seed: 5 })],
    ['hostile names on three threads', someThreads()],
  ] as const)
    it.each(SORTED)(`${name}: by %s, as SQLite orders and groups`, async (column) => {
      for (const sql of [
        `SELECT ${column}, count(*), sum(dur), min(rowid), max(rowid), sum(row) FROM events GROUP BY ${column}`,
        `SELECT ${column}, count(*) FROM events WHERE dur > 2 AND ts > 100 GROUP BY ${column}`,
        `SELECT ${column}, count(*) FROM events WHERE op = 'xRead' AND row < 200 GROUP BY ${column}`,
        `SELECT ${column}, count(*) FROM events WHERE thread = 1 GROUP BY ${column}`,
        `SELECT ${column}, count(*) FROM events WHERE thread = 99 GROUP BY ${column}`,
        `SELECT DISTINCT ${column} FROM events ORDER BY ${column}`,
        `SELECT ${column} FROM events ORDER BY ${column} LIMIT 500`,
        `SELECT ${column} FROM events ORDER BY ${column} DESC LIMIT 500`,
      ]) {
        expect(await rows(store, sql), sql).toEqual(await rows(store, bySqlite(sql)));
        expect([await sorter(store, sql), await sorter(store, bySqlite(sql))], sql).toEqual([
          column === 'thread' && sql.includes('DESC'),
          true,
        ]);
      }
    });

  it('texts compare as the bytes of their UTF-8', () => {
    const texts = [
      '',
      'a',
      'ab',
      'b',
      'Z',
      'é',
      '\u0001',
      '\ud7ff',
      '\ue000',
      '\uffff',
      '\u{10000}',
      '\u{1f4be}',
      'a\u{1f4be}',
      'a\uffff',
      '\u{1f4be}a',
    ];
    for (const a of texts)
      for (const b of texts) expect(Math.sign(compareTexts(a, b)), `${a} ${b}`).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect([compareTexts(null, ''), compareTexts('', null), compareTexts(null, null)]).toEqual([-1, 1, 0]);
  });

  it('other orders are left to SQLite', async () => {
    for (const sql of [
      'SELECT dur FROM events ORDER BY dur',
      'SELECT op FROM events GROUP BY op, thread',
      'SELECT op FROM events ORDER BY op COLLATE NOCASE',
    ])
      expect(await sorter(large, sql), sql).toBe(true);
    const [one] = await rows(large, 'SELECT group_concat(op) FROM (SELECT op FROM events ORDER BY op COLLATE NOCASE, rowid LIMIT 3)');
    const [two] = await rows(large, 'SELECT group_concat(op) FROM (SELECT op FROM events ORDER BY lower(op), rowid LIMIT 3)');
    expect(one).toEqual(two);
  });
});

describe('the other tables', () => {
  it('join without scanning again and again', async () => {
    const executions = large.threads.reduce((n, t) => n + contextOf(large).shared.executions(t).count, 0);
    expect(
      await rows(large, 'SELECT count(*) FROM executions e JOIN statements s ON s.thread = e.thread AND s.id = e.statement_id'),
    ).toEqual([[executions]]);
    const inside = await rows(
      large,
      `SELECT count(*), sum(n > 0) FROM (SELECT (SELECT count(*) FROM events e WHERE e.thread = t.thread AND e.row BETWEEN t.row AND t.end_row) n FROM transactions t)`,
    );
    const { list } = contextOf(large).shared.transactions;
    expect(inside).toEqual([[list.length, list.length]]);
  });

  it('say of pages what the analysis says', async () => {
    const { accesses } = contextOf(large).shared;
    expect(await rows(large, 'SELECT count(*), sum(bytes) FROM page_accesses')).toEqual([
      [accesses.count, [...accesses.bytes.subarray(0, accesses.count)].reduce((a, b) => a + b, 0)],
    ]);
    const [[reads, accessed]] = (await rows(
      large,
      'SELECT (SELECT sum(reads + wal_reads) FROM pages), (SELECT count(*) FROM page_accesses WHERE NOT write AND NOT checkpoint)',
    )) as [[number, number]];
    expect(reads).toBe(accessed);
    expect(reads).toBeGreaterThan(1000);
  });

  it('are all described, and every column can be read', async () => {
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
      expect((await run(large, `SELECT * FROM ${name} LIMIT 3`)).columns).toEqual(columns.map((c) => c.name));
    }
  });
});

describe('a query', () => {
  it('keeps tables and views that its user makes, for this trace alone', async () => {
    const other = hostile();
    await run(
      large,
      "CREATE VIEW reads AS SELECT * FROM events WHERE op = 'xRead'; CREATE TEMP TABLE mine AS SELECT count(*) n FROM reads",
    );
    expect((await rows(large, 'SELECT n = (SELECT count(*) FROM reads) FROM mine'))[0]).toEqual([1]);
    await expect(run(other, 'SELECT * FROM reads')).rejects.toThrow('no such table: reads');
  });

  it('cannot write to the trace', async () => {
    for (const sql of ['DELETE FROM events', 'UPDATE events SET dur = 0', 'INSERT INTO threads DEFAULT VALUES', 'DROP TABLE events'])
      await expect(run(large, sql), sql).rejects.toThrow(/may not be (modified|dropped)|no such table/);
  });

  it('fails in SQLite’s words, and the next one runs', async () => {
    await expect(run(large, 'SELECT unknown FROM events')).rejects.toThrow('no such column: unknown');
    await expect(run(large, 'SELEC 1')).rejects.toThrow('near "SELEC": syntax error');
    expect(await rows(large, 'SELECT 1')).toEqual([[1]]);
  });

  it('shows the result of the last statement that has one, and no more rows than fit', async () => {
    const answer = await run(large, 'SELECT 1 AS a; SELECT row FROM events; ');
    expect([answer.columns, answer.rows.length, answer.more, answer.statements]).toEqual([['row'], MOST_ROWS, true, 2]);
    expect(await run(large, "SELECT x'00ff', 9007199254740993, 'ä'")).toMatchObject({
      rows: [["x'00ff'", '9007199254740993', 'ä']],
      more: false,
    });
  });

  it('ends at its time limit, and when it is cancelled from inside or between rows', async () => {
    const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT';
    await expect(run(large, `${endless} count(*) FROM n`, { maxMs: 30 })).rejects.toThrow('stopped after 0.03 s');
    await expect(run(large, `${endless} count(*) FROM n`, { stop: new Int32Array([1]) })).rejects.toThrow('cancelled');
    const id = lastId + 1;
    const slow = sqlQueries.sqlCsv(contextOf(large), { id, sql: `${endless} i FROM n`, maxMs: 60_000, stop: null });
    const cancel = new Promise((done) => setImmediate(() => done(sqlQueries.sqlCancel(contextOf(large), { id }))));
    await expect(slow).rejects.toMatchObject({ name: 'AbortError' });
    await cancel;
    expect(await rows(large, 'SELECT 2')).toEqual([[2]]);
  });

  it('numbers rows for life when a flight recorder has forgotten some', async () => {
    const store = syntheticStore({ events: 4000, threads: 1 });
    const context = contextOf(store);
    const cut = 1000;
    const first = await rows(store, 'SELECT min(row), count(*) FROM events');
    const { count } = store.threads[0]!.events;
    expect(first).toEqual([[0, count]]);
    store.threads[0]!.forget(cut);
    contexts.set(store, { ...context, shared: new Analyses(store) });
    expect(await rows(store, 'SELECT min(row), count(*) FROM events')).toEqual([[cut, count - cut]]);
    expect(await rows(store, `SELECT count(*) FROM events WHERE thread = 0 AND row < ${cut + 10}`)).toEqual([[10]]);
  });

  it('is saved with all its rows as CSV', async () => {
    const csv = await sqlQueries.sqlCsv(contextOf(large), {
      id: ++lastId,
      sql: 'SELECT row, op FROM events WHERE thread = 0',
      maxMs: 60_000,
      stop: null,
    });
    const lines = (await csv.text()).split('\n');
    const { events } = large.threads[0]!;
    expect(lines.length).toBe(events.count + 2);
    expect([lines[0], lines[1], lines.at(-1)]).toEqual(['row,op', `0,${opName(events.op[0]!)}`, '']);
    const formula = await sqlQueries.sqlCsv(contextOf(large), {
      id: ++lastId,
      sql: `SELECT '=1+1' AS "a,b", NULL, 'x"y'`,
      maxMs: 1000,
      stop: null,
    });
    expect(await formula.text()).toBe(`"a,b",NULL,"'x""y'"\n'=1+1,,"x""y"\n`);
  });
});

describe('the examples', () => {
  const folder = new URL('../traces/golden/', import.meta.url);
  const names = readdirSync(folder).filter((name) => name.endsWith('.vfst'));
  it('run on every golden trace, and each finds something on one of them', async () => {
    const found = new Set<string>();
    for (const name of names) {
      const { store } = await readTrace(new Blob([readFileSync(new URL(name, folder))]));
      for (const { title, sql } of EXAMPLES) if ((await run(store, sql)).rows.length) found.add(title);
    }
    expect(EXAMPLES.length).toBeGreaterThanOrEqual(15);
    expect(EXAMPLES.filter(({ title }) => !found.has(title)).map(({ title }) => title)).toEqual([]);
  }, 60_000);
});

describe('examples whose answers are known', () => {
  const sqlOf = (title: string): string => EXAMPLES.find((e) => e.title === title)!.sql;
  it('storage writes beneath a write, beneath a sync, and behind', async () => {
    const store = newStore();
    const t = new ThreadBuilder(store);
    const db = t.file('/a.db');
    const blocks = t.define({ kind: 'idb-store', db: 'vfs', store: 'blocks' });
    const put = (): number => t.call('idbPut', { object: blocks, offset: 1, length: 8192 });
    for (let i = 0; i < 3; i++) t.call('xWrite', { object: db, offset: 4096 * i, length: 4096 }, () => void put());
    t.call('xSync', { object: db }, () => void (put(), put()));
    put();
    t.send();
    expect(await rows(store, sqlOf('When does the VFS store its blocks: at a write, or at a sync?'))).toEqual([
      ['xWrite', 'main-db', 'idb.put', 3, 3 * 8192],
      ['xSync', 'main-db', 'idb.put', 2, 2 * 8192],
      ['(behind, or by the app itself)', null, 'idb.put', 1, 8192],
    ]);
  });
  it('writes past the end, and inside', async () => {
    const store = newStore();
    const t = new ThreadBuilder(store);
    const db = t.file('/a.db');
    const page = (op: 'xRead' | 'xWrite', n: number, result = 0): number =>
      t.call(op, { object: db, offset: 4096 * n, length: 4096, result });
    page('xRead', 0, 522); // nothing is there yet
    for (const n of [0, 1, 2, 1, 3]) page('xWrite', n);
    page('xRead', 9);
    for (const n of [5, 9, 10]) page('xWrite', n);
    t.send();
    const found = await rows(store, sqlOf('Writes past the end of a database, and inside it'));
    expect(found.map(([, place, writes, bytes]) => [place, writes, bytes])).toEqual([
      ['inside', 3, 3 * 4096],
      ['past all that was read or written before', 5, 5 * 4096],
    ]);
  });
  it('requests of IndexedDB transactions', async () => {
    const store = newStore();
    const t = new ThreadBuilder(store);
    const blocks = t.define({ kind: 'idb-store', db: 'vfs', store: 'blocks' });
    for (const [context, mode, requests] of [
      [1, 0, 2],
      [2, 1, 1],
      [3, 1, 1],
      [4, 0, 0],
    ] as const) {
      t.call('idbTransaction', { context, aux: mode });
      for (let i = 0; i < requests; i++) t.call('idbGet', { object: blocks, context, offset: i, length: 10 });
    }
    t.send();
    expect(await rows(store, sqlOf('How many requests has an IndexedDB transaction?'))).toEqual([
      [0, 'readonly', 1],
      [1, 'readwrite', 2],
      [2, 'readonly', 1],
    ]);
  });
});

it('a result names events by thread and row, and its columns of numbers', () => {
  const result = {
    columns: ['Thread', 'ROW', 'n', 'text'],
    rows: [
      [1, 5, null, 'a'],
      ['x', 6, 2.5, 'b'],
    ],
  };
  const eventOf = eventsOf(result)!;
  expect([eventOf(0), eventOf(1), eventOf(9)]).toEqual([{ thread: 1, row: 5 }, null, null]);
  expect(eventsOf({ columns: ['row'], rows: [] })).toBeNull();
  expect(numericColumns(result)).toEqual([false, true, true, false]);
});
