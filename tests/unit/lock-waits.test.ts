// Lock calls and lock waits in the time partition and in the list of waits: the cost of locking,
// and when another holder blocked.
import { describe, expect, test } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { waitLines } from '../../src/analysis/contention/wait-lines.ts';
import { lockWaits } from '../../src/analysis/locks/lock-waits.ts';
import { UNSEEN_HOLDER_US } from '../../src/sqlite/rule-limits.ts';
import { summaryTime } from '../../src/analysis/time/summary-time.ts';
import { partition } from '../../src/analysis/time/thread-times.ts';
import { Flag } from '../../src/event/event.ts';
import type { ThreadInfo } from '../../src/trace/store.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

const flags = Flag.async;
/** Threads of one origin, each a page unless stated otherwise. */
function threads(...infos: Partial<ThreadInfo>[]) {
  const store = newStore();
  const made = infos.map((info) => new ThreadBuilder(store, info));
  return {
    made,
    /** For the first thread: time of the parts, and the lines of its waits. */
    told() {
      for (const one of made) one.send();
      const facts = new Facts(store);
      const { lockUs, lockWaitUs, cpuUs, idbTransactionUs, readUs } = facts
        .get(partition)
        .of(made[0]!.thread);
      const lines = facts.get(waitLines);
      // everything that the partition calls a wait is in a line of the list
      expect(lines.reduce((us, { whileSqlUs }) => us + whileSqlUs, 0)).toBe(
        facts.get(summaryTime)?.lockWaitUs ?? 0,
      );
      return {
        time: { lockUs, lockWaitUs, cpuUs, idbTransactionUs, readUs },
        lines: lines.map(({ waiter, holder, sqlite, whileSqlUs }) => ({
          waiter,
          holder,
          sqlite,
          whileSqlUs,
        })),
        waits: facts.get(lockWaits).filter(({ sqlite }) => sqlite).length,
      };
    },
  };
}

/** sqlite3_step > xLock > the lock's request, which takes `us`. */
function lockFor(thread: ThreadBuilder, us: number): void {
  const file = thread.file('app.db');
  const lock = thread.define({ kind: 'lock', text: 'app.db' });
  thread.call('sqlStep', { flags, dur: 0, context: 1 }, () =>
    thread.call('xLock', { object: file, aux: 1, flags, dur: 0, context: 1 }, () =>
      thread.call('lockRequest', { object: lock, flags, dur: us }),
    ),
  );
}
/** Code of the app, or a VFS, holds the lock. */
function hold(thread: ThreadBuilder, from: number, us: number): void {
  thread.now = from;
  thread.call('lockHeld', {
    object: thread.define({ kind: 'lock', text: 'app.db' }),
    flags,
    dur: us,
  });
}

describe('a lock that a VFS requests', () => {
  test("costs its time if no holder is known, and isn't a wait", () => {
    const { made, told } = threads({});
    lockFor(made[0]!, 900);
    expect(told()).toMatchObject({ time: { lockUs: 900, lockWaitUs: 0 }, lines: [], waits: 0 });
  });
  test('is listed as a wait if it takes long, with no holder and no lock wait', () => {
    const { made, told } = threads({});
    lockFor(made[0]!, UNSEEN_HOLDER_US);
    expect(told()).toMatchObject({
      time: { lockUs: UNSEEN_HOLDER_US, lockWaitUs: 0 },
      lines: [{ waiter: 0, holder: null, sqlite: 0, whileSqlUs: 0 }],
      waits: 1,
    });
  });
  test('is waited for as long as another tab held it, and no longer', () => {
    const { made, told } = threads({}, {});
    hold(made[1]!, 0, 300);
    made[0]!.now = 100;
    lockFor(made[0]!, 500);
    expect(told()).toMatchObject({
      time: { lockUs: 300, lockWaitUs: 200 },
      lines: [{ waiter: 0, holder: 1, sqlite: 0, whileSqlUs: 200 }],
      waits: 1,
    });
  });
  test("isn't waited for if the same thread has just released it", () => {
    const { made, told } = threads({});
    const [own] = made;
    hold(own!, 0, 300);
    own!.now = 50;
    lockFor(own!, 500);
    expect(told()).toMatchObject({ time: { lockUs: 500, lockWaitUs: 0 }, lines: [], waits: 0 });
  });
  test('but is if another connection on the same thread has it', () => {
    const { made, told } = threads({});
    const [own] = made;
    hold(own!, 0, 13_000);
    own!.now = 50;
    lockFor(own!, 14_000);
    expect(told()).toMatchObject({ time: { lockUs: 1050, lockWaitUs: 12_950 }, waits: 1 });
  });
  test('counts each moment once if two tabs held it', () => {
    const { made, told } = threads({}, {}, {});
    hold(made[1]!, 0, 300);
    hold(made[2]!, 200, 200);
    lockFor(made[0]!, 500);
    const { time, lines } = told();
    expect(time).toMatchObject({ lockUs: 100, lockWaitUs: 400 });
    expect(lines.map(({ whileSqlUs }) => whileSqlUs)).toEqual([300, 100]);
  });
});

