/**
 * The extension in Firefox: the command records the demo; every way to start a worker is recorded
 * or noted with its cause; responses only change by the hook; missing access to web pages is
 * reported and can be granted.
 */
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { FULL, some } from '../full.ts';
import type { Page } from 'puppeteer-core';
import { record } from '../../src/cli/record.ts';
import type { DrivenFirefox, FirefoxOptions } from '../../src/drive/firefox.ts';
import type { FirefoxPanel } from '../../src/drive/firefox-panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { Op } from '../../src/event/event.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { recorded, savedStore } from './extension-harness.ts';
import {
  arrived,
  FIREFOX_EXTENSION,
  freshTab,
  launchInFirefox,
  noticeIn,
} from './firefox-harness.ts';
import { PLAIN_HOST, servePolicies, type PolicyServer } from './firefox-policies.ts';
import { countOf, threadOf } from './threads-harness.ts';

declare const start: Record<string, () => Promise<unknown>>;

let server: AppServer;
let policies: PolicyServer;
/** Browsers that close after their test. */
const open: DrivenFirefox[] = [];
/** The browser of all other tests, which the first of them starts. */
let common: DrivenFirefox | null = null;
let labels = 0;
const PATH = '/hook-cases/threads/';

beforeAll(async () => {
  [server, policies] = await Promise.all([createServer(), servePolicies()]);
});
afterAll(async () => {
  await common?.close();
  await server?.close();
  await policies?.close();
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const driven of open.splice(0)) await driven.close();
});

interface Recorder {
  driven: DrivenFirefox;
  page: Page;
  panel: FirefoxPanel;
}
/**
 * A new tab with the panel, which replaces all others.
 * @param options with these, in a separate browser
 */
async function recorder(options?: Partial<FirefoxOptions>): Promise<Recorder> {
  if (options) {
    const driven = await launchInFirefox(options);
    open.push(driven);
    const page = await driven.firstPage();
    return { driven, page, panel: await driven.openPanel(page) };
  }
  common ??= await launchInFirefox();
  const tab = await freshTab(common);
  await tab.panel.setTransport('port'); // the previous test may have selected the other one
  return { driven: common, ...tab };
}

