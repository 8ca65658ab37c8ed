// I/O patterns on synthetic traces: each with a positive case, a similar negative one, and an
// unknown one.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Flag, Op } from '../../src/event/event.ts';
import { vfsTotal } from '../../src/analysis/files/file-counts.ts';
import { areaRows } from '../../src/analysis/time/area.ts';
import { filesOf } from '../../src/analysis/files/files.ts';
import { RUN_CLASSES, runClass } from '../../src/analysis/files/runs.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import {
  blockCachesOf,
  blockWritesOf,
  cacheOverTime,
  cacheReport,
  callCountsOf,
  connectionCaches,
  fileCountsOf,
  findingContextOf,
  findingsOf,
  idbUseOf,
  interleavingOf,
  ioObjects,
  repeatedCallsOf,
  runsOf,
  webCountsOf,
  writeAmplificationOf,
} from '../traces/analyses.ts';

const PAGE = 4096;
const at = (page: number): { offset: number; length: number } => ({
  offset: (page - 1) * PAGE,
  length: PAGE,
});
const idb = (t: ThreadBuilder): number =>
  t.define({ kind: 'idb-store', db: 'vfs', store: 'blocks' });

test('run classes', () => {
  for (let length = 1; length <= 2000; length++) {
    const [low, high = low!] = RUN_CLASSES[runClass(length)]!.replace('+', '-99999')
      .split('-')
      .map(Number);
    expect(length >= low! && length <= high!, `${length} in ${RUN_CLASSES[runClass(length)]}`).toBe(
      true,
    );
  }
});

describe('runs', () => {
  test('a checkpoint that reads the WAL between its writes writes one run', () => {
    const t = new ThreadBuilder(newStore());
    const [db, wal] = [t.file('a.db'), t.file('a.db-wal', 'wal')];
    for (const page of [1, 2, 3, 7, 8]) {
      t.call('xRead', { object: wal, offset: 56 + ((page * 5) % 9) * 4120, length: PAGE });
      t.call('xWrite', { object: db, ...at(page) });
    }
    t.send();
    const [database] = runsOf(t.store).filter((f) => f.kind === 'main-db');
    expect(database!.writes).toMatchObject({
      calls: 5,
      runs: 2,
      longest: 3,
      possibleMerges: 3,
      bytes: 5 * PAGE,
    });
    expect(database!.writes.histogram.slice(0, 3)).toEqual([0, 1, 1]);
  });

  test('a sync, an unlock, a change of direction, and for writes another SQL call end a run; reads can continue across steps', () => {
    const t = new ThreadBuilder(newStore());
    const db = t.file('a.db');
    const step = (inside: () => void): number => t.call('sqlStep', { aux: 1, result: 100 }, inside);
    step(() => void t.call('xRead', { object: db, ...at(1) }));
    step(() => void t.call('xRead', { object: db, ...at(2) }));
    t.call('xUnlock', { object: db, aux: 1 }); // SHARED is still held
    t.call('xRead', { object: db, ...at(3) });
    t.call('xUnlock', { object: db, aux: 0 });
    t.call('xRead', { object: db, ...at(4) });
    t.call('xRead', { object: db, ...at(5), result: 522 }); // short read: not part of a run
    step(() => void t.call('xWrite', { object: db, ...at(1) }));
    step(() => {
      t.call('xWrite', { object: db, ...at(2) });
      t.call('xWrite', { object: db, ...at(3) });
      t.call('xSync', { object: db });
      t.call('xWrite', { object: db, ...at(4) });
    });
    t.call('xWrite', { object: db, ...at(5), flags: Flag.threw });
    t.send();
    const [{ reads, writes } = { reads: null, writes: null }] = runsOf(t.store);
    expect(reads).toMatchObject({ all: 5, calls: 4, runs: 2, longest: 3 });
    expect(writes).toMatchObject({ all: 5, calls: 4, runs: 3, longest: 2, possibleMerges: 1 });
    expect(filesOf(t.store)).toMatchObject([{ reads: reads!.all, writes: writes!.all }]);
    expect(blockWritesOf(t.store)).toMatchObject([{ writes: writes!.all }]);
  });

  test('for any calls, runs and merges add up to the calls, and the histogram to the runs', () => {
    const call = fc.tuple(
      fc.constantFrom('xRead', 'xRead', 'xWrite', 'xWrite', 'xSync', 'xUnlock'),
      fc.nat(1),
      fc.integer({ min: 1, max: 4 }),
    );
    fc.assert(
      fc.property(fc.array(call, { maxLength: 60 }), (calls) => {
        const t = new ThreadBuilder(newStore());
        const files = [t.file('a.db'), t.file('b.db')];
        for (const [op, file, page] of calls)
          t.call(op as 'xRead', { object: files[file]!, ...(op.startsWith('xU') ? {} : at(page)) });
        t.send();
        let total = 0;
        for (const { reads, writes } of runsOf(t.store))
          for (const runs of [reads, writes]) {
            total += runs.calls;
            expect(runs.runs + runs.possibleMerges).toBe(runs.calls);
            expect(runs.histogram.reduce((a, b) => a + b, 0)).toBe(runs.runs);
          }
        expect(total).toBe(calls.filter(([op]) => op === 'xRead' || op === 'xWrite').length);
      }),
      { numRuns: 150 },
    );
  });

  test('alternating journal and database', () => {
    const t = new ThreadBuilder(newStore());
    const [db, journal] = [t.file('a.db'), t.file('a.db-journal', 'journal')];
    for (const file of [journal, journal, db, journal, db, db])
      t.call('xWrite', { object: file, ...at(1) });
    t.call('xWrite', { object: t.file('b.db'), ...at(1) });
    t.send();
    expect(interleavingOf(t.store)).toEqual([
      { path: 'a.db', databaseWrites: 3, journalWrites: 3, switches: 3 },
    ]);
  });
});

