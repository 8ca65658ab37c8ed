// A copy of the inspected page's live database in the Lab: made on request, complete, and without
// changing the page's storage.
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, beforeEach, afterEach, expect, it } from 'vitest';
import { some } from '../full.ts';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { openApp, prepareApp, runApp, storedBy } from '../oracle/baseline.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { launch } from './extension-harness.ts';
import { longTest } from './long-test.ts';

const polling = 50;
let server: AppServer;
let driven: DrivenBrowser;
let app: Page;
let lab: Page;
beforeAll(async () => {
  [server, driven] = await Promise.all([createServer(), launch()]);
});
afterAll(async () => {
  await driven.close();
  await server.close();
});
beforeEach(async () => {
  [app, lab] = [await driven.browser.newPage(), await driven.browser.newPage()];
});
afterEach(async () => {
  await app.close();
  await lab.close();
});

const SQL = [
  'CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT)',
  [300, "INSERT INTO note VALUES($i, 'note number $i')"],
  'CREATE INDEX note_body ON note(body)',
  'DELETE FROM note WHERE id % 3 = 0',
] as const;

/** The app with a database of its own on an origin of its own, at rest but open. */
async function appWith(
  origin: string,
  address: string,
  pragmas: string[] = [],
  sql: typeof SQL | readonly string[] = SQL,
): Promise<void> {
  await app.bringToFront();
  await openApp(app, `${server.origin(origin)}/${address}`);
  await prepareApp(app);
  await runApp(app, 'sql', { pragmas, sql });
}
async function openOn(page: Page): Promise<void> {
  await lab.bringToFront();
  await lab.goto(`chrome-extension://${driven.extensionId}/lab/lab.html`);
  const tab = await lab.evaluate(
    async (url) => (await chrome.tabs.query({})).find((t) => t.url === url)!.id!,
    page.url(),
  );
  await lab.goto(`chrome-extension://${driven.extensionId}/lab/lab.html?page=${tab}`);
  await lab.waitForSelector('[data-testid="page-databases"], [data-testid="lab-error"]');
}
const text = (selector: string): Promise<string[]> =>
  lab.$$eval(selector, (all) => all.map((e) => (e as HTMLElement).innerText.trim()));
const press = async (id: string): Promise<void> => {
  const element = await lab.waitForSelector(`[data-testid="${id}"]:not(:disabled)`);
  await element!.evaluate((e) => (e as HTMLElement).click());
};
async function copied(): Promise<string> {
  await press('copy-database');
  await lab.waitForSelector('[data-testid="own-database"], [data-testid="lab-error"]', {
    timeout: 60_000,
  });
  expect(await text('[data-testid="lab-error"]')).toEqual([]);
  return (await text('[data-testid="own-database"]'))[0]!;
}
/**
 * What the script returns on every configuration. The notes below the table mention no difference.
 */
async function run(
  sql: string,
  ...knobs: string[]
): Promise<{ states: string[]; errors: string[] }> {
  await lab.$eval(
    '[data-testid="own-sql"]',
    (e, value) => {
      (e as HTMLTextAreaElement).value = value;
      e.dispatchEvent(new Event('input', { bubbles: true }));
    },
    sql,
  );
  for (const knob of knobs) await press(`knob-${knob}`);
  await press('lab-run');
  await lab.waitForFunction(
    () => {
      const states = [...document.querySelectorAll('[data-testid="run-state"]')].map((e) =>
        e.textContent!.trim(),
      );
      return states.length > 0 && states.every((s) => s === 'Open the recording' || s === 'failed');
    },
    { polling, timeout: 110_000 },
  );
  return {
    states: await text('[data-testid="run-state"]'),
    errors: await text('[data-testid="run-error"]'),
  };
}
const numbers = (counter: string): Promise<number[]> =>
  lab.$$eval(
    '[data-testid="results"] tbody tr',
    (rows, name) =>
      [
        ...(rows
          .find((r) => r.querySelector('th')!.textContent === name)
          ?.querySelectorAll('.number') ?? []),
      ].map((e) => Number(e.textContent!.replace(/\D/g, ''))),
    counter,
  );

