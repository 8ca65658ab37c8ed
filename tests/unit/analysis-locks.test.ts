// Locks across threads and tabs: holds, waits, which thread waited for which, BUSY chains, cycles,
// and locks not released.
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { conflicts, Outcome } from '../../src/analysis/locks/lock-columns.ts';
import type { Locks } from '../../src/analysis/locks/locks.ts';
import { Flag, type OpName } from '../../src/event/event.ts';
import { storeOf } from '../contract/helpers/store.ts';
import { Traced } from '../contract/helpers/traced.ts';
import { CREATE_T, insertT, loadWaSqlite } from '../contract/helpers/wa-sqlite.ts';
import { newStore, ThreadBuilder, type CallFields } from '../traces/builder.ts';
import { expectCheap, MANY } from './cpu-limit.ts';
import { syntheticStore } from '../traces/synthetic.ts';
import { allWaits, busyChains, lockWaitsOf, locksOf } from '../traces/analyses.ts';

let traced: Traced | null = null;
afterEach(() => {
  traced?.restore();
  traced = null;
});

/** Two tabs of one origin, with times set by hand. */
function tabs(n = 2): {
  store: ReturnType<typeof newStore>;
  tab: ThreadBuilder[];
  at: (tab: number, us: number, op: OpName, fields: CallFields) => void;
  send: () => void;
} {
  const store = newStore();
  const tab = Array.from({ length: n }, () => new ThreadBuilder(store));
  return {
    ...{ store, tab },
    at(i, us, op, fields) {
      tab[i]!.now = us;
      tab[i]!.call(op, fields);
    },
    send: () => tab.forEach((t) => t.send()),
  };
}
const edges = (l: Locks): unknown[] =>
  l.edges.map((e) => [
    e.waiter,
    e.holder,
    l.resources[e.resource]!.kind,
    l.resources[e.resource]!.name,
    e.fromUs,
    e.toUs,
    e.heldUs,
  ]);
const async = Flag.async;

test('a wait counts once whatever the VFS names it, and lasts as long as it did', () => {
  const { store, tab, at, send } = tabs(2);
  const [db, lock] = [tab[0]!.file('a.db'), tab[1]!.define({ kind: 'lock', text: '/app.db' })];
  [3850, 3850, 3850, 5, 0].forEach((result, i) =>
    at(0, 10 * i, 'xLock', { object: db, context: 1, aux: 2, result }),
  );
  expect(lockWaitsOf(store)).toBe(0);
  send();
  expect([lockWaitsOf(store), busyChains(store)[0]!.refusals]).toEqual([1, 4]);
  at(1, 50, 'lockRequest', { object: lock, flags: async, open: true });
  at(0, 9_000_000, 'xUnlock', { object: db, context: 1 });
  send();
  // the app's own request, which is still waiting, is a wait, but not one of SQLite's
  expect([allWaits(store).length, lockWaitsOf(store)]).toEqual([2, 1]);
});

test("Web Locks: tab 2 waits while tab 1 holds; shared locks don't exclude each other", () => {
  const { store, tab, at, send } = tabs(3);
  const ids = tab.map((t) => t.define({ kind: 'lock', text: '/app.db' }));
  at(0, 10, 'lockRequest', { object: ids[0]!, dur: 1, flags: async });
  at(0, 11, 'lockHeld', { object: ids[0]!, dur: 89, flags: async });
  at(1, 40, 'lockRequest', { object: ids[1]!, aux: 1, dur: 61, flags: async });
  at(1, 101, 'lockHeld', { object: ids[1]!, aux: 1, dur: 50, flags: async });
  at(2, 45, 'lockRequest', { object: ids[2]!, aux: 1, dur: 56, flags: async });
  at(2, 101, 'lockHeld', { object: ids[2]!, aux: 1, dur: 20, flags: async });
  send();
  const locks = locksOf(store);
  expect(locks.holds.count).toBe(3);
  expect(edges(locks)).toEqual([
    [1, 0, 'web-lock', '/app.db', 40, 100, 60],
    [2, 0, 'web-lock', '/app.db', 45, 100, 55],
  ]);
  expect([locks.cycles, locks.stuck, locks.leftBehind, locks.busy]).toEqual([[], [], [], []]);
});

test("different origins don't share a lock", () => {
  const store = newStore();
  ['https://a.example/x.js', 'blob:https://b.example/1-2'].forEach((url) => {
    const t = new ThreadBuilder(store, { url });
    t.call('lockRequest', { object: t.define({ kind: 'lock', text: 'x' }), dur: 50 });
    t.call('lockHeld', { object: 1, dur: 100 });
    t.send();
  });
  const locks = locksOf(store);
  expect(locks.edges).toEqual([]);
  expect(locks.resources.map((r) => r.origin)).toEqual(['https://a.example', 'https://b.example']);
});

