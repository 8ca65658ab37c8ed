// Which call held what another waited for, also for calls that still wait, and never for a call
// that didn't wait.
import { expect, test } from 'vitest';
import type { TraceStore } from '../../src/trace/store.ts';
import type { Flows } from '../../src/protocol/answers/timeline-flows.ts';
import { timelineFlowQueries } from '../../src/viewer/session/queries/timeline-flows.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { contextOf } from './viewer-context.ts';

const ASYNC = 8;
const holdersOf = (store: TraceStore, thread: number, row: number): Flows['holders'] =>
  timelineFlowQueries.timelineFlows(contextOf(store), store.threads[thread]!.ref(row)).holders;
const shortly = (holders: Flows['holders']): [number, number][] =>
  holders.map(({ thread, waitedUs }) => [thread, waitedUs]);

/**
 * Two threads hold a lock one after the other, the second until 9 s. A third requests it at 5 ms,
 * and meanwhile reads localStorage.
 */
function waiting(): { store: TraceStore; request: number; read: number } {
  const store = newStore();
  const threads = [
    new ThreadBuilder(store),
    new ThreadBuilder(store),
    new ThreadBuilder(store),
  ] as const;
  const [first, second, waiter] = threads;
  const [a, b, c] = threads.map((t) => t.define({ kind: 'lock', text: 'db' })) as [
    number,
    number,
    number,
  ];
  first.call('lockHeld', { object: a, dur: 2_000_000, flags: ASYNC });
  second.idle(2_000_000);
  second.call('lockHeld', { object: b, dur: 7_000_000, flags: ASYNC });
  waiter.idle(5000);
  waiter.call('lockRequest', { object: c, open: true, flags: ASYNC });
  waiter.idle(100);
  waiter.call('localStorageGet', { dur: 10 });
  for (const t of threads) t.send();
  return { store, request: 0, read: 1 };
}

test('a request that is still pending has waited to the end, for all threads that held the lock', () => {
  const { store, request } = waiting();
  expect(shortly(holdersOf(store, 2, request))).toEqual([
    [1, 7_000_000],
    [0, 1_995_000],
  ]);
});

test("a call of the same thread isn't waiting because another does", () => {
  const { store, read } = waiting();
  expect(holdersOf(store, 2, read)).toEqual([]);
});

test('a call waits with its request, and a request with its transaction', () => {
  const store = newStore();
  const [holder, waiter] = [new ThreadBuilder(store), new ThreadBuilder(store)];
  const [lock, asked] = [holder, waiter].map((t) => t.define({ kind: 'lock', text: 'db' })) as [
    number,
    number,
  ];
  const [db, otherDb] = [holder, waiter].map((t) =>
    t.define({ kind: 'idb-database', db: 'app' }),
  ) as [number, number];
  const [blocks, otherBlocks] = [holder, waiter].map((t) =>
    t.define({ kind: 'idb-store', db: 'app', store: 'blocks' }),
  ) as [number, number];
  const put = (t: ThreadBuilder, database: number, object: number, dur: number): void =>
    void t.call(
      'idbTransaction',
      { object: database, context: 1, aux: 1, flags: ASYNC, dur: 10 },
      () => t.call('idbPut', { object, context: 1, flags: ASYNC, dur }),
    );
  holder.call('lockHeld', { object: lock, dur: 1000, flags: ASYNC });
  put(holder, db, blocks, 500);
  const file = waiter.file('/app.db');
  waiter.idle(100);
  waiter.call('xLock', { object: file, aux: 1, context: 3, dur: 5 }, () =>
    waiter.call('lockRequest', { object: asked, dur: 900, flags: ASYNC }),
  );
  put(waiter, otherDb, otherBlocks, 600);
  for (const t of [holder, waiter]) t.send();
  // rows: xLock, lockRequest, transaction, put
  expect([0, 1, 2, 3].map((row) => shortly(holdersOf(store, 1, row)))).toEqual([
    [[0, 900]],
    [[0, 900]],
    [[0, 505]],
    [[0, 505]],
  ]);
});

test("every refused xLock of a chain, and the statements around it, waited for the lock's holder", () => {
  const store = newStore();
  const [holder, waiter] = [new ThreadBuilder(store), new ThreadBuilder(store)];
  const [held, file] = [holder.file('/app.db'), waiter.file('/app.db')];
  for (const level of [1, 2]) holder.call('xLock', { object: held, aux: level, context: 1 });
  holder.idle(5000);
  holder.call('xUnlock', { object: held, aux: 0, context: 1 });
  for (let i = 0; i < 2; i++) {
    waiter.idle(100);
    waiter.call('sqlStep', { context: 1, result: 5 }, () => {
      waiter.call('xRead', { object: file, context: 1, offset: 0, length: 512, dur: 2 });
      waiter.call('xLock', { object: file, aux: 2, context: 1, result: 5, dur: 20 });
    });
  }
  for (const t of [holder, waiter]) t.send();
  // rows of the second try: step, xRead, xLock
  expect([3, 4, 5].map((row) => holdersOf(store, 1, row).map((h) => h.thread))).toEqual([
    [0],
    [],
    [0],
  ]);
});
