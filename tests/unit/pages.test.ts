// Pages and blocks: reads, repeated reads, and writes, in files, in the WAL, and below. Maps of any
// resolution have equal sums.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pageMatrix, workingSet } from '../../src/analysis/pages/page-matrix.ts';
import { placesOf, type ObjectPages } from '../../src/analysis/pages/pages.ts';
import { eachRunInTimeOrder } from '../../src/analysis/core/time-order.ts';
import { AUX_WAL_HEADER } from '../../src/event/event.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { blockAccessesOf, databaseFilesOf, pageAccessesOf, pagesOf } from '../traces/analyses.ts';

const PAGE = 4096;
const FRAME = PAGE + 24;
const at = (page: number): { offset: number; length: number } => ({
  offset: (page - 1) * PAGE,
  length: PAGE,
});
const sums = ({
  reads,
  rereads,
  writes,
  checkpointReads,
  checkpointWrites,
}: ObjectPages): number[] => [...[reads, rereads, writes, checkpointReads, checkpointWrites]];

describe('page sizes', () => {
  test("from lengths; headers and change counters aren't pages", () => {
    const t = new ThreadBuilder(newStore());
    const [db, other] = [t.file('a.db'), t.file('b.db')];
    t.call('xRead', { object: db, offset: 0, length: 100 });
    t.call('xRead', { object: db, offset: 24, length: 16 });
    t.call('xRead', { object: db, offset: 8192, length: 8192 });
    t.call('xRead', { object: other, offset: 24, length: 16 });
    t.send();
    expect(
      databaseFilesOf(t.store).list.map((s) => [s.path, s.pageSize.bytes, s.pageSize.certain]),
    ).toEqual([
      ['a.db', 8192, true],
      ['b.db', null, false],
    ]);
    expect(databaseFilesOf(t.store).list[1]!.pageSize.how).toBe('no page was read or written');
  });
  test("from most lengths if VACUUM changed it, and from frames if the database isn't touched", () => {
    const t = new ThreadBuilder(newStore());
    const [db, wal] = [t.file('a.db'), t.file('b.db-wal', 'wal')];
    for (let i = 0; i < 5; i++) t.call('xWrite', { object: db, offset: i * 1024, length: 1024 });
    t.call('xWrite', { object: db, offset: 0, length: 4096 });
    t.call('xWrite', { object: wal, offset: 32, length: 24, aux: 1 });
    t.call('xWrite', { object: wal, offset: 56, length: 2048 });
    t.send();
    expect(
      databaseFilesOf(t.store).list.map((s) => [s.path, s.pageSize.bytes, s.pageSize.certain]),
    ).toEqual([
      ['a.db', 1024, false],
      ['b.db', 2048, true],
    ]);
  });
});