describe('blocks under writes', () => {
  test("a part of an existing block is read first; one of a new block isn't", () => {
    const t = new ThreadBuilder(newStore());
    const [wal, blocks] = [t.file('a.db-wal', 'wal'), idb(t)];
    const get = (key: number, length: number): number =>
      t.call('idbGet', { object: blocks, offset: key, length, flags: 8, dur: 5 });
    const put = (key: number): number =>
      t.call('idbPut', { object: blocks, offset: key, length: 8192, flags: 8 });
    t.call('xWrite', { object: wal, offset: 0, length: 24 }, () => {
      get(0, 0); // no such block
      put(0);
    });
    t.call('xWrite', { object: wal, offset: 24, length: 4096 }, () => {
      get(0, 8192);
      put(0);
    });
    t.call('xWrite', { object: wal, offset: 8192, length: 8192 }, () => void put(1));
    t.call('xRead', { object: wal, offset: 0, length: 4096 }, () => void get(0, 8192));
    t.send();
    const found = blockWritesOf(t.store);
    const at = t.store.threads[0]!.events;
    const { reads } = found[0]!;
    const { thread, seq } = reads.result(findingContextOf(t.store)).events[0]!;
    const row = at.rowOfSeq(seq);
    expect([thread, at.op[row], at.length[row], at.t0[row]]).toEqual([
      0,
      Op.idbGet,
      8192,
      reads.fromUs,
    ]);
    expect(found).toMatchObject([
      {
        ...{
          path: 'a.db-wal',
          kind: 'wal',
          blockBytes: 8192,
          writes: 3,
          partialWrites: 2,
          readModifyWrites: 1,
          readBytes: 8192,
        },
        ...{ rewrittenBytes: 4096, wastedBytes: 12288, readUs: 5, reads: { count: 1 } },
      },
    ]);
  });

  test('a get and a put of the same key in one readwrite transaction, without visible VFS calls', () => {
    const t = new ThreadBuilder(newStore());
    const blocks = idb(t);
    const transaction = (id: number, mode: number): number =>
      t.call('idbTransaction', { context: id, aux: mode, flags: 8 });
    const get = (id: number, key: number): number =>
      t.call('idbGet', { object: blocks, context: id, offset: key, length: 4096, flags: 8 });
    const put = (id: number, key: number): number =>
      t.call('idbPut', { object: blocks, context: id, offset: key, length: 4096, flags: 8 });
    transaction(1, 1);
    get(1, 7);
    put(1, 7);
    put(1, 7); // again, not read again
    get(1, 9);
    transaction(2, 1);
    put(2, 9); // another transaction
    transaction(3, 0);
    get(3, 5);
    t.send();
    expect(blockWritesOf(t.store)).toMatchObject([
      { path: 'vfs/blocks', kind: 'idb-store', readModifyWrites: 1, readBytes: 4096 },
    ]);
  });

  test("records that are as long as each write aren't blocks, so no write is partial", () => {
    const t = new ThreadBuilder(newStore());
    const [journal, blocks] = [t.file('a.db-journal', 'journal'), idb(t)];
    for (const length of [512, 4, 4096, 4, 4, 4096])
      t.call(
        'xWrite',
        { object: journal, offset: 0, length },
        () => void t.call('idbPut', { object: blocks, length: length + 40 }),
      );
    t.send();
    expect(blockWritesOf(t.store)).toMatchObject([
      { kind: 'journal', blockBytes: null, writes: 6, partialWrites: null },
    ]);
  });

  test('a file in OPFS has no blocks, so partial writes are unknown', () => {
    const t = new ThreadBuilder(newStore());
    const [db, file] = [t.file('a.db'), t.define({ kind: 'opfs-file', path: 'a.db' })];
    t.call(
      'xWrite',
      { object: db, offset: 24, length: 16 },
      () => void t.call('opfsWrite', { object: file, offset: 24, length: 16, result: 16 }),
    );
    t.send();
    expect(blockWritesOf(t.store)).toMatchObject([
      { path: 'a.db', blockBytes: null, writes: 1, partialWrites: null, readModifyWrites: 0 },
    ]);
  });

  test('amplification by the pages of each transaction', () => {
    const t = new ThreadBuilder(newStore());
    const [db, journal, blocks] = [t.file('a.db'), t.file('a.db-journal', 'journal'), idb(t)];
    for (let n = 0; n < 2; n++) {
      t.call('xLock', { object: db, aux: 1 });
      t.call('xLock', { object: db, aux: 2 });
      t.call('xWrite', { object: journal, offset: 512, length: PAGE });
      t.call(
        'xWrite',
        { object: db, ...at(1) },
        () => void t.call('idbPut', { object: blocks, offset: 0, length: 16384, flags: 8 }),
      );
      t.call('xWrite', { object: db, ...at(1) });
      t.call('xWrite', { object: db, ...at(2 + n) });
      t.call('xFileControl', { object: db, aux: 22, result: 12 });
      t.call('xUnlock', { object: db, aux: 0 });
    }
    t.send();
    expect(writeAmplificationOf(t.store)).toEqual([
      {
        ...{
          path: 'a.db',
          vfs: 'test',
          pageBytes: PAGE,
          dirtyPages: 3,
          dirtyPagesByTransaction: 4,
        },
        ...{
          vfsBytes: 8 * PAGE,
          storageBytes: 32768,
          vfsAmplification: 2,
          storageAmplification: 2,
        },
      },
    ]);
  });
});

