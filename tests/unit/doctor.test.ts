// Doctor's model and report: ages of locks, kinds, leftovers, and pages that send false data.
import { expect, it } from 'vitest';
import { reportMarkdown } from '../../src/analysis/report/report-markdown.ts';
import { doctorOf } from '../../src/doctor/doctor.ts';
import { LockWatch } from '../../src/doctor/lock-watch.ts';
import { doctorReport, lockAge } from '../../src/doctor/report.ts';
import { isPageDatabases, type PageDatabase } from '../../src/protocol/page-copy.ts';
import type { PageLook } from '../../src/protocol/page-look.ts';
import {
  isPageState,
  MOST_LOCKS,
  type PageLock,
  type PageState,
} from '../../src/protocol/page-state.ts';
import {
  isPageStorage,
  type PageStorage,
  type StoredFile,
} from '../../src/protocol/page-storage.ts';

const STATE: PageState = {
  ...{
    origin: 'https://app.example',
    userAgent: 'Browser/1',
    locks: null,
    client: 'me-1234567890',
  },
  ...{ quota: 1000, usage: 250, usageBy: [], persisted: false, secureContext: true },
  ...{ crossOriginIsolated: false, sharedMemory: false, opfs: true, jspi: true, failures: [] },
};
const STORAGE: PageStorage = {
  ...{ origin: STATE.origin, crossOriginIsolated: false, databases: [], moreDatabases: false },
  ...{ indexedDbBytes: null, files: [], moreFiles: false, folders: [], kvvfs: [], wasm: [] },
  ...{ scripts: [], failures: [] },
};
const look = (
  storage: Partial<PageStorage> = {},
  state: Partial<PageState> = {},
  databases: PageDatabase[] = [],
): PageLook => ({
  state: { ...STATE, ...state },
  storage: { ...STORAGE, ...storage },
  databases: { origin: STATE.origin, databases, failures: [] },
});
const file = (path: string, more: Partial<StoredFile> = {}): StoredFile => ({
  ...{ path, size: 8192, sqlite: false, writtenBy: 0, pool: null, head: '', cause: '' },
  ...more,
});
const opfs = (name: string, at = `/${name}`): PageDatabase => ({
  ...{ store: 'opfs', name, at, size: 4096, cause: '' },
});
const lock = (name: string, client: string, mode: PageLock['mode'] = 'exclusive'): PageLock => ({
  ...{ name, client, mode },
});

it("a lock's age counts from the first snapshot that saw it in its state", () => {
  const watch = new LockWatch(1000);
  const [a, b] = [lock('db', 'one'), lock('db', 'two')];
  const ages = (held: PageLock[], pending: PageLock[], ms: number): unknown[] =>
    watch
      .look({ held, pending, more: false }, ms)
      .map(({ state, client, seenMs, looks }) => [state, client, seenMs, looks]);
  expect(ages([a], [b], 1000)).toEqual([
    ['waiting', 'two', 0, 1],
    ['held', 'one', 0, 1],
  ]);
  expect(ages([a], [b], 4000)).toEqual([
    ['waiting', 'two', 3000, 2],
    ['held', 'one', 3000, 2],
  ]);
  // granted: the time it waited isn't the time it is held
  expect(ages([b], [], 5000)).toEqual([['held', 'two', 0, 1]]);
  // missing in one snapshot: after that it is another lock
  expect(ages([], [], 6000)).toEqual([]);
  expect(ages([b], [], 7000)).toEqual([['held', 'two', 0, 1]]);
  expect(ages([b], [], 8000)).toEqual([['held', 'two', 1000, 2]]);
  // no snapshot for more than three intervals
  expect(ages([b], [], 11_001)).toEqual([['held', 'two', 0, 1]]);
  expect(lockAge({ seenMs: 0, looks: 1 })).toBe('n/a');
  expect(lockAge({ seenMs: 3999, looks: 2 })).toBe('seen at 2 looks over 3 s');
  expect(lockAge({ seenMs: 999, looks: 2 })).toBe('seen at 2 looks over less than 1 s');
});