describe('pages', () => {
  test('a read is repeated if the connection had the page and no other connection wrote it', () => {
    const t = new ThreadBuilder(newStore());
    const db = t.file('app.db');
    const read = (page: number, context: number): number =>
      t.call('xRead', { object: db, ...at(page), context, aux2: 13 });
    read(7, 1);
    read(7, 1); // repeated
    read(7, 2); // another connection's first
    t.call('xWrite', { object: db, ...at(7), context: 1 });
    read(7, 1); // repeated: its own write
    read(7, 2); // needed: 1 wrote
    read(8, 1);
    // past the end: requested, without bytes
    t.call('xRead', { object: db, ...at(9), context: 1, result: 522 });
    t.call('xRead', { object: db, ...at(9), context: 1, result: 10 }); // failed
    t.send();
    const [pages] = pagesOf(t.store);
    expect(sums(pages!)).toEqual([7, 2, 1, 0, 0]);
    expect([...pages!.places.place]).toEqual([7, 8, 9]);
    expect([...pages!.places.reads]).toEqual([5, 1, 1]);
    expect([...pages!.places.type]).toEqual([13, 13, 0]);
    expect([...pages!.places.readBytes]).toEqual([5 * PAGE, PAGE, 0]);
    expect(pages).toMatchObject({
      placesRead: 3,
      placesWritten: 1,
      readsPerPlace: 7 / 3,
      highest: 9,
    });
  });

  test('frames are pages; a checkpoint copies; a log that starts over has other pages', () => {
    const t = new ThreadBuilder(newStore());
    const [db, wal] = [t.file('app.db'), t.file('app.db-wal', 'wal')];
    const write = (frame: number, page: number, commit = 0): void => {
      t.call('xWrite', {
        object: wal,
        offset: 32 + frame * FRAME,
        length: 24,
        aux: page,
        aux2: commit,
      });
      t.call('xWrite', { object: wal, offset: 56 + frame * FRAME, length: PAGE });
    };
    const readFrame = (frame: number): number =>
      t.call('xRead', { object: wal, offset: 56 + frame * FRAME, length: PAGE });
    t.call('xWrite', { object: wal, offset: 0, length: 32, aux: AUX_WAL_HEADER, aux2: 1 });
    write(0, 5);
    write(1, 3, 9);
    readFrame(0);
    t.call('xFileControl', { object: db, aux: 39, result: 12 });
    readFrame(1);
    t.call('xWrite', { object: db, ...at(3), aux2: 13 });
    readFrame(0);
    t.call('xWrite', { object: db, ...at(5), aux2: 10 });
    t.call('xFileControl', { object: db, aux: 37, result: 12 });
    t.call('xWrite', { object: wal, offset: 0, length: 32, aux: AUX_WAL_HEADER, aux2: 2 });
    write(0, 8, 9);
    readFrame(0);
    readFrame(77); // its header was not recorded
    t.send();
    const [pages, ...rest] = pagesOf(t.store);
    expect(rest).toEqual([]);
    expect(sums(pages!)).toEqual([2, 2, 3, 2, 2]);
    expect(pages!.untied).toBe(1);
    const { place, walWrites, walReads, checkpointWrites, type } = pages!.places;
    expect(
      [...place].map((p, i) => [p, walWrites[i], walReads[i], checkpointWrites[i], type[i]]),
    ).toEqual([
      [3, 1, 0, 1, 13],
      [5, 1, 1, 1, 10],
      [8, 1, 1, 0, 0],
    ]);
  });

  test('two threads with one file: in order of time', () => {
    const store = newStore();
    const [a, b] = [new ThreadBuilder(store), new ThreadBuilder(store)];
    const [inA, inB] = [a.file('/app.db'), b.file('app.db')];
    a.call('xRead', { object: inA, ...at(1) });
    b.now = a.now + 5;
    b.call('xWrite', { object: inB, ...at(1) });
    a.now = b.now + 5;
    a.call('xRead', { object: inA, ...at(1) }); // B wrote in between
    a.call('xRead', { object: inA, ...at(1) });
    a.send();
    b.send();
    expect(sums(pagesOf(store)[0]!)).toEqual([3, 1, 1, 0, 0]);
    const accesses = pageAccessesOf(store);
    expect([...accesses.thread.subarray(0, accesses.count)]).toEqual([0, 1, 0, 0]);
    const seen: number[] = [];
    eachRunInTimeOrder(store.threads, (thread, from, to) =>
      seen.push(...thread.events.t0.subarray(from, to)),
    );
    expect(seen).toEqual([...seen].sort((x, y) => x - y));
  });

  test('a range counts what begins in it, and knows what was read earlier', () => {
    const t = new ThreadBuilder(newStore());
    const db = t.file('app.db');
    t.call('xRead', { object: db, ...at(1) });
    const fromUs = t.now;
    t.call('xRead', { object: db, ...at(1) });
    t.send();
    expect(sums(pagesOf(t.store, { fromUs })[0]!)).toEqual([1, 1, 0, 0, 0]);
    expect(pagesOf(t.store, { fromUs: fromUs + 10 })).toEqual([]);
  });

  test('without VFS calls: OPFS files that look like databases, and frames of one write', () => {
    const t = new ThreadBuilder(newStore());
    const [db, wal, image] = ['turso.db', 'turso.db-wal', 'photo.jpg'].map((path) =>
      t.define({ kind: 'opfs-file', path }),
    );
    t.call('opfsWrite', { object: wal!, offset: 0, length: 32, aux: AUX_WAL_HEADER, result: 32 });
    t.call('opfsWrite', {
      object: wal!,
      offset: 32,
      length: FRAME,
      aux: 6,
      aux2: 1,
      result: FRAME,
    });
    t.call('opfsWrite', { object: db!, ...at(2), result: PAGE });
    t.call('opfsRead', { object: image!, offset: 0, length: 65536, result: 65536 });
    t.send();
    const found = pagesOf(t.store);
    expect(found.map((f) => [f.path, [...f.places.place]])).toEqual([['turso.db', [2, 6]]]);
    expect(found[0]).toMatchObject({ writes: 1, checkpointWrites: 1 }); // nothing else writes to the database
  });

  test("a page far out doesn't need a table of that length", () => {
    const t = new ThreadBuilder(newStore());
    const db = t.file('app.db');
    for (const page of [1, 4_000_000_000, 2]) t.call('xRead', { object: db, ...at(page) });
    t.send();
    expect([...pagesOf(t.store)[0]!.places.place]).toEqual([1, 2, 4_000_000_000]);
  });
});

