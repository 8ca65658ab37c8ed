// The examples of the Query view: they run on every golden trace, and give known results.
import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { readTrace } from '../../src/trace/file/read.ts';
import { EXAMPLES } from '../../src/viewer/ui/views/sql/examples.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { loadSqlite, rows, run } from './sql-queries.ts';

beforeAll(loadSqlite);

describe('the examples', () => {
  const folder = new URL('../traces/golden/', import.meta.url);
  const names = readdirSync(folder).filter((name) => name.endsWith('.vfst'));
  it('run on every golden trace, and each finds something in one of them', async () => {
    const found = new Set<string>();
    for (const name of names) {
      const { store } = await readTrace(new Blob([readFileSync(new URL(name, folder))]));
      for (const { title, sql } of EXAMPLES)
        if ((await run(store, sql)).rows.length) found.add(title);
    }
    expect(EXAMPLES.length).toBeGreaterThanOrEqual(15);
    expect(EXAMPLES.filter(({ title }) => !found.has(title)).map(({ title }) => title)).toEqual([]);
  }, 60_000);
});

describe('examples with known results', () => {
  const sqlOf = (title: string): string => EXAMPLES.find((e) => e.title === title)!.sql;
  it('storage writes under a write, under a sync, and after them', async () => {
    const store = newStore();
    const t = new ThreadBuilder(store);
    const db = t.file('/a.db');
    const blocks = t.define({ kind: 'idb-store', db: 'vfs', store: 'blocks' });
    const put = (): number => t.call('idbPut', { object: blocks, offset: 1, length: 8192 });
    for (let i = 0; i < 3; i++)
      t.call('xWrite', { object: db, offset: 4096 * i, length: 4096 }, () => void put());
    t.call('xSync', { object: db }, () => void (put(), put()));
    put();
    t.send();
    expect(
      await rows(store, sqlOf('When does the VFS store its blocks: at a write, or at a sync?')),
    ).toEqual([
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
    page('xRead', 0, 522); // nothing exists yet
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
      for (let i = 0; i < requests; i++)
        t.call('idbGet', { object: blocks, context, offset: i, length: 10 });
    }
    t.send();
    expect(await rows(store, sqlOf('How many requests has an IndexedDB transaction?'))).toEqual([
      [0, 'readonly', 1],
      [1, 'readwrite', 2],
      [2, 'readonly', 1],
    ]);
  });
});