test('two spellings of a path are one file, shown as the first', () => {
  const trace = (second: string) => {
    const store = newStore();
    for (const [path, commits] of [
      ['/a.db', 3],
      [second, 5],
    ] as const) {
      const t = new ThreadBuilder(store);
      const [db, journal] = [t.file(path), t.file(`${path}-journal`, 'journal')];
      for (let n = 0; n < commits; n++) {
        t.call('xLock', { object: db, aux: 1 });
        t.call('xLock', { object: db, aux: 2 });
        t.call('xWrite', { object: journal, offset: 0, length: 512 });
        t.call('xWrite', { object: db, ...at(2 + n) });
        t.call('xFileControl', { object: db, aux: 22, result: 12 });
        t.call('xUnlock', { object: db, aux: 0 });
      }
      t.send();
    }
    return store;
  };
  const of = (store: TraceStore): unknown => [
    [filesOf(store), fileCountsOf(store), ioObjects(store), runsOf(store), interleavingOf(store)],
    [repeatedCallsOf(store), blockWritesOf(store), writeAmplificationOf(store)],
  ];
  const store = trace('a.db');
  expect(of(store)).toEqual(of(trace('/a.db')));
  expect(filesOf(store).map(({ path, writes }) => [path, writes])).toEqual([
    ['/a.db', 8],
    ['/a.db-journal', 8],
  ]);
  expect(writeAmplificationOf(store)).toMatchObject([
    { path: '/a.db', dirtyPages: 5, dirtyPagesByTransaction: 8, vfsAmplification: 1.125 },
  ]);
  expect(store.threads[1]!.said).toMatchObject([{ path: 'a.db' }, { path: 'a.db-journal' }]);
});

