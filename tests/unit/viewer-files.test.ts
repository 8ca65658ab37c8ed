// Files, their pages over time, and the caches: results of the queries compared with the analyses
// and with calls made by hand.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FileRow } from '../../src/analysis/files/files.ts';
import { advisesCache, missRatioAt, type MissRatio } from '../../src/analysis/cache/miss-ratio.ts';
import { cachePages } from '../../src/analysis/cache/cache-size.ts';
import { kneeOf } from '../../src/analysis/cache/miss-ratio-knee.ts';
import { rereadsOf } from '../../src/analysis/pages/rereads.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { useFacts } from '../../src/viewer/ui/views/files/file-use-facts.ts';
import { fileKey } from '../../src/viewer/ui/row-keys.ts';
import { closedIn, fileOrigins, fileTree, treeRows } from '../../src/viewer/ui/views/files/tree.ts';
import { typeWords } from '../../src/viewer/ui/views/files/page-columns.ts';
import { MapScale, placeTicks } from '../../src/viewer/ui/views/files/page-map-canvas.ts';
import { cacheQueries } from '../../src/viewer/session/queries/cache.ts';
import type { QueryContext } from '../../src/viewer/session/queries/context.ts';
import { fileQueries } from '../../src/viewer/session/queries/files.ts';
import { pageQueries } from '../../src/viewer/session/queries/pages.ts';
import { patternQueries } from '../../src/viewer/session/queries/patterns.ts';
import { opName } from '../../src/event/operations.ts';
import type { FileEventsRequest } from '../../src/protocol/answers/patterns.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { syntheticStore } from '../traces/synthetic.ts';
import { accesses } from '../../src/analysis/pages/page-accesses.ts';
import { findings } from '../../src/analysis/findings/index.ts';
import { missRatiosOf, pagesOf } from '../traces/analyses.ts';

function contextOf(store: TraceStore): QueryContext {
  const kept = new Map<string, unknown>();
  const memo = <T>(key: string, make: () => T): T => {
    if (!kept.has(key)) kept.set(key, make());
    return kept.get(key) as T;
  };
  return { store, facts: new Facts(store), memo } as unknown as QueryContext;
}
const ALL = { fromUs: null, toUs: null };
const PAGE = 4096;

/** A database with journal and WAL, its IndexedDB store below, an OPFS folder, localStorage. */
function mixed(pragma = 'PRAGMA cache_size=-4000'): TraceStore {
  const store = newStore();
  const t = new ThreadBuilder(store);
  const [sql, db, journal, temp] = [
    t.define({ kind: 'sql', text: pragma }),
    t.file('/a.db'),
    t.file('/a.db-journal', 'journal'),
    t.file('/tmp1', 'temp'),
  ];
  const [blocks, opfs] = [
    t.define({ kind: 'idb-store', db: 'vfs', store: 'blocks' }),
    t.define({ kind: 'opfs-file', path: '/pool/1' }),
  ];
  const opfs2 = t.define({ kind: 'opfs-file', path: '/pool/2' });
  const keys = ['theme', 'kvvfs-local-1'].map((text) => t.define({ kind: 'storage-key', text }));
  t.call('sqlStep', { object: sql, context: 1, result: 101 });
  const read = (page: number, type: number): void =>
    void t.call(
      'xRead',
      { object: db, context: 1, offset: (page - 1) * PAGE, length: PAGE, aux2: type },
      () => t.call('idbGet', { object: blocks, offset: page, length: PAGE }),
    );
  for (const page of [1, 2, 3, 2, 2]) read(page, page === 1 ? 5 : page === 2 ? 13 : 0);
  t.call('xWrite', { object: journal, context: 1, offset: 0, length: 512 });
  t.call('xWrite', { object: db, context: 1, offset: PAGE, length: PAGE, aux2: 13 });
  t.call('xWrite', { object: temp, context: 1, offset: 0, length: 100 });
  t.call('opfsRead', { object: opfs, offset: 0, length: PAGE, result: PAGE });
  t.call('opfsRead', { object: opfs2, offset: PAGE, length: PAGE, result: PAGE });
  for (const object of keys) t.call('localStorageGet', { object, length: 10 });
  t.send();
  return store;
}

