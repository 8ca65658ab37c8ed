// Failures: storage gone or full, limits, damage, lost writes. Each story comes with the same work
// done right.
import { Flag } from '../../../src/event/event.ts';
import type { ThreadBuilder } from '../builder.ts';
import { MS, PAGE, REFUSED, S, environment, locked, times, type Case } from './stage.ts';

export const FAILURES: Case[] = [
  {
    rule: 'F16',
    name: 'a private window without storage',
    wrong: ({ thread }) => {
      const b = thread();
      const text = b.define({ kind: 'message', text: 'SecurityError: Failed to execute getDirectory on StorageManager' });
      b.call('error', { object: text });
    },
    right: ({ thread }) => {
      const b = thread();
      const text = b.define({ kind: 'message', text: 'TypeError: x is not a function' });
      b.call('error', { object: text });
    },
    says: /The browser refused storage: "SecurityError/,
  },
  {
    rule: 'F24',
    name: 'the page goes while puts are under way',
    wrong: ({ thread }) => writeBehind(thread(), false),
    right: ({ thread }) => writeBehind(thread(), true),
    says: /The thread ended \(pagehide\) with 2 storage calls unfinished/,
  },
  {
    rule: 'F46',
    name: 'nothing is stored after a write that failed',
    wrong: ({ thread }) => givenUp(thread, 'fails'),
    right: ({ thread }) => givenUp(thread, 'fails and is tried again'),
    says: /^IndexedDB failed 1 write transaction, nothing was stored after, and SQLite committed 3 more transactions/,
  },
  {
    rule: 'F46',
    name: 'later transactions complete, but put nothing',
    wrong: ({ thread }) => givenUp(thread, 'fails, and empty ones follow'),
    right: ({ thread }) => givenUp(thread, 'fails and is tried again'),
    says: /^IndexedDB failed 1 write transaction, nothing was stored after, and SQLite committed 3 more transactions/,
  },
  {
    rule: 'F46',
    name: 'a write that failed and is not tried again, where the app did not abort it',
    wrong: ({ thread }) => givenUp(thread, 'fails'),
    right: ({ thread }) => givenUp(thread, 'is aborted by the app'),
    says: /^IndexedDB failed 1 write transaction/,
  },
  {
    rule: 'F46',
    name: 'a failed write, and the recording ends before the next one has ended',
    wrong: ({ thread }) => givenUp(thread, 'fails'),
    right: ({ thread }) => givenUp(thread, 'fails and is being tried again'),
    says: /^IndexedDB failed 1 write transaction/,
  },
  {
    rule: 'F30',
    name: 'the stack is exhausted',
    wrong: ({ thread }) => fails(thread(), 'RangeError: Maximum call stack size exceeded.'),
    right: ({ thread }) => fails(thread(), 'Error: no such table: t'),
    says: /1 error of exhausted stack or memory/,
  },
  {
    rule: 'F32',
    name: 'SQLITE_CORRUPT',
    wrong: ({ thread }) => void thread().call('sqlStep', { result: 11 }),
    right: ({ thread }) => void thread().call('sqlStep', { result: 101 }),
    says: /^1 call answered SQLITE_CORRUPT/,
  },
  {
    rule: 'F34',
    name: 'SharedArrayBuffer is missing',
    wrong: ({ thread }) => {
      const b = thread();
      b.say(environment());
      fails(b, 'Error: Missing SharedArrayBuffer and/or Atomics. The server must emit the COOP/COEP response headers.');
    },
    right: ({ thread }) => {
      const b = thread();
      b.say(environment({ crossOriginIsolated: true }));
      fails(b, 'Error: something else');
    },
    says: /The page is not cross-origin isolated/,
  },
  {
    rule: 'F42',
    name: 'the quota is exceeded',
    wrong: ({ thread }) => fails(thread(), 'QuotaExceededError: the operation failed'),
    right: ({ thread }) => fails(thread(), 'Error: out of luck'),
    says: /Storage is full: "QuotaExceededError[^(]*$/,
  },
  {
    rule: 'F42',
    name: 'the quota is exceeded, and the browser says how much there is',
    wrong: ({ thread }) => fails(stored(thread(), 2 * MIB, 2 * MIB, false), 'QuotaExceededError: the operation failed'),
    right: ({ thread }) => fails(stored(thread(), MIB, 2 * MIB, true), 'Error: out of luck'),
    says: /Storage is full: .* \(2 MiB of 2 MiB in use, not persisted\)$/,
  },
  {
    rule: 'F42',
    name: 'a write that the browser refuses for lack of space, and one that comes short in the result that this exception has',
    wrong: ({ thread }) => refusedWrite(thread(), Flag.threw),
    right: ({ thread }) => refusedWrite(thread(), 0),
    says: /^Storage is full: 1 storage call failed with QuotaExceededError$/,
  },
  {
    rule: 'F42',
    name: 'nearly all of the quota is in use',
    wrong: ({ thread }) => void stored(thread(), 19 * MIB, 20 * MIB, true).call('xRead'),
    right: ({ thread }) => void stored(thread(), 17 * MIB, 20 * MIB, true).call('xRead'),
    says: /^Storage of https:\/\/app\.example is nearly full: 19 MiB of 20 MiB in use, persisted$/,
  },
  {
    rule: 'F47',
    name: 'a write that storage did not take whole',
    wrong: ({ thread }) => short(thread(), { result: -8, xWrite: 778 }),
    right: ({ thread }) => short(thread(), { result: PAGE, xWrite: 0 }),
    says: /^1 write to \/app\.db left 4 KiB out, without an exception$/,
  },
  {
    rule: 'F47',
    name: 'a write that came short, of which SQLite was told that it is whole, and one whose rest follows',
    wrong: ({ thread }) => short(thread(), { result: 1024, xWrite: 0 }),
    right: ({ thread }) => short(thread(), { result: 1024, xWrite: 0, rest: true }),
    says: /^1 write to \/app\.db left 3 KiB out, without an exception; the VFS reported success to SQLite 1 time$/,
  },
  {
    rule: 'F48',
    name: 'I/O errors over refused handles, and SQLITE_BUSY in their place',
    wrong: ({ thread }) => refusedHandles(thread(), 3850),
    right: ({ thread }) => refusedHandles(thread(), 5),
    says: /^4 calls on \/app\.db answered SQLITE_IOERR within [\d.]+ ms, since 4 handles were refused/,
  },
  {
    rule: 'F49',
    name: 'handles opened beside a refused one, and closed',
    wrong: ({ thread }) => opensTogether(thread(), 'drops'),
    right: ({ thread }) => opensTogether(thread(), 'closes'),
    says: /^2 handles \(\/a, \/c\) opened at once with \/b, which was refused, and neither used nor closed since$/,
  },
  {
    rule: 'F49',
    name: 'handles that are blocked later, and handles in use',
    wrong: ({ thread }) => opensTogether(thread(), 'drops and asks again'),
    right: ({ thread }) => opensTogether(thread(), 'uses'),
    says: /neither used nor closed since; 2 requests for them failed later$/,
  },
];

