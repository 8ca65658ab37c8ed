/** The panel in its own window: opened from the popup or from DevTools, and bound to its tab. */
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { goTo, openPanel, Panel } from '../../src/drive/panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { conditions } from '../../src/analysis/core/conditions.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { layerOfCode } from '../../src/event/operations.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { launch, liveNumber, recorded, savedStore, state } from './extension-harness.ts';

let server: AppServer;
let driven: DrivenBrowser;
let app: Page;
beforeAll(async () => {
  [server, driven] = await Promise.all([createServer(), launch()]);
  app = await driven.firstPage();
});
afterAll(async () => {
  await driven?.close();
  await server?.close();
});

const APP = '/journeyapps-wa-sqlite/?vfs=AccessHandlePool';
/**
 * 40 inserts: twice for the journal and once for the database, for CREATE TABLE and for each
 * insert.
 */
const RUN_SYNCS = 123;
const address = (path: string): string =>
  `chrome-extension://${driven.extensionId}/devtools/${path}`;
const windows = async (): Promise<Page[]> =>
  (await driven.browser.pages()).filter((page) => page.url().startsWith(address('panel.html')));

async function popup(): Promise<Page> {
  const page = await driven.browser.newPage();
  await page.goto(address('options.html')); // this page has access to the tabs
  const id = await page.evaluate(
    async (url) => (await chrome.tabs.query({})).find((tab) => tab.url === url)?.id,
    app.url(),
  );
  await page.goto(address(`popup.html?tab=${id}`));
  return page;
}
async function pressIn(page: Page): Promise<Page> {
  await (await page.waitForSelector('#record-window'))!.click();
  await expect.poll(async () => (await windows()).length, { timeout: 30_000 }).toBe(1);
  const [shown] = await windows();
  await shown!.waitForFunction(() => document.documentElement.dataset['ready'] === 'true', {
    polling: 50,
  });
  return shown!;
}

test('the popup opens it, once for each tab; it records that tab without DevTools, and outlives it', async () => {
  const origin = server.origin('panel-window');
  await goTo(app, origin + APP);
  await state(app, 'ready');
  const shown = await pressIn(await popup());
  await expect.poll(() => shown.title(), { timeout: 30_000 }).toMatch(/^vfscope: .*panel-window/);
  await pressIn(await popup()); // brings it to the front

  const panel = new Panel(shown.mainFrame(), null);
  await startRecording(panel);
  await recorded(app);
  await goTo(app, `${origin}${APP}&run=own-sql&n=40`);
  await state(app, 'done');
  await liveNumber(panel, 'syncs', RUN_SYNCS);
  await stopRecording(panel);
  const store = await savedStore(driven, panel);
  expect(store.dropped).toBe(0);
  const { devtools, wasmFactor } = new Facts(store).get(conditions);
  expect([devtools, wasmFactor! < 2]).toEqual([false, true]);

  app = await driven.browser.newPage();
  const [first] = await driven.browser.pages();
  await first!.close();
  await panel.press('record');
  await expect
    .poll(() => panel.text(), { timeout: 30_000 })
    .toMatch(/The tab of this panel is closed/);
  expect(await panel.textOf('live-syncs')).toBe(String(RUN_SYNCS)); // the recording stays
  await shown.close();
});

test('the panel in DevTools shows what DevTools cost, and offers it', async () => {
  await goTo(app, server.origin('panel-window') + APP);
  const inDevTools = await openPanel(app);
  expect(await inDevTools.text()).toMatch(/Open DevTools slow this page down/);
  await (await inDevTools.frame.waitForSelector('[data-testid="open-window"]'))!.click();
  await expect.poll(async () => (await windows()).length, { timeout: 30_000 }).toBe(1);
  const [shown] = await windows();
  await shown!.waitForFunction(() => document.documentElement.dataset['ready'] === 'true', {
    polling: 50,
  });
  expect(await shown!.$('[data-testid="window-offer"]')).toBeNull();
  const panel = new Panel(shown!.mainFrame(), null);
  await startRecording(panel);
  await recorded(app);
  await state(app, 'ready');
  await stopRecording(panel);
  const { devtools } = new Facts(await savedStore(driven, panel)).get(conditions);
  expect(devtools).toBe(true);
});

test('a light recording has VFS calls and commits, and nothing else', async () => {
  const [shown] = await windows();
  const panel = new Panel(shown!.mainFrame(), null);
  await panel.choose('profile', 'light');
  await startRecording(panel);
  await goTo(app, `${server.origin('panel-window-light')}${APP}&run=own-sql&n=40`);
  await state(app, 'done');
  await liveNumber(panel, 'syncs', RUN_SYNCS);
  await stopRecording(panel);
  await liveNumber(panel, 'commits', 41);
  const { threads } = await savedStore(driven, panel);
  const layers = new Set(
    threads.flatMap(({ events }) => Array.from(events.op.subarray(0, events.count), layerOfCode)),
  );
  expect([...layers].filter((layer) => layer === 'sql' || layer === 'web')).toEqual([]);
  expect(layers).toContain('vfs');
  await panel.choose('profile', 'full');
});
