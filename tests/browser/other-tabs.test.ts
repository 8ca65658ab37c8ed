/**
 * Recording one tab changes no other, follows that tab wherever it navigates, and wakes the
 * background for nothing else.
 */
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { openPanel, type Panel } from '../../src/drive/panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { launch, recorded, restored } from './extension-harness.ts';
import { observe, serveOrigins, type Origins, beside, joined, type Seen } from './other-tabs.ts';

let origins: Origins;
let driven: DrivenBrowser;
/** A page of the extension. */
let ours: Page;
let page: Page;
let panel: Panel;
let plain: Seen;
const app = (): string => origins.origin('app');

beforeAll(async () => {
  [origins, driven] = await Promise.all([serveOrigins(), launch()]);
  ours = await driven.firstPage();
  await ours.goto(`chrome-extension://${driven.extensionId}/devtools/devtools.html`);
  page = await driven.browser.newPage();
  plain = await observe(page, `${app()}/page`);
});
afterAll(async () => {
  await driven?.close();
  origins?.close();
});

/** States that the stopped background's worker takes while `run` runs. */
const workerStates = async (run: () => Promise<unknown>): Promise<string[]> => {
  const session = await ours.createCDPSession();
  const states: string[] = [];
  session.on('ServiceWorker.workerVersionUpdated', ({ versions }) =>
    states.push(...versions.map((v) => v.runningStatus)),
  );
  await session.send('ServiceWorker.enable');
  await session.send('ServiceWorker.stopAllWorkers');
  await expect.poll(() => states.at(-1)).toBe('stopped');
  states.length = 0;
  await run();
  await session.detach();
  return states;
};

test("when nothing is recorded, tabs that load and close don't start the background", async () => {
  const states = await workerStates(async () => {
    for (let i = 0; i < 5; i++) {
      const tab = await driven.browser.newPage();
      await tab.goto(`${app()}/page`);
      await tab.close();
    }
  });
  expect(states).toEqual([]);
});

test('a background that starts leaves pages in the back/forward cache', async () => {
  const tab = await driven.browser.newPage();
  await tab.goto(`${app()}/plain`);
  await tab.evaluate(() =>
    addEventListener('pageshow', (e) => Object.assign(window, { cameBack: e.persisted })),
  );
  await tab.goto(`${app()}/plain?next`);
  const states = await workerStates(() =>
    // answered once it has checked which recordings run
    ours.evaluate(() => chrome.runtime.sendMessage({ k: 'recording?', tabId: 1 })),
  );
  expect(states).toContain('running');
  await tab.goBack();
  const cameBack = await tab.evaluate(
    () => (window as unknown as { cameBack?: boolean }).cameBack ?? false,
  );
  expect(cameBack).toBe(true);
  await tab.close();
});

test("a tab of another origin sees nothing; another tab of the recorded origin sees vfscope's symbol, and SharedWorkers that it shares", async () => {
  expect(plain.first.symbols).toEqual([]);
  // the check would see what a wrapped worker changes
  expect(plain.workers).toEqual(['ran', 'ran', 'ran', 200, 200, 'ran']);
  panel = await openPanel(page);
  await startRecording(panel);
  await recorded(page);
  const other = await driven.browser.newPage();
  for (let i = 0; i < 5; i++)
    expect(await observe(other, `${origins.origin('elsewhere')}/${i}`)).toEqual(plain);
  for (let i = 0; i < 5; i++) {
    const seen = await observe(other, `${app()}/page`);
    expect(seen.first.symbols).toEqual(['Symbol(vfscope.thread)']);
    expect(beside(seen)).toEqual(plain);
    await joined(other);
  }
  await other.close();
});

test("a page that the recorded tab requests and doesn't get is treated like any tab's", async () => {
  const at = page.url();
  const session = await page.createCDPSession();
  await session.send('Fetch.enable', { patterns: [{ urlPattern: '*/given-up' }] });
  const failed = new Promise<void>((done) =>
    session.on('Fetch.requestPaused', ({ requestId }) => {
      const errorReason = 'Aborted'; // as with Esc: the previous page stays
      void session.send('Fetch.failRequest', { requestId, errorReason }).then(done);
    }),
  );
  await page.evaluate((to) => void (location.href = to), `${app()}/given-up`);
  await failed;
  await session.detach();
  await page.evaluate(() => new Promise((done) => setTimeout(done, 500)));
  expect(page.url()).toBe(at);
  const other = await driven.browser.newPage();
  expect(beside(await observe(other, `${app()}/given-up`))).toEqual(plain);
  await joined(other);
  await other.close();
  // requested again while it loads: the first request is canceled, the second one arrives
  for (let i = 0; i < 3; i++) {
    await page.evaluate(() => {
      location.reload();
      setTimeout(() => location.reload(), 1);
    });
    await page.waitForNavigation();
    await page.waitForFunction(() => '_sqlite3_step' in {}, { polling: 50 });
  }
});

test('redirects, frames of other origins, and empty frames of the recorded tab are recorded', async () => {
  const hop = (to: string): string => `/hop?to=${encodeURIComponent(to)}`;
  await page.goto(
    origins.origin('one') + hop(origins.origin('two') + hop(`${origins.origin('three')}/page`)),
  );
  await recorded(page);
  await page.goto(`${app()}/frames?of=${encodeURIComponent(`${origins.origin('framed')}/page`)}`);
  // the handover's frames come and go
  const frames = page.frames().filter((frame) => !frame.url().startsWith('chrome-extension:'));
  expect(frames).toHaveLength(3);
  for (const frame of frames)
    await frame.waitForFunction(() => '_sqlite3_step' in {}, { polling: 50 });
});

test('pages that load while the background is repeatedly stopped are recorded', async () => {
  const session = await ours.createCDPSession();
  let stops = 0;
  session.on(
    'ServiceWorker.workerVersionUpdated',
    ({ versions }) => (stops += versions.filter((v) => v.runningStatus === 'stopped').length),
  );
  await session.send('ServiceWorker.enable');
  let stoppedLoads = 0;
  for (let i = 0; i < 6; i++) {
    stops = 0;
    const loaded = page.goto(`${origins.origin(`stopped-${i}`)}/page`);
    await session.send('ServiceWorker.stopAllWorkers');
    await loaded;
    stoppedLoads += Number(stops > 0);
    await page.waitForFunction(() => '_sqlite3_step' in {}, { polling: 50, timeout: 30_000 });
  }
  expect(stoppedLoads).toBeGreaterThan(0);
  await session.detach();
  await stopRecording(panel);
  await restored(page);
});
