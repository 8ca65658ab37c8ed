/**
 * Workers that the page's policy prevents from being recorded: recorded on request, with a policy
 * that is widened for this tab and this recording.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { some } from '../full.ts';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { goTo, openPanel, type Panel } from '../../src/drive/panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { launch, recorded, savedStore } from './extension-harness.ts';
import { longTest } from './long-test.ts';
import { marksOf } from './threads-harness.ts';

/** Its server responds with the policy that the page could see. */
const PAGE = `<!doctype html><script src="/page.js"></script><p>A page`;
const PAGE_SCRIPT = `
globalThis.violations = [];
addEventListener('securitypolicyviolation', (e) => violations.push(e.effectiveDirective + ' ' + e.blockedURI));
const trusted = trustedTypes.createPolicy('app', { createScriptURL: (url) => url });
const script = (url) => (location.search.includes('trusted') ? trusted.createScriptURL(url) : url);
globalThis.shared = () => new Promise((done) => {
  const worker = new SharedWorker(script('/shared.js'));
  worker.onerror = () => done('error');
  worker.port.onmessage = ({ data }) => done(data);
});
globalThis.ran = new Promise((done) => {
  const worker = new Worker(script('/worker.js'));
  worker.onmessage = ({ data }) => done(data);
  worker.onerror = () => done('error');
});
`;
/** Marks each connection, and answers with its id and their number. */
const SHARED = `
const id = String(Math.random());
let connections = 0;
onconnect = ({ ports: [port] }) => {
  performance.mark(String(++connections));
  port.postMessage([id, connections]);
};
`;
const WORKER = `performance.mark('in the worker'); postMessage('ran')`;

/** Forwards every request, including the page's. */
const SERVICE = `
oninstall = () => skipWaiting();
onactivate = (event) => event.waitUntil(clients.claim());
onfetch = (event) => event.respondWith(fetch(event.request));
`;
const SCRIPTS: Record<string, string> = {
  '/page.js': PAGE_SCRIPT,
  '/worker.js': WORKER,
  '/shared.js': SHARED,
  '/service.js': SERVICE,
};

let server: Server;
let driven: DrivenBrowser;
beforeAll(async () => {
  server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://server');
    const policy = searchParams.get('policy');
    const script = SCRIPTS[pathname];
    const page = searchParams.has('meta')
      ? PAGE.replace(
          '<script',
          `<meta http-equiv="Content-Security-Policy" content="${policy}"><script`,
        )
      : PAGE;
    response
      .writeHead(200, {
        'Content-Type': script ? 'text/javascript' : 'text/html',
        ...(policy && { 'Content-Security-Policy': policy }),
      })
      .end(script ?? page);
  });
  await new Promise<void>((done) => server.listen(0, done));
});
afterAll(() => server?.close());
afterEach(() => driven?.close());

const SELF = "worker-src 'self'; script-src 'self' 'wasm-unsafe-eval'";
const TRUSTED = "require-trusted-types-for 'script'; trusted-types app";
const TYPES = "require-trusted-types-for 'script'";
const NONCE = "worker-src 'self'; script-src 'self' 'nonce-abc' 'wasm-unsafe-eval'";

async function begin(policy: string, more = ''): Promise<{ page: Page; panel: Panel }> {
  driven = await launch();
  const page = await driven.firstPage();
  const url = `http://localhost:${(server.address() as AddressInfo).port}/?policy=${encodeURIComponent(policy)}${more}`;
  await goTo(page, url);
  const panel = await openPanel(page);
  await startRecording(panel);
  await recorded(page);
  expect(await ran(page)).toEqual(['ran', []]);
  await panel.frame.waitForSelector('[data-testid="notice"]'); // it stayed native
  return { page, panel };
}
/** The user allows a wider page policy. Resolves when the page has reloaded. */
async function widen(page: Page, panel: Panel): Promise<void> {
  const loaded = page.waitForNavigation();
  await panel.frame.waitForSelector('[data-testid="widen-policy"]');
  await panel.frame.evaluate(() =>
    document.querySelector<HTMLElement>('[data-testid="widen-policy"]')!.click(),
  );
  await loaded;
  await recorded(page);
}
/** A page of the extension, and the policies that it knows it has replaced for a site. */
async function extensionPage(): Promise<Page> {
  const ours = await driven.browser.newPage();
  await ours.goto(`chrome-extension://${driven.extensionId}/devtools/devtools.html`);
  return ours;
}
const policiesSet = (ours: Page): Promise<string[]> =>
  ours.evaluate(async () =>
    (await chrome.declarativeNetRequest.getSessionRules()).map(
      ({ condition }) => condition.urlFilter ?? '',
    ),
  );
/** What the worker answered, and what violated the policy. */
const ran = (page: Page): Promise<unknown> =>
  page.evaluate(async () => {
    const page = globalThis as unknown as { ran: Promise<string>; violations: string[] };
    return [await page.ran, page.violations];
  });