describe('files', () => {
  const lines = fileQueries.fileLines(contextOf(mixed()), {});
  const line = (path: string): (typeof lines)[number] => lines.find((l) => l.path === path)!;

  it('know their group and their map, or why they have none', () => {
    expect(Object.fromEntries(lines.map((l) => [l.path, l.group]))).toEqual({
      ...{
        '/a.db': 'a.db',
        '/a.db-journal': 'a.db',
        '/tmp1': 'tmp1',
        'vfs/blocks': 'IndexedDB vfs',
      },
      ...{ '/pool/1': 'OPFS pool', '/pool/2': 'OPFS pool', localStorage: 'localStorage' },
    });
    expect(line('localStorage')).toMatchObject({ kind: 'storage', reads: 2, readBytes: 20 });
    const named = new ThreadBuilder(newStore());
    for (const name of ['FILE_DATA', 'a/b'])
      named.call('idbGet', {
        object: named.define({ kind: 'idb-store', db: '/data', store: name }),
      });
    named.send();
    expect(fileQueries.fileLines(contextOf(named.store), {}).map((l) => [l.path, l.group])).toEqual(
      [
        ['/data/FILE_DATA', 'IndexedDB /data'],
        ['/data/a/b', 'IndexedDB /data'],
      ],
    );
    expect(
      lines
        .filter((l) => l.places !== null)
        .map((l) => l.path)
        .sort(),
    ).toEqual(['/a.db', '/pool/1', '/pool/2', 'vfs/blocks']);
    for (const l of lines) expect(l.places === null, l.path).toBe(l.cause !== '');
    expect(line('/a.db-journal').cause).toContain('See the map of the database');
  });

  it("form a tree whose groups are sorted by the totals of SQLite's files", () => {
    const tree = fileTree(lines, 'writes', true);
    expect(tree.map(({ name, rows, sum }) => [name, rows.length, sum.writes])[0]).toEqual([
      'a.db',
      2,
      2,
    ]);
    expect(tree.reduce((n, { rows }) => n + rows.length, 0)).toBe(lines.length);
    expect(fileTree(lines, 'path', false).map(({ sum }) => sum.path)).toEqual(
      tree.map(({ sum }) => sum.path).sort((a, b) => a.localeCompare(b)),
    );
  });

  it('are named by their role in the group, whose name has the path', () => {
    const rows = treeRows(fileOrigins(lines, 'path', false), new Set());
    expect(rows.map(({ level, name, about }) => [level, name, about])).toEqual([
      [1, '/tmp1', 'temporary file'],
      [1, 'a.db', ''],
      [2, 'database', ''],
      [2, 'journal', ''],
      [1, 'localStorage', ''],
      [1, 'OPFS pool', ''],
      [2, '1', ''],
      [2, '2', ''],
      [1, 'vfs/blocks', 'IndexedDB'],
    ]);
  });

  it("of a VFS's own pool are one collapsed row, below the databases", () => {
    const store = newStore();
    const t = new ThreadBuilder(store);
    t.call('xRead', { object: t.file('/a.db'), context: 1, offset: 0, length: PAGE, dur: 5 });
    for (const name of ['k1', 'k2', 'k3', 'k4']) {
      const object = t.define({ kind: 'opfs-file', path: `/pool/${name}` });
      t.call('opfsRead', { object, offset: 0, length: PAGE, result: PAGE, dur: 100 });
    }
    t.send();
    const found = fileQueries.fileLines(contextOf(store), {});
    const tree = fileOrigins(found, 'timeUs', true);
    const names = (toggled: readonly string[]): string[] =>
      treeRows(tree, closedIn(tree, toggled)).map(({ name }) => name);
    expect(names([])).toEqual(['/a.db', 'OPFS pool']);
    const [pool] = treeRows(tree, closedIn(tree, [])).slice(-1);
    expect(names([pool!.fold!])).toEqual(['/a.db', 'OPFS pool', 'k1', 'k2', 'k3', 'k4']);
  });

  it('of a range are those that its calls touched, with only these calls', () => {
    const store = newStore();
    const t = new ThreadBuilder(store);
    const [db, journal] = [t.file('/a.db'), t.file('/a.db-journal', 'journal')];
    const read = (): void =>
      void t.call('xRead', { object: db, context: 1, offset: 0, length: PAGE, dur: 10 });
    for (let i = 0; i < 4; i++) read(); // they begin at 0, 10, 20, 30
    t.call('xWrite', { object: journal, context: 1, offset: 0, length: 512, dur: 20 });
    t.send();
    const context = contextOf(store);
    const [all] = fileQueries.fileLines(context, {});
    const within = (fromUs: number, toUs: number): unknown[] =>
      fileQueries
        .fileLines(context, { fromUs, toUs })
        .map((l) => [l.path, l.reads, l.readBytes, l.writes, l.writeBytes, l.timeUs]);
    expect(within(10, 30)).toEqual([['/a.db', 2, 2 * PAGE, 0, 0, 20]]);
    expect(within(30, 41)).toEqual([
      ['/a.db-journal', 0, 0, 1, 512, 20],
      ['/a.db', 1, PAGE, 0, 0, 10],
    ]);
    expect(within(41, 100)).toEqual([]);
    // its place in the tree, and its map, are those of the whole
    const [part] = fileQueries.fileLines(context, { fromUs: 10, toUs: 30 });
    expect(part).toEqual({ ...all, reads: 2, readBytes: 2 * PAGE, timeUs: 20 });
  });

  it('of one origin have no origin level; of several origins, files with the same name are separate', () => {
    expect(fileOrigins(lines, 'timeUs', true).map(({ name }) => name)).toEqual(['']);
    const store = newStore();
    for (const [url, reads] of [
      ['https://one.example/', 3],
      ['https://two.example/frame', 5],
      ['blob:https://two.example/0-1', 2],
      ['data:text/javascript,0', 1],
    ] as const) {
      const t = new ThreadBuilder(store, { url });
      const db = t.file('/a.db');
      for (let i = 0; i < reads; i++)
        t.call('xRead', { object: db, context: 1, offset: i * PAGE, length: PAGE });
      if (url.includes('one'))
        t.call('xWrite', { object: t.file('/b.db'), offset: 0, length: PAGE });
      t.send();
    }
    const found = fileQueries.fileLines(contextOf(store), {});
    expect(found.map((l) => [l.origin, l.path, l.reads, l.elsewhere])).toEqual([
      ['https://two.example', '/a.db', 7, true],
      ['https://one.example', '/a.db', 3, true],
      ['unknown origin', '/a.db', 1, true],
      ['https://one.example', '/b.db', 0, false],
    ]);
    expect(new Set(found.map(fileKey)).size).toBe(4);
    const tree = fileOrigins(found, 'reads', true);
    expect(tree.map(({ name, groups }) => [name, ...groups.map((g) => g.name)])).toEqual([
      ['https://two.example', 'a.db'],
      ['https://one.example', 'a.db', 'b.db'],
      ['unknown origin', 'a.db'],
    ]);
  });
});

