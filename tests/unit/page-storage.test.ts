// What a page stores, as sentences: names are the page's, sizes may be unknown.
import { afterEach, expect, it, vi } from 'vitest';
import { look } from '../../src/page-copy/look.ts';
import {
  storageSentences,
  type PageStorage,
  type StoredDatabase,
  type StoredFile,
} from '../../src/protocol/page-storage.ts';

const file = (path: string, size: number | null, writtenBy = 0): StoredFile => ({
  ...{ path, size, writtenBy, sqlite: writtenBy > 0, pool: null, head: '', cause: '' },
});
const database = (name: string): StoredDatabase => ({ name, version: 1, stores: null });

const NOTHING: PageStorage = {
  origin: 'http://app.example',
  crossOriginIsolated: false,
  databases: [],
  moreDatabases: false,
  indexedDbBytes: null,
  files: [],
  moreFiles: false,
  folders: [],
  kvvfs: [],
  wasm: [],
  scripts: [],
  failures: [],
};

it('is silent about a page that stores nothing', () => {
  expect(storageSentences(NOTHING)).toEqual([]);
});

it('names databases and files with their sizes, and the engine that was loaded', () => {
  const sentences = storageSentences({
    ...NOTHING,
    databases: [database('fieldnotes.db')],
    indexedDbBytes: 57_344,
    files: [file('/big.bin', 1 << 20), file('/app.db', null, 3_053_000)],
    kvvfs: [{ storage: 'localStorage', keys: 1, characters: 2048 }],
    wasm: ['http://app.example/wa-sqlite-async.wasm?v=1', 'http://app.example/physics.wasm'],
  });
  expect(sentences).toEqual([
    'This page stores 1 database in IndexedDB (56 KiB): fieldnotes.db.',
    'This page stores 2 files in OPFS: /app.db (SQLite, in use), /big.bin (1 MiB).',
    'Last written by SQLite 3.53.0.',
    'SQLite stores 1 key in localStorage (2,048 characters).',
    'This page loaded wa-sqlite-async.wasm.',
  ]);
});

it("names a worker's script if no WebAssembly is visible", () => {
  const scripts = ['https://app.example/assets/sqlite3-worker1.mjs?v=2'];
  expect(storageSentences({ ...NOTHING, scripts })).toEqual([
    'This page loaded sqlite3-worker1.mjs.',
  ]);
  const wasm = ['https://app.example/sqlite3.wasm'];
  expect(storageSentences({ ...NOTHING, scripts, wasm })).toEqual([
    'This page loaded sqlite3.wasm.',
  ]);
});

it('names an engine by its package, once for all of its files', () => {
  const scripts = [
    'http://localhost:5173/lib/sqlite-constants.js',
    'http://localhost:5173/lib/sqlite-api.js?t=1',
    'http://localhost:5173/node_modules/@sqlite.org/sqlite-wasm/sqlite3-worker1.mjs',
    'https://cdn.example/npm/sql.js@1.13.0/dist/sql-wasm.js',
    'http://localhost:5173/my-sqlite.js',
  ];
  expect(storageSentences({ ...NOTHING, scripts })).toEqual([
    'This page loaded wa-sqlite (sqlite-constants.js), @sqlite.org/sqlite-wasm (sqlite3-worker1.mjs), sql.js (sql-wasm.js), and 1 more.',
  ]);
});

it('cuts long texts of the page, and passes no control character', () => {
  const [sentence] = storageSentences({
    ...NOTHING,
    databases: [...Array(5)].map((_, i) => database(`${i}\u202e${'x'.repeat(5000)}`)),
  });
  expect(sentence!.length).toBeLessThan(260);
  expect(sentence).not.toContain('\u202e');
  expect(sentence).toContain('5 databases in IndexedDB: 0?');
  expect(sentence!.endsWith(', and 2 more.')).toBe(true);
});

afterEach(() => void vi.unstubAllGlobals());

/** A page with these files in OPFS. */
function stubPage(files: [string, Blob][]): void {
  const folder = {
    async *entries() {
      for (const [name, blob] of files)
        yield [name, { kind: 'file', getFile: () => Promise.resolve(blob) }];
    },
  };
  // browsers have this encoding, and Node doesn't: bytes from 0x80 on are separate characters
  vi.stubGlobal(
    'FileReader',
    class {
      result = '';
      onload = (): void => {};
      readAsText(blob: Blob, encoding: string): void {
        expect(encoding).toBe('x-user-defined');
        void blob.arrayBuffer().then((buffer) => {
          this.result = String.fromCharCode(...new Uint8Array(buffer)).replace(
            /[\x80-\xff]/g,
            (c) => String.fromCharCode(0xf700 + c.charCodeAt(0)),
          );
          this.onload();
        });
      }
    },
  );
  vi.stubGlobal('location', { origin: 'https://app.example' });
  vi.stubGlobal('isSecureContext', true);
  vi.stubGlobal('indexedDB', { databases: () => Promise.resolve([]) });
  vi.stubGlobal('localStorage', {});
  vi.stubGlobal('sessionStorage', {});
  vi.stubGlobal('performance', {
    getEntriesByType: () =>
      [
        'https://app.example/sqlite3-worker1.mjs?v=2',
        'https://app.example/app.js',
        'https://sqlite.example/app.js',
        'https://app.example/sql-wasm.wasm',
      ].map((name) => ({ name })),
  });
  vi.stubGlobal('navigator', {
    storage: {
      estimate: () => Promise.resolve({}),
      getDirectory: () => Promise.resolve(folder),
    },
  });
}