test('access handles: refused while another thread has the file open, also if it opened it before the recording', () => {
  const { store, tab, at, send } = tabs();
  const [a, b] = tab.map((t) => t.define({ kind: 'opfs-file', path: '/app.db' }));
  at(0, 0, 'opfsOpenSyncAccessHandle', { object: a!, dur: 5, flags: async });
  at(1, 20, 'opfsOpenSyncAccessHandle', {
    object: b!,
    dur: 2,
    result: 1,
    flags: async | Flag.threw,
  });
  at(0, 50, 'opfsClose', { object: a!, context: 1, dur: 1 });
  at(1, 60, 'opfsOpenSyncAccessHandle', { object: b!, dur: 2, flags: async });
  const early = tab[0]!.define({ kind: 'opfs-file', path: '/early.db' });
  at(0, 70, 'opfsRead', { object: early, length: 10, result: 10 });
  send();
  const locks = locksOf(store);
  expect(edges(locks)).toEqual([[1, 0, 'access-handle', '/app.db', 20, 22, 2]]);
  const held = Array.from({ length: locks.holds.count }, (_, i) => [
    locks.resources[locks.holds.resource[i]!]!.name,
    locks.holds.from[i],
    locks.holds.to[i],
    locks.holds.outcome[i],
  ]);
  expect(held).toEqual([
    ['/app.db', 5, 51, Outcome.done],
    ['/early.db', 70, 71, Outcome.open],
    ['/app.db', 62, 71, Outcome.open],
  ]);
});

test('a handle that a closed tab never released, and the threads that requested it afterwards', () => {
  const { store, tab, at, send } = tabs();
  const [a, b] = tab.map((t) => t.define({ kind: 'opfs-file', path: '/app.db' }));
  at(0, 0, 'opfsOpenSyncAccessHandle', { object: a!, dur: 5, flags: async });
  at(0, 10, 'opfsWrite', { object: a!, length: 1, result: 1, dur: 10 });
  tab[0]!.thread.ended = 'pagehide';
  at(1, 40, 'opfsOpenSyncAccessHandle', {
    object: b!,
    dur: 2,
    result: 1,
    flags: async | Flag.threw,
  });
  send();
  expect(locksOf(store).leftBehind).toEqual([
    { hold: 0, thread: 0, reason: 'pagehide', laterWaits: 1 },
  ]);
  tab[0]!.thread.ended = 'stopped'; // the recording ended, not the thread
  expect(locksOf(store).leftBehind).toEqual([]);
});

test('IndexedDB: a transaction waits for an earlier one on the same stores when one of them writes', () => {
  const { store, tab, send } = tabs();
  const db = tab.map((t) => t.define({ kind: 'idb-database', db: 'app' }));
  const blocks = tab.map((t) => t.define({ kind: 'idb-store', db: 'app', store: 'blocks' }));
  const meta = tab.map((t) => t.define({ kind: 'idb-store', db: 'app', store: 'meta' }));
  const run = (
    i: number,
    us: number,
    dur: number,
    context: number,
    aux: number,
    object: number,
  ): void => {
    tab[i]!.now = us;
    tab[i]!.call('idbTransaction', { object: db[i]!, context, aux, flags: async, dur: 0 }, () => {
      tab[i]!.call('idbGet', { object, context, flags: async, dur });
    });
  };
  run(0, 0, 100, 1, 1, blocks[0]!); // readwrite on blocks
  run(1, 10, 120, 1, 0, blocks[1]!); // waits for it
  run(1, 140, 20, 2, 0, blocks[1]!);
  run(0, 150, 20, 2, 0, blocks[0]!); // concurrent readers
  run(0, 200, 50, 3, 1, blocks[0]!);
  run(1, 210, 50, 3, 1, meta[1]!); // another store
  send();
  expect(edges(locksOf(store))).toEqual([[1, 0, 'idb', 'app', 10, 100, 90]]);
});