it('a shared lock that one client holds twice has two ages', () => {
  const watch = new LockWatch(1000);
  const shared = lock('db', 'one', 'shared');
  watch.look({ held: [shared], pending: [], more: false }, 0);
  const now = watch.look({ held: [shared, shared], pending: [], more: false }, 2000);
  expect(now.map(({ seenMs }) => seenMs)).toEqual([2000, 0]);
});

it('names the client that is the page, and the client that a waiting one waits for', () => {
  const locks = {
    held: [lock('db', STATE.client), lock('other', 'ffff-0000-1111')],
    pending: [lock('db', 'abcdef0123456789')],
    more: false,
  };
  const { locks: lines } = doctorOf(look({}, { locks }), new LockWatch(1000).look(locks, 0));
  expect(lines).toMatchObject([
    { name: 'db', state: 'waiting', client: 'abcdef01', heldBy: ['this page'] },
    { name: 'db', state: 'held', client: 'this page', heldBy: [] },
    { name: 'other', state: 'held', client: 'ffff-000' },
  ]);
});

it('resolves the names of pools, and distinguishes the VFSs', () => {
  const files = [
    file('/.opfs-sahpool/.opaque/x1', {
      pool: '/app.db',
      head: 'database',
      sqlite: true,
      writtenBy: 3_053_000,
    }),
    file('/.opfs-sahpool/.opaque/x2', { pool: '/app.db-journal', head: 'journal' }),
    file('/.opfs-sahpool/.opaque/x3', { pool: '', size: 4096 }),
    file('/pool/y1', { pool: '/notes.db', head: 'database', sqlite: true }),
  ];
  const { databases, files: lines } = doctorOf(
    look({ files }, {}, [
      opfs('app.db', '/.opfs-sahpool/.opaque/x1'),
      opfs('notes.db', '/pool/y1'),
    ]),
    null,
  );
  expect(databases).toMatchObject([
    { name: '/app.db', kind: 'opfs-sahpool', writtenBy: '3.53.0', noCopy: null },
    { name: '/notes.db', kind: 'AccessHandlePool', writtenBy: null },
  ]);
  expect(lines.map(({ poolName, kind }) => [poolName, kind])).toEqual([
    ['/app.db', 'database in a pool (opfs-sahpool)'],
    ['/app.db-journal', 'rollback journal (hot) in a pool (opfs-sahpool)'],
    ['', 'free place in a pool (opfs-sahpool)'],
    ['/notes.db', 'database in a pool (AccessHandlePool)'],
  ]);
});

it.each([
  ['path,offset,version', ['blocks', 'metadata'], 'IDBBatchAtomicVFS'],
  ['path,offset,version', ['blocks'], 'IDBBatchAtomicVFS, layout of wa-sqlite 1.0'],
  ['path,offset', ['blocks', 'tx'], 'IDBMirrorVFS'],
  ['path,offset', ['blocks'], 'IDBMinimalVFS'],
  ['name,index,version', ['blocks', 'spill'], 'IDBVersionedVFS'],
  ['id', ['blocks'], 'other'],
  ['id', ['pages', 'pending'], 'other'],
  ['', ['todos'], 'other'],
])('IndexedDB stores with keys %s: %s are %s', (key, names, kind) => {
  const stores = names.map((name) => ({ name, key }));
  const { indexedDb } = doctorOf(look({ databases: [{ name: 'x', version: 1, stores }] }), null);
  expect(indexedDb).toMatchObject([{ kind }]);
});

