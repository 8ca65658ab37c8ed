/** Access to web pages, in Chromium: nothing runs before it is wanted, and what happens when the user takes it back. */
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, beforeEach, afterEach, expect, test } from 'vitest';
import type { DrivenBrowser } from '../../src/cli/drive/browser.ts';
import { openPanel, type Panel } from '../../src/cli/drive/panel.ts';
import { startRecording, stopRecording } from '../../src/cli/drive/session.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { launch, moreEvents, recorded, savedSummary, state } from './extension-harness.ts';

let server: AppServer;
let driven: DrivenBrowser;
let page: Page;
/** The browser's own page of extensions: what its switches do. */
let switches: Page;
let labels = 0;
const APP = '/journeyapps-wa-sqlite/?vfs=AccessHandlePool';

beforeAll(async () => {
  server = await createServer();
  driven = await launch();
  switches = await driven.firstPage();
  await switches.goto('chrome://extensions/');
});
afterAll(async () => {
  await driven?.close();
  await server?.close();
});
beforeEach(async () => {
  page = await driven.browser.newPage();
});
afterEach(async () => {
  await siteAccess('ON_ALL_SITES');
  await page.close();
});

/** "Site access" on the page of the extension's details. */
async function siteAccess(hostAccess: 'ON_CLICK' | 'ON_ALL_SITES'): Promise<void> {
  await switches.evaluate(
    (extensionId, wanted) => {
      interface Developer {
        updateExtensionConfiguration(change: { extensionId: string; hostAccess: string }): Promise<void>;
      }
      return (chrome as unknown as { developerPrivate: Developer }).developerPrivate.updateExtensionConfiguration({
        extensionId,
        hostAccess: wanted,
      });
    },
    driven.extensionId,
    hostAccess,
  );
}
const says = (panel: Panel, pattern: string): Promise<unknown> =>
  panel.frame.waitForFunction((text) => new RegExp(text).test(document.body.innerText), { polling: 50, timeout: 15_000 }, pattern);
const inserts = (n: number): Promise<unknown> =>
  page.evaluate((rows) => (window as unknown as { run(w: string, o: object): Promise<unknown> }).run('own-sql', { n: rows }), n);

test('the package asks for nothing but host access, scripting and storage', async () => {
  const ours = await driven.browser.newPage();
  await ours.goto(`chrome-extension://${driven.extensionId}/devtools/options.html`);
  const { origins, permissions } = await ours.evaluate(() => chrome.permissions.getAll());
  expect(origins).toEqual(['<all_urls>']);
  expect(permissions!.sort()).toEqual(['devtools', 'scripting', 'storage']); // devtools by having a page there
  await ours.close();
});

test('access taken back during a recording: said, and what was recorded stays', async () => {
  await page.goto(server.origin(`permissions-${++labels}`) + APP);
  await state(page, 'ready');
  const panel = await openPanel(page);
  await startRecording(panel);
  await recorded(page);
  await state(page, 'ready');
  await inserts(40);
  await moreEvents(panel);
  await siteAccess('ON_CLICK');
  await says(panel, 'access of vfscope to web pages was taken back');
  await stopRecording(panel);
  const { files, dropped } = await savedSummary(driven, panel);
  expect(dropped).toBe(0);
  expect(files.find(({ kind }) => kind === 'main-db')!.vfs.xSync).toBeGreaterThan(40);
});

test('no access: no script runs, Record says so, and it works once access is given', async () => {
  await siteAccess('ON_CLICK');
  await page.goto(server.origin(`permissions-${++labels}`) + APP);
  await state(page, 'ready');
  const panel = await openPanel(page);
  await says(panel, 'has no access to web pages');
  expect(
    await page.evaluate(() => Object.getOwnPropertySymbols(globalThis).some((symbol) => symbol.description?.startsWith('vfscope'))),
  ).toBe(false);
  await siteAccess('ON_ALL_SITES');
  await panel.find('record-empty' as 'record');
  await startRecording(panel);
  await recorded(page);
  await stopRecording(panel);
});
