// Doctor on real pages: names in pools, kinds of IndexedDB databases, locks with clients and ages,
// leftovers. The page's storage doesn't change.
import type { Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { doctorCommand } from '../../src/cli/doctor.ts';
import type { Doctor } from '../../src/doctor/doctor.ts';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { openApp, prepareApp, runApp } from '../oracle/baseline.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { launch } from './extension-harness.ts';

const polling = 50;
let server: AppServer;
let driven: DrivenBrowser;
let app: Page;
let panel: Page;
beforeAll(async () => {
  [server, driven] = await Promise.all([createServer(), launch()]);
});
afterAll(async () => {
  await driven.close();
  await server.close();
});
beforeEach(async () => {
  [app, panel] = [await driven.browser.newPage(), await driven.browser.newPage()];
});
afterEach(async () => {
  await app.close();
  if (!panel.isClosed()) await panel.close();
});

/** An app with a table of three notes and an open database. */
async function appOn(address: string, page = app): Promise<void> {
  await page.bringToFront();
  await openApp(page, address);
  await prepareApp(page);
  await runApp(page, 'sql', {
    sql: [
      'CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT)',
      [3, "INSERT INTO note VALUES($i, 'note number $i')"],
    ],
  });
}
const address = (path: string): string =>
  `chrome-extension://${driven.extensionId}/devtools/${path}`;
const tabOf = (page: Page): Promise<number> =>
  panel.evaluate(
    async (url) => (await chrome.tabs.query({})).find((tab) => tab.url === url)!.id!,
    page.url(),
  );
async function openDoctor(): Promise<void> {
  await panel.bringToFront();
  await panel.goto(address('options.html')); // this page has access to the tabs
  await panel.goto(address(`panel.html?tab=${await tabOf(app)}#tab=doctor`));
  await panel.waitForSelector('[data-testid="doctor-view"], [data-testid="doctor-none"] button');
}
/** Rows of a block, as cells. */
const rowsOf = (block: string): Promise<string[][]> =>
  panel.$$eval(`[data-testid="doctor-${block}"] tbody tr`, (rows) =>
    rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.innerText.trim())),
  );
const textOf = (id: string): Promise<string> =>
  panel.$eval(`[data-testid="${id}"]`, (e) => (e as HTMLElement).innerText);
const press = async (selector: string): Promise<void> => {
  const element = await panel.waitForSelector(`${selector}:not(:disabled)`);
  await element!.evaluate((e) => (e as HTMLElement).click());
};
/** Names and sizes of everything that the origin stores. */
const stored = (): Promise<unknown> =>
  app.evaluate(async () => {
    const files: string[] = [];
    const walk = async (folder: FileSystemDirectoryHandle, path: string): Promise<void> => {
      for await (const [name, handle] of folder.entries())
        if (handle.kind === 'directory')
          await walk(handle as FileSystemDirectoryHandle, `${path}${name}/`);
        else {
          const file = await (handle as FileSystemFileHandle).getFile();
          files.push(`${path}${name} ${file.size} ${file.lastModified}`);
        }
    };
    await walk(await navigator.storage.getDirectory(), '/');
    const databases = (await indexedDB.databases()).map(
      ({ name, version }) => `${name} ${version}`,
    );
    return [files.sort(), databases.sort()];
  });

test.each([
  ['AccessHandlePool', 'journeyapps-wa-sqlite/?vfs=AccessHandlePool'],
  ['opfs-sahpool', 'sqlite-org/?vfs=opfs-sahpool'],
])('a pool of %s: its names, and rows of a copy, while the app has it open', async (kind, path) => {
  await appOn(`${server.origin(`doctor-${kind.toLowerCase()}`)}/${path}`);
  const before = await stored();
  await openDoctor();
  const databases = await rowsOf('databases');
  expect(databases.map((row) => row.slice(0, 2))).toEqual([['/test-1.db', kind]]);
  expect(databases[0]!.at(-2)).toMatch(/^\d+ KiB$/);
  const files = await rowsOf('files-in-opfs');
  const named = files.filter(([, name]) => name === '/test-1.db');
  expect(named.map(([, , what]) => what)).toEqual([`database in a pool (${kind})`]);
  expect(files.map(([, , what]) => what).join()).toContain(`free places in a pool (${kind})`);
  expect(files.flat()).not.toContain('other');
  expect(await textOf('doctor-leftovers')).toContain('None found.');

  await press('[data-testid="look-inside"]');
  await press('[data-testid="copy-table"]');
  await panel.waitForSelector('[data-testid="copy-rows"]');
  expect(
    await panel.$$eval('[data-testid="copy-rows"] tr', (rows) =>
      rows.map((row) => [...row.children].map((cell) => (cell as HTMLElement).innerText)),
    ),
  ).toEqual([
    ['id', 'body'],
    ['0', 'note number 0'],
    ['1', 'note number 1'],
    ['2', 'note number 2'],
  ]);
  expect(await stored()).toEqual(before);
});

