// Failures that the engine handles are separate from those that reach the app.
import { expect, test } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { failedCalls, failedCallsIn } from '../../src/analysis/errors/failed-calls.ts';
import type { EngineInfo } from '../../src/event/definitions.ts';
import { Flag } from '../../src/event/event.ts';
import { fingerprint } from '../../src/sqlite/sql-text.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

type Told = [call: string, what: string, handled: boolean, count: number];
function errorsOf(
  make: (thread: ThreadBuilder, file: number, sql: number) => void,
  also?: (thread: ThreadBuilder) => void,
) {
  const store = newStore();
  const thread = new ThreadBuilder(store, { id: 'db' });
  make(thread, thread.file('app.db'), thread.define({ kind: 'sql', text: 'SELECT 1' }));
  thread.send();
  if (also) {
    const helper = new ThreadBuilder(store, { id: 'helper', parent: 'db' });
    also(helper);
    helper.send();
  }
  const { groups, events, handled } = new Facts(store).get(failedCalls);
  const listed = groups.map(({ call, what, handled: own, count }): Told => [
    call,
    what,
    own,
    count,
  ]);
  const sum = (own: boolean): number =>
    listed.reduce((n, [, , is, count]) => n + (is === own ? count : 0), 0);
  expect([sum(false), sum(true)]).toEqual([events, handled]);
  // those that reach the app come first
  expect(listed.map(([, , own]) => own)).toEqual(listed.map(([, , own]) => own).sort());
  return listed;
}

test("a refusal in a statement that continues doesn't reach the app", () => {
  expect(
    errorsOf((t, file, sql) =>
      t.call('sqlStep', { object: sql, context: 1 }, () => {
        for (const result of [5, 5, 0]) t.call('xLock', { object: file, context: 1, result });
      }),
    ),
  ).toEqual([['xLock', 'SQLITE_BUSY', true, 2]]);
});

test('what the engine retries reaches the app if the last attempt does', () => {
  const step = (t: ThreadBuilder, file: number, sql: number, result: number): void =>
    void t.call('sqlStep', { object: sql, context: 1, result }, () =>
      t.call('xLock', { object: file, context: 1, result }),
    );
  expect(
    errorsOf((t, file, sql) => {
      for (const result of [5, 0]) step(t, file, sql, result);
    }),
  ).toEqual([
    ['sqlite3_step', 'SQLITE_BUSY', true, 1],
    ['xLock', 'SQLITE_BUSY', true, 1],
  ]);
  expect(
    errorsOf((t, file, sql) => {
      for (const result of [5, 5]) step(t, file, sql, result);
      t.call('sqlReset', { object: sql, context: 1 });
      step(t, file, sql, 0);
    }),
  ).toEqual([
    ['sqlite3_step', 'SQLITE_BUSY', false, 1],
    ['xLock', 'SQLITE_BUSY', false, 1],
    ['sqlite3_step', 'SQLITE_BUSY', true, 1],
    ['xLock', 'SQLITE_BUSY', true, 1],
  ]);
});

test.each([
  // the engine's own single retry looks the same
  ['@journeyapps/wa-sqlite', 'sqlStep', [3, 1]],
  ['wa-sqlite', 'sqlPrepare', [3, 1]],
  ['wa-sqlite', 'sqlOpen', [3, 1]],
  ['wa-sqlite', 'sqlExec', [4, 0]],
  ['sql.js', 'sqlStep', [4, 0]],
  ['@sqlite.org/sqlite-wasm', 'sqlOpen', [4, 0]],
] as const)("an app's own loop reaches it: %s %s", (name, op, [heard, handled]) => {
  const engine: EngineInfo = {
    ...{ name, sqliteVersion: null, sourceId: null, suspension: 'none', note: null },
    layers: { vfs: true, sql: true, counters: false },
  };
  const told = errorsOf((t, _, sql) => {
    t.define({ kind: 'engine', ...engine });
    for (const result of [5, 5, 5, 5, 0]) {
      t.call(op, { object: sql, context: 1, result });
      t.idle(10_000);
    }
  });
  const count = (own: boolean): number =>
    told.reduce((n, [, , is, times]) => n + (is === own ? times : 0), 0);
  expect([count(false), count(true)]).toEqual([heard, handled]);
});

test('a storage failure that the VFS survives, and one with no call above it', () => {
  expect(
    errorsOf((t, file) => {
      const handle = t.define({ kind: 'opfs-file', path: 'app.db' });
      t.call('xOpen', { object: file }, () =>
        t.call('opfsOpenSyncAccessHandle', { object: handle, flags: Flag.threw }),
      );
      t.call('opfsOpenSyncAccessHandle', { object: handle, flags: Flag.threw });
    }),
  ).toEqual([
    ['opfs.openSyncAccessHandle', 'threw', false, 1],
    ['opfs.openSyncAccessHandle', 'threw', true, 1],
  ]);
});

test('a failure in a worker that does the storage belongs to the statement that waits', () => {
  const waits =
    (result: number) =>
    (t: ThreadBuilder, file: number, sql: number): void =>
      void t.call('sqlStep', { object: sql, context: 1, result: result || 100 }, () =>
        t.call('xOpen', { object: file, context: 1, result }, () =>
          t.call('atomicsWait', { dur: 100 }),
        ),
      );
  const fails = (helper: ThreadBuilder): void => {
    helper.now = 50;
    helper.call('opfsGetFileHandle', { flags: Flag.threw });
  };
  expect(errorsOf(waits(0), fails)).toEqual([['opfs.getFileHandle', 'threw', true, 1]]);
  expect(errorsOf(waits(14), fails).map(([call, , handled]) => [call, handled])).toEqual([
    ['sqlite3_step', false],
    ['xOpen', false],
    ['opfs.getFileHandle', false],
  ]);
});

test('a filter keeps the failed calls of its range, thread, and statements', () => {
  const store = newStore();
  for (const [id, sql] of [
    ['a', 'SELECT 1'],
    ['b', 'SELECT x FROM t'],
  ] as const) {
    const t = new ThreadBuilder(store, { id });
    const file = t.file('app.db');
    const text = t.define({ kind: 'sql', text: sql });
    for (let i = 0; i < 3; i++) {
      t.call('sqlStep', { object: text, context: 1, result: 5 }, () =>
        t.call('xLock', { object: file, context: 1, result: 5, dur: 10 }),
      );
      t.idle(2_000_000); // later than an engine retries
    }
    t.call('xDelete', { object: file, result: 10, dur: 10 });
    t.send();
  }
  const facts = new Facts(store);
  const count = (scope: Parameters<typeof failedCallsIn>[1]): number => {
    const { events, handled } = failedCallsIn(facts, scope);
    return events + handled;
  };
  expect(failedCallsIn(facts, {})).toBe(facts.get(failedCalls));
  expect(count({})).toBe(14);
  expect(count({ thread: 1 })).toBe(7);
  // a step and the lock in it, without what serves no statement
  expect(count({ statement: fingerprint('SELECT 1') })).toBe(6);
  expect(count({ statement: fingerprint('SELECT 1'), thread: 1 })).toBe(0);
  const [first] = failedCallsIn(facts, { thread: 0 }).groups;
  const { us } = first!.events[1]!;
  expect(count({ thread: 0, fromUs: us, toUs: us + 1 })).toBe(2);
});
