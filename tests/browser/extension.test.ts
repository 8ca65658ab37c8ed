/**
 * The extension in the real DevTools: pages that aren't recorded stay unchanged, and recordings
 * survive interruptions.
 */
import type { Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { goTo, openPanel, type Panel } from '../../src/drive/panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import {
  differences,
  launch,
  liveNumber,
  moreEvents,
  pagesShown,
  recorded,
  restored,
  savedSummary,
  state,
  traces,
} from './extension-harness.ts';
import { longTest } from './long-test.ts';

let server: AppServer;
let driven: DrivenBrowser;
let page: Page;
/**
 * A page of the extension, for `chrome.*`. A handle of the service worker would keep that worker
 * alive.
 */
let ours: Page;
let origin: string;
let labels = 0;

const APP = '/journeyapps-wa-sqlite/?vfs=AccessHandlePool';
/** Runs on load: 40 inserts, each a transaction. */
const RUN = `${APP}&run=own-sql&n=40`;
/**
 * Its xSync calls: twice for the journal and once for the database, for CREATE TABLE and for each
 * insert.
 */
const RUN_SYNCS = 123;

beforeAll(async () => {
  server = await createServer();
  driven = await launch();
  ours = await driven.firstPage();
  await ours.goto(`chrome-extension://${driven.extensionId}/devtools/devtools.html`);
});
afterAll(async () => {
  await driven?.close();
  await server?.close();
});
beforeEach(async () => {
  page = await driven.browser.newPage();
  origin = server.origin(`extension-${++labels}`);
});
afterEach(async () => {
  await page.close();
});

/** Ids of the content scripts that are currently registered. */
const registered = (): Promise<string[]> =>
  ours.evaluate(async () =>
    (await chrome.scripting.getRegisteredContentScripts()).map(({ id }) => id).sort(),
  );
/** Their ids for the recorded page's origin alone. */
const both = (): string[] =>
  ['vfscope-content', 'vfscope-hooks'].map((script) => `${script} ${origin}/*`);
const tabId = (url: string): Promise<number> =>
  ours.evaluate(async (u) => (await chrome.tabs.query({ url: `${u}/*` }))[0]!.id!, url);
/**
 * Stops the service worker, as the browser does after 30 s without work. Resolves when it has
 * stopped.
 */
async function killServiceWorker(): Promise<void> {
  const session = await ours.createCDPSession();
  await session.send('ServiceWorker.enable');
  const stopped = new Promise<void>((done) => {
    session.on(
      'ServiceWorker.workerVersionUpdated',
      ({ versions }) => versions.some((v) => v.runningStatus === 'stopped') && done(),
    );
  });
  await session.send('ServiceWorker.stopAllWorkers');
  await stopped;
  await session.detach();
}
/** The database's own counts, in the panel's trace. */
async function databaseCounts(panel: Panel, from: string) {
  const summary = await savedSummary(driven, panel);
  expect(summary.dropped).toBe(0);
  const files = summary.files.filter(({ kind, path }) => kind === 'main-db' && path.includes(from));
  expect(files.map(({ path }) => path)).toHaveLength(1);
  return files[0]!.vfs;
}

describe('without a recording', () => {
  test('the browser reports no error in the extension', async () => {
    await page.goto('chrome://extensions/');
    const info = await page.evaluate((id) => {
      interface Info {
        state: string;
        manifestErrors: { message: string }[];
        runtimeErrors: { message: string }[];
        installWarnings?: string[];
      }
      const { developerPrivate } = chrome as unknown as {
        developerPrivate: { getExtensionInfo(id: string): Promise<Info> };
      };
      return developerPrivate.getExtensionInfo(id);
    }, driven.extensionId);
    expect(info.state).toBe('ENABLED');
    expect(info.manifestErrors.map((e) => e.message)).toEqual([]);
    expect(info.runtimeErrors.map((e) => e.message)).toEqual([]);
    expect(info.installWarnings ?? []).toEqual([]);
  });

  test('a page contains nothing of it, with the panel open', async () => {
    const plain = await launch({ extension: null });
    let expected: Record<string, string>;
    try {
      const other = await plain.firstPage();
      await other.goto(`${origin}${APP}`);
      await state(other, 'ready');
      expected = await other.evaluate(traces);
    } finally {
      await plain.close();
    }
    expect(Object.keys(expected).length).toBeGreaterThan(5000);
    await goTo(page, `${origin}${APP}`);
    await state(page, 'ready');
    expect(differences(expected, await page.evaluate(traces))).toEqual([]);
    await openPanel(page);
    await page.reload();
    await state(page, 'ready');
    expect(differences(expected, await page.evaluate(traces))).toEqual([]);
    expect(await registered()).toEqual([]);
  });
});