test('IndexedDB, held and waiting locks with their ages, and leftovers', async () => {
  const origin = server.origin('doctor-idb');
  await appOn(`${origin}/journeyapps-wa-sqlite/?vfs=IDBBatchAtomic`);
  await app.evaluate(async () => {
    const root = await navigator.storage.getDirectory();
    await root.getDirectoryHandle('.ahp-gone', { create: true });
    await root.getFileHandle('old.db-wal', { create: true });
    const never = new Promise(() => {});
    await new Promise((granted) => {
      void navigator.locks.request('held by test', () => (granted(null), never));
    });
    void navigator.locks.request('held by test', () => never);
  });
  const before = await stored();
  await openDoctor();
  // with each refresh, the ages grow
  await panel.waitForFunction(
    () =>
      document
        .querySelector('[data-testid="doctor-locks"]')
        ?.textContent?.match(/looks over [1-9]\d* s/g)?.length === 2,
    { polling },
  );
  const locks = (await rowsOf('locks')).map((row) => row.slice(0, 4));
  expect(locks.filter(([name]) => name === 'held by test')).toEqual([
    ['held by test', 'waits for this page', 'exclusive', 'this page'],
    ['held by test', 'held', 'exclusive', 'this page'],
  ]);
  expect(locks.flat().join()).not.toContain('vfscope'); // the panel holds no lock itself
  const [[name, version], ...others] = (await rowsOf('indexeddb')).map((row) =>
    row.slice(0, 2),
  ) as [string[]];
  expect([name, version, others]).toEqual([expect.any(String), 'IDBBatchAtomicVFS', []]);
  expect((await rowsOf('databases')).map((row) => row[1])).toEqual(['IDBBatchAtomicVFS']);
  const leftovers = await textOf('doctor-leftovers');
  expect(leftovers).toContain('/.ahp-gone/: Temporary files of a worker that has ended');
  expect(leftovers).toContain('/old.db-wal: Its database is gone.');
  expect(await stored()).toEqual(before);
});

test('the popup opens it', async () => {
  await app.goto(`${server.origin('doctor-popup')}/nothing`);
  await panel.goto(address('options.html'));
  const tab = await tabOf(app);
  await panel.goto(address(`popup.html?tab=${tab}`));
  await press('#open-doctor');
  const target = await driven.browser.waitForTarget((one) =>
    one.url().startsWith(address(`panel.html?tab=${tab}#tab=doctor`)),
  );
  const shown = (await target.page())!;
  await shown.waitForSelector('[data-testid="doctor-view"]');
  await shown.close();
  await expect.poll(() => panel.isClosed()).toBe(true); // the popup closes
});

test('vfscope doctor prints the same as one object', async () => {
  let out = '';
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text, done?: unknown) => {
    out += String(text);
    (done as (() => void) | undefined)?.();
    return true;
  });
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  const url = `${server.origin('doctor-command')}/journeyapps-wa-sqlite/?vfs=AccessHandlePool&run=own-sql&n=5`;
  const code = await doctorCommand({ url, seconds: 3, json: true }).finally(() => {
    write.mockRestore();
    said.mockRestore();
  });
  expect(code).toBe(0);
  const doctor = JSON.parse(out) as Doctor;
  expect(doctor).toMatchObject({ origin: new URL(url).origin, gaps: [], page: { opfs: true } });
  expect(doctor.databases).toMatchObject([{ name: '/test-1.db', kind: 'AccessHandlePool' }]);
});
