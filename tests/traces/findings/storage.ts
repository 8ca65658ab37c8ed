// How bytes get to storage. Each story comes with the same work done right.
import { Flag } from '../../../src/event/event.ts';
import type { ThreadBuilder } from '../builder.ts';
import { MS, PAGE, times, type Case } from './stage.ts';

export const STORAGE: Case[] = [
  {
    rule: 'F09',
    name: 'frames of a WAL in blocks of 8 KiB',
    wrong: ({ thread }) => {
      const b = thread();
      const wal = b.file('/app.db-wal', 'wal');
      const store = b.define({ kind: 'idb-store', db: 'vfs', store: 'blocks' });
      times(20, (i) =>
        b.call('xWrite', { object: wal, offset: 32 + i * (PAGE + 24), length: 24 }, () => {
          b.call('idbGet', { object: store, offset: NaN, length: 8192, dur: 300 });
          b.call('idbPut', { object: store, offset: NaN, length: 8192, dur: 300 });
        }),
      );
    },
    right: ({ thread }) => {
      const b = thread();
      const db = b.file('/app.db');
      const store = b.define({ kind: 'idb-store', db: 'vfs', store: 'blocks' });
      times(20, (i) =>
        b.call('xWrite', { object: db, offset: i * 8192, length: 8192 }, () => {
          b.call('idbPut', { object: store, offset: i, length: 8192, dur: 300 });
        }),
      );
    },
    says: /^20 writes to \/app\.db-wal filled only part of a block of 8 KiB/,
  },
  {
    rule: 'F14',
    name: 'flushes take most of the time',
    wrong: ({ thread }) => {
      const b = thread();
      const file = b.define({ kind: 'opfs-file', path: '/app.db' });
      times(20, () => {
        b.call('opfsFlush', { object: file, dur: 5 * MS });
        b.idle(5 * MS);
      });
    },
    right: ({ thread }) => {
      const b = thread();
      const file = b.define({ kind: 'opfs-file', path: '/app.db' });
      times(20, () => {
        b.call('opfsFlush', { object: file, dur: 20 });
        b.idle(10 * MS);
      });
    },
    says: /20 flushes took 100 ms, 51\.3 % of the entire recording: median 5 ms/,
  },
  {
    rule: 'F20',
    name: 'pages of 4 KiB in blocks of 8 KiB',
    wrong: ({ thread }) => pagesInBlocks(thread(), PAGE),
    right: ({ thread }) => pagesInBlocks(thread(), 8192),
    says: /Pages of 4 KiB in blocks of 8 KiB on \/app\.db: 20 writes filled a part of one only/,
  },
  {
    rule: 'F23',
    name: 'the whole database saved after each change',
    wrong: ({ thread }) => saves(thread(), 5),
    right: ({ thread }) => saves(thread(), 1),
    says: /The whole database was put into idb\/files 5 times/,
  },
  {
    rule: 'F39',
    name: 'waits for a proxy longer than its storage calls',
    wrong: ({ thread }) => proxy(thread(), thread(), 500),
    right: ({ thread }) => proxy(thread(), thread(), 105),
    says: /Calls of opfs waited for another thread 100 times, 50 ms in total\. Storage took only 10 ms of that/,
  },
  {
    rule: 'F43',
    name: 'a writable stream for each page',
    wrong: ({ thread }) => streams(thread(), 20),
    right: ({ thread }) => streams(thread(), 1),
    says: /20 writable streams on \/app\.db wrote 80 KiB into a file of at least/,
  },
  {
    rule: 'F44',
    name: 'four bytes a call',
    wrong: ({ thread }) => small(thread(), 4),
    right: ({ thread }) => small(thread(), PAGE),
    says: /^300 of 300 reads and writes in OPFS move less than 512 bytes \(100 %\)/,
  },
];

function pagesInBlocks(b: ThreadBuilder, page: number): void {
  const db = b.file('/app.db');
  const store = b.define({ kind: 'idb-store', db: 'vfs', store: 'blocks' });
  times(20, (i) =>
    b.call('xWrite', { object: db, offset: (2 * i + 1) * page, length: page }, () => {
      b.call('idbPut', { object: store, offset: NaN, length: 8192 });
    }),
  );
}
function saves(b: ThreadBuilder, n: number): void {
  const db = b.file('/app.db');
  const files = b.define({ kind: 'idb-store', db: 'idb', store: 'files' });
  times(50, (i) => b.call('xWrite', { object: db, offset: i * PAGE, length: PAGE }));
  times(n, () => b.call('idbPut', { object: files, length: 50 * PAGE, dur: 3 * MS, flags: Flag.async }));
}
function proxy(b: ThreadBuilder, other: ThreadBuilder, wait: number): void {
  const db = b.file('/app.db', 'main-db', 'opfs');
  const file = other.define({ kind: 'opfs-file', path: '/app.db' });
  times(100, (i) => {
    b.call('xRead', { object: db, offset: i * PAGE, length: PAGE }, () => b.call('atomicsWait', { dur: wait }));
    other.now = b.now - wait / 2;
    other.call('opfsRead', { object: file, offset: i * PAGE, length: PAGE, result: PAGE, dur: 100 });
  });
}
function streams(b: ThreadBuilder, n: number): void {
  const file = b.define({ kind: 'opfs-file', path: '/app.db' });
  times(n, (i) => {
    b.call('opfsCreateWritable', { object: file, dur: 2 * MS });
    b.call('opfsStreamWrite', { object: file, offset: (i + 10) * 10 * PAGE, length: PAGE });
    b.call('opfsStreamClose', { object: file, dur: 20 * MS });
  });
}
function small(b: ThreadBuilder, length: number): void {
  const file = b.define({ kind: 'opfs-file', path: '/app.db-journal' });
  times(300, (i) => b.call('opfsWrite', { object: file, offset: i * length, length, result: length }));
}
