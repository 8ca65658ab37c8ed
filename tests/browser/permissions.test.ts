/**
 * Access to sites in Chromium, with the extension as shipped: none at install, requested at Record,
 * and what happens when the user revokes it. Tests can't press Allow in the browser's prompt, so
 * `willAllow` sets the answer beforehand.
 */
import type { Frame, Page } from 'puppeteer-core';
import { afterAll, beforeAll, beforeEach, afterEach, expect, test } from 'vitest';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { goTo, openPanel, type Panel } from '../../src/drive/panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { launch, moreEvents, recorded, savedSummary, state } from './extension-harness.ts';
import { longTest } from './long-test.ts';

let server: AppServer;
let driven: DrivenBrowser;
let page: Page;
/** The browser's own page of extensions, with its switches. */
let switches: Page;
/** A page of the extension, which reads its permissions. */
let ours: Page;
let labels = 0;
const APP = '/journeyapps-wa-sqlite/?vfs=AccessHandlePool';

interface Developer {
  updateExtensionConfiguration(change: { extensionId: string; hostAccess: string }): Promise<void>;
  addHostPermission(extensionId: string, host: string): Promise<void>;
}

beforeAll(async () => {
  server = await createServer();
  driven = await launch({ shipped: true });
  switches = await driven.firstPage();
  await goTo(switches, 'chrome://extensions/');
  ours = await driven.browser.newPage();
  await ours.goto(`chrome-extension://${driven.extensionId}/devtools/options.html`);
});
afterAll(async () => {
  await driven?.close();
  await server?.close();
});
beforeEach(async () => {
  page = await driven.browser.newPage();
});
afterEach(async () => {
  await takeBack();
  await page.close();
});

const origins = (): Promise<string[]> =>
  ours.evaluate(async () => (await chrome.permissions.getAll()).origins!.sort());
/** The user revokes all access, and will be asked again. */
async function takeBack(): Promise<void> {
  const taken = await origins();
  if (taken.length)
    await ours.evaluate((all) => chrome.permissions.remove({ origins: all }), taken);
  await switches.evaluate(
    (extensionId) =>
      (
        chrome as unknown as { developerPrivate: Developer }
      ).developerPrivate.updateExtensionConfiguration({
        extensionId,
        hostAccess: 'ON_CLICK',
      }),
    driven.extensionId,
  );
}
/** Answers the next prompt for this pattern with Allow. */
const willAllow = (pattern: string): Promise<void> =>
  switches.evaluate(
    (id, host) =>
      (chrome as unknown as { developerPrivate: Developer }).developerPrivate.addHostPermission(
        id,
        host,
      ),
    driven.extensionId,
    pattern,
  );
/** The pattern that the browser is asked for, to access an origin. */
const patternOf = (origin: string): string => `http://${new URL(origin).hostname}/*`;
const nextOrigin = (): string => server.origin(`permissions-${++labels}`);

const says = (panel: Panel, pattern: string): Promise<unknown> =>
  panel.frame.waitForFunction(
    (text) => new RegExp(text).test(document.body.innerText),
    { polling: 50, timeout: 30_000 },
    pattern,
  );
const saysNoLonger = (panel: Panel, pattern: string): Promise<unknown> =>
  panel.frame.waitForFunction(
    (text) => !new RegExp(text).test(document.body.innerText),
    { polling: 50, timeout: 30_000 },
    pattern,
  );
const inserts = (n: number): Promise<unknown> =>
  page.evaluate(
    (rows) =>
      (window as unknown as { run(w: string, o: object): Promise<unknown> }).run('own-sql', {
        n: rows,
      }),
    n,
  );
const hooked = (where: Frame | Page = page): Promise<boolean> =>
  where.evaluate(() =>
    Object.getOwnPropertySymbols(globalThis).some((symbol) =>
      symbol.description?.startsWith('vfscope'),
    ),
  );
async function opened(origin: string): Promise<Panel> {
  await goTo(page, origin + APP);
  await state(page, 'ready');
  return openPanel(page);
}

test('the package requires no site, and requests no other permission later', async () => {
  const { origins: sites, permissions } = await ours.evaluate(() => chrome.permissions.getAll());
  expect(sites).toEqual([]);
  expect(permissions!.sort()).toEqual([
    'activeTab',
    'declarativeNetRequestWithHostAccess',
    'devtools',
    'scripting',
    'storage',
    'webNavigation',
    'webRequest',
  ]); // devtools, because it has a page there
  const { optional_host_permissions, optional_permissions } = await ours.evaluate(() =>
    chrome.runtime.getManifest(),
  );
  expect([optional_host_permissions, optional_permissions]).toEqual([['*://*/*'], undefined]);
});

