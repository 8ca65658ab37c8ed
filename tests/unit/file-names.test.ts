// Files with the same path: five VFSs have five files, two tabs on one VFS have one, and a saved
// trace has the same.
import { describe, expect, it } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { databaseFiles } from '../../src/analysis/core/database-files.ts';
import { fileCounts } from '../../src/analysis/files/file-counts.ts';
import { originFiles } from '../../src/analysis/files/table.ts';
import { findings } from '../../src/analysis/findings/index.ts';
import { locks } from '../../src/analysis/locks/locks.ts';
import { sanitizeStore } from '../../src/analysis/privacy/sanitize.ts';
import { transactions } from '../../src/analysis/transactions/transactions.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { fileQueries } from '../../src/viewer/session/queries/files.ts';
import type { QueryContext } from '../../src/viewer/session/queries/context.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

const PAGE = 4096;
const COMMITS = 12;
const SCANS = 10;
const SCANNED = 20;

/** The storage calls that a VFS call makes. */
type Storage = (t: ThreadBuilder) => () => void;
const nothing: Storage = () => () => undefined;
const indexedDb =
  (db: string): Storage =>
  (t) => {
    const object = t.define({ kind: 'idb-store', db, store: 'blocks' });
    return () => void t.call('idbPut', { object, length: PAGE });
  };
const opfs =
  (path: string): Storage =>
  (t) => {
    const object = t.define({ kind: 'opfs-file', path });
    return () => void t.call('opfsWrite', { object, length: PAGE, result: PAGE });
  };

/** A worker that scans a database that is larger than its cache, and commits row by row. */
function work(store: TraceStore, vfs: string, storage: Storage, path = 'hello'): ThreadBuilder {
  const t = new ThreadBuilder(store);
  const sql = t.define({ kind: 'sql', text: 'PRAGMA cache_size=10' });
  const [db, journal] = [t.file(path, 'main-db', vfs), t.file(`${path}-journal`, 'journal', vfs)];
  const stored = storage(t);
  t.call('sqlStep', { object: sql, context: 1, result: 101 });
  const on = { object: db, context: 1 };
  for (let scan = 0; scan < SCANS; scan++) {
    t.call('xLock', { ...on, aux: 1 });
    for (let page = 0; page < SCANNED; page++)
      t.call('xRead', { ...on, offset: page * PAGE, length: PAGE, dur: 10 }, stored);
    t.call('xUnlock', { ...on, aux: 0 });
  }
  for (let commit = 0; commit < COMMITS; commit++) {
    for (const aux of [1, 2]) t.call('xLock', { ...on, aux });
    t.call('xWrite', { object: journal, context: 1, offset: 0, length: 512 }, stored);
    t.call('xSync', { object: journal, context: 1, aux: 2 });
    t.call('xLock', { ...on, aux: 4 });
    t.call('xWrite', { ...on, offset: 0, length: PAGE }, stored);
    t.call('xSync', { ...on, aux: 2, dur: 1000 });
    t.call('xDelete', { object: journal, context: 1 });
    t.call('xUnlock', { ...on, aux: 0 });
  }
  t.send();
  return t;
}

/** As in an app that names each VFS after its class. */
const CLASSES = [
  'MemoryVFS',
  'IDBBatchAtomicVFS',
  'OPFSCoopSyncVFS',
  'AccessHandlePoolVFS',
  'IDBMirrorVFS',
];
function fiveVfs(order = CLASSES): TraceStore {
  const store = newStore();
  for (const vfs of order) work(store, vfs, nothing);
  return store;
}
/** As in wa-sqlite's demo: all are called "demo", each with its own storage. */
function fiveStorages(): TraceStore {
  const store = newStore();
  work(store, 'demo', nothing);
  work(store, 'demo', indexedDb('demo'));
  work(store, 'demo', opfs('/hello'));
  work(store, 'demo', opfs('/demo/7f3a'));
  work(store, 'unix', nothing);
  return store;
}
const STORAGES = [
  'demo (IndexedDB demo):/hello',
  'demo (OPFS pool):/hello',
  'demo (OPFS):/hello',
  'demo (memory):/hello',
  'unix:/hello',
];

const facts = (store: TraceStore): Facts => new Facts(store);
const databases = (store: TraceStore): string[] =>
  facts(store)
    .get(fileCounts)
    .filter(({ kind }) => kind === 'main-db')
    .map(({ path }) => path)
    .sort();
const saved = async (store: TraceStore): Promise<TraceStore> =>
  (await readTrace(await saveTrace(store))).store;