test("a wait of the app itself isn't a wait of SQLite", () => {
  const { made, told } = threads({}, {});
  hold(made[1]!, 0, 500);
  const [app] = made;
  app!.call('lockRequest', {
    object: app!.define({ kind: 'lock', text: 'app.db' }),
    flags,
    open: true,
  });
  lockFor(app!, 50); // its own lock of the same name is held by the other tab
  const { waits, lines } = told();
  expect(waits).toBe(1);
  expect(lines.filter(({ sqlite }) => sqlite === null)).toMatchObject([
    { holder: 1, whileSqlUs: 0 },
  ]);
});

describe('SQLITE_BUSY', () => {
  const refuse = (thread: ThreadBuilder, file: number, result: number): number =>
    thread.call('xLock', { object: file, context: 1, aux: 2, result });
  test('one statement that retries waits from its first refusal to its last attempt', () => {
    const { made, told } = threads({});
    const [own] = made;
    const file = own!.file('app.db');
    own!.call('sqlStep', { context: 1, dur: 5 }, () => {
      own!.now += 10;
      for (const rc of [5, 5, 0]) {
        refuse(own!, file, rc);
        own!.now += 100;
      }
    });
    // 10 before, 3 attempts and 2 pauses, then 100 and 5
    expect(told()).toMatchObject({
      time: { lockUs: 0, lockWaitUs: 203, cpuUs: 115 },
      lines: [{ waiter: 0, holder: null, sqlite: 0, whileSqlUs: 203 }],
      waits: 1,
    });
  });
  test('statements that the app repeats wait only in their calls', () => {
    const { made, told } = threads({});
    const [own] = made;
    const file = own!.file('app.db');
    for (const rc of [5, 5, 0]) {
      own!.call('sqlStep', { context: 1, dur: 10, result: rc || 101 }, () =>
        refuse(own!, file, rc),
      );
      own!.now += 1000;
    }
    expect(told()).toMatchObject({
      time: { lockWaitUs: 2, cpuUs: 31 },
      lines: [{ whileSqlUs: 2 }],
      waits: 1,
    });
  });
});

describe('a worker that does the storage', () => {
  const proxied = (parent: string | null) => {
    const { made, told } = threads({ id: 'db' }, { id: 'proxy', parent }, { id: 'other tab' });
    const [db, proxy, other] = made;
    hold(other!, 0, 400);
    const file = db!.file('app.db');
    db!.call('sqlStep', { dur: 0 }, () =>
      db!.call('xLock', { object: file, aux: 1, dur: 0 }, () =>
        db!.call('atomicsWait', { dur: 600 }),
      ),
    );
    proxy!.now = 50;
    proxy!.call('lockRequest', {
      object: proxy!.define({ kind: 'lock', text: 'app.db' }),
      flags,
      dur: 450,
    });
    return told();
  };
  test('waits for the thread that created it', () => {
    expect(proxied('db')).toMatchObject({
      time: { lockUs: 250, lockWaitUs: 350 },
      lines: [{ waiter: 1, holder: 2, sqlite: 0, whileSqlUs: 350 }],
      waits: 1,
    });
  });
  test('and another worker waits for itself', () => {
    expect(proxied(null)).toMatchObject({
      time: { lockUs: 600, lockWaitUs: 0 },
      lines: [{ sqlite: null, whileSqlUs: 0 }],
      waits: 0,
    });
  });
});

describe('IndexedDB', () => {
  /** The first thread's xRead reads from a store behind a transaction of thread `ahead`. */
  const reading = (ahead: 0 | 1) => {
    const { made, told } = threads({}, {});
    const use = (
      thread: ThreadBuilder,
      context: number,
      aux: number,
      from: number,
      us: number,
    ): void => {
      const db = thread.define({ kind: 'idb-database', db: 'files' });
      const object = thread.define({ kind: 'idb-store', db: 'files', store: 'blocks' });
      thread.now = from;
      thread.call('idbTransaction', { object: db, aux, flags, context, dur: 0 }, () =>
        thread.call('idbGet', { object, flags, context, dur: us }),
      );
    };
    use(made[ahead]!, 7, 1, 0, 300);
    const [own] = made;
    const file = own!.file('app.db');
    own!.now = 100;
    own!.call('sqlStep', { flags, dur: 0 }, () =>
      own!.call('xRead', { object: file, flags, dur: 0 }, () => use(own!, 8, 0, 100, 400)),
    );
    return told();
  };
  test("waits while another thread's transaction is ahead", () => {
    expect(reading(1).time).toMatchObject({ lockWaitUs: 200, readUs: 200 });
  });
  test('and reads behind its own transaction', () => {
    expect(reading(0).time).toMatchObject({ lockWaitUs: 0, readUs: 400 });
  });
});