describe('maps', () => {
  const call = fc.record({
    page: fc.integer({ min: 1, max: 60 }),
    write: fc.boolean(),
    type: fc.constantFrom(0, 2, 5, 10, 13),
    us: fc.nat(20),
  });
  const store = (
    calls: { page: number; write: boolean; type: number; us: number }[],
  ): ThreadBuilder => {
    const t = new ThreadBuilder(newStore());
    const db = t.file('app.db');
    for (const { page, write, type, us } of calls) {
      t.idle(us);
      t.call(write ? 'xWrite' : 'xRead', { object: db, ...at(page), aux2: type });
    }
    t.send();
    return t;
  };
  test('cells of any resolution add up to the tables, and one bin holds the most common type', () => {
    fc.assert(
      fc.property(
        fc.array(call, { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 70 }),
        (calls, bins, placeBins) => {
          const t = store(calls);
          const accesses = pageAccessesOf(t.store);
          const [table] = pagesOf(t.store, {}, accesses);
          const map = pageMatrix(accesses, {
            object: 0,
            fromUs: 0,
            toUs: t.now + 1,
            timeBins: bins,
            placeBins,
          });
          const sum = (cells: Uint32Array): number => cells.reduce((a, b) => a + b, 0);
          expect([sum(map.reads), sum(map.writes)]).toEqual([table!.reads, table!.writes]);
          expect(Math.max(...map.reads)).toBe(map.mostReads);
          const one = pageMatrix(accesses, {
            object: 0,
            fromUs: 0,
            toUs: t.now + 1,
            timeBins: 1,
            placeBins: 1,
          });
          const counts = [2, 5, 10, 13].map((type) => calls.filter((c) => c.type === type).length);
          const most = Math.max(...counts);
          expect(one.type[0] === 0 ? 0 : counts[[2, 5, 10, 13].indexOf(one.type[0]!)]).toBe(most);
        },
      ),
      { numRuns: 100 },
    );
  });
  test('the working set of every bin is its distinct pages, and all fresh pages are every page once', () => {
    fc.assert(
      fc.property(
        fc.array(call, { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 7 }),
        (calls, bins) => {
          const t = store(calls);
          const accesses = pageAccessesOf(t.store);
          const toUs = t.now + 1;
          const { distinct, fresh } = workingSet(accesses, 0, 0, toUs, bins);
          const sets = Array.from({ length: bins }, () => new Set<number>());
          for (let i = 0; i < accesses.count; i++)
            sets[Math.floor((accesses.us[i]! / toUs) * bins)]!.add(accesses.place[i]!);
          expect([...distinct]).toEqual(sets.map((s) => s.size));
          expect(fresh.reduce((a, b) => a + b, 0)).toBe(new Set(calls.map((c) => c.page)).size);
        },
      ),
      { numRuns: 100 },
    );
  });
  test('part of the pages and part of the time', () => {
    const t = store([1, 2, 3, 4].map((page) => ({ page, write: page === 4, type: 13, us: 0 })));
    const accesses = pageAccessesOf(t.store);
    const map = pageMatrix(accesses, {
      object: 0,
      fromUs: 1,
      toUs: 4,
      timeBins: 3,
      fromPlace: 2,
      toPlace: 4,
      placeBins: 2,
    });
    expect([...map.reads]).toEqual([1, 0, 0, 1, 0, 0]);
    expect([...map.writes]).toEqual([0, 0, 0, 0, 0, 0]);
  });
});