describe('how a file is used', () => {
  const golden = async (name: string): Promise<QueryContext> =>
    contextOf(
      (
        await readTrace(
          readFileSync(join(import.meta.dirname, '..', 'traces', 'golden', `${name}.vfst`)),
        )
      ).store,
    );
  const texts = (context: QueryContext, path: string, kind: FileRow['kind']): string[] =>
    useFacts(patternQueries.fileUse(context, { path, kind, origin: '' })).map(
      ({ name, text }) => `${name}: ${text}`,
    );

  it('blocks read in order to write, writes that could have been one, amplification', async () => {
    const context = await golden('read-modify-write');
    const journal = context.store.threads
      .flatMap((t) => [...t.definitions.values()])
      .find((d) => d.kind === 'file' && d.fileKind === 'journal');
    const path = journal?.kind === 'file' ? journal.path : '';
    const use = patternQueries.fileUse(context, { path, kind: 'journal', origin: '' });
    expect(use.writes).toMatchObject({ calls: 527 });
    expect(use.writes!.runs + use.writes!.possibleMerges).toBe(527);
    expect(use.blocks).toMatchObject({ readModifyWrites: 18, writes: 527 });
    expect([use.amplification, use.idb]).toEqual([null, null]);
    expect(texts(context, path, 'journal')).toEqual(
      expect.arrayContaining([
        'Sequential writes: 527 writes in 36 sequences, 491 could be merged',
        'Read to write: 18 blocks, 11.9 KiB wasted',
      ]),
    );
    expect(texts(context, path.replace('-journal', ''), 'main-db')).toContainEqual(
      'Write amplification: 1.82',
    );
    expect(texts(context, path.replace('-journal', ''), 'main-db')).toContainEqual(
      'Order of writes: 239 switches between journal and database',
    );
    expect(texts(context, 'nowhere.db', 'main-db')).toEqual([]);
    const stores = fileQueries.fileLines(context, {}).filter((l) => l.kind === 'idb-store');
    expect(texts(context, stores[0]!.path, 'idb-store')).toContain(
      'Sequential gets: 107 gets in 5 sequences',
    );
  });

  it('IndexedDB transactions: for each lock, with one request, and with none', async () => {
    const context = await golden('absurd-sql');
    const store = fileQueries.fileLines(context, {}).find((l) => l.kind === 'idb-store')!;
    const { idb } = patternQueries.fileUse(context, store);
    expect(idb).toMatchObject({ transactions: 80, readwrite: 24, transactionsPerPeriod: null }); // its locks are on another thread
    const facts = texts(context, store.path, 'idb-store');
    expect(facts[0] ?? '').toMatch(/^IndexedDB: 80 transactions \(24 readwrite\), \d+ requests/);
    expect(facts).toContain('Transactions a lock: n/a');
    expect(texts(await golden('idb-batch-atomic'), 'test-1.db/blocks', 'idb-store')).toContainEqual(
      expect.stringMatching(/^Transactions a lock: \d(\.\d+)?$/),
    );
  });

  it('free pages of a database, what happened to freed space, and a line over time', () => {
    const store = newStore();
    const t = new ThreadBuilder(store);
    const file = t.file('/a.db');
    const pages = { kind: 'database-header', file, pageSize: PAGE, schema: 1, vacuum: 0 } as const;
    for (const [all, free] of [
      [100, 0],
      [100, 40],
      [110, 25],
    ] as const) {
      t.call('xWrite', { object: file, context: 1, offset: 0, length: PAGE });
      t.send();
      t.define({ ...pages, at: 2 * store.threads[0]!.events.count, pages: all, free });
    }
    t.send();
    const facts = useFacts(
      patternQueries.fileUse(contextOf(store), { path: '/a.db', kind: 'main-db', origin: '' }),
    );
    expect(facts.map(({ text }) => text)).toEqual(
      expect.arrayContaining(['25 of 110 (22.7 %)', '40 freed, 15 used again, 10 appended']),
    );
    expect(facts.find(({ line }) => line)).toMatchObject({
      text: '25 of 110 (22.7 %)',
      line: 'M0,11.0H45.0V1.0H90.0V4.8H90',
    });
    // a recording without headers has no such lines
    const none = useFacts(
      patternQueries.fileUse(contextOf(mixed()), { path: '/a.db', kind: 'main-db', origin: '' }),
    );
    expect(none.filter(({ name }) => /free/i.test(name))).toEqual([]);
  });

  it('calls that repeat what the connection knew', () => {
    const store = newStore();
    const t = new ThreadBuilder(store);
    const db = t.file('/a.db');
    t.call('xLock', { object: db, context: 1, aux: 1 });
    for (let i = 0; i < 20; i++) t.call('xFileSize', { object: db, context: 1 });
    t.send();
    expect(texts(contextOf(store), '/a.db', 'main-db')).toEqual(['Repeated calls: 19 (95 %)']);
  });
});