test("Record asks for the page's origin, and records it after the same click", async () => {
  const origin = nextOrigin();
  const panel = await opened(origin);
  const site = `http://${new URL(origin).hostname} \\(any port\\)`;
  await says(panel, `first asks for access to ${site}`);
  expect(await hooked()).toBe(false);
  await willAllow(patternOf(origin));
  await panel.press('record-empty');
  await recorded(page);
  expect(await origins()).toEqual([patternOf(origin)]);
  await state(page, 'ready');
  await inserts(40);
  await moreEvents(panel);
  await stopRecording(panel);
  const { files, dropped } = await savedSummary(driven, panel);
  expect(dropped).toBe(0);
  expect(files.find(({ kind }) => kind === 'main-db')!.vfs.xSync).toBeGreaterThan(40);
  // again, without a prompt
  await startRecording(panel);
  await recorded(page);
  await stopRecording(panel);
});

longTest('access to all sites is asked for where the user wants it', async () => {
  const panel = await opened(nextOrigin());
  await willAllow('*://*/*');
  await panel.press('allow-all');
  await recorded(page);
  expect(await origins()).toEqual(['*://*/*']);
  await stopRecording(panel);
});

test('without an answer no script runs', async () => {
  const panel = await opened(nextOrigin());
  await panel.press('record-empty');
  await panel.frame.waitForFunction(
    () => document.querySelector<HTMLButtonElement>('[data-testid="record-empty"]')?.disabled,
    {
      polling: 50,
    },
  );
  expect([await hooked(), await origins()]).toEqual([false, []]);
});

longTest('the Lab asks for access to the page whose database it is to copy', async () => {
  const origin = nextOrigin();
  await goTo(page, origin + APP);
  await state(page, 'ready');
  await page.bringToFront();
  const tab = await ours.evaluate(async () => (await chrome.tabs.query({ active: true }))[0]!.id);
  const lab = await driven.browser.newPage();
  await goTo(
    lab,
    `chrome-extension://${driven.extensionId}/lab/lab.html?page=${tab}&site=${encodeURIComponent(origin)}`,
  );
  const button = (await lab.waitForSelector('[data-testid="page-withheld"] button'))!;
  expect(await button.evaluate((b) => b.textContent)).toBe(
    `Allow http://${new URL(origin).hostname} (any port)`,
  );
  await willAllow(patternOf(origin));
  await button.click();
  await lab.waitForSelector('[data-testid="page-databases"]');
  await lab.close();
});

test('access revoked during a recording: reported, and the recording is intact', async () => {
  const origin = nextOrigin();
  const panel = await opened(origin);
  await willAllow(patternOf(origin));
  await startRecording(panel);
  await recorded(page);
  await state(page, 'ready');
  await inserts(40);
  await moreEvents(panel);
  await takeBack();
  await says(panel, 'vfscope no longer has access to http://permissions');
  await stopRecording(panel);
  const { files, dropped } = await savedSummary(driven, panel);
  expect(dropped).toBe(0);
  expect(files.find(({ kind }) => kind === 'main-db')!.vfs.xSync).toBeGreaterThan(40);
});

test('a frame and a page of other origins are named with an offer, and recorded once they are allowed and reloaded', async () => {
  const [origin, inner, next] = [nextOrigin(), nextOrigin(), nextOrigin()];
  const panel = await opened(origin);
  await willAllow(patternOf(origin));
  await startRecording(panel);
  await recorded(page);
  const addFrame = (url: string): Promise<unknown> =>
    page.evaluate(
      (src) =>
        new Promise<void>((done) => {
          const frame = Object.assign(document.createElement('iframe'), {
            src,
            onload: () => done(),
          });
          document.body.append(frame);
        }),
      url,
    );
  await addFrame(inner + APP);
  const name = (of: string): string => new URL(of).hostname;
  await says(panel, `Frames from http://${name(inner)} \\(any port\\) aren't recorded`);
  const frame = (): Frame => page.frames().find((f) => f.url().startsWith(inner))!;
  expect(await hooked(frame())).toBe(false);
  await willAllow(patternOf(inner));
  await panel.press('allow-sites');
  await says(panel, `Reload the page to record http://${name(inner)}`);
  await page.reload();
  await saysNoLonger(panel, 'Reload the page to record');
  await recorded(page);
  await addFrame(inner + APP);
  await frame().waitForFunction(() => Symbol.for('vfscope.thread') in globalThis, { polling: 50 });

  await goTo(page, next + APP);
  await says(panel, `no access to http://${name(next)}`);
  expect(await hooked()).toBe(false);
  await willAllow(patternOf(next));
  await panel.press('allow-sites');
  await says(panel, `Reload the page to record http://${name(next)}`);
  await page.reload();
  await recorded(page);
  await stopRecording(panel);
});