describe.each([
  ['five VFSs', fiveVfs, CLASSES.map((vfs) => `${vfs}:/hello`).sort()],
  ['five storages', fiveStorages, STORAGES],
])('one path on %s', (_, make, names) => {
  const store = make();

  it('is five files, each with its own journal', () => {
    expect(databases(store)).toEqual(names);
    const counts = facts(store).get(fileCounts);
    for (const { kind, vfs } of counts)
      if (kind === 'main-db')
        expect([vfs.xRead, vfs.xWrite, vfs.xSync]).toEqual([SCANS * SCANNED, COMMITS, COMMITS]);
    const journals = counts.filter(({ kind }) => kind === 'journal').map(({ path }) => path);
    expect(journals.sort()).toEqual(names.map((name) => `${name}-journal`));
    expect(facts(store).get(databaseFiles).list).toHaveLength(5);
  });
  it('is five groups in Files', () => {
    const context = { store, facts: facts(store) } as QueryContext;
    const lines = fileQueries.fileLines(context, {});
    for (const name of names) {
      const own = lines.filter(({ group }) => group === name);
      expect(own.map(({ path }) => path).sort()).toEqual([name, `${name}-journal`]);
      expect(own.find(({ kind }) => kind === 'main-db')?.places).toContain(name);
    }
  });
  it('has transactions and locks of five databases', () => {
    const { list } = facts(store).get(transactions);
    const paths = Array.from({ length: list.length }, (_, i) => list.path(i));
    for (const name of names)
      expect(paths.filter((path) => path === name)).toHaveLength(SCANS + COMMITS);
    const resources = facts(store)
      .get(locks)
      .resources.filter(({ kind }) => kind === 'sqlite');
    expect(resources.map(({ name }) => name).sort()).toEqual(names);
  });
  it('is five findings of F01 and of F11', () => {
    const all = facts(store).get(findings);
    for (const rule of ['F01', 'F11']) {
      const titles = all.filter((f) => f.rule === rule).map(({ title }) => title);
      expect(titles).toHaveLength(5);
      for (const name of names) expect(titles.filter((t) => t.includes(name))).toHaveLength(1);
      if (rule === 'F01')
        expect(titles.every((t) => t.startsWith(`${COMMITS} commits`))).toBe(true);
    }
  });
  it('is the same saved and read again', async () => {
    const again = await saved(store);
    expect(again.threads.map(({ said }) => said)).toEqual(store.threads.map(({ said }) => said));
    expect(facts(again).get(fileCounts)).toEqual(facts(store).get(fileCounts));
  });
  it('stays five files in an anonymized copy', () => {
    expect(new Set(databases(sanitizeStore(store))).size).toBe(5);
  });
});

describe('storage calls', () => {
  it('stay with the file of the VFS call that makes them', () => {
    const counts = facts(fiveStorages()).get(fileCounts);
    const writes = Object.fromEntries(counts.map((f) => [`${f.path} ${f.kind}`, f.web.writes]));
    for (const name of STORAGES) {
      const none = name.startsWith('unix') || name.includes('memory');
      expect(writes[`${name} main-db`]).toBe(none ? 0 : SCANS * SCANNED + COMMITS);
      expect(writes[`${name}-journal journal`]).toBe(none ? 0 : COMMITS);
    }
  });
  it('appear under it as soon as they arrive, whichever comes first', () => {
    const store = newStore();
    const [a, b] = [new ThreadBuilder(store), new ThreadBuilder(store)];
    const objects = [a, b].map((t) => t.file('hello', 'main-db', 'demo'));
    const stores = [indexedDb('demo')(a), opfs('/hello')(b)];
    a.call('xWrite', { object: objects[0]!, length: PAGE }, stores[0]);
    a.send();
    b.call('xOpen', { object: objects[1]! });
    b.send();
    expect(databases(store)).toEqual(['hello']);
    b.call('xWrite', { object: objects[1]!, length: PAGE }, stores[1]);
    b.send();
    expect(databases(store)).toEqual(['demo (IndexedDB demo):/hello', 'demo (OPFS):/hello']);
  });
});

describe('one file', () => {
  const one = (store: TraceStore): void => {
    expect(databases(store)).toHaveLength(1);
    expect(
      facts(store)
        .get(originFiles)
        .filter(({ kind }) => kind === 'journal'),
    ).toHaveLength(1);
  };

  it('is what two workers share on one VFS', () => {
    for (const storage of [nothing, indexedDb('app'), opfs('/app.db')]) {
      const store = newStore();
      work(store, 'demo', storage, '/app.db');
      work(store, 'demo', storage, 'app.db');
      expect(databases(store)).toEqual(['/app.db']);
      one(store);
    }
  });
  it('includes a worker that has not used storage yet', () => {
    const store = newStore();
    work(store, 'demo', indexedDb('app'), '/app.db');
    const t = new ThreadBuilder(store);
    t.call('xRead', { object: t.file('/app.db', 'main-db', 'demo'), length: 100 });
    t.send();
    one(store);
  });
  it('keeps its plain path among files with other names', () => {
    const store = newStore();
    work(store, 'MemoryVFS', nothing, '/a.db');
    work(store, 'IDBBatchAtomicVFS', indexedDb('app'), '/b.db');
    expect(databases(store)).toEqual(['/a.db', '/b.db']);
  });
  it('is shared by a VFS and the VFS that it forwards its calls to', () => {
    const store = newStore();
    const t = new ThreadBuilder(store);
    const [outer, inner] = ['cipher-pool', 'pool'].map((vfs) => t.file('/app.db', 'main-db', vfs));
    const write = { length: PAGE };
    t.call('xWrite', { object: outer!, ...write }, () =>
      t.call('xWrite', { object: inner!, ...write }),
    );
    t.send();
    expect(databases(store)).toEqual(['/app.db']);
  });
  it('includes deletes by a VFS whose name is unknown', () => {
    const store = newStore();
    const t = work(store, 'MemoryVFS', nothing, '/app.db');
    t.call('xDelete', { object: t.file('/app.db-journal', 'journal', '') });
    t.send();
    one(store);
  });
});

it("names don't depend on the order of threads", () => {
  expect(databases(fiveVfs(CLASSES.toReversed()))).toEqual(databases(fiveVfs()));
});

it('F11 names the worker, or the connection, if several read one file', () => {
  const store = newStore();
  for (let i = 0; i < 2; i++) work(store, 'demo', indexedDb('app'));
  const titles = facts(store)
    .get(findings)
    .filter(({ rule }) => rule === 'F11')
    .map(({ title }) => title);
  expect(titles).toEqual([
    expect.stringContaining('reads of hello by Worker worker.js read'),
    expect.stringContaining('reads of hello by Worker worker.js (2) read'),
  ]);
});