type Shared = [id: string, connections: number];
/** Answer of the page's SharedWorker, which is started if needed. */
const shared = (page: Page): Promise<Shared> =>
  page.evaluate(() => (globalThis as unknown as { shared(): Promise<Shared> }).shared());
const sharedId = async (page: Page): Promise<string> => (await shared(page))[0];
/** Another tab. */
async function open(url: string): Promise<Page> {
  const page = await driven.browser.newPage();
  await page.goto(url);
  return page;
}
/** The user presses the button for SharedWorkers, and the page reloads. */
async function widenForShared(page: Page, panel: Panel): Promise<void> {
  await sharedId(page); // it stays native
  await panel.frame.waitForFunction(() =>
    document.querySelector('[data-testid="policy-offer"]')?.textContent.includes('all tabs'),
  );
  await widen(page, panel);
  await panel.frame.waitForSelector('[data-testid="policy-open"]');
}
/** The connections of each SharedWorker in the recording. */
async function connectionsSeen(panel: Panel): Promise<string[][]> {
  const { threads } = await savedStore(driven, panel);
  return threads
    .filter(({ info }) => info.kind === 'shared-worker')
    .map((thread) => marksOf(thread).map(({ name }) => name));
}
/** The names of the first `count` marks. */
const upTo = (count: number): string[] => Array.from({ length: count }, (_, i) => String(i + 1));
/** Whether the page's policy allows blob: workers. */
const allowsBlob = (page: Page): Promise<boolean> =>
  page.evaluate(
    () =>
      new Promise<boolean>((done) => {
        try {
          const worker = new Worker(URL.createObjectURL(new Blob(['postMessage(1)'])));
          worker.onmessage = () => done(true);
          worker.onerror = () => done(false);
        } catch {
          done(false);
        }
      }),
  );
test.each(some([TRUSTED, SELF, TYPES]))('%s', async (policy) => {
  const { page, panel } = await begin(policy);
  await widen(page, panel);
  expect(await ran(page)).toEqual(['ran', []]);
  await panel.frame.waitForSelector('[data-testid="policy-open"]');
  // only this tab's policy is wider, and other tabs' pages couldn't join our worker, so it stays
  // native
  const ids = [await sharedId(page)];
  const other = await driven.browser.newPage();
  await other.goto(page.url());
  expect(await allowsBlob(other)).toBe(false);
  ids.push(await sharedId(other), await sharedId(page));
  expect(ids).toEqual([expect.stringMatching(/^0\./), ids[0], ids[0]]);
  await other.close();
  await page.bringToFront();
  await stopRecording(panel);
  const { threads } = await savedStore(driven, panel);
  const workers = threads.filter(({ info }) => info.kind === 'worker');
  expect(workers.map((thread) => marksOf(thread).map(({ name }) => name))).toEqual([
    ['in the worker'],
  ]);
  await page.reload();
  expect(await allowsBlob(page)).toBe(false);
});

test.each(some([SELF, TRUSTED]))(
  'a SharedWorker under %s is one for all tabs, and the policy is restored when no page holds it',
  async (policy) => {
    const { page, panel } = await begin(policy);
    const ours = await extensionPage();
    await page.bringToFront();
    const url = page.url();
    await widenForShared(page, panel);
    const [id] = await shared(page);
    const second = await open(url);
    expect(await allowsBlob(second)).toBe(true);
    expect(await shared(second)).toEqual([id, 2]);
    await page.bringToFront();
    await stopRecording(panel);
    expect(await connectionsSeen(panel)).toEqual([upTo(2)]);

    // after Stop, pages join it until none holds it
    expect(await policiesSet(ours)).toEqual([`|${new URL(url).origin}/`]);
    const third = await open(url);
    expect(await shared(third)).toEqual([id, 3]);
    await second.close();
    await page.goto('about:blank');
    expect(await policiesSet(ours)).toHaveLength(1);
    await third.close();
    await expect.poll(() => policiesSet(ours)).toEqual([]);
    const later = await open(url);
    expect(await allowsBlob(later)).toBe(false);
    expect(await shared(later)).toEqual([expect.not.stringMatching(id), 1]);
  },
);

test("a page that can't join a recorded SharedWorker starts its own only when no page holds that one", async () => {
  const { page, panel } = await begin(SELF);
  await widenForShared(page, panel);
  const [id] = await shared(page);
  const other = await open(page.url().replace('worker-src', 'img-src%20*;worker-src'));
  expect(await allowsBlob(other)).toBe(false);
  const waits = sharedId(other);
  await panel.frame.waitForSelector('[data-testid="waiting-tabs"]');
  expect(await shared(page)).toEqual([id, 2]);
  await page.close();
  expect(await waits).not.toBe(id);
});

