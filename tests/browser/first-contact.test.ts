/**
 * What a user sees before the first recording: the welcome page after an installation, the popup,
 * the settings. Also by keyboard.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { openPanel, type Panel } from '../../src/drive/panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { BUFFER_KIB, CAPTURE_DEFAULTS, CAPTURED_LAYERS } from '../../src/event/capture.ts';
import { captureScripts } from '../../src/protocol/capture.ts';
import { prepareApp, runApp } from '../oracle/baseline.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { EXTENSION, launch } from './extension-harness.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const polling = 50;
let driven: DrivenBrowser;
let axe: string;
const address = (path: string): string => `chrome-extension://${driven.extensionId}/${path}`;

beforeAll(async () => {
  driven = await launch({ welcome: true });
  axe = await readFile(AXE, 'utf8');
});
afterAll(async () => {
  await driven?.close();
});

const ready = (page: Page): Promise<unknown> =>
  page.waitForFunction(() => document.documentElement.dataset['ready'] === 'true', { polling });
/** Tabs that show the welcome page. */
const welcomes = () =>
  driven.browser
    .targets()
    .filter((t) => t.type() === 'page' && t.url() === address('devtools/welcome.html'));

async function open(
  path: string,
  dark = false,
  width = path.includes('popup') ? 340 : 900,
): Promise<Page> {
  const page = await driven.browser.newPage();
  await page.setViewport({ width, height: path.includes('popup') ? 400 : 900 });
  await page.emulateMediaFeatures([
    { name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' },
  ]);
  await page.goto(address(path));
  await ready(page);
  return page;
}

/** Where the focus is after each press of Tab, until it is back at the start. */
async function focusOrder(page: Page): Promise<string[]> {
  const seen: string[] = [];
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press('Tab');
    const name = await page.evaluate(() => {
      const at = document.activeElement;
      return at === null || at === document.body ? '' : at.id || at.textContent.trim();
    });
    if (name === '' || seen.includes(name)) return seen;
    seen.push(name);
  }
  return seen;
}

const storage = (page: Page): Promise<Record<string, unknown>> =>
  page.evaluate(() => chrome.storage.local.get(null));

describe('the welcome page', () => {
  test('opens once, after an installation', async () => {
    const target = await driven.browser.waitForTarget(
      (t) => t.url() === address('devtools/welcome.html'),
      { timeout: 30_000 },
    );
    const page = (await target.page())!;
    await ready(page);
    expect(welcomes()).toHaveLength(1);
    expect(await page.$eval('h1', (h) => h.textContent)).toMatch(
      /every read, write, lock, and sync/,
    );
    // in a development installation it doesn't open over the current page
    expect(await page.evaluate(async () => (await chrome.tabs.getCurrent())?.active)).toBe(false);
    expect(await page.$eval('picture img', (image) => (image as HTMLImageElement).complete)).toBe(
      true,
    );
    await page.close();
  });

  test('explains how to begin: the Lab, or the keys of DevTools', async () => {
    const page = await open('devtools/welcome.html');
    expect(await page.$eval('#keys', (keys) => keys.textContent)).toMatch(
      /^Ctrl\+Shift\+I$|^⌥\+⌘\+I$/,
    );
    expect(await focusOrder(page)).toEqual(['Open an example', 'Try the Lab', 'Settings']);
    expect(
      await page.$eval('picture img', (image) => (image as HTMLImageElement).naturalWidth),
    ).toBe(1280);
    await page.focus('.button:nth-of-type(2)');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.title === 'vfscope Lab', { polling });
    await page.close();
  });

  test('opens an example, a recording that is part of the extension', async () => {
    const page = await open('devtools/welcome.html');
    await page.click('.button');
    await page.waitForFunction(
      () =>
        document.querySelector('[data-testid="answer"]')?.textContent?.startsWith('SQLite kept'),
      { polling },
    );
    expect(await page.$eval('[data-testid="file-name"]', (e) => e.textContent)).toMatch(/^example/);
    await page.close();
  });
});