describe('a recording', () => {
  test('registers its scripts, then removes them and restores everything that they changed', async () => {
    await goTo(page, `${origin}${APP}`);
    await state(page, 'ready');
    const before = await page.evaluate(traces);
    const panel = await openPanel(page);
    await startRecording(panel); // reloads the page
    await recorded(page);
    await state(page, 'ready');
    expect(await registered()).toEqual(both());
    expect(differences(before, await page.evaluate(traces)).length).toBeGreaterThan(10);
    await stopRecording(panel);
    await restored(page);
    expect(await registered()).toEqual([]);
    expect(differences(before, await page.evaluate(traces))).toEqual([]);
  });

  test('leaves another tab unchanged, once that tab has asked', async () => {
    const other = await driven.browser.newPage();
    try {
      await other.goto(`${origin}${APP}`);
      await state(other, 'ready');
      const before = await other.evaluate(traces);
      await page.goto(server.origin('elsewhere') + APP);
      const panel = await openPanel(page);
      await startRecording(panel);
      expect(differences(before, await other.evaluate(traces))).toEqual([]);
      await other.reload();
      await state(other, 'ready');
      await restored(other);
      expect(differences(before, await other.evaluate(traces))).toEqual([]);
      await stopRecording(panel);
      const { threads } = await savedSummary(driven, panel);
      expect(threads.filter(({ url }) => url.startsWith(origin))).toEqual([]);
    } finally {
      await other.close();
    }
  });

  test('is ready for an announced page before it requests anything, only in the recorded tab', async () => {
    const url = `${server.origin('announced')}${APP}`;
    const panel = await openPanel(page);
    await panel.expect(url);
    expect(await registered()).toEqual([]);
    await startRecording(panel);
    await panel.expect(url);
    const scripts = await panel.frame.evaluate(() =>
      chrome.scripting.getRegisteredContentScripts(),
    );
    const of = (file: string): string[] =>
      scripts.filter(({ js }) => js?.includes(file)).flatMap(({ matches = [] }) => matches);
    expect(of('hooks.js')).toEqual([`${server.origin('announced')}/*`]);
    expect(of('capture/now.js')).toEqual([url]);
    await stopRecording(panel);
  });

  longTest('covers an empty tab, reloads, and the next origin', async () => {
    const panel = await openPanel(page);
    await startRecording(panel);
    await goTo(page, origin + RUN);
    await state(page, 'done');
    // a page that closes loses what has not arrived
    await liveNumber(panel, 'syncs', RUN_SYNCS);
    const shown = async (count: number): Promise<void> => {
      // a page without calls isn't in the timeline
      await page.evaluate(() => localStorage.getItem('seen'));
      await pagesShown(panel, count);
    };
    await shown(1);
    await goTo(page, `${origin}${APP}&name=again`);
    await state(page, 'ready');
    await shown(2);
    await page.reload();
    await state(page, 'ready');
    await shown(3);
    const next = server.origin('next-origin');
    await page.goto(next + RUN);
    await state(page, 'done');
    await stopRecording(panel);
    const summary = await savedSummary(driven, panel);
    const pages = summary.threads.filter(({ kind }) => kind === 'page').map(({ url }) => url);
    expect(pages).toEqual([
      origin + RUN,
      `${origin}${APP}&name=again`,
      `${origin}${APP}&name=again`,
      next + RUN,
    ]);
    expect(summary.files.find(({ kind }) => kind === 'main-db')!.vfs.xSync).toBe(
      (2 * RUN_SYNCS) / 3,
    );
  });

  test('continues when the service worker dies, over ports and relays, with the same counts', async () => {
    const counts = [];
    for (const transport of ['port', 'runtime'] as const) {
      const place = server.origin(`dies-${transport}`);
      const panel = await openPanel(page);
      await startRecording(panel, { transport });
      await goTo(page, place + APP);
      await state(page, 'ready');
      await recorded(page);
      const run = page.evaluate(() =>
        (window as unknown as { run(w: string, o: object): Promise<unknown> }).run('own-sql', {
          n: 400,
        }),
      );
      await moreEvents(panel);
      await killServiceWorker();
      await moreEvents(panel);
      await run;
      await stopRecording(panel);
      counts.push(await databaseCounts(panel, 'test-1'));
      expect(await registered()).toEqual([]);
      await page.close();
      page = await driven.browser.newPage();
    }
    expect(counts[0]!.xSync).toBeGreaterThan(400);
    expect(counts[1]).toEqual(counts[0]);
  });

  test("relays where the handover frame can't run", async () => {
    const panel = await openPanel(page);
    await panel.frame.evaluate(() => chrome.storage.local.remove('transport'));
    await page.evaluateOnNewDocument(() => {
      new MutationObserver((records) => {
        for (const { addedNodes } of records)
          for (const node of addedNodes)
            if (node.parentNode === document.documentElement && node instanceof HTMLDivElement)
              node.remove();
      }).observe(document, { childList: true, subtree: true });
    });
    await startRecording(panel);
    await goTo(page, origin + RUN);
    await state(page, 'done');
    await moreEvents(panel);
    await stopRecording(panel);
    expect((await databaseCounts(panel, 'test-1')).xSync).toBeGreaterThan(40);
  });

  test("isn't disturbed by messages that a page forges", async () => {
    const panel = await openPanel(page);
    await startRecording(panel);
    await goTo(page, origin + APP);
    await state(page, 'ready');
    await recorded(page);
    await page.evaluate(async (id) => {
      const heard: unknown[] = [];
      addEventListener('message', (e) => heard.push(e.data));
      const mark = 'vfscope';
      for (const junk of [
        null,
        0,
        'vfscope',
        { mark },
        { mark, k: 'offer' },
        { mark, k: 'connected' },
      ])
        postMessage(junk, '*');
      // ports that send invalid data in the name of a thread
      for (const data of [
        { k: 'batch' },
        { k: 'batch', batch: { thread: 'x', first: 0, count: 9e9 } },
        { k: 'hello' },
        { k: 'child' },
        7,
      ]) {
        const { port1, port2 } = new MessageChannel();
        const line = new MessageChannel();
        dispatchEvent(new MessageEvent('vfscope', { ports: [line.port2], cancelable: true }));
        line.port1.postMessage({ k: {} });
        line.port1.postMessage({ k: 'offer' });
        line.port1.postMessage({ k: 'offer' }, [port2]);
        port1.postMessage(data);
      }
      // the handover frame, without a token
      const frame = document.createElement('iframe');
      frame.src = `chrome-extension://${id}/handover/frame/guessed`;
      document.body.append(frame);
      await new Promise((done) => (frame.onload = done));
      const { port1, port2 } = new MessageChannel();
      const answers: unknown[] = [];
      port1.onmessage = (e) => answers.push(e.data);
      frame.contentWindow!.postMessage({ k: 'token', token: 'guessed' }, '*', [port2]);
      frame.contentWindow!.postMessage({ k: 'token' }, '*');
      Object.assign(window, { heard, answers });
    }, driven.extensionId);
    const result = await page.evaluate(() =>
      (window as unknown as { run(w: string, o: object): Promise<{ rows: unknown[][] }> }).run(
        'own-sql',
        { n: 40 },
      ),
    );
    expect(result.rows[0]).toEqual([40, 780, 5460]);
    await stopRecording(panel);
    expect((await databaseCounts(panel, 'test-1')).xSync).toBeGreaterThan(40);
    const { heard, answers } = await page.evaluate(() => {
      const { heard, answers } = window as unknown as { heard: unknown[]; answers: unknown[] };
      return { heard, answers };
    });
    expect(answers).toEqual([]);
    expect(heard).toHaveLength(6); // its own
  });

  test('ends with DevTools', async () => {
    await goTo(page, origin + APP);
    const panel = await openPanel(page);
    await startRecording(panel);
    await recorded(page);
    await panel.frame.page().close();
    await restored(page);
    expect(await registered()).toEqual([]);
  });

  test('survives a download that the browser refuses, and DevTools closing during it', async () => {
    let panel = await openPanel(page);
    await startRecording(panel);
    await goTo(page, origin + RUN);
    await state(page, 'done');
    await liveNumber(panel, 'syncs', RUN_SYNCS);
    await stopRecording(panel);
    const events = await panel.textOf('live-events');
    const session = await driven.browser.target().createCDPSession();
    await session.send('Browser.setDownloadBehavior', { behavior: 'deny' });
    await panel.press('save');
    await panel.find('toast' as 'save');
    expect(await panel.textOf('toast' as 'save')).toMatch(
      /^Your browser is saving extension.*\.vfst\. If the file doesn't appear, save again\.$/,
    );
    await panel.frame.page().close();

    panel = await openPanel(page);
    await panel.find('recording-open');
    // a saved recording isn't offered
    expect(await panel.text()).not.toContain(`A recording of ${origin} was not saved`);
    await panel.press('recording-open');
    await liveNumber(panel, 'syncs', RUN_SYNCS);
    expect(await panel.textOf('live-events')).toBe(events);
    // the file saved now has the database's syncs
    expect((await databaseCounts(panel, 'test-1')).xSync).toBe(41);
    await panel.press('clear');
    await panel.find('record-empty' as 'record');
  });

  test('of an origin includes its other tabs, open and new ones', async () => {
    const other = await driven.browser.newPage();
    const later = await driven.browser.newPage();
    try {
      await other.goto(`${origin}${APP}`);
      await state(other, 'ready');
      await goTo(page, `${origin}/demo/?vfs=IDBBatchAtomic`);
      const panel = await openPanel(page);
      await startRecording(panel, { scope: 'origin' });
      await recorded(other); // without a reload
      await later.goto(
        `${origin}/journeyapps-wa-sqlite/?vfs=IDBBatchAtomic&run=own-sql&n=3&name=later`,
      );
      await state(later, 'done');
      await stopRecording(panel);
      await Promise.all([page, other, later].map(restored));
      const { threads } = await savedSummary(driven, panel);
      const pages = threads
        .filter(({ kind }) => kind === 'page')
        .map(({ url }) => new URL(url).pathname + new URL(url).search);
      expect(pages.sort()).toEqual(
        [
          '/demo/?vfs=IDBBatchAtomic',
          APP,
          '/journeyapps-wa-sqlite/?vfs=IDBBatchAtomic&run=own-sql&n=3&name=later',
        ].sort(),
      );
    } finally {
      await other.close();
      await later.close();
    }
  });
});

