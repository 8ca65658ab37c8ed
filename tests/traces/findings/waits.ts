// Waits and handles: which thread holds what others need. Each story comes with the same work done
// right.
import { Flag } from '../../../src/event/event.ts';
import type { ThreadBuilder } from '../builder.ts';
import { MS, S, PAGE, REFUSED, times, locked, idbStory, type Stage, type Story, type Case } from './stage.ts';

const handleStory =
  (closes: boolean): Story =>
  ({ thread }) => {
    const a = thread({ name: 'first' });
    a.now = 10 * MS;
    const file = a.define({ kind: 'opfs-file', path: '/app.db' });
    a.call('opfsOpenSyncAccessHandle', { object: file, dur: 300 });
    a.call('opfsRead', { object: file, offset: 0, length: PAGE, result: PAGE });
    if (closes) a.call('opfsClose', { object: file });
    a.idle(5 * S);
    a.call('mark');
    const b = thread({ name: 'second' });
    b.now = 2 * S;
    const same = b.define({ kind: 'opfs-file', path: 'app.db' });
    times(3, () => {
      b.call('opfsOpenSyncAccessHandle', { object: same, dur: 300, ...(closes ? {} : REFUSED) });
      if (closes) b.call('opfsClose', { object: same });
      b.idle(500 * MS);
    });
  };

const leftStory =
  (closes: boolean): Story =>
  ({ thread }) => {
    const a = thread({ name: 'old' });
    const file = a.define({ kind: 'opfs-file', path: '/app.db' });
    a.call('opfsOpenSyncAccessHandle', { object: file });
    a.call('opfsWrite', { object: file, offset: 0, length: PAGE, result: PAGE });
    if (closes) a.call('opfsClose', { object: file });
    a.thread.ended = 'pagehide';
    const b = thread({ name: 'new' });
    b.now = 200 * MS;
    const same = b.define({ kind: 'opfs-file', path: '/app.db' });
    b.call('opfsOpenSyncAccessHandle', { object: same, ...(closes ? {} : REFUSED) });
  };

/** All files of a pool are refused, whose names are the VFS's. */
const poolStory =
  (closes: boolean): Story =>
  ({ thread }) => {
    const [a, b] = [thread({ name: 'first' }), thread({ name: 'second' })];
    a.call('xWrite', { object: a.file('/app.db'), offset: 0, length: PAGE });
    const files = ['w', 'x', 'y', 'z'].map((name) => `/pool/${name}`);
    const handles = files.map((path) => a.define({ kind: 'opfs-file', path }));
    for (const object of handles) a.call('opfsOpenSyncAccessHandle', { object });
    if (closes) for (const object of handles) a.call('opfsClose', { object });
    a.idle(S);
    a.call('mark');
    b.now = 500 * MS;
    for (const path of files) {
      const object = b.define({ kind: 'opfs-file', path });
      b.call('opfsOpenSyncAccessHandle', { object, ...(closes ? {} : REFUSED) });
      if (closes) b.call('opfsClose', { object });
    }
  };

/** A busy worker that was terminated, and writes on while two others ask for its file. */
const ranOnStory =
  (closes: boolean): Story =>
  ({ thread }) => {
    const a = thread({ name: 'old' });
    const file = a.define({ kind: 'opfs-file', path: '/app.db' });
    a.call('opfsOpenSyncAccessHandle', { object: file });
    if (closes) a.call('opfsClose', { object: file });
    times(20, () => {
      if (!closes) a.call('opfsWrite', { object: file, offset: 0, length: PAGE, result: PAGE });
      a.idle(100 * MS);
    });
    a.call('mark');
    a.thread.ended = 'terminated';
    a.thread.unknownUntilUs = 100 * MS;
    for (const now of [300, 700]) {
      const b = thread({ name: `new ${now}` });
      b.now = now * MS;
      const same = b.define({ kind: 'opfs-file', path: '/app.db' });
      b.call('opfsOpenSyncAccessHandle', { object: same, ...(closes ? {} : REFUSED) });
      if (closes) b.call('opfsClose', { object: same });
    }
  };

/** One statement asks for the lock six times. @param pausesMs after each refusal */
const busyStory =
  (pausesMs: readonly number[]): Story =>
  ({ thread }) => {
    const b = thread();
    const db = b.file('/app.db');
    b.call('sqlStep', { result: 101 }, () => {
      for (const pause of pausesMs) {
        b.call('xLock', { object: db, aux: 2, result: 5 });
        b.idle(pause * MS);
      }
      b.call('xLock', { object: db, aux: 2 });
    });
  };