test('vfscope record --browser firefox records the demo', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'vfscope-'));
  try {
    const out = path.join(folder, 'demo.vfst');
    const screenshot = path.join(folder, 'demo.png');
    let said = '';
    vi.spyOn(console, 'error').mockImplementation((line: string) => void (said += `${line}\n`));
    vi.spyOn(console, 'log').mockImplementation(() => {});
    const url = `${server.origin('demo')}/demo/?vfs=OPFSCoopSync`;
    const script = path.resolve('tools/dev/demo-steps.mjs');
    expect(
      await record({
        url,
        out,
        script,
        screenshot,
        browser: 'firefox',
        extension: FIREFOX_EXTENSION,
      }),
      said,
    ).toBe(0);
    const { store, warnings } = await readTrace(await readFile(out));
    expect(warnings).toEqual([]);
    const summary = summaryOf(store);
    expect(summary).toMatchObject({ dropped: 0, commits: 102, transactions: { write: 102 } });
    expect(summary.environment).toMatchObject({ clockStepUs: 1000, crossOriginIsolated: false });
    expect(summary.engines.map(({ name }) => name)).toEqual(['@journeyapps/wa-sqlite']);
    const png = await readFile(screenshot);
    expect(png.readUInt32BE(16)).toBe(1280);
    expect((await stat(screenshot)).size).toBeGreaterThan(5000);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("code for filtered workers is only in Firefox's hook, and code for SharedWorkers that pages start only in the others'", async () => {
  const builds = path.dirname(FIREFOX_EXTENSION);
  const [firefox, chrome, safari] = await Promise.all(
    ['firefox', 'chrome', 'safari'].map((name) =>
      readFile(path.join(builds, name, 'hooks.js'), 'utf8'),
    ),
  );
  expect(safari).toBe(chrome);
  // every recorded page and worker parses it, so it only grows on purpose
  expect(chrome!.length).toBeLessThanOrEqual(142_000);
  // 172 bytes of it record a worker that is terminated at its first reply
  expect(firefox!.length).toBeLessThanOrEqual(138_800);
  expect([firefox, chrome].map((hook) => /its hook hasn't answered for/.test(hook!))).toEqual([
    true,
    false,
  ]);
  expect([firefox, chrome].map((hook) => /URL isn't shared between pages/.test(hook!))).toEqual([
    false,
    true,
  ]);
  // the same function as text
  const text = /^globalThis\.vfscopeWorkerHook = (".*");\n$/.exec(
    await readFile(path.join(builds, 'firefox', 'worker-hook.js'), 'utf8'),
  )![1]!;
  expect(firefox!.replaceAll('\n', '\\n').startsWith(JSON.parse(text) as string)).toBe(true);
});

describe.each(['', '/coi'])('workers of a page %s', (variant) => {
  // Firefox itself, without extensions, sometimes loses what a nested worker answers: 6 of 372
  // times both ways of transport, one for each kind of page; with FULL each for both
  const transports = ['port', 'runtime'] as const;
  test.each(FULL ? transports : [transports[variant ? 1 : 0]!])(
    'each is recorded, or noted with its cause; transport %s',
    { retry: 2, timeout: 60_000 },
    async (transport) => {
      const { driven, page, panel } = await recorder();
      const origin = server.origin(`workers-${++labels}`);
      await startRecording(panel, { transport });
      await driven.load(page, origin + variant + PATH);
      const kinds = ['classic', 'module', 'blob', 'data', 'nested', 'pool', 'shared', 'service'];
      for (const kind of kinds) await page.evaluate((name) => start[name]!(), kind);
      await noticeIn(
        panel,
        /A worker is not recorded \(a data: URL\): a data: URL has no origin.*Make it from a Blob/,
      );
      await stopRecording(panel);
      const store = await savedStore(driven, panel);
      const first = store.threads.find((t) => t.info.kind === 'page')!;
      const labeled = [
        'classic',
        'module',
        'blob',
        'nested',
        'nested inner',
        ...Array.from({ length: 8 }, (_, i) => `pool ${i}`),
      ];
      for (const label of labeled) {
        const thread = threadOf(store, label);
        expect(thread.info).toMatchObject({ kind: 'worker', name: label });
        expect(thread.info.parent, label).toBe(
          label === 'nested inner' ? threadOf(store, 'nested').info.id : first.info.id,
        );
        if (label !== 'nested') expect(countOf(thread, Op.idbOpen), label).toBe(1);
        expect(thread.ended, label).toBe('stopped');
      }
      expect(threadOf(store, 'shared').info).toMatchObject({
        kind: 'shared-worker',
        name: 'shared',
        parent: null,
      });
      expect(threadOf(store, 'service').info).toMatchObject({
        kind: 'service-worker',
        parent: null,
      });
      expect(store.threads).toHaveLength(labeled.length + 3);
      expect(summaryOf(store)).toMatchObject({ dropped: 0, faults: 0 });
    },
  );
});

describe('responses that contain the hook', () => {
  test.each(
    some([
      ['a secure origin', 'url'],
      ['an insecure one', 'plainUrl'],
    ] as const),
  )(
    '%s: each script runs as without a recording, and each worker is recorded',
    async (_, address) => {
      const { driven, page, panel } = await recorder();
      await driven.chrome.run(
        `Services.prefs.setStringPref('network.dns.localDomains', args[0])`,
        PLAIN_HOST,
      );
      const url = policies[address];
      await driven.load(page, url);
      expect(await page.evaluate('isSecureContext')).toBe(address === 'url');
      const unrecorded = await policies.outcomes(page);
      await startRecording(panel);
      await driven.load(page, url);
      await recorded(page);
      expect(await policies.outcomes(page)).toEqual(unrecorded);
      await arrived(panel, page);
      await stopRecording(panel);
      const store = await savedStore(driven, panel);
      for (const label of policies.recorded)
        expect(threadOf(store, label).info.kind, label).toBe('worker');
      expect(summaryOf(store).faults).toBe(0);
    },
  );
});

test('as shipped: Record asks for the origin in a separate tab, and records once it is allowed', async () => {
  const { driven, page, panel } = await recorder({ shipped: true });
  const origins = (): Promise<unknown> =>
    driven.chrome.inView(
      'background',
      `return (await browser.permissions.getAll()).origins.sort()`,
    );
  expect(await origins()).toEqual([]);
  const origin = server.origin('access');
  await driven.load(page, origin + PATH);
  await panel.waitFor(
    `document.body.innerText.includes('first asks for access to http://access.localhost (any port)')`,
  );
  await panel.press('record-empty');
  await panel.waitFor(`document.body.innerText.includes('Answer in the tab that vfscope opened')`);
  expect(await page.evaluate(() => Symbol.for('vfscope.thread') in globalThis)).toBe(false);
  await driven.allowAccess();
  await page.waitForFunction(() => Symbol.for('vfscope.thread') in globalThis, { polling: 50 });
  expect(await origins()).toEqual(['http://access.localhost/*']);
  await panel.find('stop');
  await page.evaluate(() => start.classic!());
  await arrived(panel, page); // otherwise data that its worker has not sent is lost
  // the next site of the tab is named, and recorded once all sites are allowed
  await driven.load(page, server.origin('elsewhere') + PATH);
  await panel.waitFor(
    `document.body.innerText.includes('no access to http://elsewhere.localhost (any port)')`,
  );
  expect(await page.evaluate(() => Symbol.for('vfscope.thread') in globalThis)).toBe(false);
  await panel.press('allow-sites');
  await driven.allowAccess('allow-all');
  await panel.waitFor(
    `document.body.innerText.includes('Reload the page to record http://elsewhere.localhost')`,
  );
  expect(await origins()).toEqual(['*://*/*', 'http://access.localhost/*']);
  await driven.load(page, server.origin('elsewhere') + PATH);
  await page.waitForFunction(() => Symbol.for('vfscope.thread') in globalThis, { polling: 50 });
  await page.evaluate(() => start.module!());
  await stopRecording(panel);
  const store = await savedStore(driven, panel);
  for (const label of ['classic', 'module'])
    expect(threadOf(store, label).info.kind, label).toBe('worker');
});

test('after the recording, pages contain nothing of vfscope, and new workers run unchanged', async () => {
  const { driven, page, panel } = await recorder();
  await startRecording(panel);
  await driven.load(page, server.origin('after') + PATH);
  await page.evaluate(() => start.classic!());
  await stopRecording(panel);
  await page.waitForFunction(() => !(Symbol.for('vfscope.thread') in globalThis), { polling: 50 });
  expect(
    await page.evaluate(() =>
      [String(Worker), String(SharedWorker), String(indexedDB.open)].every((text) =>
        text.includes('[native code]'),
      ),
    ),
  ).toBe(true);
  const hooked = await page.evaluate(
    () =>
      new Promise((done) => {
        const worker = new Worker('echo-sign.js');
        worker.onmessage = ({ data }) => done(data);
      }),
  );
  expect(hooked).toBe(false);
});