it("reads from a file's header which SQLite wrote it last, also where a pool puts it", async () => {
  /**
   * Such a header after the bytes that a VFS puts before it.
   * @param version SQLITE_VERSION_NUMBER
   */
  const stored = (before: number, version: number): Blob => {
    const bytes = new Uint8Array(before + 4096);
    bytes.set(new TextEncoder().encode('SQLite format 3\0'), before);
    new DataView(bytes.buffer).setUint32(before + 96, version);
    return new Blob([bytes]);
  };
  // bytes of 0x80 and more are those that an encoding may change
  stubPage([
    ['app.db', stored(0, 3_053_000)],
    ['pooled', stored(4096, 3_044_000)],
    ['notes.txt', new Blob(['text'])],
  ]);
  const found = await look(10);
  expect(found.failures).toEqual([]);
  expect(found.files.map(({ path, sqlite, writtenBy }) => [path, sqlite, writtenBy])).toEqual([
    ['/app.db', true, 3_053_000],
    ['/pooled', true, 3_044_000],
    ['/notes.txt', false, 0],
  ]);
  expect(found.scripts).toEqual(['https://app.example/sqlite3-worker1.mjs?v=2']);
  expect(found.wasm).toEqual(['https://app.example/sql-wasm.wasm']);
  expect(storageSentences(found)).toContain('Last written by SQLite 3.53.0, 3.44.0.');
});

it("knows the slots of pools by the VFS's own header, and a hot journal by its first bytes", async () => {
  /** As AccessHandlePoolVFS and opfs-sahpool write it: path, flags, digest, and then the file. */
  const place = (path: string, flags: number, digest: number[], content: number[] = []): Blob => {
    const bytes = new Uint8Array(4096 + content.length);
    bytes.set(new TextEncoder().encode(path));
    new DataView(bytes.buffer).setUint32(512, flags);
    bytes.set(digest, 516);
    bytes.set(content, 4096);
    return new Blob([bytes]);
  };
  const DATABASE = [...new TextEncoder().encode('SQLite format 3\0'), ...Array<number>(84).fill(0)];
  const JOURNAL = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
  const DIGEST = [1, 2, 3, 4, 5, 6, 7, 8];
  stubPage([
    ['a', place('/app.db', 0x100, DIGEST, DATABASE)],
    ['b', place('/app.db-journal', 0x800, DIGEST, JOURNAL)],
    ['c', place('/app.db-wal', 0x80000, DIGEST, [0x37, 0x7f, 0x06, 0x82])],
    ['free', place('', 0, [0x80, 0x5f, 0xcc, 0xfe, 0x37, 0xc0, 0xce, 0xac])],
    ['zeros', place('', 0, [])],
    ['text', new Blob(['/not/a/pool\0'.padEnd(8192, '\0')])],
    ['plain-journal', new Blob([new Uint8Array(JOURNAL)])],
  ]);
  const found = await look(10);
  expect(found.failures).toEqual([]);
  expect(found.files.map(({ path, pool, head }) => [path, pool, head])).toEqual([
    ['/a', '/app.db', 'database'],
    ['/b', '/app.db-journal', 'journal'],
    ['/c', '/app.db-wal', 'wal'],
    ['/free', '', ''],
    ['/zeros', null, ''], // zeros are a free slot only in a folder of opfs-sahpool
    ['/text', null, ''],
    ['/plain-journal', null, 'journal'],
  ]);
});

it('a walk that fails leaves its list incomplete', async () => {
  stubPage([]);
  const fails = async function* (): AsyncGenerator<never> {
    throw new Error('gone');
  };
  const storage = { getDirectory: () => Promise.resolve({ entries: fails }) };
  vi.stubGlobal('navigator', { storage: { ...navigator.storage, ...storage } });
  const { moreFiles, failures } = await look(10);
  expect([moreFiles, failures]).toEqual([true, ['OPFS: gone']]);
});

it('a file that is in use is listed with the cause', async () => {
  stubPage([['held.db', null as unknown as Blob]]);
  const { files } = await look(10);
  expect(files).toMatchObject([{ path: '/held.db', size: null }]);
  expect(files[0]!.cause).not.toBe('');
});
