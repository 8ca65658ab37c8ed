/** The demo app on each of its VFSs, without the extension, used as a person would: by clicks and keys. */
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { some } from '../full.ts';
import { launchPlainBrowser } from '../oracle/browser.ts';
import { createServer, type AppServer } from '../server/server.mjs';

let server: AppServer;
let browser: Browser;

beforeAll(async () => {
  server = await createServer();
  browser = await launchPlainBrowser();
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

const ready = (page: Page) =>
  page
    .waitForFunction(() => ['ready', 'error'].includes(document.body.dataset['state'] ?? ''))
    .then(() => stateOf(page));
const stateOf = (page: Page) => page.evaluate(() => document.body.dataset['state']);
const textOf = (page: Page, selector: string) =>
  page.$eval(selector, (element) => element.textContent);

/** Waits until the status line begins with `start`. */
async function says(page: Page, start: string): Promise<string> {
  await page.waitForFunction(
    (text) => document.querySelector('#status')?.textContent?.startsWith(text),
    {},
    start,
  );
  expect(await ready(page)).toBe('ready');
  return (await textOf(page, '#status'))!;
}

describe('demo', () => {
  test.each(
    some([
      'vfs=OPFSCoopSync',
      'vfs=IDBBatchAtomic',
      'vfs=AccessHandlePool',
      'vfs=IDBBatchAtomic&build=jspi',
    ]),
  )('%s', async (query) => {
    const page = await browser.newPage();
    const broken: string[] = [];
    page.on('pageerror', (error) => broken.push(String(error)));
    page.on('dialog', (dialog) => void dialog.accept());
    await page.goto(
      `${server.origin(`demo-${query.replace(/\W/g, '-').toLowerCase()}`)}/demo/?${query}`,
    );
    await says(page, 'Opened in');
    expect(await textOf(page, '#count')).toBe('12');
    expect(await page.$eval('#vfs', (select) => (select as HTMLSelectElement).value)).toBe(query);

    await page.click('#import');
    await says(page, 'Imported 5,000 notes');
    expect(await textOf(page, '#count')).toBe('5,012');

    await page.type('#search', 'sourdough');
    await page.waitForFunction(() =>
      document.querySelector('#summary')?.textContent?.includes('found for “sourdough”'),
    );
    expect(
      Number((await textOf(page, '#summary'))!.split(' ')[0]!.replace(',', '')),
    ).toBeGreaterThan(10);
    expect(
      await page.$$eval('#list mark', (marks) =>
        marks.every((mark) => mark.textContent === 'sourdough'),
      ),
    ).toBe(true);

    await page.click('#add');
    await page.type('#title', 'A note on zymurgy');
    await page.type('#body', 'Yeast, and patience.');
    await page.click('#save');
    await says(page, 'Saved');
    await page.$eval('#search', (input) => ((input as HTMLInputElement).value = ''));
    await page.type('#search', 'zymur');
    await page.waitForFunction(
      () => document.querySelector('#summary')?.textContent === '1 found for “zymur”',
    );
    await page.click('#list li button');
    await ready(page);
    await page.type('#title', ' and bread');
    await page.click('#save');
    await says(page, 'Saved');
    expect(await textOf(page, '#list .title')).toBe('A note on zymurgy and bread');
    await page.click('#remove');
    await says(page, 'Deleted in');
    expect(await textOf(page, '#summary')).toBe('0 found for “zymur”');

    await page.click('#one-by-one');
    await says(page, 'Added 100 notes');
    await page.click('#check');
    expect(await says(page, 'Integrity')).toMatch(/^Integrity: ok /);

    await page.reload();
    await says(page, 'Opened in');
    expect(await textOf(page, '#count')).toBe('5,112');
    await page.click('#clear');
    await says(page, 'Deleted all');
    expect(await textOf(page, '#count')).toBe('0');
    expect(broken).toEqual([]);
    await page.close();
  });

  test("a storage that doesn't exist is an error that the user sees", async () => {
    const page = await browser.newPage();
    await page.goto(`${server.url}/demo/?vfs=Floppy`);
    expect(await ready(page)).toBe('error');
    expect(await textOf(page, '#error-text')).toContain('There is no storage called "Floppy"');
    await page.close();
  });
});