describe('SQLite', () => {
  function writers(): ReturnType<typeof newStore> {
    const { store, tab, at, send } = tabs();
    const [a, b] = tab.map((t) => t.file('/app.db'));
    at(0, 0, 'xLock', { object: a!, aux: 1, context: 1 });
    at(0, 5, 'xLock', { object: a!, aux: 2, context: 1 });
    at(1, 10, 'xLock', { object: b!, aux: 1, context: 9 });
    for (const us of [20, 120, 220])
      at(1, us, 'xLock', { object: b!, aux: 2, context: 9, result: 5, dur: 2 });
    at(0, 250, 'xUnlock', { object: a!, aux: 0, context: 1, dur: 3 });
    at(1, 320, 'xLock', { object: b!, aux: 2, context: 9, dur: 2 });
    at(1, 400, 'xLock', { object: b!, aux: 4, context: 9, result: 5, dur: 1 });
    at(1, 500, 'xUnlock', { object: b!, aux: 0, context: 9 });
    send();
    return store;
  }

  test('a BUSY chain is one wait, and the holder of RESERVED during it is known', () => {
    const locks = locksOf(writers());
    expect(locks.busy).toMatchObject([
      {
        thread: 1,
        context: 9,
        path: '/app.db',
        level: 2,
        refusals: 3,
        codes: [5],
        fromUs: 20,
        toUs: 322,
        granted: true,
      },
      { level: 4, refusals: 1, fromUs: 400, toUs: 401, granted: false },
    ]);
    expect(edges(locks)).toEqual([[1, 0, 'sqlite', '/app.db', 20, 253, 233]]);
    const { holds } = locks;
    const ladder = Array.from({ length: holds.count }, (_, i) => [
      holds.thread[i],
      holds.mode[i],
      holds.from[i],
      holds.to[i],
    ]);
    expect(ladder).toEqual([
      [0, 1, 1, 6],
      [0, 2, 6, 253],
      [1, 1, 11, 322],
      [1, 2, 322, 501],
    ]);
  });

  test.each([
    [true, 2, [5, 517]],
    [false, 1, [517]], // wa-sqlite repeats the first one by itself
  ])(
    'steps that answer BUSY to the app (it resets: %s) belong to the chain of their connection',
    (resets, steps, codes) => {
      const { store, tab, send } = tabs(1);
      const t = tab[0]!;
      const file = t.file('/app.db');
      for (let i = 0; i < 3; i++) {
        if (resets) t.call('sqlReset', { context: 4 });
        t.call('sqlStep', { context: 4, aux: 1, result: i < 2 ? 5 : 101, dur: 1 }, () =>
          t.call('xLock', { object: file, aux: 2, context: 4, result: i < 2 ? 517 : 0 }),
        );
        t.idle(1000);
      }
      t.call('sqlStep', { context: 8, aux: 2, result: 5 });
      send();
      expect(busyChains(store)).toMatchObject([
        {
          context: 4,
          level: 2,
          refusals: 2,
          steps,
          codes: expect.arrayContaining(codes) as number[],
          granted: true,
        },
        { context: 8, level: 0, refusals: 0, steps: 1, granted: false },
      ]);
    },
  );

  test('SHARED and RESERVED can be held together; PENDING blocks new readers', () => {
    const allowed = [1, 2, 3, 4].map((asked) =>
      [1, 2, 3, 4].filter((held) => !conflicts('sqlite', asked, held)),
    );
    expect(allowed).toEqual([[1, 2], [1], [1], []]);
  });

  test('golden: the lock times of a real engine are the sums of its holds', async () => {
    traced = new Traced();
    const { sqlite3 } = await loadWaSqlite('journey-sync');
    const db = await sqlite3.open_v2('/app.db');
    await sqlite3.exec(db, CREATE_T);
    for (let i = 0; i < 10; i++) await sqlite3.exec(db, insertT(i));
    await sqlite3.close(db);
    const { holds, waits, leftBehind } = locksOf(storeOf(traced));
    const levels = [0, 0, 0, 0, 0];
    for (let i = 0; i < holds.count; i++) {
      levels[holds.mode[i]!]!++;
      expect(holds.outcome[i]).toBe(Outcome.done);
    }
    expect(levels[2]).toBe(11); // RESERVED: CREATE and the inserts
    expect(levels[4]).toBe(11);
    expect([waits.count, leftBehind.length]).toEqual([0, 0]);
  });
});

test("waits that end because a lock is granted aren't deadlocks; waits that one side gives up are", () => {
  const crossed = (first: CallFields): number => {
    const { store, tab, at, send } = tabs();
    const [x, y] = ['x', 'y'].map((text) => tab.map((t) => t.define({ kind: 'lock', text })));
    at(0, 0, 'lockHeld', { object: x![0]!, dur: 500 });
    at(1, 0, 'lockHeld', { object: y![1]!, dur: 400 });
    at(0, 10, 'lockRequest', { object: y![0]!, dur: 300, ...first });
    at(1, 20, 'lockRequest', { object: x![1]!, dur: 480 });
    at(0, 1000, 'mark', {});
    send();
    return locksOf(store).cycles.length;
  };
  expect(crossed({ result: 0 })).toBe(0);
  expect(crossed({ flags: Flag.threw })).toBe(1);
});

