// The app's own IndexedDB databases on SQLite's thread: their calls aren't counted in the time of
// commits or statements.
import { describe, expect, test } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { partition } from '../../src/analysis/time/thread-times.ts';
import { Flag } from '../../src/event/event.ts';
import { LockLevel } from '../../src/sqlite/constants.ts';
import { transactionAnatomies } from '../traces/analyses.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

const flags = Flag.async;
const READWRITE = 1;

/**
 * Commits on a VFS that stores its files in IndexedDB: each xSync waits 100 us for its
 * transaction's completion.
 */
function commits(
  during: (thread: ThreadBuilder, app: number, i: number) => void,
  between = during,
) {
  const store = newStore();
  const thread = new ThreadBuilder(store);
  const file = thread.file('app.db');
  const vfs = thread.define({ kind: 'idb-database', db: 'vfs' });
  const app = thread.define({ kind: 'idb-database', db: 'app' });
  for (let i = 0; i < 4; i++) {
    thread.call('sqlStep', { flags, context: 1, dur: 10 }, () => {
      for (const aux of [LockLevel.shared, LockLevel.reserved, LockLevel.exclusive])
        thread.call('xLock', { object: file, context: 1, aux });
      thread.call('xWrite', { object: file, context: 1, offset: 0, length: 4096 });
      thread.call('xSync', { object: file, context: 1, flags, dur: 0 }, () => {
        during(thread, app, i);
        thread.call('idbTransaction', {
          object: vfs,
          context: 100 + i,
          aux: READWRITE,
          flags,
          dur: 100,
        });
      });
      thread.call('xUnlock', { object: file, context: 1, aux: LockLevel.none });
    });
    thread.idle(50);
    between(thread, app, i);
  }
  thread.send();
  const facts = new Facts(store);
  const { syncUs, idbTransactionUs } = facts.get(partition).of(thread.thread);
  const times = transactionAnatomies(store).map((one) => one.commit!.time);
  expect(times).toHaveLength(4);
  return {
    completions: times.map(({ idbCompleteUs }) => idbCompleteUs),
    sync: times.map((one) => one.syncUs),
    partition: { syncUs, idbTransactionUs },
  };
}

describe('a commit that waits for its own transaction', () => {
  const alone = commits(() => {});
  test('includes it', () => {
    expect(alone).toEqual({
      completions: [100, 100, 100, 100],
      sync: [0, 0, 0, 0],
      partition: { syncUs: 0, idbTransactionUs: 400 },
    });
  });

  test('excludes a transaction that the app leaves open at the same time', () => {
    const open = (thread: ThreadBuilder, app: number, i: number): void =>
      void thread.call('idbTransaction', {
        object: app,
        context: 7 + i,
        aux: READWRITE,
        flags,
        open: true,
      });
    const beside = commits((thread, app, i) => {
      if (i === 0) open(thread, app, 0); // as if the waiting VFS call had begun it
      thread.idle(300); // the VFS does something else in between
    }, open);
    expect(beside.completions).toEqual(alone.completions);
    expect(beside.partition.idbTransactionUs).toBe(400);
  });
});

test('excludes what the app stores between statements', () => {
  const store = newStore();
  const thread = new ThreadBuilder(store);
  const file = thread.file('app.db');
  const app = thread.define({ kind: 'idb-database', db: 'app' });
  const statement = (): void =>
    void thread.call('sqlStep', { context: 1, dur: 5 }, () => {
      for (const aux of [LockLevel.shared, LockLevel.reserved, LockLevel.exclusive])
        thread.call('xLock', { object: file, context: 1, aux });
      thread.call('xWrite', { object: file, context: 1, offset: 0, length: 4096 });
      thread.call('xSync', { object: file, context: 1, dur: 200 });
      thread.call('xUnlock', { object: file, context: 1, aux: LockLevel.none });
    });
  statement();
  const begun = thread.now;
  // it completes after the second commit, because a row can end after later rows
  thread.call('idbTransaction', { object: app, context: 7, aux: READWRITE, flags, dur: 1000 });
  thread.now = begun + 10;
  statement();
  thread.send();
  expect(transactionAnatomies(store).map((one) => one.commit!.time.idbCompleteUs)).toEqual([0, 0]);
});

test("excludes a transaction during another connection's commit", () => {
  const store = newStore();
  const thread = new ThreadBuilder(store);
  const file = thread.file('app.db');
  const vfs = thread.define({ kind: 'idb-database', db: 'vfs' });
  const write = (context: number, inSync: () => void): void =>
    void thread.call('sqlStep', { flags, context, dur: 5 }, () => {
      for (const aux of [LockLevel.shared, LockLevel.reserved, LockLevel.exclusive])
        thread.call('xLock', { object: file, context, flags, aux });
      thread.call('xWrite', { object: file, context, flags, offset: 0, length: 4096 });
      thread.call('xSync', { object: file, context, flags, dur: 0 }, inSync);
      thread.call('xUnlock', { object: file, context, flags, aux: LockLevel.none });
    });
  write(1, () => {
    thread.call('idbTransaction', { object: vfs, context: 50, aux: READWRITE, flags, dur: 1000 });
    thread.idle(-900); // relaxed durability: the commit doesn't wait
  });
  write(2, () => thread.idle(300));
  thread.send();
  expect(transactionAnatomies(store).map((one) => one.commit!.time.idbCompleteUs)).toEqual([
    101, 0,
  ]);
});

test('a transaction that a VFS begins outside its calls counts for the connections on its database', () => {
  const store = newStore();
  const thread = new ThreadBuilder(store);
  const file = thread.file('app.db');
  const databases = ['one', 'two'].map((db) => thread.define({ kind: 'idb-database', db }));
  let asked = 50;
  const begin = (object: number, dur: number): void => {
    thread.call('idbTransaction', { object, context: asked++, aux: READWRITE, flags, dur });
  };
  const write = (context: number): void =>
    void thread.call('sqlStep', { flags, context, dur: 5 }, () => {
      for (const aux of [LockLevel.shared, LockLevel.reserved, LockLevel.exclusive])
        thread.call('xLock', { object: file, context, flags, aux });
      thread.call('xWrite', { object: file, context, flags, offset: 0, length: 4096 });
      thread.call('xSync', { object: file, context, flags, dur: 0 }, () => {
        begin(databases[context - 1]!, 100);
      });
      thread.call('xUnlock', { object: file, context, flags, aux: LockLevel.none });
    });
  const whileOneIsUnderWay = (context: number): void => {
    const begun = thread.now;
    begin(databases[0]!, 10_000);
    thread.now = begun + 10;
    write(context);
    thread.now = begun + 20_000;
  };
  for (const context of [1, 2]) write(context);
  for (const context of [1, 2]) whileOneIsUnderWay(context);
  thread.send();
  const times = transactionAnatomies(store).map((one) => one.commit!.time);
  expect(times.map((one) => one.idbCompleteUs > 101)).toEqual([false, false, true, false]);
});
