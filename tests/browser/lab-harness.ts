/**
 * The Lab's page in the built extension, with a fresh tab for each test. Shared by the page's
 * tests. An error in the page fails its test.
 */
import type { Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { openLab } from '../../src/lab/drive/lab.ts';
import type { LabPage } from '../../src/lab/drive/lab-page.ts';
import { launch } from './extension-harness.ts';

/** Background tabs draw no frames, so nothing waits for one. */
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

/** Press the element with this test id once it is enabled. */
export async function press(id: string): Promise<void> {
  const element = await page.waitForSelector(`[data-testid="${id}"]:not(:disabled)`);
  await element!.evaluate((e) => (e as HTMLElement).click());
}
/** Texts of all elements with this test id, as displayed. */
export const texts = (id: string): Promise<string[]> =>
  page.$$eval(`[data-testid="${id}"]`, (all) =>
    all.map((e) => (e as HTMLElement).innerText.trim()),
  );
/** Texts of all elements of a selector, one line each, displayed or not. */
export const wordsOf = (selector: string): Promise<string[]> =>
  page.$$eval(selector, (all) => all.map((e) => e.textContent!.replace(/\s+/g, ' ').trim()));
/**
 * Waits until this many runs are done. @param timeout ms; runs on storage take longer than others
 */
export const finished = (runs: number, timeout = 30_000): Promise<unknown> =>
  page.waitForFunction(
    (n) => document.querySelectorAll('[data-testid="open-trace"]:not(:disabled)').length === n,
    { polling, timeout },
    runs,
  );
