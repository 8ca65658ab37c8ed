/** The Lab's page in the built extension, a fresh tab for each test: what the tests of the page share. An error in the page fails its test. */
import type { Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { openLab } from '../../src/lab/drive/lab.ts';
import type { LabPage } from '../../src/lab/drive/lab-page.ts';
import { launch } from './extension-harness.ts';

/** Tabs in the background draw no frames, so nothing waits for one. */
export const polling = 50;
// live bindings: each test sees those of its own tab
export let driven: DrivenBrowser;
export let lab: LabPage;
export let page: Page;

/** A browser for the file, a tab with the Lab for each of its tests. */
export function useLabPage(): void {
  const errors: string[] = [];
  beforeAll(async () => {
    driven = await launch();
  });
  afterAll(() => driven.close());
  beforeEach(async () => {
    page = await driven.browser.newPage();
    page.on('pageerror', (e) => void errors.push(e instanceof Error ? e.message : String(e)));
    await page.setViewport({ width: 1400, height: 900 });
    lab = await openLab(page, driven.extensionId);
  });
  afterEach(async () => {
    await page.close();
    expect(errors.splice(0)).toEqual([]);
  });
}

/** Press what has this test id, once it can be. */
export async function press(id: string): Promise<void> {
  const element = await page.waitForSelector(`[data-testid="${id}"]:not(:disabled)`);
  await element!.evaluate((e) => (e as HTMLElement).click());
}
/** What all of this test id say, as it is drawn. */
export const texts = (id: string): Promise<string[]> =>
  page.$$eval(`[data-testid="${id}"]`, (all) =>
    all.map((e) => (e as HTMLElement).innerText.trim()),
  );
/** What all of a selector say in one line each, drawn or not. */
export const wordsOf = (selector: string): Promise<string[]> =>
  page.$$eval(selector, (all) => all.map((e) => e.textContent!.replace(/\s+/g, ' ').trim()));
/** Until so many runs are done. @param timeout ms; runs on storage take longer than others */
export const finished = (runs: number, timeout = 30_000): Promise<unknown> =>
  page.waitForFunction(
    (n) => document.querySelectorAll('[data-testid="open-trace"]:not(:disabled)').length === n,
    { polling, timeout },
    runs,
  );