it.each(
  some([
    ['idb-second', 'journeyapps-wa-sqlite/?vfs=IDBBatchAtomic', 'IndexedDB'],
    ['opfs-plain', 'journeyapps-wa-sqlite/?vfs=OPFSCoopSync', 'OPFS'],
    ['idb-first', 'wa-sqlite/?vfs=IDBBatchAtomic', 'IndexedDB'],
  ]),
)(
  "%s: copied while the app has it open; the same rows on another VFS; the page's storage is as it was",
  async (origin, address, place) => {
    await appWith(origin, address);
    await openOn(app);
    expect(await text('[data-testid="lab-error"]')).toEqual([]);
    expect((await text('[data-testid="page-databases"] tbody td:nth-child(2)'))[0]).toBe(place);
    expect(await copied()).toMatch(/pages? of 4 KiB,\s+1 table\./);
    const { states, errors } = await run(
      'SELECT id FROM note WHERE body >= ?1 OR 1; SELECT count(*) FROM note;',
      'vfs-MemoryVFS',
      'vfs-BlockIDB',
    );
    expect(errors).toEqual([]);
    expect(states).toHaveLength(2);
    expect(await numbers('rows')).toEqual([201, 201]);
    // and the app's own storage: after a second copy it is byte for byte the same as after the
    // first
    const before = await storedBy(app);
    await press('copy-database');
    await lab.waitForFunction(() => document.querySelector('[role="status"]') === null, {
      polling,
    });
    expect(await text('[data-testid="lab-error"]')).toEqual([]);
    const after = (await app.evaluate(
      "import('/common/storage-hash.js').then(({ storageHash }) => storageHash())",
    )) as typeof before;
    expect(after).toEqual(before);
  },
);

it.each(['journeyapps-wa-sqlite/?vfs=AccessHandlePool', 'sqlite-org/?vfs=opfs-sahpool'])(
  'a database in a pool of files is copied while the app holds its files: %s',
  async (address) => {
    await appWith(address.replace(/.*vfs=/, 'pool-').toLowerCase(), address);
    await openOn(app);
    expect(await text('[data-testid="lab-error"]')).toEqual([]);
    expect(await copied()).toMatch(/pages? of \d+ KiB,\s+1 table\./);
  },
);

it.each([
  ['OPFSWriteAhead', /This VFS needs another file, test-1\.db-wa[01]\./],
  ['OPFSPermuted', /OPFSPermutedVFS stores pages in its own order/],
])('%s is refused, with the cause, open and at rest', async (vfs, cause) => {
  await appWith(`refused-${vfs.toLowerCase()}`, `journeyapps-wa-sqlite/?vfs=${vfs}`);
  const refused = async (): Promise<void> => {
    await openOn(app);
    expect(await text('[data-testid="lab-error"]')).toEqual([]);
    const rows = await text('[data-testid="page-databases"] tbody tr');
    expect(rows.filter((row) => row.startsWith('test-1.db'))).toEqual([
      expect.stringMatching(cause),
    ]);
    expect(await lab.$('[data-testid="copy-database"]')).toBeNull();
  };
  await refused();
  await app.bringToFront();
  await app.evaluate('window.shutdown()');
  await refused();
});

longTest('a file that came beside the database after the list is refused, too', async () => {
  await appWith('beside', 'journeyapps-wa-sqlite/?vfs=OPFSCoopSync');
  await openOn(app);
  await app.evaluate(async () => {
    await (await navigator.storage.getDirectory()).getFileHandle('test-1.db-wa1', { create: true });
  });
  await press('copy-database');
  await lab.waitForSelector('[data-testid="lab-error"]');
  expect((await text('[data-testid="lab-error"]'))[0]).toMatch(
    /was not copied\. This VFS needs another file, test-1\.db-wa1\./,
  );
});

it("a hot journal is rejected, a cold one isn't", async () => {
  // a handwritten journal, as a VFS would leave it when its tab dies in the middle
  await appWith('by-hand', 'journeyapps-wa-sqlite/?vfs=OPFSCoopSync');
  const [name] = (await app.evaluate(`(async () => {
    const names = [];
    for await (const n of (await navigator.storage.getDirectory()).keys()) if (n.endsWith('.db')) names.push(n);
    return names;
  })()`)) as [string];
  await app.evaluate('window.shutdown()');
  const put = (name: string, bytes: number[]): Promise<void> =>
    app.evaluate(
      async (file, data) => {
        const handle = await (
          await navigator.storage.getDirectory()
        ).getFileHandle(file, { create: true });
        const stream = await handle.createWritable();
        await stream.write(new Uint8Array(data));
        await stream.close();
      },
      name,
      bytes,
    );
  await put(`${name}-journal`, [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7, 0, 0, 0, 1]);
  await openOn(app);
  await press('copy-database');
  await lab.waitForSelector('[data-testid="lab-error"]');
  expect((await text('[data-testid="lab-error"]'))[0]).toMatch(
    /was not copied\. A transaction is under way or was cut off/,
  );
  await put(`${name}-journal`, [0, 0, 0, 0, 0, 0, 0, 0]);
  expect(await copied()).toContain('1 table');
});