describe('blocks', () => {
  const idb = (t: ThreadBuilder, store: string): number =>
    t.define({ kind: 'idb-store', db: 'vfs', store });
  test('keys that count blocks, keys that are byte offsets, negative ones, and one about the file', () => {
    const t = new ThreadBuilder(newStore());
    const [counts, offsets, metadata] = [idb(t, 'counts'), idb(t, 'offsets'), idb(t, 'metadata')];
    for (const key of [0, 1, 2, 2]) t.call('idbGet', { object: counts, offset: key, length: 8192 });
    t.call('idbPut', { object: counts, offset: -1, length: 40 });
    for (const key of [0, -8192, -24576])
      t.call('idbPut', { object: offsets, offset: key, length: 8192 + 38 });
    t.call('idbGet', { object: metadata, length: 3 });
    t.send();
    const found = placesOf(blockAccessesOf(t.store));
    expect(found.map((f) => [f.path, f.unit.bytes, [...f.places.place], f.untied])).toEqual([
      ['vfs/counts', 8192, [0, 1, 2], 1],
      ['vfs/offsets', 8192, [0, 1, 3], 0],
    ]);
    expect([...found[0]!.places.rereads]).toEqual([0, 0, 1]);
  });
  test('a store with two files, one of them written at odd offsets: the unit is that of most keys', () => {
    const t = new ThreadBuilder(newStore());
    const store = idb(t, 'blocks');
    for (let page = 1; page <= 40; page++)
      t.call('idbPut', { object: store, offset: -page * PAGE, length: PAGE + 42 });
    for (const key of [-512, -516]) t.call('idbPut', { object: store, offset: key, length: 512 });
    t.send();
    const [found] = placesOf(blockAccessesOf(t.store));
    expect(found).toMatchObject({ unit: { bytes: PAGE, certain: false }, highest: 40, writes: 42 });
    expect(found!.places.writes[0]).toBe(2);
  });
  test('positions in OPFS files by offset, as far as a call reaches', () => {
    const t = new ThreadBuilder(newStore());
    const [pool, odd] = ['.opaque/x', 'odd'].map((path) => t.define({ kind: 'opfs-file', path }));
    t.call('opfsWrite', { object: pool!, offset: 4096, length: 8192, result: 8192 });
    t.call('opfsRead', { object: pool!, offset: 8192, length: 4096, result: 4096 });
    t.call('opfsWrite', { object: odd!, offset: 4090, length: 12, result: 12 });
    t.send();
    const found = placesOf(blockAccessesOf(t.store));
    expect(
      found.map((f) => [
        f.path,
        f.unit.bytes,
        f.unit.certain,
        [...f.places.place],
        [...f.places.writes],
      ]),
    ).toEqual([
      ['.opaque/x', 4096, true, [1, 2], [1, 1]],
      ['odd', 4096, false, [0, 1], [1, 1]],
    ]);
  });
});