describe('the calls behind a fact about a file', () => {
  const events = (store: TraceStore, request: FileEventsRequest): [number, string[]] => {
    const { total, events: refs } = patternQueries.fileEvents(contextOf(store), request);
    const nameOf = ({ thread, seq }: (typeof refs)[number]): string => {
      const { events: rows } = store.threads[thread]!;
      const row = rows.seq.indexOf(seq);
      return `${opName(rows.op[row]!)} ${rows.offset[row]}`;
    };
    return [total, refs.map(nameOf)];
  };
  it('are those that it counts: runs, switches, repetitions, one kind of read', () => {
    const store = newStore();
    const t = new ThreadBuilder(store);
    const [db, journal] = [t.file('/a.db'), t.file('/a.db-journal', 'journal')];
    t.call('xLock', { object: db, context: 1, aux: 1 });
    for (let i = 0; i < 3; i++) t.call('xFileSize', { object: db, context: 1 });
    t.call('xRead', { object: db, context: 1, offset: 24, length: 16 });
    for (let page = 0; page < 3; page++)
      t.call('xRead', { object: db, context: 1, offset: page * PAGE, length: PAGE });
    t.call('xWrite', { object: journal, context: 1, offset: 0, length: 512 });
    t.call('xWrite', { object: db, context: 1, offset: 0, length: PAGE });
    t.send();
    const a = { path: '/a.db', kind: 'main-db' } as const;
    expect(events(store, { ...a, of: 'mergeable reads' })).toEqual([
      2,
      [`xRead ${PAGE}`, `xRead ${2 * PAGE}`],
    ]);
    expect(events(store, { ...a, of: 'switches' })).toEqual([1, ['xWrite 0']]);
    expect(events(store, { ...a, of: 'repeated' })[0]).toBe(2);
    const of = { origin: '', way: 'read', id: 'change-counter' } as const;
    expect(events(store, { ...a, of })).toEqual([1, ['xRead 24']]);
    expect(events(store, { ...a, of: 'partial writes' })).toEqual([0, []]);
  });
  it('are as many as the fact counts, in recordings', async () => {
    for (const name of ['read-modify-write', 'idb-batch-atomic', 'opfs-sahpool']) {
      const file = join(import.meta.dirname, '..', 'traces', 'golden', `${name}.vfst`);
      const context = contextOf((await readTrace(readFileSync(file))).store);
      for (const { path, kind, origin } of fileQueries.fileLines(context, {})) {
        const use = patternQueries.fileUse(context, { path, kind, origin });
        const total = (of: FileEventsRequest['of']): number =>
          patternQueries.fileEvents(context, { path, kind, of }).total;
        expect([
          total('mergeable reads'),
          total('mergeable writes'),
          total('reads to write'),
          total('partial writes'),
          total('repeated'),
        ]).toEqual([
          use.reads?.possibleMerges ?? 0,
          use.writes?.possibleMerges ?? 0,
          use.blocks?.readModifyWrites ?? 0,
          use.blocks?.partialWrites ?? 0,
          use.repeated.reduce((n, { repeated }) => n + repeated, 0),
        ]);
      }
    }
  });
});

