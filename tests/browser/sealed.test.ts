/**
 * The extension's boundaries in Chromium: no page, recorded or not, can load any of its files, and
 * its own pages load nothing from elsewhere.
 */
import { showView } from './show-view.ts';
import { readdirSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { Frame, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { openPanel, openPanelTab } from '../../src/drive/panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { some } from '../full.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import {
  EXTENSION,
  launch,
  liveNumber,
  recorded,
  savedSummary,
  state,
} from './extension-harness.ts';

let server: AppServer;
let driven: DrivenBrowser;

beforeAll(async () => {
  [server, driven] = await Promise.all([createServer(), launch()]);
});
afterAll(async () => {
  await driven?.close();
  await server?.close();
});

const FILES = readdirSync(EXTENSION, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => path.relative(EXTENSION, path.join(entry.parentPath, entry.name)))
  .concat('handover/frame/0123456789abcdef.html'); // one that no content script received

/** Runs in a page: the extension's files that it can load in any way. */
async function found(extensionId: string, files: string[]): Promise<string[]> {
  const got: string[] = [];
  const attempt = async (
    file: string,
    how: string,
    load: (url: string) => Promise<unknown>,
  ): Promise<void> => {
    try {
      await load(`chrome-extension://${extensionId}/${file}`);
      got.push(`${how} ${file}`);
    } catch {
      // as it should be
    }
  };
  const element = (tag: string, attribute: string) => (url: string) =>
    new Promise((loaded, failed) => {
      const made = document.createElement(tag);
      Object.assign(
        made,
        { onload: loaded, onerror: failed, [attribute]: url },
        tag === 'link' ? { rel: 'stylesheet' } : {},
      );
      document.head.append(made);
    });
  for (const file of files) {
    await attempt(file, 'fetch', (url) => fetch(url));
    await attempt(file, 'fetch no-cors', (url) => fetch(url, { mode: 'no-cors' }));
    if (/\.js$/.test(file)) await attempt(file, 'import', (url) => import(url));
    if (/\.js$/.test(file)) await attempt(file, 'script', element('script', 'src'));
    if (/\.css$/.test(file)) await attempt(file, 'link', element('link', 'href'));
    if (/\.png$/.test(file)) await attempt(file, 'img', element('img', 'src'));
  }
  return got;
}
/**
 * The extension's pages in frames of a page. Chromium shows an error in each that it refuses.
 * @returns those that it doesn't refuse
 */
async function framed(page: Page): Promise<string[]> {
  const pages = FILES.filter((file) => file.endsWith('.html'));
  const shown: string[] = [];
  for (const file of pages) {
    const handle = await page.evaluateHandle(
      (src) =>
        new Promise<HTMLIFrameElement>((done) => {
          const frame = document.createElement('iframe');
          frame.onload = () => done(frame);
          frame.src = src;
          document.body.append(frame);
        }),
      `chrome-extension://${driven.extensionId}/${file}`,
    );
    const frame: Frame = await handle.contentFrame();
    if (!frame.url().startsWith('chrome-error://')) shown.push(file);
    await handle.evaluate((element) => element.remove());
  }
  return shown;
}

describe.each(
  some([
    ['a page', ''],
    ['a cross-origin isolated page', '/coi'],
  ] as const),
)('%s', (_, variant) => {
  test("can't detect the extension by loading its files, recorded or not, and ports are still handed over", () =>
    sealed(variant));
});

async function sealed(variant: string): Promise<void> {
  expect(FILES).toContain('handover/frame.html');
  const page = await driven.browser.newPage();
  const origin = server.origin(`sealed${variant.slice(1)}`) + variant;
  const nothing = async (): Promise<void> => {
    expect(await page.evaluate(found, driven.extensionId, FILES)).toEqual([]);
    expect(await framed(page)).toEqual([]);
  };
  await page.goto(`${origin}/journeyapps-wa-sqlite/?vfs=AccessHandlePool`);
  await state(page, 'ready');
  await nothing();
  const ours = await driven.browser.newPage();
  await ours.goto(`chrome-extension://${driven.extensionId}/devtools/options.html`);
  // instead, a page whose port can't be handed over connects to every page of ours
  await ours.evaluate(() => {
    const ports: string[] = [];
    Object.assign(globalThis, { ports });
    chrome.runtime.onConnect.addListener(({ name }) => ports.push(name));
  });
  await page.bringToFront();
  const panel = await openPanel(page);
  await startRecording(panel);
  await recorded(page);
  await state(page, 'ready');
  await page.evaluate(() =>
    (window as unknown as { run(w: string, o: object): Promise<unknown> }).run('own-sql', {
      n: 40,
    }),
  );
  await liveNumber(panel, 'syncs', 123);
  await nothing();
  await stopRecording(panel);
  expect((await savedSummary(driven, panel)).dropped).toBe(0);
  expect(
    await ours.evaluate(() =>
      (globalThis as unknown as { ports: string[] }).ports.filter((name) =>
        name.startsWith('relay:'),
      ),
    ),
  ).toEqual([]);
  await page.close();
  await ours.close();
}

interface Refused {
  violations: string[];
}
/**
 * Runs before a page's own scripts: lists what its policy refuses, as `directive blocked-address`.
 */
const listen = (): void => {
  const violations: string[] = [];
  Object.assign(globalThis, { violations });
  addEventListener('securitypolicyviolation', (e) =>
    violations.push(`${e.effectiveDirective} ${e.blockedURI}`),
  );
};
const violations = (page: Page): Promise<string[]> =>
  page.evaluate(() => (globalThis as unknown as Refused).violations);

const TRACE = 'tests/traces/golden/checkpoint-storm.vfst';
const VIEWS = [
  'answer',
  'timeline',
  'transactions',
  'statements',
  'flame',
  'files',
  'locks',
  'cache',
  'wal',
  'doctor',
  'events',
  'errors',
  'sql',
  'compare',
  'settings',
];

test('our own pages need nothing that their policy refuses', async () => {
  const page = await driven.browser.newPage();
  await page.evaluateOnNewDocument(listen);
  for (const name of [
    'devtools/options',
    'devtools/welcome',
    'devtools/access',
    'devtools/popup',
    'lab/lab',
  ]) {
    await page.goto(`chrome-extension://${driven.extensionId}/${name}.html`);
    await page.waitForFunction(() => document.documentElement.dataset['ready'] === 'true', {
      polling: 50,
    });
    expect(await violations(page), name).toEqual([]);
  }
  const panel = await openPanelTab(page, driven.extensionId);
  await panel.open(TRACE);
  // before that, a pressed button may move away from the pointer
  await page.waitForSelector('[data-testid="file-name"]');
  for (const view of VIEWS) {
    await showView(panel, view);
    await page.waitForFunction(() => !document.querySelector('[data-waiting]'), { polling: 50 });
    expect(await violations(page), view).toEqual([]);
  }
  await page.close();
});

test('our own pages load nothing of another origin, and send nothing there', async () => {
  const page = await driven.browser.newPage();
  await page.evaluateOnNewDocument(listen);
  await page.goto(`chrome-extension://${driven.extensionId}/devtools/options.html`);
  const requested: string[] = [];
  const other = http.createServer(
    ({ url }, response) => void (requested.push(url!), response.end()),
  );
  await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
  const to = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  await page.evaluate(async (elsewhere) => {
    const add = (tag: string, values: object): HTMLElement => {
      const element = Object.assign(document.createElement(tag), values);
      document.body.append(element);
      return element;
    };
    add('img', { src: `${elsewhere}/img` });
    add('iframe', { src: `${elsewhere}/frame` });
    add('video', { src: `${elsewhere}/media` });
    add('object', { data: `${elsewhere}/object` });
    add('link', { rel: 'stylesheet', href: `${elsewhere}/style` });
    add('script', { src: `${elsewhere}/script` });
    add('base', { href: `${elsewhere}/base` });
    (add('form', { action: `${elsewhere}/form`, method: 'post' }) as HTMLFormElement).submit();
    navigator.sendBeacon(`${elsewhere}/beacon`, 'x');
    await fetch(`${elsewhere}/fetch`).catch(() => undefined);
    await new FontFace('x', `url(${elsewhere}/font)`).load().catch(() => undefined);
  }, to);
  const refused = [
    'base-uri',
    'connect-src',
    'font-src',
    'form-action',
    'frame-src',
    'img-src',
    'media-src',
    'object-src',
    'script-src-elem',
    'style-src-elem',
  ];
  await expect
    .poll(
      async () => [...new Set((await violations(page)).map((text) => text.split(' ')[0]))].sort(),
      { timeout: 30_000 },
    )
    .toEqual(refused);
  await page.close();
  other.close();
  expect(requested).toEqual([]);
});