test('a deadlock: two tabs each hold what the other wants', () => {
  const { store, tab, at, send } = tabs();
  const [x, y] = [
    tab.map((t) => t.define({ kind: 'lock', text: 'x' })),
    tab.map((t) => t.define({ kind: 'lock', text: 'y' })),
  ];
  at(0, 0, 'lockHeld', { object: x[0]!, open: true });
  at(1, 0, 'lockHeld', { object: y[1]!, open: true });
  at(0, 10, 'lockRequest', { object: y[0]!, open: true });
  at(1, 20, 'lockRequest', { object: x[1]!, open: true });
  at(0, 3_000_000, 'mark', {});
  send();
  const locks = locksOf(store);
  expect(locks.cycles).toMatchObject([{ fromUs: 20, toUs: 3_000_001 }]);
  expect([...locks.cycles[0]!.threads].sort()).toEqual([0, 1]);
  expect(locks.stuck.map((s) => [s.fromUs, s.holderCalls, s.holderIdleUs])).toEqual([
    [10, 0, null],
    [20, 0, null],
  ]);
});

test('a holder that is idle while another waits, and one that works', () => {
  const { store, tab, at, send } = tabs(2);
  const lock = tab.map((t) => t.define({ kind: 'lock', text: 'db' }));
  const file = tab[0]!.file('/a.db');
  at(0, 0, 'lockHeld', { object: lock[0]!, dur: 9_000_000 });
  at(1, 1000, 'lockRequest', { object: lock[1]!, dur: 8_999_000 });
  tab[0]!.now = 0;
  send();
  const { thread } = tab[0]!;
  expect(locksOf(store).stuck).toMatchObject([
    { holderCalls: 0, holderIdleUs: null, fromUs: 1000, toUs: 9_000_000 },
  ]);
  at(0, 500_000, 'xRead', { object: file, dur: 100 });
  send();
  expect(thread.events.count).toBe(2);
  expect(locksOf(store).stuck).toMatchObject([{ holderCalls: 1, holderIdleUs: 8_499_900 }]);
});

test('for random holds and requests, every edge is a real conflict of two exclusive uses, and none is missing', () => {
  const one = fc.record({
    tab: fc.nat(2),
    from: fc.nat(100),
    dur: fc.integer({ min: 1, max: 40 }),
    shared: fc.boolean(),
    wait: fc.boolean(),
    lock: fc.nat(1),
  });
  fc.assert(
    fc.property(fc.array(one, { maxLength: 30 }), (calls) => {
      const { store, tab, at, send } = tabs(3);
      const ids = tab.map((t) => [
        t.define({ kind: 'lock', text: 'a' }),
        t.define({ kind: 'lock', text: 'b' }),
      ]);
      const sorted = [...calls].sort((x, y) => x.from - y.from);
      for (const c of sorted)
        at(c.tab, c.from, c.wait ? 'lockRequest' : 'lockHeld', {
          object: ids[c.tab]![c.lock]!,
          aux: c.shared ? 1 : 0,
          dur: c.dur,
        });
      send();
      const found = new Set(
        locksOf(store).edges.map((e) => `${e.waiter} ${e.holder} ${e.fromUs}-${e.toUs}`),
      );
      const expected = new Set<string>();
      for (const w of sorted)
        if (w.wait)
          for (let holder = 0; holder < 3; holder++) {
            const met = sorted.filter(
              (h) =>
                !h.wait &&
                h.tab === holder &&
                h.lock === w.lock &&
                !(h.shared && w.shared) &&
                h.from < w.from + w.dur &&
                h.from + h.dur > w.from,
            );
            if (!met.length) continue;
            const from = Math.min(...met.map((h) => Math.max(h.from, w.from)));
            expected.add(
              `${w.tab} ${holder} ${from}-${Math.max(...met.map((h) => Math.min(h.from + h.dur, w.from + w.dur)))}`,
            );
          }
      expect(found).toEqual(expected);
    }),
    { numRuns: 300 },
  );
});

test('many events', { timeout: 60_000 }, () => {
  const store = syntheticStore({ events: MANY });
  const from = process.cpuUsage();
  const locks = locksOf(store);
  expectCheap(from);
  expect(locks.holds.count).toBeGreaterThan(MANY / 100);
  expect(locks.edges).toEqual([]); // readers only
});