it('finds leftovers, and none where all files belong together', () => {
  const healthy = [
    file('/app.db', { head: 'database', sqlite: true }),
    file('/app.db-wal', { head: 'wal' }),
    file('/app.db-journal', { size: 0 }),
  ];
  const none = look(
    { files: healthy, folders: ['/.ahp-1/'] },
    {
      locks: { held: [lock('.ahp-1', 'w')], pending: [], more: false },
    },
    [opfs('app.db')],
  );
  expect(doctorOf(none, null).leftovers).toEqual([]);

  const locks = { held: [], pending: [], more: false };
  const { leftovers } = doctorOf(
    look(
      {
        files: [
          ...healthy.slice(0, 1),
          file('/app.db-journal', { head: 'journal' }),
          file('/old.db-wal', { head: 'wal' }),
          file('/old-pool/a', { pool: '' }),
        ],
        folders: ['/.ahp-1/', '/old-pool/'],
      },
      { locks },
      [opfs('app.db'), { ...opfs('app.db', 'idb-app'), store: 'idb' }],
    ),
    null,
  );
  expect(leftovers.map(({ what }) => what)).toEqual([
    '/app.db-journal',
    '/old.db-wal',
    '/.ahp-1/',
    '/old-pool/',
    'app.db',
  ]);
  expect(leftovers.at(-1)!.why).toBe(
    'Stored 2 times: OPFS file (/app.db), IndexedDB (idb-app). Your app may use each of them.',
  );
});

it("knows OPFSPermutedVFS's page index by the keys of its stores", () => {
  const stores = [
    { name: 'pages', key: 'i' },
    { name: 'pending', key: 'txId' },
  ];
  const { indexedDb } = doctorOf(look({ databases: [{ name: 'x', version: 1, stores }] }), null);
  expect(indexedDb).toMatchObject([{ kind: 'page index of OPFSPermutedVFS' }]);
});

it('judges nothing in a folder with a file that was not read or recognized', () => {
  const log = file('/pool/b', { pool: '/app.db-wal', head: 'wal' });
  const free = file('/pool/c', { pool: '' });
  const unread = file('/pool/a', { size: null, cause: 'held' });
  const leftovers = (...files: StoredFile[]): string[] =>
    doctorOf(look({ files }), null).leftovers.map(({ what }) => what);
  expect(leftovers(log, free)).toEqual(['/app.db-wal (/pool/b)']);
  expect(leftovers(free)).toEqual(['/pool/']);
  for (const unknown of [unread, file('/pool/a', { size: 100 })]) {
    expect(leftovers(unknown, log, free)).toEqual([]);
    expect(leftovers(unknown, free)).toEqual([]);
  }
  expect(doctorOf(look({ files: [unread, free] }), null).gaps).toContain(
    'Leftovers in /pool/: n/a, because not every file there was recognized',
  );
  // another folder is still judged
  expect(leftovers(unread, file('/old.db-wal', { head: 'wal' }))).toEqual(['/old.db-wal']);
});

it("reports a single file with SQLite's suffix as one detected by its name", () => {
  const own = look({ files: [file('/notes/my-journal')] });
  const { files, leftovers } = doctorOf(own, null);
  expect(files).toMatchObject([{ kind: 'rollback journal, by its name' }]);
  expect(leftovers.map(({ why }) => why)).toEqual([
    "By its name, a rollback journal without a database. It may be your app's own file.",
  ]);
  for (const known of [{ head: 'journal' as const }, { size: 0 }, { pool: '/app.db-journal' }])
    expect(
      doctorOf(look({ files: [file('/app.db-journal', known)] }), null).leftovers[0]!.why,
    ).toMatch(/^Its database is gone/);
});

it("two storages of the key-value VFS aren't a leftover, and have no size in bytes", () => {
  const kvvfs = (['localStorage', 'sessionStorage'] as const).map((storage) => ({
    ...{ storage, keys: 3, characters: 2048 },
  }));
  const { databases, leftovers } = doctorOf(look({ kvvfs }), null);
  expect(leftovers).toEqual([]);
  expect(databases).toMatchObject([
    { at: 'localStorage (2,048 characters)', bytes: null },
    { at: 'sessionStorage (2,048 characters)', bytes: null },
  ]);
});