/** `dead`: the holder makes no more calls. */
const lockStory =
  (dead: boolean): Story =>
  ({ thread }) => {
    const a = thread({ name: 'holder' });
    const name = a.define({ kind: 'lock', text: 'db' });
    const file = a.file('/app.db');
    a.call('lockRequest', { object: name });
    a.call('lockHeld', { object: name, dur: dead ? 1 : 20 * S, open: dead }, () => {
      if (!dead)
        times(20, () => {
          a.call('xWrite', { object: file, offset: 0, length: PAGE });
        });
    });
    a.idle(10 * S);
    a.call('mark');
    const b = thread({ name: 'waiter' });
    const same = b.define({ kind: 'lock', text: 'db' });
    b.now = 1 * S;
    b.call('lockRequest', { object: same, open: dead, dur: 100 * MS });
    b.idle(8 * S);
    b.call('mark');
  };

/** A message waits for its worker while a query runs there. @param us duration of the query */
const messageStory =
  (us: number): Story =>
  ({ thread }) => {
    const page = thread({ id: 'page', kind: 'page', url: 'https://app.example/' });
    const worker = thread({ id: 'w' });
    const [toWorker, toPage] = [
      page.define({ kind: 'channel', channel: 'worker', key: 'w', side: 0 }),
      worker.define({ kind: 'channel', channel: 'creator', key: 'w', side: 0 }),
    ];
    const sql = worker.define({ kind: 'sql', text: 'SELECT * FROM all_notes' });
    times(2, (i) => page.call('messagePost', { object: toWorker, aux: i + 1 }));
    times(2, (i) => {
      worker.call('messageHandle', { object: toPage, aux: i + 1 }, () => {
        worker.call('sqlStep', { object: sql, aux: 1, result: 101, dur: i ? 5 * MS : us });
        worker.call('messagePost', { object: toPage, aux: i + 1 });
      });
      page.now = worker.now;
      page.call('messageHandle', { object: toWorker, aux: i + 1 });
    });
  };

/** A query of 430 ms, on the page or in a worker. */
const blockedStory =
  (kind: 'page' | 'worker'): Story =>
  ({ thread }) => {
    const b = thread({ kind, url: kind === 'page' ? 'https://app.example/' : 'worker.js' });
    const sql = b.define({ kind: 'sql', text: 'SELECT * FROM all_notes' });
    b.call('sqlStep', { object: sql, aux: 1, result: 101, dur: 430 * MS });
    b.call('sqlStep', { object: sql, aux: 1, result: 101, dur: 20 * MS });
  };