describe('the popup', () => {
  const popupOf = async (query: string): Promise<string> => {
    const popup = await driven.browser.newPage();
    try {
      await popup.setViewport({ width: 340, height: 480 });
      await popup.goto(`chrome-extension://${driven.extensionId}/devtools/popup.html${query}`);
      await popup.waitForFunction(() => document.documentElement.dataset['ready'] === 'true');
      if (process.env['PICTURES'])
        await popup.screenshot({ path: `${process.env['PICTURES']}/popup-${query.length}.png` });
      return await popup.evaluate(() => document.body.innerText);
    } finally {
      await popup.close();
    }
  };

  test('lists what the origin stores, including SQLite', async () => {
    await goTo(page, `${origin}${RUN}&name=notes.db`);
    await state(page, 'done');
    await page.evaluate(() => {
      (window as unknown as { shutdown(): void }).shutdown();
      localStorage.setItem('kvvfs-local-1', 'x'.repeat(100));
      return new Promise(
        (done) => (indexedDB.open('things', 3).onsuccess = done as () => void),
      ).then(() => undefined);
    });
    await page.waitForFunction(async () => {
      const root = await navigator.storage.getDirectory();
      const folder = await root.getDirectoryHandle('wa-sqlite');
      for await (const handle of folder.values())
        if (handle.kind === 'file')
          await (await (handle as FileSystemFileHandle).getFile()).slice(0, 1).arrayBuffer();
      return true;
    });
    const text = await popupOf(`?tab=${await tabId(origin)}`);
    expect(text).toMatch(/Files \(OPFS\)/);
    // by the name in the pool's file
    expect(text).toMatch(/^\/\S+\.db\s*SQLite 3\.\d+\.\d+\s*[\d.]+ KiB/m);
    expect(text).toMatch(/^\/wa-sqlite\/\w+\s*4 KiB/m);
    expect(text).toMatch(/things\s*version 3/);
    expect(text).toMatch(/localStorage\s*1 key, 100 characters/);
    expect(text).toMatch(/Not cross-origin isolated/);
    expect(text).toMatch(/open DevTools/);
  });

  test("explains why a page of the browser can't be recorded", async () => {
    const text = await popupOf(''); // the active tab is the popup's own page
    expect(text).toMatch(/can't access chrome-extension:|hidden from extensions/);
  });
});