test('repeated calls, and calls that must be repeated', () => {
  const t = new ThreadBuilder(newStore());
  const [db, journal] = [t.file('a.db'), t.file('a.db-journal', 'journal')];
  t.call('xLock', { object: db, aux: 1 });
  t.call('xAccess', { object: journal });
  t.call('xFileSize', { object: db });
  t.call('xFileSize', { object: db, dur: 4 }); // repeated
  t.call('xWrite', { object: db, ...at(9) });
  t.call('xFileSize', { object: db });
  t.call('xLock', { object: db, aux: 1 }); // lock held
  t.call('xUnlock', { object: db, aux: 0 });
  t.call('xUnlock', { object: db, aux: 0 }); // lock already released
  t.call('xLock', { object: db, aux: 1 });
  t.call('xAccess', { object: journal }); // repeated
  t.call('xFileSize', { object: db }); // another connection may have written
  t.call('xAccess', { object: journal, aux: 1 }); // another question
  t.call('xOpen', { object: journal });
  t.call('xAccess', { object: journal }); // exists now
  t.send();
  const counts = repeatedCallsOf(t.store).map((c) => [c.name, c.path, c.calls, c.repeated]);
  expect(counts.sort()).toEqual([
    ['xAccess', 'a.db-journal', 4, 1],
    ['xFileSize', 'a.db', 4, 1],
    ['xLock', 'a.db', 3, 1],
    ['xUnlock', 'a.db', 2, 1],
  ]);
  expect(repeatedCallsOf(t.store)[0]).toMatchObject({ name: 'xFileSize', repeatedUs: 4 });
});

