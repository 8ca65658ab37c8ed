/**
 * Engine apps without the extension (FULL=1: all of them): every engine returns the same rows and
 * whole databases, and the oracle's counts and the stored bytes match the goldens. After an
 * intended change: UPDATE_GOLDENS=1 npx vitest run tests/browser/apps.test.ts, then review the
 * diff.
 */
import { readFile, writeFile } from 'node:fs/promises';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { baseline, openApp, runApp, storedBy } from '../oracle/baseline.ts';
import { launchPlainBrowser } from '../oracle/browser.ts';
import {
  CANNOT_RUN,
  ENGINE_APPS,
  PORTABLE,
  PORTABLE_SMALL,
  someApps,
  STANDARD,
} from '../oracle/catalog.ts';
import { runTraced, type OracleCounts } from '../oracle/tracing.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { repeatable } from './grid-counts.ts';

interface Golden {
  counts: OracleCounts;
  /** The storage hash's total, or null if the bytes vary. */
  stored: string | null;
}

const GOLDENS = new URL('../oracle/goldens.json', import.meta.url);
const UPDATE = Boolean(process.env['UPDATE_GOLDENS']);

let server: AppServer;
let browser: Browser;
let goldens: Record<string, Golden>;
const measured: Record<string, Golden> = {};
let origins = 0;

beforeAll(async () => {
  goldens = JSON.parse(await readFile(GOLDENS, 'utf8')) as Record<string, Golden>;
  server = await createServer();
  browser = await launchPlainBrowser();
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
  if (UPDATE) await writeFile(GOLDENS, JSON.stringify(measured, null, 2) + '\n');
});

/** A page of an origin without stored data. */
async function onFreshOrigin<T>(use: (page: Page, origin: string) => Promise<T>): Promise<T> {
  const page = await browser.newPage();
  try {
    return await use(page, server.origin(`app-${++origins}`));
  } finally {
    await page.close();
  }
}

describe('not recorded', () => {
  // '%s' instead of '$id', which vitest cuts at 40 characters.
  const apps = UPDATE ? ENGINE_APPS : someApps();
  test.each(apps.map((app) => [app.id, app] as const))('%s', async (_id, app) => {
    const { result, counts, stored } = await onFreshOrigin((page, origin) =>
      baseline(page, origin + app.path, app.run.workload, app.run.options),
    );
    expect(result.integrity).toBe(app.notSQLite ? null : 'ok');
    expect(result.rows).toEqual(app.run.rows);
    measured[app.id] = { counts, stored: app.bytesVary ? null : stored.total };
    if (UPDATE) return;
    const golden = goldens[app.id];
    if (!golden)
      throw new Error(
        `no golden counts of "${app.id}": UPDATE_GOLDENS=1 npx vitest run tests/browser/apps.test.ts`,
      );
    expect(repeatable(app, counts)).toEqual(repeatable(app, golden.counts));
    expect(measured[app.id]!.stored).toBe(golden.stored);
  });

  test.each(CANNOT_RUN.map((app) => [app.id, app] as const))("%s can't run", async (_id, app) => {
    await onFreshOrigin(async (page, origin) => {
      await openApp(page, origin + app.path);
      await expect(runApp(page, app.run.workload, app.run.options)).rejects.toThrow(app.error);
      expect(await page.evaluate(() => document.body.dataset['state'])).toBe('error');
    });
  });

  test('the strict policy of /csp-self/ lets SQLite run', async () => {
    for (const name of ['wa-sqlite', 'journeyapps-wa-sqlite', 'sqlite-org', 'sql-js', 'absurd-sql'])
      await onFreshOrigin(async (page, origin) => {
        await openApp(page, `${origin}/csp-self/${name}/`);
        expect((await runApp(page, STANDARD.workload, STANDARD.options)).rows).toEqual(
          STANDARD.rows,
        );
      });
  });

  test('SQLite returns the rows that are expected of the other engines', async () => {
    await onFreshOrigin(async (page, origin) => {
      await openApp(page, `${origin}/sql-js/`);
      for (const { workload, options, rows } of [PORTABLE, PORTABLE_SMALL])
        expect((await runApp(page, workload, options)).rows).toEqual(rows);
    });
  });

  test('one worker handles many runs, each on a new database', async () => {
    await onFreshOrigin(async (page, origin) => {
      await openApp(page, `${origin}/journeyapps-wa-sqlite/`);
      const first = await runApp(page, 'own-sql', { n: 20 });
      const second = await runApp(page, 'own-sql', {
        n: 20,
        oneTransaction: true,
        pragmas: ['journal_mode=memory'],
      });
      expect(second.rows).toEqual(first.rows);
      expect((await runApp(page, STANDARD.workload, STANDARD.options)).rows).toEqual(STANDARD.rows);
      expect(Object.keys((await storedBy(page)).opfs)).toEqual(
        expect.arrayContaining(['/test-1.db', '/test-2.db', '/test-3.db']),
      );
    });
  });
});

test('the oracle counts each call once', async () => {
  const worker = `
    const settled = (r) => new Promise((done, failed) => { r.onsuccess = () => done(r.result); r.onerror = () => failed(r.error); });
    onmessage = async () => {
      const root = await navigator.storage.getDirectory();
      const handle = await (await root.getFileHandle('file', { create: true })).createSyncAccessHandle();
      for (let i = 0; i < 50; i++) handle.write(new Uint8Array(100), { at: i * 100 });
      for (let i = 0; i < 7; i++) handle.read(new Uint8Array(1000), { at: i * 1000 });
      for (let i = 0; i < 3; i++) handle.flush();
      handle.truncate(10); handle.truncate(0);
      handle.close();
      const opening = indexedDB.open('db');
      opening.onupgradeneeded = () => opening.result.createObjectStore('s').createIndex('i', 'x');
      const db = await settled(opening);
      const store = db.transaction('s', 'readwrite').objectStore('s');
      for (let i = 0; i < 5; i++) store.put({ x: i }, i);
      store.add({ x: 9 }, 9);
      store.delete(0);
      store.get(1); store.get(2); store.index('i').get(1); store.getAll();
      const cursor = await settled(store.openCursor());
      cursor.continue();
      await settled(store.count());
      await settled(db.transaction('s').objectStore('s').get(1));
      postMessage('done');
    };`;
  await onFreshOrigin(async (page, origin) => {
    await page.goto(`${origin}/`);
    const { counts } = await runTraced(page, () =>
      page.evaluate(
        (source) =>
          new Promise((resolve, reject) => {
            const w = new Worker(URL.createObjectURL(new Blob([source])));
            w.onmessage = resolve;
            w.onerror = (event) => reject(new Error(event.message));
            w.postMessage(null);
          }).then(() => undefined),
        worker,
      ),
    );
    expect(counts).toEqual({
      opfs: {
        reads: 7,
        readBytesAsked: 7000,
        writes: 50,
        writeBytes: 5000,
        flushes: 3,
        truncates: 2,
      },
      idb: {
        transactions: 2,
        requests: {
          add: 1,
          count: 1,
          'cursor.continue': 1,
          delete: 1,
          get: 4,
          getAll: 1,
          openCursor: 1,
          put: 5,
        },
      },
    });
  });
});