describe('pages', () => {
  it('have round ticks on their axis', () => {
    expect(placeTicks(1, 95, 140)).toEqual([20, 40, 60, 80]);
    expect(placeTicks(1, 4, 300)).toEqual([1, 2, 3]);
    expect(placeTicks(7, 8, 300)).toEqual([7]);
    expect(placeTicks(0, 1000, 60)).toEqual([0, 500]);
  });

  const store = syntheticStore({ events: 20_000, threads: 2, seed: 3 });
  const context = contextOf(store);
  const key = fileQueries.fileLines(context, {}).find((l) => l.kind === 'main-db')!.places!;
  const [pages] = pagesOf(store);

  it("of a map add up to the table's, including re-reads", () => {
    const map = pageQueries.pageMap(context, {
      key,
      ...ALL,
      fromPlace: null,
      toPlace: null,
      timeBins: 37,
      placeBins: 23,
    })!;
    const sum = (column: Uint32Array): number => column.reduce((a, b) => a + b, 0);
    expect([sum(map.reads), sum(map.rereads), sum(map.writes)]).toEqual([
      pages!.reads + pages!.checkpointReads,
      pages!.rereads,
      pages!.writes + pages!.checkpointWrites,
    ]);
    expect(sum(map.rereads)).toBeGreaterThan(100);
    expect(rereadsOf(context.facts.get(accesses), 0).reduce((a, b) => a + b, 0)).toBe(
      pages!.rereads,
    ); // each access here is of one page
  });

  it('of a cell are the events that the cell counts', () => {
    const request = { key, ...ALL, fromPlace: 10, toPlace: 400, timeBins: 11, placeBins: 7 };
    const map = pageQueries.pageMap(context, request)!;
    const scale = new MapScale(map, 500, 300);
    let seen = 0;
    for (let time = 0; time < map.timeBins; time++)
      for (let bin = 0; bin < map.placeBins; bin++) {
        const cell = time * map.placeBins + bin;
        const found = pageQueries.placeEvents(context, { key, ...scale.area({ time, bin }) });
        expect(found.total).toBe(map.reads[cell]! + map.writes[cell]!);
        seen += found.total;
      }
    expect(seen).toBeGreaterThan(1000);
    expect(scale.cellAt(scale.x(map.fromUs) + 1, scale.y(map.fromPlace) - 1)).toEqual({
      time: 0,
      bin: 0,
    });
    expect(scale.cellAt(9999, -5)).toEqual({ time: 10, bin: 6 });
  });

  it('results survive a transfer', () => {
    const first = pageQueries.pageTable(context, { key, ...ALL })!;
    structuredClone(first.places, { transfer: [first.places.reads.buffer as ArrayBuffer] });
    expect(first.places.reads.length).toBe(0);
    expect(pageQueries.pageTable(context, { key, ...ALL })!.places.reads).toEqual(
      pages!.places.reads,
    );
    expect(
      pageQueries.pageTable(context, { key: '["pages","main-db","","no such"]', ...ALL }),
    ).toBeNull();
    expect(() =>
      pageQueries.pageMap(context, {
        key,
        ...ALL,
        fromPlace: null,
        toPlace: null,
        timeBins: 1e6,
        placeBins: 1e6,
      }),
    ).toThrow(RangeError);
  });

  it('distinguish their types from unknown ones', () => {
    const small = contextOf(mixed());
    const table = pageQueries.pageTable(small, {
      key: fileQueries.fileLines(small, {}).find((l) => l.kind === 'main-db')!.places!,
      ...ALL,
    })!;
    const { places, decoded } = table;
    const words = Array.from(
      places.place,
      (place, i) => typeWords(places.type[i]!, place, decoded, true).title,
    );
    expect([words, Array.from(places.rereads)]).toEqual([
      ['page 1', 'table leaf', 'no b-tree page'],
      [0, 2, 0],
    ]);
    expect(typeWords(0, 7, true, false).title).toBe('n/a'); // a WAL frame has no type
    expect(typeWords(0, 1, false, true).title).toBe('n/a');
  });
});

