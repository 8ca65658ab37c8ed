// Which transaction an event belongs to, if a thread has two connections.
import { expect, test } from 'vitest';
import { transactionQueries } from '../../src/viewer/session/queries/transactions.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { contextOf } from './viewer-context.ts';

test('the one of its own connection, the innermost that contains it', () => {
  const store = newStore();
  const t = new ThreadBuilder(store);
  const [db, other] = [t.file('/app.db'), t.file('/other.db')];
  const text = t.define({ kind: 'sql', text: 'INSERT INTO t VALUES(?)' });
  const idb = t.define({ kind: 'idb-store', db: 'app', store: 'blocks' });
  const rows: Record<string, number> = {};
  let row = 0;
  const call = (name: string, ...args: Parameters<ThreadBuilder['call']>): void => {
    rows[name] = row++;
    t.call(...args);
  };
  const read = (connection: number, file: number, name: string): void =>
    call(name, 'xRead', { object: file, context: connection, offset: 4096, length: 4096 }, () =>
      call(`web of ${name}`, 'idbGet', { object: idb, context: 99 }),
    );
  const step = (connection: number, name: string, inside: () => void): void =>
    call(
      name,
      'sqlStep',
      { object: text, context: connection, aux: connection, result: 101 },
      inside,
    );
  call('first lock', 'xLock', { object: db, context: 1, aux: 1 });
  read(1, db, 'first');
  call('second lock', 'xLock', { object: other, context: 2, aux: 1 });
  step(1, 'step of first', () => read(1, db, 'first meanwhile'));
  step(2, 'step of second', () => read(2, other, 'second'));
  call('localStorage', 'localStorageGet');
  call('attached lock', 'xLock', { object: other, context: 1, aux: 1 });
  read(1, other, 'attached');
  call('attached unlock', 'xUnlock', { object: other, context: 1, aux: 0 });
  call('second unlock', 'xUnlock', { object: other, context: 2, aux: 0 });
  call('first unlock', 'xUnlock', { object: db, context: 1, aux: 0 });
  t.send();
  const context = contextOf(store);
  const of = (name: string): string | undefined => {
    const found = transactionQueries.transactionOf(context, t.thread.ref(rows[name]!));
    return Object.keys(rows).find((key) => found && rows[key] === t.thread.rowOf(found.seq));
  };
  for (const name of [
    'first',
    'first meanwhile',
    'web of first meanwhile',
    'step of first',
    'first unlock',
  ])
    expect(of(name), name).toBe('first lock');
  for (const name of ['second', 'web of second', 'step of second', 'second unlock'])
    expect(of(name), name).toBe('second lock');
  for (const name of ['attached', 'web of attached']) expect(of(name), name).toBe('attached lock');
  expect(of('localStorage')).toBeUndefined();
  expect(transactionQueries.transactionOf(context, { thread: 0, seq: 9999 })).toBeNull();
});