describe('the settings', () => {
  test('each option has its script in the extension', () => {
    const choices = [
      ...([0, 1, 2, 3] as const).map((capture) => ({ capture })),
      ...CAPTURED_LAYERS.map((layer) => ({ layers: [layer] })),
      ...BUFFER_KIB.map((buffer) => ({ buffer })),
      { stacks: true },
      { messages: true },
      { instructions: true },
    ];
    const scripts = new Set(
      choices.flatMap((choice) => captureScripts({ ...CAPTURE_DEFAULTS, ...choice })),
    );
    expect(scripts.size).toBe(3 + CAPTURED_LAYERS.length + BUFFER_KIB.length - 1 + 3);
    expect([...scripts].filter((script) => !existsSync(join(EXTENSION, script)))).toEqual([]);
  });
  test('are stored under the names that the recorder and the panel read', async () => {
    const page = await open('devtools/options.html');
    expect(await page.$eval('#capture-1', (radio) => (radio as HTMLInputElement).checked)).toBe(
      true,
    );
    await page.click('#capture-3');
    await page.waitForFunction(
      () => document.querySelector<HTMLInputElement>('#capture-3')?.checked,
      { polling },
    );
    await page.select('#buffer', '4096');
    await page.waitForFunction(
      () => document.querySelector<HTMLSelectElement>('#buffer')?.value === '4096',
      { polling },
    );
    await page.click('#layer-web');
    await page.waitForFunction(
      () => document.querySelector<HTMLInputElement>('#layer-web')?.checked === false,
      { polling },
    );
    expect(await storage(page)).toEqual({
      capture: 3,
      buffer: 4096,
      layers: ['sql', 'vfs', 'query'],
    });
    await page.evaluate((values) => chrome.storage.local.set(values), {
      ...CAPTURE_DEFAULTS,
    } as Record<string, unknown>);
    // changed elsewhere, and shown here
    await page.waitForFunction(
      () => document.querySelector<HTMLInputElement>('#capture-1')?.checked,
      { polling },
    );
    expect(await page.$eval('#buffer', (select) => (select as HTMLSelectElement).value)).toBe(
      String(CAPTURE_DEFAULTS.buffer),
    );
    await page.close();
  });

  test('can be changed by keyboard alone, and the focus stays', async () => {
    const page = await open('devtools/options.html');
    expect(await focusOrder(page)).toEqual([
      'capture-1',
      'layer-sql',
      'layer-vfs',
      'layer-web',
      'layer-query',
      'stacks',
      'messages',
      'instructions',
      'buffer',
    ]);
    await page.focus('#capture-1');
    await page.keyboard.press('ArrowDown');
    await page.waitForFunction(
      () => document.querySelector<HTMLInputElement>('#capture-2')?.checked,
      { polling },
    );
    await page.waitForFunction(() => document.activeElement?.id === 'capture-2', { polling });
    await page.waitForFunction(() => document.querySelector('#outcome')?.textContent === 'Saved.', {
      polling,
    });
    expect((await storage(page))['capture']).toBe(2);
    await page.evaluate(() => chrome.storage.local.clear());
    await page.close();
  });
});

