// Use of IndexedDB. Each story comes with the same work done right.
import { Flag } from '../../../src/event/event.ts';
import type { ThreadBuilder } from '../builder.ts';
import { MS, S, PAGE, REFUSED, times, idbStory, type Case } from './stage.ts';

export const IDB: Case[] = [
  {
    rule: 'F10',
    name: 'four transactions of one request for a lock',
    wrong: idbStory({ single: true }),
    right: idbStory({}),
    says: /120 IndexedDB transactions for 30 lock periods of SQLite \(from lock to unlock\), 120 of them with one request/,
  },
  {
    rule: 'F15',
    name: 'some strict, some relaxed',
    wrong: idbStory({ durability: 1, mixed: true }),
    right: idbStory({}),
    says: /15 of 30 writing IndexedDB transactions asked for strict durability\. SQLite waited 8\.8 ms for each on average, and 1\.3 ms for each of the 15 relaxed ones/,
  },
  {
    rule: 'F18',
    name: 'block after block',
    wrong: ({ thread }) => {
      const b = thread();
      const store = b.define({ kind: 'idb-store', db: 'vfs', store: 'blocks' });
      times(40, (i) => b.call('idbGet', { object: store, offset: i, length: PAGE, context: 1, dur: 200 }));
    },
    right: ({ thread }) => {
      const b = thread();
      const store = b.define({ kind: 'idb-store', db: 'vfs', store: 'blocks' });
      times(40, (i) => b.call('idbGet', { object: store, offset: (i * 7919) % 1009, length: PAGE, context: 1, dur: 200 }));
    },
    says: /^40 gets on neighboring keys, one by one in 1 sequence/,
  },
  {
    rule: 'F19',
    name: 'a put and a delete for each page',
    wrong: ({ thread }) => versions(thread(), true),
    right: ({ thread }) => versions(thread(), false),
    says: /60 puts and 60 deletes/,
  },
  {
    rule: 'F28',
    name: 'transaction() throws after the tab was hidden',
    wrong: ({ thread }) => killed(thread({ kind: 'page' }), true),
    right: ({ thread }) => killed(thread({ kind: 'page' }), false),
    says: /IDBDatabase\.transaction threw 1 time after the tab had been hidden/,
  },
  {
    rule: 'F45',
    name: 'a block for 16 bytes',
    wrong: ({ thread }) => poll(thread(), true),
    right: ({ thread }) => poll(thread(), false),
    says: /^40 checks for changes by other connections fetched 320 KiB/,
  },
];

function versions(b: ThreadBuilder, deletes: boolean): void {
  const db = b.file('/app.db');
  const store = b.define({ kind: 'idb-store', db: 'vfs', store: 'blocks' });
  times(60, (i) =>
    b.call('xWrite', { object: db, offset: i * PAGE, length: PAGE }, () => {
      b.call('idbPut', { object: store, length: PAGE });
      if (deletes) b.call('idbDelete', { object: store, dur: 50 });
    }),
  );
}
function killed(b: ThreadBuilder, hidden: boolean): void {
  const store = b.define({ kind: 'idb-database', db: 'app' });
  b.call('idbTransaction', { object: store, context: 1 });
  if (hidden) b.call('visibility', { aux: 1 });
  b.idle(60 * S);
  if (hidden) b.call('visibility', { aux: 0 });
  b.call('idbTransaction', { object: store, context: 2, ...(hidden ? REFUSED : {}) });
}
function poll(b: ThreadBuilder, storage: boolean): void {
  const db = b.file('/app.db');
  const store = b.define({ kind: 'idb-store', db: 'vfs', store: 'blocks' });
  times(40, () => {
    b.call('xRead', { object: db, offset: 24, length: 16 }, () => {
      if (storage) b.call('idbGet', { object: store, offset: 0, length: 8192, dur: 400, flags: Flag.async });
    });
    b.idle(200 * MS);
  });
}
