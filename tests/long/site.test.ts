/**
 * The viewer as a folder of static files: any server can host it, and it opens offline.
 * network-code.test.ts checks that it uploads nothing.
 */
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveFolders, type Served } from '../../src/terminal/serve.ts';
import { launchPlainBrowser } from '../oracle/browser.ts';

const GOLDEN = 'tests/traces/golden/idb-batch-atomic.vfst';
const ANSWER = '[data-testid="answer-view"][aria-busy="false"] [data-testid="answer"]';
let folder: string;
let served: Served;
let browser: Browser;
let page: Page;
let elsewhere: Server;
/** Requests that its server received. */
let asked: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vfscope-site-'));
  const env = { ...process.env, VFSCOPE_DIST: folder };
  await promisify(execFile)('npm', ['run', '-s', 'build:viewer'], { env });
  await copyFile(GOLDEN, join(folder, 'viewer', 'mine.vfst'));
  served = await serveFolders({ '/tools/vfscope/': join(folder, 'viewer') });
  elsewhere = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.referer ?? ''}`);
    void readFile(GOLDEN).then((bytes) => {
      const open = request.url?.startsWith('/open/');
      response.writeHead(200, open ? { 'Access-Control-Allow-Origin': '*' } : {}).end(bytes);
    });
  }).listen(0, '127.0.0.1');
  browser = await launchPlainBrowser();
}, 300_000);
afterAll(async () => {
  await browser?.close();
  await served?.close().catch(() => {}); // one test closes it
  elsewhere?.close();
  await rm(folder, { recursive: true, force: true });
});

const open = async (query: string): Promise<void> => {
  page = await browser.newPage();
  const faults: string[] = [];
  page.on('pageerror', (e) => faults.push(String(e)));
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) faults.push(message.text());
  });
  await page.goto(`${served.url}/tools/vfscope/${query}`);
  await page.waitForSelector('html[data-ready="true"]');
  expect(faults).toEqual([]);
};
const answer = async (): Promise<string> => {
  const found = await page.waitForSelector(ANSWER);
  return (await found!.evaluate((element) => element.textContent)).trim();
};
const other = (path: string): string =>
  encodeURIComponent(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}${path}`);

test('a link names a trace on the same server, or on another one that allows access', async () => {
  await open('?url=mine.vfst');
  const said = await answer();
  expect(said).toMatch(/^SQLite kept the worker worker\.js busy for 880 ms/);
  await open(`?url=${other('/open/theirs.vfst')}`);
  expect(await answer()).toBe(said);
  expect(asked).toEqual(['GET /open/theirs.vfst ']);
});

test('the included example', async () => {
  await open('?example');
  expect(await answer()).toMatch(/^SQLite kept /);
});

test.each([
  ['javascript:alert(1)', /isn't a web address/],
  ['none.vfst', /answered 404 for \/tools\/vfscope\/none\.vfst/],
])('?url=%s says what is wrong', async (url, message) => {
  await open(`?url=${encodeURIComponent(url)}`);
  await page.waitForFunction(
    (text) => document.body.innerText.includes(text),
    {},
    url.split(':')[0]!,
  );
  expect(await page.evaluate(() => document.body.innerText)).toMatch(message);
});

test('if the other server refuses, the user is told to download the trace', async () => {
  await open(`?url=${other('/closed/theirs.vfst')}`);
  await page.waitForFunction(() => document.body.innerText.includes('CORS'));
});

test('it opens when its server is gone, and accepts a dropped trace', async () => {
  await open('');
  await page.evaluate(() => navigator.serviceWorker.ready);
  asked = [];
  await served.close();
  await page.reload();
  await page.waitForSelector('html[data-ready="true"]');
  const bytes = (await readFile(GOLDEN)).toString('base64');
  await page.evaluate((text) => {
    const data = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([data], 'dropped.vfst'));
    document.body.firstElementChild!.dispatchEvent(
      new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }),
    );
  }, bytes);
  expect(await answer()).toMatch(/880 ms/);
  expect(asked).toEqual([]);
});