describe('IndexedDB', () => {
  test('transactions for each lock period, requests in each, and sequential gets', () => {
    const t = new ThreadBuilder(newStore());
    const [db, blocks] = [t.file('a.db'), idb(t)];
    let id = 0;
    const transaction = (mode: number, ...keys: number[]): void => {
      t.call('idbTransaction', { context: ++id, aux: mode, flags: 8 });
      for (const key of keys)
        t.call(key < 0 ? 'idbPut' : 'idbGet', {
          object: blocks,
          context: id,
          offset: Math.abs(key) * PAGE,
          length: PAGE,
          flags: 8,
          dur: 2,
        });
    };
    transaction(0, 1); // before any lock
    t.call('xLock', { object: db, aux: 1 }, () => transaction(1)); // empty, readwrite
    transaction(0, 1, 2, 3, 4, 5, 9); // a sequence of 5
    transaction(1, 7); // readwrite, but only read
    t.call('xUnlock', { object: db, aux: 0 }, () => transaction(1, -1, -2));
    transaction(0, 3, 2, 1); // too short
    t.call('xLock', { object: db, aux: 1 });
    transaction(0, 9, 8, 7, 6); // descending
    t.call('xUnlock', { object: db, aux: 0 });
    t.call('idbGet', { object: blocks, context: 77, offset: 0, flags: 8 });
    t.send();
    expect(idbUseOf(t.store)).toMatchObject({
      ...{
        transactions: 7,
        readwrite: 3,
        requests: 18,
        empty: 1,
        oneRequest: 2,
        readwriteUnused: 1,
        looseRequests: 1,
      },
      ...{ lockPeriods: 2, transactionsInPeriods: 5, transactionsPerPeriod: 2.5 },
      ...{ sequences: 2, sequentialGets: 9, savedGets: 7, sequentialUs: 18 },
    });
  });
  test('sequential gets: blocks by byte offset next to odd ones, no gaps, one direction, one store; the finding counts the same', () => {
    const t = new ThreadBuilder(newStore());
    const [blocks, other] = [idb(t), t.define({ kind: 'idb-store', db: 'vfs', store: 'other' })];
    const get = (context: number, offset: number, object = blocks, length = PAGE + 36): void =>
      void t.call('idbGet', { object, context, offset, length, flags: 8, dur: 2 });
    for (let i = 0; i < 200; i++)
      t.call('idbPut', {
        object: blocks,
        context: 1,
        offset: -(512 + 1020 * i),
        length: 1020,
        flags: 8,
      });
    for (let i = 0; i < 24; i++) get(2, -i * PAGE);
    for (let i = 0; i < 24; i++) {
      get(3, i * PAGE); // each is written back before the next is read
      t.call('idbPut', {
        object: blocks,
        context: 3,
        offset: i * PAGE,
        length: PAGE + 36,
        flags: 8,
      });
    }
    for (let i = 0; i < 24; i++) get(4, i * 2 * PAGE); // every second block
    for (let i = 0; i < 24; i++) get(5, i * PAGE, i % 2 ? blocks : other);
    for (let i = 0; i < 24; i++) get(6, (i % 3) * PAGE); // back and forth
    for (let i = 0; i < 4; i++) for (const context of [7, 8]) get(context, i); // two transactions at once
    t.send();
    expect(idbUseOf(t.store)).toMatchObject({
      sequences: 3,
      sequentialGets: 32,
      savedGets: 29,
      sequentialUs: 64,
    });
    expect(findingsOf(t.store).find((f) => f.rule === 'F18')?.evidence).toMatchObject({
      count: 32,
      bytes: 32 * (PAGE + 36),
    });
  });
  test('without VFS calls lock periods are unknown, and without IndexedDB there is nothing', () => {
    const t = new ThreadBuilder(newStore());
    t.call('idbTransaction', { context: 1 });
    t.send();
    expect(idbUseOf(t.store)).toMatchObject({
      transactions: 1,
      lockPeriods: null,
      transactionsInPeriods: null,
      transactionsPerPeriod: null,
    });
    expect(idbUseOf(newStore())).toBeNull();
  });
});

