// `vfscope record --connect`: a Chromium that its user has started, with the user's pages. The
// command neither closes nor changes it.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { chosenPage, endpointOf } from '../../src/connect/endpoint.ts';
import { belowStorage } from '../../src/analysis/below/browser-work.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { sampleSums } from '../../src/analysis/cpu/hot-functions.ts';
import { webCounts } from '../../src/analysis/files/web-counts.ts';
import { summaryOf, type Summary } from '../../src/analysis/report/summary.ts';
import { record } from '../../src/cli/record.ts';
import { findChromium } from '../../src/drive/find-browser.mjs';
import { readTrace } from '../../src/trace/file/read.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { EXTENSION } from './extension-harness.ts';
import { recordHarness } from './record-harness.ts';

const command = recordHarness();
let chromium: ChildProcess;
let profile: string;
let endpoint: string;
/** The user's own connection. */
let user: Browser;

beforeAll(async () => {
  profile = await mkdtemp(path.join(tmpdir(), 'vfscope-user-'));
  chromium = spawn(
    findChromium()!,
    [
      ...['--headless=new', '--no-sandbox', '--no-first-run', '--remote-debugging-port=0'],
      ...[`--user-data-dir=${profile}`, 'about:blank'],
    ],
    { stdio: 'ignore' },
  );
  const file = path.join(profile, 'DevToolsActivePort');
  await vi.waitFor(() => expect(existsSync(file)).toBe(true), { timeout: 30_000 });
  endpoint = `http://localhost:${(await readFile(file, 'utf8')).split('\n')[0]}`;
  user = await puppeteer.connect({ browserURL: endpoint, defaultViewport: null });
});
afterAll(async () => {
  await user.close();
  await rm(profile, { recursive: true, force: true, maxRetries: 5 });
});

const READY = "document.body?.dataset.state === 'done'";
/** @param name of a separate origin, whose storage is empty */
const appOf = (name: string, vfs = 'OPFSCoopSync'): string =>
  `${command.server.origin(name)}/journeyapps-wa-sqlite/?vfs=${vfs}&run=own-sql&n=20`;
const urls = async (): Promise<string[]> => (await user.pages()).map((page) => page.url()).sort();
async function opened(url: string): Promise<Page> {
  const page = await user.newPage();
  await page.goto(url);
  return page;
}
/** Writes a file of steps with this body. */
async function steps(name: string, body: string): Promise<string> {
  const file = path.join(command.folder, `${name}.mjs`);
  await writeFile(file, `export default async (page) => { ${body} };`);
  return file;
}

async function recorded(name: string, args: object): Promise<TraceStore> {
  const out = path.join(command.folder, `${name}.vfst`);
  const code = await record({ out, until: READY, extension: EXTENSION, ...args });
  expect(code, command.said).toBe(0);
  const { store, warnings } = await readTrace(await readFile(out));
  expect(warnings).toEqual([]);
  expect(store.dropped).toBe(0);
  return store;
}
const counts = ({ statements, transactions, commits, syncsPerCommit, files }: Summary): object => ({
  ...{ statements, transactions, commits, syncsPerCommit },
  files: files.map(({ kind, vfs }) => ({ kind, vfs })),
});

/** What the hook would leave in the page. */
const traces = (): string[] => [
  ...[indexedDB.open, navigator.locks.request, Worker]
    .map((method) => Function.prototype.toString.call(method))
    .filter((text) => !/\[native code\]/.test(text)),
  ...Object.getOwnPropertySymbols(globalThis).map(String),
  ...Object.keys(globalThis).filter((key) => /vfscope/i.test(key)),
];

test('an open tab is recorded and restored', async () => {
  const url = appOf('tab').replace(/&run=.*/, '');
  const page = await opened(url);
  const before = await urls();
  const clean = await page.evaluate(traces);
  const script = await steps(
    'tab',
    `await page.waitForFunction(() => 'run' in window);
    await page.evaluate(() => window.run('own-sql', { n: 20 }));`,
  );
  const store = await recorded('tab', { connect: endpoint, url, script, until: undefined });
  expect(summaryOf(store).commits).toBeGreaterThan(0);
  expect(store.threads.map(({ ended }) => ended)).toEqual(store.threads.map(() => 'stopped'));
  expect(await urls()).toEqual(before);
  expect(await page.evaluate(traces)).toEqual(clean);
  await page.reload();
  expect(await page.evaluate(traces)).toEqual(clean); // new documents get nothing either
  await page.close();
});