/** What axe-core finds, and text that needs horizontal scrolling. */
async function faultsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() =>
    (window as unknown as { axe: { run(options: RunOptions): Promise<AxeResults> } }).axe.run({
      resultTypes: ['violations'],
    }),
  );
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  return [
    ...violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map((n) => n.target.join(' ')).join(', ')}`,
    ),
    ...(overflow > 0 ? [`${overflow} px wider than the window`] : []),
  ];
}
/** The app writes a database, and closes it. */
async function runAndEnd(app: Page): Promise<void> {
  await app.waitForFunction(() => document.body.dataset['state'] === 'ready', { polling });
  await prepareApp(app);
  await runApp(app, 'standard', { n: 20 });
  await app.evaluate(() => (window as unknown as { shutdown(): void }).shutdown());
}
/** With PICTURES=<folder>, saves the tested pages as pictures. */
async function keepPicture(page: Page, name: string): Promise<void> {
  const folder = process.env['PICTURES'];
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

describe('the popup', () => {
  let server: AppServer;
  let app: Page;
  let panel: Panel;
  beforeAll(async () => {
    server = await createServer();
    app = await driven.browser.newPage();
    panel = await openPanel(app);
  });
  afterAll(async () => {
    await app?.close();
    await server?.close();
  });

  /** In both colors, with the faults of each. @returns its text */
  async function popupOn(name: string, url?: string): Promise<string> {
    if (url) await app.goto(url);
    let text = '';
    for (const dark of [false, true]) {
      // this page has access to the tabs, and isn't itself recorded
      const popup = await open('devtools/options.html', dark, 340);
      const id = await popup.evaluate(
        async (of) => (await chrome.tabs.query({})).find((tab) => tab.url === of)?.id,
        app.url(),
      );
      await popup.goto(address(`devtools/popup.html?tab=${id}`));
      await ready(popup);
      await keepPicture(popup, `popup-${name}-${dark ? 'dark' : 'light'}`);
      expect(await faultsOf(popup)).toEqual([]);
      text = await popup.evaluate(() => document.body.innerText);
      await popup.close();
    }
    return text;
  }

  test('on a page that stores nothing', async () => {
    const text = await popupOn(
      'nothing',
      `${server.origin('popup-nothing')}/hook-cases/frames.html`,
    );
    expect(text).toMatch(/This origin stores nothing/);
    expect(text).toMatch(/Record in its own window[\s\S]*Or open DevTools/);
  });

  test('on an app with SQLite, while it is recorded, and after', async () => {
    const url = `${server.origin('popup-sqlite')}/journeyapps-wa-sqlite/?vfs=AccessHandlePool`;
    await app.goto(url);
    await runAndEnd(app);
    expect(await popupOn('sqlite')).toMatch(
      /Files \(OPFS\)[\s\S]*SQLite[\s\S]*Record in its own window/,
    );
    await startRecording(panel);
    const recording = await popupOn('recording');
    expect(recording).toMatch(
      /This tab has been recorded since \d+:\d+.*Press Stop in its vfscope panel/,
    );
    expect(recording).not.toMatch(/Record in/);
    await stopRecording(panel);
    expect(await popupOn('after')).toMatch(/Record in its own window/);
  });

  test('on a page of the browser', async () => {
    expect(await popupOn('not-recordable', address('devtools/welcome.html'))).toMatch(
      /can't access chrome-extension:/,
    );
  });
});

describe.each(['light', 'dark'])('in %s colors', (theme) => {
  const pages = ['welcome', 'options', 'access'].flatMap((name) =>
    [360, 1280].map((width) => [name, width] as const),
  );
  test.each(pages)(
    '%s at %i px: axe-core finds nothing, and nothing is cut off',
    async (name, width) => {
      const page = await open(`devtools/${name}.html`, theme === 'dark', width);
      await keepPicture(page, `${name}-${theme}-${width}`);
      expect(await faultsOf(page)).toEqual([]);
      await page.close();
    },
  );
});

// the last test, because the extension's pages close with it
test("the welcome page doesn't open after an update or a reload", async () => {
  const settings = await driven.browser.newPage();
  await settings.goto('chrome://extensions/');
  interface Developer {
    updateProfileConfiguration(change: { inDeveloperMode: boolean }): Promise<void>;
    reload(id: string): Promise<void>;
  }
  await settings.evaluate(async (id) => {
    const { developerPrivate } = chrome as unknown as { developerPrivate: Developer };
    // otherwise it stays off after a reload
    await developerPrivate.updateProfileConfiguration({ inDeveloperMode: true });
    await developerPrivate.reload(id);
  }, driven.extensionId);
  const page = await open('devtools/options.html');
  // the background has answered, so it knows why it was started
  expect(
    await page.evaluate(() =>
      chrome.runtime
        .sendMessage({ k: 'recorded?' })
        .then((answer: { recorded: boolean }) => answer.recorded),
    ),
  ).toBe(false);
  expect(welcomes()).toHaveLength(0);
});