const MIB = 1 << 20;
function stored(b: ThreadBuilder, usage: number, quota: number, persisted: boolean): ThreadBuilder {
  b.say({ kind: 'storage', id: 0, when: 'stop', origin: 'https://app.example', usage, quota, persisted });
  return b;
}
function writeBehind(b: ThreadBuilder, done: boolean): void {
  const db = b.file('/app.db');
  const store = b.define({ kind: 'idb-store', db: 'vfs', store: 'blocks' });
  locked(b, db, 2, () => {
    b.call('xWrite', { object: db, offset: 0, length: PAGE });
    b.call('xFileControl', { object: db, aux: 22 });
  });
  b.call('idbTransaction', { object: store, aux: 1, context: 1, open: !done });
  b.call('idbPut', { object: store, length: PAGE, context: 1, open: !done });
  b.thread.ended = 'pagehide';
}
/** SQLite commits on one thread, and another thread stores the data later. */
function givenUp(
  thread: () => ThreadBuilder,
  how: 'fails' | 'fails, and empty ones follow' | 'fails and is tried again' | 'fails and is being tried again' | 'is aborted by the app',
): void {
  const [sqlite, storing] = [thread(), thread()];
  const db = sqlite.file('/app.db');
  const store = storing.define({ kind: 'idb-database', db: 'vfs' });
  const commit = (): void => {
    locked(sqlite, db, 2, () => {
      sqlite.call('xWrite', { object: db, offset: 0, length: PAGE });
      sqlite.call('xFileControl', { object: db, aux: 22 });
    });
    sqlite.idle(100);
    storing.idle(sqlite.now - storing.now);
  };
  const transaction = (context: number, fields: { result?: number; open?: boolean } = {}, request: 'idbPut' | 'idbGet' = 'idbPut'): void => {
    storing.call('idbTransaction', { object: store, aux: 1, context, dur: 10, ...fields });
    storing.call(request, { object: store, length: PAGE, context });
    sqlite.idle(storing.now - sqlite.now);
  };
  commit();
  transaction(1);
  commit();
  if (how === 'is aborted by the app') storing.call('idbAbort', { object: store, context: 2 });
  transaction(2, { result: 1 });
  for (let i = 0; i < 3; i++) commit();
  if (how === 'fails, and empty ones follow') transaction(3, {}, 'idbGet');
  if (how === 'fails and is tried again') transaction(3);
  if (how === 'fails and is being tried again') transaction(3, { open: true });
}
function fails(b: ThreadBuilder, text: string): void {
  b.call('error', { object: b.define({ kind: 'message', text }) });
}

