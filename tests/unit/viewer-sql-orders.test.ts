// Orders and groups that the table of events provides itself: as SQLite would order and group,
// without its sorter.
import { beforeAll, describe, expect, it } from 'vitest';
import type { TraceStore } from '../../src/trace/store.ts';
import { compareTexts } from '../../src/viewer/session/sql/events-order.ts';
import { ThreadBuilder } from '../traces/builder.ts';
import { syntheticStore } from '../traces/synthetic.ts';
import { hostile, loadSqlite, rows } from './sql-queries.ts';

beforeAll(loadSqlite);

const large = syntheticStore({ events: 30_000, threads: 3, seed: 5 });

describe('orders that the table provides itself', () => {
  const SORTED = ['thread', 'layer', 'op', 'activity', 'object', 'kind', 'statement'];
  /** The same query with expressions instead of columns, which the table can't order. */
  const bySqlite = (sql: string): string =>
    sql.replace(/ BY (\w+)/g, ' BY +$1').replace('DISTINCT ', 'DISTINCT +');
  const sorter = async (store: TraceStore, sql: string): Promise<boolean> =>
    (await rows(store, `EXPLAIN QUERY PLAN ${sql}`)).some((row) =>
      /TEMP B-TREE/.test(String(row[3])),
    );
  const someThreads = (): TraceStore => {
    const store = hostile();
    for (const name of ['one', 'two']) {
      const t = new ThreadBuilder(store, { name });
      const files = ['/b.db', '/a.db', '\ue000.db', '\u{1f4be}.db', '/é.db'].map((path) =>
        t.file(path),
      );
      for (let i = 0; i < 40; i++)
        t.call(i % 3 ? 'xRead' : 'xWrite', {
          object: files[(i * 7) % 5]!,
          offset: i,
          length: i,
          dur: i,
        });
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
        `SELECT ${column}, count(*), sum(dur), min(rowid), max(rowid), sum(seq) FROM events GROUP BY ${column}`,
        `SELECT ${column}, count(*) FROM events WHERE dur > 2 AND ts > 100 GROUP BY ${column}`,
        `SELECT ${column}, count(*) FROM events WHERE op = 'xRead' AND seq < 400 GROUP BY ${column}`,
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

  it('texts compare by the bytes of their UTF-8', () => {
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
      for (const b of texts)
        expect(Math.sign(compareTexts(a, b)), `${a} ${b}`).toBe(
          Buffer.compare(Buffer.from(a), Buffer.from(b)),
        );
    expect([compareTexts(null, ''), compareTexts('', null), compareTexts(null, null)]).toEqual([
      -1, 1, 0,
    ]);
  });

  it('other orders are left to SQLite', async () => {
    for (const sql of [
      'SELECT dur FROM events ORDER BY dur',
      'SELECT op FROM events GROUP BY op, thread',
      'SELECT op FROM events ORDER BY op COLLATE NOCASE',
    ])
      expect(await sorter(large, sql), sql).toBe(true);
    const [one] = await rows(
      large,
      'SELECT group_concat(op) FROM (SELECT op FROM events ORDER BY op COLLATE NOCASE, rowid LIMIT 3)',
    );
    const [two] = await rows(
      large,
      'SELECT group_concat(op) FROM (SELECT op FROM events ORDER BY lower(op), rowid LIMIT 3)',
    );
    expect(one).toEqual(two);
  });
});
