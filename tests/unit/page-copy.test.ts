// Lists and copies of a page's databases, with limits. Nothing stays in the page.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { worldIn } from '../../src/connect/look-at-page.ts';
import { copyFrom } from '../../src/page-copy/copy.ts';
import { listDatabases } from '../../src/page-copy/list.ts';
import { beginCopy } from '../../src/page-copy/begin.ts';
import { checkCopy, pieceOf } from '../../src/page-copy/pieces.ts';

const run = vi.hoisted(() => vi.fn<(tab: number, run: unknown) => Promise<unknown>>());
vi.mock('../../src/platform/in-page.ts', () => ({ runInPage: run }));

/** IndexedDB databases by name, with the key paths of their stores. */
let databases: Record<string, Record<string, unknown>> = {};
/** Names that were opened. */
let opened: string[] = [];
/** Number of OPFS files that were read. */
let read = 0;
let files: string[] = [];
beforeEach(() => {
  [databases, opened, read, files] = [{}, [], 0, []];
  vi.stubGlobal('location', { origin: 'https://app.example' });
  vi.stubGlobal('isSecureContext', true);
  vi.stubGlobal('indexedDB', {
    databases: () => Promise.resolve(Object.keys(databases).map((name) => ({ name }))),
    open: (name: string) => {
      opened.push(name);
      const stores = databases[name]!;
      const objectStore = (store: string): unknown => ({ keyPath: stores[store] });
      const result = {
        objectStoreNames: Object.keys(stores),
        transaction: () => ({ objectStore }),
        close: () => {},
      };
      const request = { result, onsuccess: () => {} };
      queueMicrotask(() => request.onsuccess());
      return request;
    },
  });
  vi.stubGlobal('navigator', {
    storage: {
      getDirectory: () =>
        Promise.resolve({
          async *entries() {
            for (const name of files)
              yield [name, { kind: 'file', getFile: () => (read++, Promise.resolve(new Blob())) }];
          },
        }),
    },
  });
  vi.stubGlobal(
    'FileReader',
    class {
      result = '';
      onload = (): void => {};
      readAsText(): void {
        queueMicrotask(() => this.onload());
      }
    },
  );
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  run.mockReset();
});

it("lists no database of another app's blocks, and no size that isn't known", async () => {
  databases = {
    minecraft: { blocks: 'id' },
    plain: { blocks: null, pages: 'id', pending: 'id' },
    mirror: { blocks: ['path', 'offset'], tx: ['path', 'txId'] },
  };
  const { databases: listed, failures } = await listDatabases(10, 1000, 10);
  expect(listed).toMatchObject([{ name: 'mirror', size: null, cause: expect.stringMatching(/./) }]);
  expect(failures).toEqual([]);
});

it('reads at most so many files and opens at most so many databases, and reports that there are more', async () => {
  databases = Object.fromEntries([...Array(201)].map((_, i) => [`db${i}`, {}]));
  files = ['a', 'b', 'c'];
  const { failures } = await listDatabases(10, 1000, 2);
  expect([opened.length, read]).toEqual([200, 2]);
  expect(failures).toEqual([
    'IndexedDB: only the first 200 databases were read',
    'OPFS: only the first 2 files were read',
  ]);
});

it('a database that never opens is rejected', async () => {
  vi.useFakeTimers();
  vi.stubGlobal('indexedDB', { open: () => ({}) });
  const begun = beginCopy('idb', 'blocked', 'app.db', 1000);
  await vi.advanceTimersByTimeAsync(2000);
  expect(await begun).toEqual({ refused: expect.stringContaining("it doesn't open") as string });
});

it('the page releases a copy whose piece is wrong', async () => {
  const asked: unknown[] = [];
  run.mockImplementation((_, what) => {
    asked.push(what);
    return Promise.resolve(
      what === beginCopy ? { main: 10, wal: null } : what === pieceOf ? 7 : { same: true },
    );
  });
  const database = { store: 'opfs', name: 'app.db', at: '/app.db', size: 10, cause: '' } as const;
  await expect(copyFrom(1, database)).rejects.toThrow("The page's answer isn't a piece of a file");
  expect(asked).toEqual([beginCopy, pieceOf, checkCopy]);
});

it('looks again in the same world of a document, and in a new one after a navigation', async () => {
  let document = 'first';
  const worlds: string[] = [];
  const send = (method: string): Promise<unknown> => {
    if (method === 'Page.createIsolatedWorld') worlds.push(document);
    return Promise.resolve({
      frameTree: { frame: { id: 'frame', loaderId: document } },
      executionContextId: worlds.length,
      result: { value: 'answer' },
    });
  };
  const inPage = worldIn({ send } as Parameters<typeof worldIn>[0]);
  const is = (v: unknown): v is string => v === 'answer';
  const look = (): Promise<string> => inPage(() => Promise.resolve(''), [], is);
  expect([await look(), await look()]).toEqual(['answer', 'answer']);
  expect(worlds).toEqual(['first']);
  document = 'second';
  await look();
  expect(worlds).toEqual(['first', 'second']);
});