/** Chromium's result on a full disk, and an older version's. */
function refusedWrite(b: ThreadBuilder, flags: number): void {
  const [db, file] = [b.file('/app.db'), b.define({ kind: 'opfs-file', path: '/app.db' })];
  b.call('xWrite', { object: db, offset: 0, length: PAGE, result: 778 }, () => {
    b.call('opfsWrite', { object: file, offset: 0, length: PAGE, result: -4, flags, context: 1 });
  });
}
function short(b: ThreadBuilder, of: { result: number; xWrite: number; rest?: boolean }): void {
  const [db, file] = [b.file('/app.db'), b.define({ kind: 'opfs-file', path: '/app.db' })];
  b.call('xWrite', { object: db, offset: 0, length: PAGE, result: of.xWrite }, () => {
    b.call('opfsWrite', { object: file, offset: 0, length: PAGE, result: of.result, context: 1 });
    if (of.rest) b.call('opfsWrite', { object: file, offset: of.result, length: PAGE - of.result, result: PAGE - of.result, context: 1 });
  });
}
function refusedHandles(b: ThreadBuilder, result: number): void {
  const [db, file] = [b.file('/app.db'), b.define({ kind: 'opfs-file', path: '/app.db' })];
  times(4, () => {
    b.call('xLock', { object: db, aux: 1, result }, () => b.call('opfsOpenSyncAccessHandle', { object: file, ...REFUSED }));
    b.idle(10 * MS);
  });
}
/** Three handles requested at once, of which the second is refused. */
function opensTogether(b: ThreadBuilder, then: 'drops' | 'drops and asks again' | 'closes' | 'uses'): void {
  const [x, y, z] = ['/a', '/b', '/c'].map((path) => b.define({ kind: 'opfs-file', path }));
  const open = 'opfsOpenSyncAccessHandle';
  for (const [object, fields] of [[x!, {}], [y!, REFUSED], [z!, {}]] as const) {
    const { now } = b;
    b.call(open, { object, dur: 500, ...fields });
    b.now = now + 1;
  }
  b.idle(MS);
  if (then === 'closes') for (const object of [x!, z!]) b.call('opfsClose', { object });
  if (then === 'uses') for (const object of [x!, z!]) b.call('opfsRead', { object, length: PAGE, result: PAGE });
  if (then === 'drops and asks again') for (const object of [x!, z!]) b.call(open, { object, ...REFUSED });
  b.idle(S);
  b.call('mark');
}