describe('caches', () => {
  test('a read of a page that makes no storage call is a hit of the block cache', () => {
    const t = new ThreadBuilder(newStore());
    const [db, blocks] = [t.file('a.db', 'main-db', 'IDB'), idb(t)];
    const memory = t.file('m.db', 'main-db', 'memory');
    t.call('xRead', { object: db, ...at(1) }, () => {
      t.call('idbGet', { object: blocks, offset: 0, length: 8192 });
      t.call('idbGet', { object: blocks, offset: 1, length: 8192 }); // still one read
    });
    for (const page of [1, 2, 2]) t.call('xRead', { object: db, ...at(page) });
    t.call('xRead', { object: db, offset: 24, length: 16 });
    t.call('xRead', { object: memory, ...at(1) });
    t.send();
    expect(blockCachesOf(t.store)).toMatchObject([
      { vfs: 'IDB', reads: 4, fromStorage: 1, hitRate: 0.75, cause: null },
      {
        vfs: 'memory',
        reads: 1,
        hitRate: null,
        cause: expect.stringContaining('no storage call') as string,
      },
    ]);
    expect(cacheReport(t.store).pageCache).toBeNull();
    expect(
      cacheReport(t.store).rereads.map((r) => [r.path, r.reads, r.rereads, r.readsPerPage]),
    ).toEqual([
      ['a.db', 4, 2, 2],
      ['m.db', 1, 0, 1],
    ]);
  });
  test('storage calls that serve no VFS call leave it unknown', () => {
    const t = new ThreadBuilder(newStore());
    const [db, blocks] = [t.file('a.db'), idb(t)];
    t.call('xRead', { object: db, ...at(1) });
    t.call('idbGet', { object: blocks, offset: 0, length: 8192 });
    t.send();
    expect(blockCachesOf(t.store)[0]).toMatchObject({
      hitRate: null,
      cause: expect.stringContaining('cannot be tied') as string,
    });
  });
  test('counters by connection and over time', () => {
    const t = new ThreadBuilder(newStore());
    const counters = (context: number, hits: number, misses: number, spills = 0): number =>
      t.call('sqlCounters', { offset: hits, length: misses, aux2: spills, context, dur: 0 });
    t.call('sqlOpen', { context: 1, dur: 10 });
    counters(1, 6, 2);
    t.idle(10);
    counters(1, 6, 10, 3);
    counters(2, 900, 90); // opened earlier
    counters(2, 901, 90);
    t.send();
    expect(connectionCaches(t.store)).toMatchObject([
      {
        connection: 1,
        hits: 6,
        misses: 10,
        spills: 3,
        hitRate: 0.375,
        readings: 2,
        openedBefore: false,
      },
      { connection: 2, hits: 1, misses: 0, hitRate: 1, readings: 1, openedBefore: true },
    ]);
    const over = cacheOverTime(t.store, 0, 40, 4)!;
    expect([[...over.hits], [...over.misses], [...over.hitRate]]).toEqual([
      [6, 0, 1, 0],
      [2, 0, 8, 0],
      [0.75, NaN, 1 / 9, NaN],
    ]);
  });
  test('a reading is spread over the time since the first call after the previous one', () => {
    const t = new ThreadBuilder(newStore());
    t.call('sqlOpen', { context: 1, dur: 0 });
    t.call('sqlCounters', { offset: 0, length: 0, context: 1, dur: 0 });
    t.idle(20); // in which nothing happens
    t.call('sqlStep', { context: 1, dur: 30 });
    t.call('sqlCounters', { offset: 30, length: 60, context: 1, dur: 0 });
    t.send();
    const over = cacheOverTime(t.store, 0, 60, 6)!;
    expect([[...over.hits], [...over.misses]]).toEqual([
      [0, 0, 10, 10, 10, 0],
      [0, 0, 20, 20, 20, 0],
    ]);
    const part = cacheOverTime(t.store, 30, 40, 1)!; // what is outside is left out
    expect([part.hits[0], part.misses[0]]).toEqual([10, 20]);
    expect(cacheOverTime(newStore(), 0, 1, 1)).toBeNull();
  });
});

test("an IndexedDB transaction that threw doesn't count", () => {
  const t = new ThreadBuilder(newStore());
  t.call('idbTransaction', { aux: 1, context: 1, flags: Flag.async });
  t.call('idbTransaction', { aux: 1, context: 2, flags: Flag.threw });
  t.send();
  const { transactions, readwrite } = idbUseOf(t.store)!;
  expect([transactions, readwrite]).toEqual([1, 1]);
  expect(webCountsOf(t.store).idb).toMatchObject({
    transactions,
    readwriteTransactions: readwrite,
  });
});

test('two kinds with one path are two files, also in the I/O map', () => {
  const t = new ThreadBuilder(newStore());
  for (const kind of ['main-db', 'other'] as const)
    t.call('xRead', { object: t.file('/a.db', kind), ...at(1) });
  t.send();
  const kinds = (files: { kind: string; reads: number }[]): unknown =>
    files.map(({ kind, reads }) => [kind, reads]).sort();
  expect(kinds(ioObjects(t.store))).toEqual(kinds(filesOf(t.store)));
});

