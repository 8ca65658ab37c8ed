/**
 * Popup, settings, welcome page, and access page by keyboard in Chromium: the Tab order and that
 * focus can leave the page, each stop's name for screen readers, its focus ring, and what Enter,
 * Space, and Escape do. (In Firefox: firefox-keyboard.test.ts.)
 */
import type { Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { launch } from './extension-harness.ts';
import { ACCESS_ASKED, focusedIn, ORDER, walk, type Stop } from './keyboard-walk.ts';

const polling = 50;
let server: AppServer;
let driven: DrivenBrowser;
let page: Page;

beforeAll(async () => {
  [server, driven] = await Promise.all([createServer(), launch()]);
});
afterAll(async () => {
  await driven?.close();
  await server?.close();
});
afterEach(async () => {
  await page?.evaluate(() => chrome.storage.local.clear());
  for (const other of await driven.browser.pages()) if (other !== app) await other.close();
});

let app: Page;
const address = (path: string): string =>
  `chrome-extension://${driven.extensionId}/devtools/${path}`;
/** Shows a page of the extension, or the popup for an app in another tab. */
async function show(name: keyof typeof ORDER): Promise<void> {
  app ??= await driven.firstPage();
  page = await driven.browser.newPage();
  if (name === 'popup') {
    await app.goto(`${server.origin('keyboard')}/hook-cases/frames.html`);
    await page.goto(address('options.html')); // this page has access to the tabs
    const id = await page.evaluate(
      async (url) => (await chrome.tabs.query({})).find((tab) => tab.url === url)?.id,
      app.url(),
    );
    await page.goto(address(`popup.html?tab=${id}`));
  } else await page.goto(address(`${name}.html${name === 'access' ? ACCESS_ASKED : ''}`));
  await page.waitForFunction(() => document.documentElement.dataset['ready'] === 'true', {
    polling,
  });
  if (name === 'access')
    await page.$$eval('button', (buttons) =>
      buttons.forEach((button) => (button.disabled = false)),
    ); // access can be granted here
}
const focused = (): Promise<Stop | null> =>
  page.evaluate(`(${String(focusedIn)})(document)`) as Promise<Stop | null>;
async function press(back: boolean): Promise<void> {
  if (back) await page.keyboard.down('Shift');
  await page.keyboard.press('Tab');
  if (back) await page.keyboard.up('Shift');
}
/** What the browser reports to a screen reader about the focused element. */
async function spoken(): Promise<[role: string, name: string]> {
  const session = await page.createCDPSession();
  const { result } = await session.send('Runtime.evaluate', {
    expression: 'document.activeElement',
  });
  const { nodes } = await session.send('Accessibility.getPartialAXTree', {
    objectId: result.objectId!,
    fetchRelatives: false,
  });
  await session.detach();
  return [nodes[0]!.role!.value as string, nodes[0]!.name!.value as string];
}
const opened = async (path: string): Promise<void> => {
  await driven.browser.waitForTarget((target) => target.url().endsWith(path), { timeout: 30_000 });
};
const kept = (key: string): Promise<unknown> =>
  page.evaluate(async (name) => (await chrome.storage.local.get(name))[name], key);
/** The setting is stored and shown, and the focus stays. */
async function becomes(key: string, value: unknown, at: string): Promise<void> {
  await expect.poll(() => kept(key)).toEqual(value);
  await page.waitForFunction(() => document.querySelector('#outcome')?.textContent === 'Saved.', {
    polling,
  });
  expect(await focused()).toEqual({ at, ring: true });
}

describe.each(Object.entries(ORDER) as [keyof typeof ORDER, (typeof ORDER)[keyof typeof ORDER]][])(
  '%s',
  (name, order) => {
    test('Tab reaches each control once, forward and backward, with a focus ring, and leaves the page', async () => {
      await show(name);
      const stops = order.map(([at]) => ({ at, ring: true }));
      expect(await walk(press, focused)).toEqual(stops);
      await show(name);
      expect(await walk(press, focused, true)).toEqual(stops.toReversed());
    });

    test('each control has a name and a role', async () => {
      await show(name);
      const heard: string[][] = [];
      for (let i = 0; i < order.length; i++) {
        await press(false);
        heard.push(await spoken());
      }
      expect(heard).toEqual(order.map(([, role, called]) => [role, called]));
    });
  },
);

describe('what keys do', () => {
  test.each([
    ['popup', 3, 'devtools/panel.html?example'],
    ['popup', 4, 'lab/lab.html'],
    ['popup', 5, 'devtools/options.html'],
    ['welcome', 1, 'devtools/panel.html?example'],
    ['welcome', 2, 'lab/lab.html'],
    ['welcome', 3, 'devtools/options.html'],
  ] as const)('Enter follows a link: %s, stop %i', async (name, stop, path) => {
    await show(name);
    for (let i = 0; i < stop; i++) await press(false);
    await page.keyboard.press('Enter');
    await opened(path);
  });

  test('settings: Space switches a layer, arrows choose level and buffer; Escape changes nothing, and the focus stays', async () => {
    await show('options');
    await press(false);
    await page.keyboard.press('ArrowUp');
    await becomes('capture', 0, 'capture-0');
    for (let i = 0; i < 3; i++) await press(false);
    await page.keyboard.press('Space');
    await becomes('layers', ['sql', 'vfs', 'query'], 'layer-web');
    await page.keyboard.press('Space');
    await becomes('layers', ['sql', 'vfs', 'web', 'query'], 'layer-web');
    await press(false);
    await press(false);
    await page.keyboard.press('Space');
    await becomes('stacks', true, 'stacks');
    await press(false);
    await page.keyboard.press('Space');
    await becomes('messages', true, 'messages');
    await press(false);
    await page.keyboard.press('Space');
    await becomes('instructions', true, 'instructions');
    await press(false);
    const before = Number(
      await page.$eval('#buffer', (select) => (select as HTMLSelectElement).value),
    );
    await page.keyboard.press('ArrowDown');
    await becomes('buffer', before * 2, 'buffer');
    await page.keyboard.press('Escape');
    expect(await kept('buffer')).toBe(before * 2);
    expect(await focused()).toEqual({ at: 'buffer', ring: true });
  });

  test.each(['Enter', 'Space'] as const)(
    'access: %s asks the browser; then the focus is on what it says',
    async (key) => {
      await show('access');
      await page.evaluate(() => {
        chrome.permissions.request = (() =>
          Promise.resolve(true)) as typeof chrome.permissions.request; // the user confirms
      });
      await press(false);
      await page.keyboard.press(key);
      await page.waitForFunction(
        () => document.querySelector<HTMLButtonElement>('#allow')!.disabled,
        { polling },
      );
      expect((await focused())?.at).toBe('outcome');
      expect(await page.$eval('#outcome', (p) => p.textContent)).toMatch(/^Access allowed/);
      expect(await walk(press, focused)).toEqual([]); // no button is left
    },
  );
});
