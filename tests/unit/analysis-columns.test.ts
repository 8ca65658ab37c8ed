// Columns of analyses: numbers too large for narrow columns, and forged ids.
import { Flag } from '../../src/event/event.ts';
import { expect, test } from 'vitest';
import { Accesses } from '../../src/analysis/pages/accesses.ts';
import { ById } from '../../src/analysis/core/by-id.ts';
import { anatomies } from '../../src/analysis/transactions/transaction-anatomy.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { syntheticStore } from '../traces/synthetic.ts';
import { transactionAnatomies, transactionsOf } from '../traces/analyses.ts';

test('accesses: a pushed row reads back unchanged, however large later rows are', () => {
  const t = new ThreadBuilder(newStore());
  t.call('xRead', {});
  t.send();
  const rows = [
    [0, 1, 1, 4096, 0],
    [255, 0xffffffff, 255, 65535, 255],
    [256, 2 ** 40, 256, 65536, 256],
    [70_000, 7, 65536, 0xffffffff, 70_000],
    [1, 2, 3, 4, 5],
  ] as const;
  const accesses = new Accesses(2); // and the columns grow
  for (const [object, place, span, bytes, asker] of rows)
    accesses.push(t.thread, 0, object, place, span, 3, 13, bytes, asker);
  expect(accesses.count).toBe(rows.length);
  rows.forEach((row, i) => {
    const { object, place, span, bytes, asker, what, type } = accesses;
    expect([object[i], place[i], span[i], bytes[i], asker[i], what[i], type[i]]).toEqual([
      ...row,
      3,
      13,
    ]);
  });
});

test('a very large id is found like a small one', () => {
  const known = new ById<string | null>();
  for (const id of [0, 1, 1023, 1024, 0xffffffff]) {
    expect(known.get(id)).toBeUndefined();
    expect(known.set(id, `${id}`)).toBe(`${id}`);
    expect(known.get(id)).toBe(`${id}`);
  }
  known.set(1024, null);
  expect([known.get(1024), known.get(1025)]).toEqual([null, undefined]);
});

test.each([3, 4_000_000_000])('transactions on a file whose id is %i', (id) => {
  const store = newStore();
  const t = new ThreadBuilder(store);
  t.thread.define({
    kind: 'file',
    id,
    path: '/a.db',
    fileKind: 'main-db',
    vfs: 'memory',
    engine: 0,
    flags: 0,
  });
  const awaited = { flags: Flag.async };
  for (const level of [1, 2, 4])
    t.call('xLock', { ...awaited, object: id, context: 1, aux: level, dur: 1 });
  t.call('xWrite', { ...awaited, object: id, context: 1, offset: 4096, length: 4096, dur: 2 });
  t.call('xFileControl', { object: id, context: 1, aux: 22, result: 12 });
  t.call('xUnlock', { object: id, context: 1, aux: 0 });
  t.send();
  const { list, commits } = transactionsOf(store);
  expect([list.length, commits]).toEqual([1, 1]);
  expect(list.at(0)).toMatchObject({
    path: '/a.db',
    object: id,
    kind: 'write',
    outcome: 'committed',
    commitPoint: 'database write',
  });
  expect(transactionAnatomies(store)).toMatchObject([
    { dbBytes: 4096, pagesWritten: 1, time: { dbWriteUs: 2, lockUs: 3 } },
  ]);
});

test('anatomies: reading single numbers gives the same as reading the object', () => {
  const all = new Facts(syntheticStore({ events: 20_000, clockStepUs: 5 })).get(anatomies);
  const commits = [...all].map(({ commit }) => commit !== null);
  expect([commits.includes(true), commits.includes(false)]).toEqual([true, true]);
  for (let i = 0; i < all.length; i++) {
    const { toUs, commit, ladder } = all.at(i);
    expect([all.toUs[i], all.commitUs[i]]).toEqual([toUs, commit?.fromUs ?? NaN]);
    ladder.forEach((step, level) => expect(all.askedUs(i, level)).toBe(step?.askedUs ?? NaN));
  }
});