longTest('a page that a service worker answers waits as well', async () => {
  const { page, panel } = await begin(SELF);
  await widenForShared(page, panel);
  const [id] = await shared(page);
  await page.evaluate(async () => {
    await navigator.serviceWorker.register('/service.js');
    await navigator.serviceWorker.ready;
  });
  const other = await open(page.url());
  expect(await other.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
  const waits = sharedId(other);
  await panel.frame.waitForSelector('[data-testid="waiting-tabs"]');
  expect(await shared(page)).toEqual([id, 2]);
  await page.bringToFront();
  await stopRecording(panel);
  await page.goto('about:blank');
  expect(await waits).not.toBe(id);
});

longTest(
  'beside a tab that was open before it stays native, until both have loaded again',
  async () => {
    const { page, panel } = await begin(SELF);
    const before = await open(page.url());
    const native = await sharedId(before);
    await page.bringToFront();
    await widenForShared(page, panel);
    expect(await sharedId(page)).toBe(native);
    await panel.frame.waitForSelector('[data-testid="reload-tabs"]');
    const loaded = [page, before].map((one) => one.waitForNavigation());
    await panel.frame.evaluate(() =>
      document.querySelector<HTMLElement>('[data-testid="reload-tabs"]')!.click(),
    );
    await Promise.all(loaded);
    await recorded(page);
    const [one, other] = await Promise.all([shared(page), shared(before)]);
    expect(one[0]).toBe(other[0]);
    expect(one[0]).not.toBe(native);
    expect([one[1], other[1]].sort()).toEqual([1, 2]);
    await page.bringToFront();
    await stopRecording(panel);
    expect(await connectionsSeen(panel)).toEqual([upTo(2)]);
  },
);

longTest('a policy of one load alone stays as it is, and the notice with it', async () => {
  const { panel } = await begin(NONCE);
  expect(await panel.frame.$('[data-testid="widen-policy"]')).toBeNull();
  await stopRecording(panel);
});

longTest(
  'a policy that stands in the document, too, can be widened in part only: the notice says so',
  async () => {
    const { page, panel } = await begin(SELF, '&meta');
    await widen(page, panel);
    expect(await ran(page)).toEqual(['ran', []]);
    await panel.frame.waitForSelector('[data-testid="policy-still-closed"]');
    await stopRecording(panel);
  },
);

longTest('a page that a service worker answers keeps its policy, and the notice', async () => {
  const { page, panel } = await begin(SELF);
  await page.evaluate(async () => {
    await navigator.serviceWorker.register('/service.js');
    await navigator.serviceWorker.ready;
  });
  await widen(page, panel); // the server had answered it
  const closed = async (): Promise<void> => {
    expect(await page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
    expect(await ran(page)).toEqual(['ran', []]);
    expect(await allowsBlob(page)).toBe(false);
  };
  await closed();
  await panel.frame.waitForSelector('[data-testid="policy-still-closed"]');
  await stopRecording(panel);

  await startRecording(panel);
  await recorded(page);
  await closed();
  await panel.frame.waitForSelector('[data-testid="notice"]');
  expect(await panel.frame.$('[data-testid="widen-policy"]')).toBeNull();
  await stopRecording(panel);
});

test('a widened policy ends with its tab, with an immediate Stop, and at the start of the background', async () => {
  const { page, panel } = await begin(SELF);
  const ours = await extensionPage();
  const set = (): Promise<string[]> => policiesSet(ours);
  await page.bringToFront();
  await panel.frame.waitForSelector('[data-testid="widen-policy"]');
  await panel.frame.evaluate(() => {
    for (const id of ['widen-policy', 'stop'])
      document.querySelector<HTMLElement>(`[data-testid="${id}"]`)!.click();
  });
  await panel.frame.waitForSelector('[data-testid="record"]');
  await expect.poll(set).toEqual([]);

  await startRecording(panel);
  await recorded(page);
  await widen(page, panel);
  expect(await set()).toEqual([`|${page.url()}|`]);
  await page.close();
  await expect.poll(set).toEqual([]);

  await ours.evaluate(() =>
    chrome.declarativeNetRequest.updateSessionRules({
      addRules: [
        {
          id: 999,
          condition: { urlFilter: 'left behind' },
          action: { type: 'block' as chrome.declarativeNetRequest.RuleActionType },
        },
      ],
    }),
  );
  const session = await ours.createCDPSession();
  const stopped = new Promise<void>((done) => {
    session.on(
      'ServiceWorker.workerVersionUpdated',
      ({ versions }) => versions.some((v) => v.runningStatus === 'stopped') && done(),
    );
  });
  await session.send('ServiceWorker.enable');
  await session.send('ServiceWorker.stopAllWorkers');
  await stopped;
  expect(await set()).toEqual(['left behind']);
  await ours.evaluate(() => chrome.runtime.sendMessage({ k: 'recording?', tabId: 1 }));
  await expect.poll(set).toEqual([]);
});