export const WAITS: Case[] = [
  {
    rule: 'F60',
    name: 'a long query on the page',
    wrong: blockedStory('page'),
    right: blockedStory('worker'),
    says: /^SQL blocked the main thread of Page app\.example\/ once, for 430 ms$/,
  },
  {
    rule: 'F59',
    name: 'a message behind a long query',
    wrong: messageStory(430 * MS),
    right: messageStory(90 * MS),
    says: /^A message and its answer took 435 ms, 430 ms of them in the queue of Worker worker\.js behind "SELECT \* FROM all_notes"; its own SQL took 5 ms$/,
  },
  {
    rule: 'F03',
    name: 'a second worker is refused the file',
    wrong: handleStory(false),
    right: handleStory(true),
    says: /second · worker worker\.js was refused \/app\.db 3 times and never got it: first · worker worker\.js/,
  },
  {
    rule: 'F03',
    name: 'a second worker is refused the files of a pool',
    wrong: poolStory(false),
    right: poolStory(true),
    says: /^second · worker worker\.js was refused 4 files in \/pool and never got them: first · worker worker\.js has them open$/,
  },
  {
    rule: 'F04',
    name: 'a busy worker writes on after it was terminated',
    wrong: ranOnStory(false),
    right: ranOnStory(true),
    says: /^new 300 · worker worker\.js and 1 other were refused \/app\.db 2 times within 5 s after old · worker worker\.js had ended without closing it \(terminated\)$/,
  },
  {
    rule: 'F04',
    name: 'the page before left its handle',
    wrong: leftStory(false),
    right: leftStory(true),
    says: /within 5 s after old · worker worker\.js had ended/,
  },
  {
    rule: 'F05',
    name: 'a holder that does nothing',
    wrong: lockStory(true),
    right: lockStory(false),
    says: /waiter · worker worker\.js waited .* for the lock "db" and never got it/,
  },
  {
    rule: 'F06',
    name: 'a busy handler that does not pause, and SQLite\'s own',
    wrong: busyStory([0.1, 0.1, 0.1, 0.1, 0.1, 0.1]),
    right: busyStory([1, 2, 5, 10, 15, 20]),
    says: /^6 SQLITE_BUSY answers in 1 burst on \/app\.db, .*; 1 of them got the lock in the end$/,
  },
  {
    rule: 'F06',
    name: 'BUSY, BUSY, BUSY',
    wrong: ({ thread }) => {
      const b = thread();
      const db = b.file('/app.db');
      times(6, () => {
        b.call('xLock', { object: db, aux: 2, result: 5 });
        b.idle(MS);
      });
    },
    right: ({ thread }) => {
      const b = thread();
      const db = b.file('/app.db');
      b.call('xLock', { object: db, aux: 2, result: 5 });
      b.idle(20 * MS);
      b.call('xLock', { object: db, aux: 2 });
    },
    says: /^6 SQLITE_BUSY answers in 1 burst/,
  },
  {
    rule: 'F17',
    name: 'readwrite transactions that only read',
    wrong: idbStory({ unused: true }),
    right: idbStory({}),
    says: /^30 of 30 readwrite IndexedDB transactions wrote nothing/,
  },
  {
    rule: 'F26',
    name: 'RESERVED held while waiting for something else',
    wrong: ({ thread }) => longHold(thread(), 3 * S),
    right: ({ thread }) => longHold(thread(), 3 * MS),
    says: /1 write transaction on \/app\.db stayed open for 3 s/,
  },
  {
    rule: 'F27',
    name: 'the tab that holds the lock is hidden',
    wrong: (stage) => hiddenHolder(stage, true),
    right: (stage) => hiddenHolder(stage, false),
    says: /1 request for the lock "db" waited [\d.]+ s for Page 1 · one · page app\.example\/worker\.js, which was hidden or frozen/,
  },
  {
    rule: 'F29',
    name: 'a delete that another tab blocks',
    wrong: ({ thread }) => blocked(thread({ name: 'a' }), thread({ name: 'b' }), 6 * S),
    right: ({ thread }) => blocked(thread({ name: 'a' }), thread({ name: 'b' }), 6 * MS),
    says: /Deleting the IndexedDB database app took 6 s while a · worker worker\.js had it open/,
  },
  {
    rule: 'F29',
    name: 'an upgrade that the browser calls blocked, by a page that had got the event',
    wrong: ({ thread }) => blockedUpgrade(thread({ name: 'a' }), thread({ name: 'b' }), 500 * MS),
    right: ({ thread }) => blockedUpgrade(thread({ name: 'a' }), thread({ name: 'b' }), 50 * MS),
    says: /Opening the IndexedDB database app took 500 ms while a · worker worker\.js had it open; a · worker worker\.js had got the versionchange event/,
  },
  {
    rule: 'F29',
    name: 'a delete that an earlier connection of the same thread blocks',
    wrong: ({ thread }) => blockedBySelf(thread({ name: 'a' }), true),
    right: ({ thread }) => blockedBySelf(thread({ name: 'a' }), false),
    says: /Deleting the IndexedDB database app took 500 ms while a · worker worker\.js had it open$/,
  },
  {
    rule: 'F33',
    name: 'a write at SHARED',
    wrong: ({ thread }) => lockless(thread(), 1),
    right: ({ thread }) => lockless(thread(), 4),
    says: /^1 write to \/app\.db while the connection held no lock for writing/,
  },
  {
    rule: 'F33',
    name: 'no lock asked for, as with nolock=1',
    wrong: ({ thread }) => lockless(thread(), 0),
    right: ({ thread }) => lockless(thread(), 4),
    says: /^1 write to \/app\.db on a connection that takes no locks/,
  },
  {
    rule: 'F35',
    name: 'the pool has no place',
    wrong: ({ thread }) => pool(thread(), 14),
    right: ({ thread }) => pool(thread(), 0),
    says: /opfs-sahpool could not open \/app\.db-journal: its pool of 6 handles/,
  },
  {
    rule: 'F37',
    name: 'the 253rd handle',
    wrong: ({ thread }) => manyHandles(thread(), true),
    right: ({ thread }) => manyHandles(thread(), false),
    says: /createSyncAccessHandle failed 1 time with 252 handles open/,
  },
  {
    rule: 'F38',
    name: 'a handle for each transaction',
    wrong: ({ thread }) => cycles(thread(), 30),
    right: ({ thread }) => cycles(thread(), 1),
    says: /\/app\.db was opened and closed 30 times/,
  },
];