test.each(['OPFSCoopSync', 'IDBBatchAtomic'])(
  '%s in a new tab, which is closed at the end, has the counts of a recording by the extension',
  async (vfs) => {
    const before = await urls();
    const url = appOf(`new-${vfs.toLowerCase()}`, vfs);
    const store = await recorded(`new-${vfs}`, { connect: endpoint, url });
    const own = await recorded(`own-${vfs}`, { url });
    expect(counts(summaryOf(store))).toEqual(counts(summaryOf(own)));
    const kinds = ({ threads }: TraceStore): string[] => threads.map(({ info }) => info.kind);
    expect(kinds(store)).toEqual(kinds(own));
    expect(await urls()).toEqual(before);
    expect(chromium.exitCode).toBeNull();
  },
);

test("the browser's own trace is included: CPU samples, and storage below the page", async () => {
  const url = appOf('layers', 'IDBBatchAtomic');
  const store = await recorded('layers', {
    ...{ connect: endpoint, url, cpu: true, belowStorage: true },
  });
  const facts = new Facts(store);
  const { check, sums } = facts.get(belowStorage)!;
  expect(check).toMatchObject({ verdict: 'equal', differences: [] });
  expect(sums.find(({ work }) => work.startsWith('IndexedDB put'))!.calls).toBe(
    facts.get(webCounts).idb.put,
  );
  const sampled = store.threads.filter(({ cpu }) => cpu);
  expect(sampled.map(({ info }) => info.kind).sort()).toEqual(['page', 'worker']);
  expect(facts.get(sampleSums)!.statements.length).toBeGreaterThan(0);
});

test('a browser that its user is already tracing is rejected', async () => {
  // the previous recording's trace is over
  const session = await user.target().createCDPSession();
  await session.send('Tracing.start', { transferMode: 'ReportEvents' });
  const out = path.join(command.folder, 'none.vfst');
  const args = { connect: endpoint, url: appOf('traced'), out, cpu: true, extension: EXTENSION };
  const before = await urls();
  expect(await record(args)).toBe(3);
  expect(command.said).toMatch(/can't be traced: .*Stop what traces it already/);
  expect(await urls()).toEqual(before);
  await session.send('Tracing.end');
  await session.detach();
});

test('a frame of another site is also recorded', async () => {
  const frame = appOf('other', 'IDBBatchAtomic');
  const page = await user.newPage();
  await page.goto(`${command.server.url}/hook-cases/`);
  const script = await steps(
    'frame',
    `await page.evaluate((src) => {
      const frame = document.createElement('iframe');
      frame.src = src;
      document.body.append(frame);
    }, ${JSON.stringify(frame)});
    const frame = await (await page.waitForSelector('iframe')).contentFrame();
    await frame.waitForFunction(${JSON.stringify(READY)});`,
  );
  const url = `${command.server.url}/hook-cases/`;
  const store = await recorded('frame', { connect: endpoint, url, script, until: undefined });
  expect(store.threads.map(({ info }) => info.url)).toContain(frame);
  expect(summaryOf(store).commits).toBeGreaterThan(0);
  await page.close();
});
test.each([
  ['ftp://x', 2, /expected an address such as http:\/\/localhost:9222/],
  ['http://127.0.0.1:1', 3, /No browser answers at http:\/\/127\.0\.0\.1:1 /],
])('--connect %s fails with %d', async (connect, code, message) => {
  const out = path.join(command.folder, 'none.vfst');
  expect(await record({ connect, out, extension: EXTENSION })).toBe(code);
  expect(command.said).toMatch(message);
});

test('options for a browser that the command starts are rejected', async () => {
  const out = path.join(command.folder, 'none.vfst');
  expect(await record({ connect: endpoint, out, devtools: true, url: 'http://x/' })).toBe(2);
  expect(command.said).toMatch(/--devtools doesn't work with --connect/);
});

test.each([
  ['9222', 'http://127.0.0.1:9222'],
  ['localhost:9222', 'http://localhost:9222'],
  ['192.168.0.7:9222', 'http://192.168.0.7:9222'],
  ['http://[::1]:9222/json', 'http://[::1]:9222'],
])('--connect %s is %s', (text, address) => expect(endpointOf(text)).toBe(address));

describe('the page to record', () => {
  const page = (url: string) => ({ id: url, type: 'page', url, title: '' });
  const pages = ['http://a/', 'http://a/b', 'http://a/bc#x'].map(page);
  test.each([
    ['http://a/', 'http://a/'],
    ['http://a/bc', 'http://a/bc#x'],
    ['http://c/', undefined],
  ])('%s is %s', (url, found) => expect(chosenPage(pages, url)?.url).toBe(found));
  test('needs no address if it is the only one', () =>
    expect(chosenPage([pages[0]!], undefined)?.url).toBe('http://a/'));
  test('is listed with the others if there are several', () => {
    expect(() => chosenPage(pages, undefined)).toThrow(/has 3 pages[^]*http:\/\/a\/b\n/);
    expect(() => chosenPage(pages, 'http://a/b')).not.toThrow();
    expect(() => chosenPage(pages, 'http://')).toThrow(/Several pages begin with/);
  });
});