it("a list that was cut doesn't prove that a file is gone, and unknown locks don't prove that one is free", () => {
  const files = [file('/old.db-wal', { head: 'wal' })];
  const cut = look({ files, moreFiles: true, folders: ['/.ahp-1/'] }, { locks: null });
  expect(doctorOf(cut, null).leftovers).toEqual([]);
  expect(doctorOf(cut, null).gaps).toContain('OPFS: only the first 1 files were read');
});

it('as Markdown, no text of the page is markup, and unknown values read n/a with the cause', () => {
  const evil =
    '</td><img src=x onerror=alert(1)> | `@you` \u202e [a](javascript:x) https://x.example www.x.example';
  const locks = { held: [lock(evil, evil)], pending: [], more: false };
  const doctor = doctorOf(
    look(
      {
        files: [file(`/${evil}`, { size: null, cause: 'held by a worker' })],
        databases: [{ name: evil, version: 1, stores: null }],
      },
      { locks, usage: null, quota: null, persisted: null, userAgent: evil },
      [opfs(evil)],
    ),
    new LockWatch(1000).look(locks, 0),
  );
  const text = reportMarkdown(doctorReport(doctor));
  expect(text).not.toMatch(/(?<!\\)<img|\u202e|(?<!\\)`@|(?<!\\)\]\(/);
  expect(text).toContain('- Used: n/a');
  expect(text).toContain('held by a worker');
  expect(text).toMatch(/^### Storage of https\\:\/\/app\.example\n/);
  expect(text).not.toMatch(/https?:\/\/|www\./);
  const none = reportMarkdown(doctorReport(doctorOf(look(), null)));
  expect(none).toContain("n/a: the browser doesn't report them to this page.");
});

it('a report is finite, whatever the page stores', () => {
  const files = [...Array(500)].map((_, i) => file(`/${i}/${'x'.repeat(2000)}`));
  const text = reportMarkdown(doctorReport(doctorOf(look({ files }), null)));
  expect(text.length).toBeLessThan(20_000);
  expect(text).toContain('and 450 more');
});

it('rejects malformed answers', () => {
  const long = 'x'.repeat(5000);
  expect(isPageState(STATE)).toBe(true);
  expect(isPageStorage(STORAGE)).toBe(true);
  const locks = (held: unknown): unknown => ({
    ...STATE,
    locks: { held, pending: [], more: false },
  });
  const many = [...Array(MOST_LOCKS + 1)].map(() => lock('a', 'b'));
  for (const state of [
    null,
    [],
    { ...STATE, usage: -1 },
    { ...STATE, quota: NaN },
    { ...STATE, jspi: 'yes' },
    { ...STATE, userAgent: long },
    { ...STATE, failures: [1] },
    locks('all'),
    locks(many),
    locks([{ ...lock('a', 'b'), mode: 'any' }]),
    locks([lock(long, 'b')]),
  ])
    expect(isPageState(state)).toBe(false);
  for (const storage of [
    undefined,
    { ...STORAGE, files: [...Array(501)].map(() => file('/a')) },
    { ...STORAGE, files: [file(long)] },
    { ...STORAGE, files: [file('/a', { size: 1.5 })] },
    { ...STORAGE, files: [{ ...file('/a'), head: 'other' }] },
    { ...STORAGE, databases: [{ name: 'a', version: 1 }] },
    { ...STORAGE, folders: [{}] },
    { ...STORAGE, kvvfs: [{ storage: 'cookies', keys: 1, characters: 1 }] },
  ])
    expect(isPageStorage(storage)).toBe(false);
  const databases = [...Array(101)].map(() => opfs('a'));
  expect(isPageDatabases({ origin: '', databases, failures: [] })).toBe(false);
});