describe('caches', () => {
  it("of another size: the curve's points are the analysis's, where it is known", () => {
    const store = syntheticStore({ events: 20_000, threads: 1, seed: 3 });
    const [curve] = cacheQueries.cacheCurves(contextOf(store), {});
    const [whole] = missRatiosOf(store);
    expect(curve!.pages.length).toBeGreaterThan(100);
    expect(curve!.pages[0]).toBe(whole!.fromPages);
    for (let i = 0; i < curve!.pages.length; i++)
      expect(curve!.misses[i]).toBe(missRatioAt(whole!, curve!.pages[i]!));
    expect(curve!.size).toMatchObject({
      text: '-2000',
      assumed: true,
      pages: Math.floor((2000 * 1024) / (PAGE + 136)),
    });
  });

  it('show the size that a PRAGMA set, and that a folded one is unknown', () => {
    const size = (pragma: string): unknown =>
      cacheQueries.cacheCurves(contextOf(mixed(pragma)), {})[0]!.size;
    expect(size('PRAGMA cache_size=-4000')).toMatchObject({
      text: '-4000',
      assumed: false,
      pages: 967,
    });
    expect(size('PRAGMA cache_size=?')).toMatchObject({ text: 'n/a', assumed: false, pages: null });
    expect(size('PRAGMA user_version')).toMatchObject({ text: '-2000', assumed: true });
    expect([
      cachePages('50', null),
      cachePages('-8', null),
      cachePages('', 512),
      cachePages('x', 512),
    ]).toEqual([50, null, null, null]);
  });

  it('show how much time the goal saves, as finding F11 does, and why that is unknown', async () => {
    const file = join(import.meta.dirname, '..', 'traces', 'golden', 'cache-thrash.vfst');
    const context = contextOf((await readTrace(readFileSync(file))).store);
    const found = context.facts.get(findings).find(({ rule }) => rule === 'F11')!;
    const curves = cacheQueries.cacheCurves(context, {});
    expect(found.savingUs).toBeGreaterThan(0);
    expect(curves.map(({ saving }) => saving?.us)).toContain(found.savingUs);
    expect(curves.some(({ advised }) => advised)).toBe(true);
    for (const { goal, saving } of curves) expect(saving === null).toBe(goal === null);
    // calls that take no time on this clock
    const store = newStore();
    const t = new ThreadBuilder(store);
    t.call('sqlStep', { object: t.define({ kind: 'sql', text: 'PRAGMA cache_size=10' }) });
    const db = t.file('/a.db');
    for (let round = 0; round < 5; round++)
      for (let page = 0; page < 40; page++)
        t.call('xRead', { object: db, context: 1, offset: page * PAGE, length: PAGE, dur: 0 });
    t.send();
    const [curve] = cacheQueries.cacheCurves(contextOf(store), {});
    expect(curve).toMatchObject({ advised: true });
    expect(curve!.goal).not.toBeNull();
    expect(curve!.saving).toMatchObject({ us: null });
    expect(curve!.saving!.how).toContain('too short for this clock to measure');
  });

  it("suggest no size that finding F11 doesn't: it would avoid few reads, or the cache is as large", async () => {
    const store = syntheticStore({ events: 20_000, threads: 1, seed: 3 });
    const context = contextOf(store);
    const curves = cacheQueries.cacheCurves(context, {});
    const found = context.facts.get(findings).filter(({ rule }) => rule === 'F11');
    expect(curves.filter(({ advised }) => advised).length).toBe(found.length);
    const [ratio] = missRatiosOf(store);
    const worth = { ...ratio!, hot: true, avoidable: 100, reads: 200 };
    const pages = ratio!.size.pages!;
    const larger = { ...worth, goal: { ...worth.goal!, pages: pages + 1 } };
    expect(advisesCache(larger)).toBe(true);
    expect(advisesCache({ ...larger, goal: { ...larger.goal, pages } })).toBe(false);
    expect(advisesCache({ ...larger, avoidable: 4650, reads: 165_096 })).toBe(false);
  });

  it('have a knee where the curve bends, and none otherwise', () => {
    const of = (ratios: readonly number[]): MissRatio =>
      ({
        requests: 1000,
        fromPages: 20,
        hits: Uint32Array.from([
          ...new Array<number>(20).fill(0),
          ...ratios.map((r) => 1000 * (1 - r)),
        ]),
      }) as MissRatio;
    const line = Array.from({ length: 101 }, (_, i) => 1 - i / 100);
    const bent = Array.from({ length: 101 }, (_, i) =>
      i < 10 ? 1 - i * 0.08 : 0.2 - (i - 10) / 900,
    );
    expect([kneeOf(of(line)), kneeOf(of(bent)), kneeOf(of([1]))]).toEqual([null, 31, null]);
  });

  it('over time add up to the accesses, and without counters have a cause', () => {
    const store = mixed();
    const times = cacheQueries.cacheTimes(contextOf(store), { bins: 20 });
    expect(times.pageReads.reduce((a, b) => a + b, 0)).toBe(5);
    expect(times.fresh.reduce((a, b) => a + b, 0)).toBe(3);
    expect(times.counters).toBeNull();
    const answer = cacheQueries.cache(contextOf(store), {});
    expect([answer.report.pageCache, answer.statements]).toEqual([null, null]);
    expect(answer.noCounters).toMatch(
      /^the engine does not give its counters: its build leaves out/,
    );
    expect(() => cacheQueries.cacheTimes(contextOf(store), { bins: 0 })).toThrow(RangeError);
  });
});