function longHold(b: ThreadBuilder, us: number): void {
  const db = b.file('/app.db');
  locked(b, db, 2, () => {
    b.idle(us);
    b.call('xWrite', { object: db, offset: 0, length: PAGE });
    b.call('xSync', { object: db });
    b.call('xFileControl', { object: db, aux: 22 });
  });
}
function hiddenHolder({ thread }: Stage, hidden: boolean): void {
  const page = thread({ id: 'p1', kind: 'page', name: 'one' });
  const worker = thread({ id: 'w1', parent: 'p1' });
  const other = thread({ id: 'p2', kind: 'page', name: 'two' });
  page.now = 500 * MS;
  page.call('visibility', { aux: hidden ? 1 : 0 });
  const name = worker.define({ kind: 'lock', text: 'db' });
  worker.call('lockHeld', { object: name, dur: hidden ? 4 * S : 900 * MS });
  const same = other.define({ kind: 'lock', text: 'db' });
  other.now = 1 * S;
  other.call('lockRequest', { object: same, dur: hidden ? 3 * S : 10 });
}
function blocked(a: ThreadBuilder, b: ThreadBuilder, us: number): void {
  const [mine, same] = [a.define({ kind: 'idb-database', db: 'app' }), b.define({ kind: 'idb-database', db: 'app' })];
  a.call('idbOpen', { object: mine });
  b.call('idbDeleteDatabase', { object: same, dur: us });
}
function blockedUpgrade(a: ThreadBuilder, b: ThreadBuilder, us: number): void {
  const [mine, same] = [a.define({ kind: 'idb-database', db: 'app' }), b.define({ kind: 'idb-database', db: 'app' })];
  a.call('idbOpen', { object: mine });
  b.idle(10 * MS);
  b.call('idbOpen', { object: same, dur: us }, () => void b.call('idbBlocked', { object: same, offset: 2, aux: b.innermost }));
  a.idle(11 * MS);
  a.call('idbVersionChange', { object: mine, offset: 2 });
}
function blockedBySelf(b: ThreadBuilder, told: boolean): void {
  const db = b.define({ kind: 'idb-database', db: 'app' });
  b.call('idbOpen', { object: db });
  b.call('idbDeleteDatabase', { object: db, dur: 500 * MS }, () => void (told && b.call('idbBlocked', { object: db, aux: b.innermost })));
}
function lockless(b: ThreadBuilder, level: number): void {
  const db = b.file('/app.db');
  const other = b.file('/other.db');
  b.call('xOpen', { object: other, aux: 0x106 });
  b.call('xLock', { object: other, aux: 1 });
  b.call('xOpen', { object: db, aux: 0x106 });
  b.call('xAccess', { object: b.file('/app.db-wal', 'wal') });
  const write = (): void => void b.call('xWrite', { object: db, offset: 0, length: PAGE });
  if (level) locked(b, db, level, write);
  else write();
}
function pool(b: ThreadBuilder, rc: number): void {
  times(6, (i) => b.call('opfsOpenSyncAccessHandle', { object: b.define({ kind: 'opfs-file', path: `/.opaque/${i}` }) }));
  b.call('xOpen', { object: b.file('/app.db-journal', 'journal', 'opfs-sahpool'), result: rc });
}
function manyHandles(b: ThreadBuilder, fail: boolean): void {
  times(252, (i) => b.call('opfsOpenSyncAccessHandle', { object: b.define({ kind: 'opfs-file', path: `/${i}` }) }));
  b.call('opfsOpenSyncAccessHandle', { object: b.define({ kind: 'opfs-file', path: '/one-more' }), ...(fail ? REFUSED : {}) });
}
function cycles(b: ThreadBuilder, n: number): void {
  const file = b.define({ kind: 'opfs-file', path: '/app.db' });
  times(n, () => {
    b.call('opfsOpenSyncAccessHandle', { object: file, dur: 2 * MS, flags: Flag.async });
    times(30 / n, () => b.call('opfsRead', { object: file, offset: 0, length: PAGE, result: PAGE }));
    b.call('opfsClose', { object: file });
  });
}