test('an OPFS file is one, with or without a leading slash', () => {
  const t = new ThreadBuilder(newStore());
  for (const path of ['app.db', '/app.db', '/app.db-wal'])
    t.call('opfsRead', { object: t.define({ kind: 'opfs-file', path }), ...at(1), result: PAGE });
  t.call('xRead', { object: t.file('/app.db'), ...at(1) });
  t.send();
  const paths = (files: { path: string }[]): string[] => files.map(({ path }) => path).sort();
  expect(paths(filesOf(t.store))).toEqual(['/app.db', 'app.db', 'app.db-wal']);
  expect(paths(ioObjects(t.store))).toEqual(['/app.db', 'app.db', 'app.db-wal']);
});

test('a close that failed counts as a close, because SQLite ignores its result', () => {
  const t = new ThreadBuilder(newStore());
  const object = t.file('/a.db');
  t.call('xLock', { object, aux: 1 });
  t.call('xClose', { object, result: 10 });
  t.call('xLock', { object, aux: 1 });
  t.call('xClose', { object });
  t.call('xLock', { object, aux: 1 });
  t.send();
  expect(repeatedCallsOf(t.store)).toMatchObject([{ name: 'xLock', calls: 3, repeated: 0 }]);
});

test('calls whose file is unknown are listed as such, and are in all totals', () => {
  const t = new ThreadBuilder(newStore());
  t.call('xRead', { object: t.file('a.db'), ...at(1) });
  t.call('xRead', { object: 99, ...at(2), dur: 5 });
  t.call('xWrite', { ...at(2) });
  t.call('xFileControl', { aux: 15 });
  t.send();
  expect(filesOf(t.store)).toMatchObject([
    { path: '(unknown file)', kind: 'other', reads: 1, writes: 1, writeBytes: PAGE, timeUs: 6 },
    { path: 'a.db', reads: 1, writes: 0 },
  ]);
  const request = { fromUs: 0, toUs: 1e6, by: 'file', threads: null, layers: ['vfs'] } as const;
  expect(areaRows(t.store, request, 1e6, () => [])).toMatchObject([
    { name: 'a.db', count: 1 },
    { name: '(unknown file)', kind: 'other', count: 2, totalUs: 6, bytes: 2 * PAGE },
  ]);
  const counts = fileCountsOf(t.store);
  expect([vfsTotal(counts, 'xRead'), vfsTotal(counts, 'xWriteBytes')]).toEqual([2, PAGE]);
  expect(callCountsOf(t.store).of('read')).toBe(2);
});

test("an in-memory journal whose definition is lost still isn't storage", () => {
  const t = new ThreadBuilder(newStore());
  t.call('xWrite', { object: 99, ...at(1), flags: Flag.memoryJournal });
  t.call('xWrite', { object: t.file('a.db'), ...at(1) });
  t.send();
  expect(vfsTotal(fileCountsOf(t.store), 'xWrite')).toBe(1);
  expect(callCountsOf(t.store).of('write')).toBe(1);
});

test('a call without an end lasts until its thread ends, in Files and in an area of the timeline', () => {
  const t = new ThreadBuilder(newStore());
  const object = t.file('a.db');
  t.call('xSync', { object, dur: 100 });
  t.call('xSync', { object, open: true });
  t.idle(5000);
  t.call('xRead', { object: t.file('b.db'), ...at(1) });
  t.send();
  const [, toUs] = t.store.extent();
  const request = { fromUs: 0, toUs, by: 'file', threads: null, layers: ['vfs'] } as const;
  const area = areaRows(t.store, request, toUs, () => []);
  expect(filesOf(t.store).map(({ path, timeUs }) => [path, timeUs])).toEqual(
    area.map(({ name, totalUs }) => [name, totalUs]),
  );
  expect(filesOf(t.store)[0]!.timeUs).toBeGreaterThan(5000);
});

test('an empty trace has no patterns', () => {
  const store = newStore();
  expect([
    runsOf(store),
    interleavingOf(store),
    blockWritesOf(store),
    writeAmplificationOf(store),
    repeatedCallsOf(store),
  ]).toEqual([[], [], [], [], []]);
  expect(idbUseOf(store)).toBeNull();
});
