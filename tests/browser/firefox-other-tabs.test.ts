/**
 * Recording one tab of Firefox changes no other. The tab's pages are hooked before their first
 * line, however the tab navigates.
 */
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DrivenFirefox } from '../../src/drive/firefox.ts';
import { startRecording } from '../../src/drive/session.ts';
import { launchInFirefox, noticesIn, type Tab } from './firefox-harness.ts';
import { observe, serveOrigins, type Origins, type Seen } from './other-tabs.ts';

let origins: Origins;
let driven: DrivenFirefox;
let recorded: Tab;
let other: Page;
let plain: Seen;
const app = (): string => origins.origin('app');
const hop = (to: string): string => `/hop?to=${encodeURIComponent(to)}`;

beforeAll(async () => {
  [origins, driven] = await Promise.all([serveOrigins(), launchInFirefox()]);
  other = await driven.browser.newPage();
  plain = await observe(other, `${app()}/page`);
  const page = await driven.browser.newPage();
  await page.bringToFront();
  await page.goto(`${app()}/page`);
  recorded = { page, panel: await driven.openPanel(page) };
  await startRecording(recorded.panel);
  await page.waitForFunction(() => '_sqlite3_step' in {});
});
afterAll(async () => {
  await driven?.close();
  origins?.close();
});

test("a tab of another origin sees nothing, and another tab of the recorded origin sees only vfscope's symbol", async () => {
  expect(plain.first).toMatchObject({ symbols: [], step: false });
  for (let i = 0; i < 5; i++)
    expect(await observe(other, `${origins.origin('elsewhere')}/${i}`)).toEqual(plain);
  for (let i = 0; i < 5; i++) {
    const { first, ...rest } = await observe(other, `${app()}/page`);
    expect({ first: { ...first, symbols: [] }, ...rest }).toEqual(plain);
    // none if the tab got its answer before its first line
    expect([[], ['Symbol(vfscope.thread)']]).toContainEqual(first.symbols);
  }
});

test('reloads, other origins, redirects, and pages of a service worker are hooked first, and their workers answer as before', async () => {
  const { page, panel } = recorded;
  await observe(page, `${app()}/sw/page`);
  await page.evaluate(async () => {
    await navigator.serviceWorker.register('/sw/worker.js');
    await navigator.serviceWorker.ready;
  });
  const ways = [
    `${app()}/page`,
    `${origins.origin('new')}/page`,
    origins.origin('one') + hop(origins.origin('two') + hop(`${origins.origin('three')}/page`)),
    `${app()}/sw/answered`,
  ];
  for (const url of ways) {
    const { first, workers, heard } = await observe(page, url);
    expect({ step: first.step, workers, heard }, url).toEqual({
      step: true,
      workers: plain.workers,
      heard: [],
    });
  }
  expect(await noticesIn(panel)).toEqual([]);
});
