/**
 * Popup, settings, welcome page, and access page by keyboard in Firefox; the popup is opened by its
 * button. Checks the Tab order and that focus can leave the page, each stop's name for screen
 * readers, its focus ring, and what Enter, Space, and Escape do.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { DrivenFirefox } from '../../src/drive/firefox.ts';
import type { View } from '../../src/drive/firefox-chrome.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { launchInFirefox } from './firefox-harness.ts';
import { ACCESS_ASKED, focusedIn, ORDER, walk, type Stop } from './keyboard-walk.ts';

let server: AppServer;
let driven: DrivenFirefox;
/** The page under test. */
let view: View;

beforeAll(async () => {
  [server, driven] = await Promise.all([createServer(), launchInFirefox()]);
});
afterAll(async () => {
  await driven?.close();
  await server?.close();
});

afterEach(async () => {
  // a popup that a failure left open keeps the focus
  await driven.chrome.run(
    `for (const view of extension.extension.views) if (view.viewType === 'popup') view.xulBrowser.closest('panel').hidePopup();`,
  );
});

/** Firefox's names of the roles. */
const ROLES: Record<string, string> = {
  radiobutton: 'radio',
  checkbutton: 'checkbox',
  pushbutton: 'button',
};
const KEYS: Record<string, [code: string, keyCode: number]> = {
  Tab: ['Tab', 9],
  Enter: ['Enter', 13],
  Escape: ['Escape', 27],
  ' ': ['Space', 32],
  ArrowUp: ['ArrowUp', 38],
  ArrowDown: ['ArrowDown', 40],
};
const inPage = (body: string, ...args: unknown[]): Promise<unknown> =>
  driven.chrome.inView(view, body, ...args);
/** Resolves when the expression in the page is truthy. */
const until = (condition: string): Promise<unknown> =>
  expect.poll(() => inPage(`return ${condition}`), { timeout: 30_000 }).toBeTruthy();

/** Shows a page of the extension in the only tab, or the popup over an app. */
async function show(name: keyof typeof ORDER): Promise<void> {
  if (name === 'popup') {
    const app = await driven.browser.newPage();
    await driven.load(app, `${server.origin('keyboard')}/hook-cases/frames.html`);
    await app.bringToFront();
    await driven.chrome.run(
      `const { ExtensionParent } = ChromeUtils.importESModule('resource://gre/modules/ExtensionParent.sys.mjs');
       await ExtensionParent.apiManager.asyncLoadModule('browserAction');
       await ExtensionParent.apiManager.global.browserActionFor(extension.extension).openPopup(window, true);
       // its page is loaded in another browser element first, where queries get no answer
       const isShown = ({ viewType, xulBrowser }) => viewType === 'popup' && xulBrowser.closest('panel')?.state === 'open';
       for (const end = Date.now() + args[0]; ![...extension.extension.views].some(isShown); await new Promise((done) => setTimeout(done, 25)))
         if (Date.now() > end) throw new Error('the popup does not open');`,
      20_000,
    );
    view = 'popup' as View;
  } else {
    await driven.chrome.run(
      `const tab = gBrowser.addTab(extension.getURL('devtools/' + args[0]), { triggeringPrincipal: Services.scriptSecurityManager.getSystemPrincipal() });
       gBrowser.selectedTab = tab;
       for (const other of [...gBrowser.tabs]) if (other !== tab) gBrowser.removeTab(other, { skipPermitUnload: true });`,
      `${name}.html${name === 'access' ? ACCESS_ASKED : ''}`,
    );
    view = 'tab';
  }
  await until(`document.documentElement.dataset.ready === 'true'`);
  // as a click does, or the first Tab in a popup
  await driven.chrome.run(
    `const popup = [...extension.extension.views].find(({ viewType }) => viewType === 'popup');
     (popup?.xulBrowser ?? gBrowser.selectedBrowser).focus();`,
  );
  await until('document.hasFocus()');
  if (name === 'access')
    await inPage(
      `for (const button of document.querySelectorAll('button')) button.disabled = false`,
    ); // access can be granted here
}
/** Sends a key to the browser's window, which forwards it to the page a little later. */
async function press(key: string, shift = false): Promise<void> {
  const [code, keyCode] = KEYS[key]!;
  await driven.chrome.run(
    `const [key, code, keyCode, shift] = args;
     const keyboard = Cc['@mozilla.org/text-input-processor;1'].createInstance(Ci.nsITextInputProcessor);
     if (!keyboard.beginInputTransactionForTests(window)) throw new Error('no keyboard');
     const held = new KeyboardEvent('', { key: 'Shift', code: 'ShiftLeft', keyCode: 16 });
     const pressed = new KeyboardEvent('', { key, code, keyCode });
     if (shift) keyboard.keydown(held);
     keyboard.keydown(pressed);
     keyboard.keyup(pressed);
     if (shift) keyboard.keyup(held);`,
    key,
    code,
    keyCode,
    shift,
  );
}
const focused = (): Promise<Stop | null> =>
  inPage(`return (${String(focusedIn)})(document)`) as Promise<Stop | null>;
/** Resolves when the focus is elsewhere, even if outside the page. */
async function tab(back: boolean): Promise<void> {
  const before = (await focused())?.at;
  await press('Tab', back);
  await expect.poll(async () => (await focused())?.at, { timeout: 30_000 }).not.toBe(before);
}
/** Escape closes a popup, and nothing else. */
async function leave(): Promise<void> {
  await press('Escape');
  if (view === 'tab')
    expect(await inPage('return document.documentElement.dataset.ready')).toBe('true');
  else await closed();
}
const urls = (): Promise<unknown> =>
  driven.chrome.run(`return gBrowser.tabs.map((tab) => tab.linkedBrowser.currentURI.spec)`);
/** Whether the popup is open. */
const isOpen = (): Promise<unknown> =>
  driven.chrome.run(
    `return [...extension.extension.views].some(({ viewType }) => viewType === 'popup')`,
  );
const closed = (): Promise<unknown> => expect.poll(isOpen, { timeout: 30_000 }).toBe(false);
/** What the browser reports to a screen reader about the focused element. */
async function spoken(): Promise<[role: string, name: string]> {
  const [role, name] = (await driven.chrome.frameScript(
    view,
    `const service = Cc['@mozilla.org/accessibilityService;1'].getService(Ci.nsIAccessibilityService);
     for (let i = 0; i < 200; i++) {
       const found = service.getAccessibleFor(content.document.activeElement);
       if (found) return [service.getStringRole(found.role), found.name];
       await new Promise((done) => content.setTimeout(done, 25));
     }
     throw new Error('nothing is said of it');`,
  )) as [string, string];
  return [ROLES[role] ?? role, name];
}

describe.each(Object.entries(ORDER) as [keyof typeof ORDER, (typeof ORDER)[keyof typeof ORDER]][])(
  '%s',
  (name, order) => {
    test('Tab reaches each control once, forward and backward, with a focus ring and a name, and leaves the page', async () => {
      await show(name);
      const stops = order.map(([at]) => ({ at, ring: true }));
      expect(await walk(tab, focused)).toEqual(stops);
      await leave();
      await show(name);
      expect(await walk(tab, focused, true)).toEqual(stops.toReversed());
      await leave();
      await show(name);
      const heard: string[][] = [];
      for (let i = 0; i < order.length; i++) {
        await tab(false);
        heard.push(await spoken());
      }
      expect(heard).toEqual(order.map(([, role, called]) => [role, called]));
      await leave();
    });
  },
);

describe('what keys do', () => {
  test('popup: Enter follows a link and closes it', async () => {
    await show('popup');
    for (let i = 0; i < 3; i++) await tab(false); // past two buttons
    await press('Enter');
    await expect
      .poll(urls, { timeout: 30_000 })
      .toContainEqual(expect.stringMatching(/\/devtools\/panel\.html\?example$/));
    await closed();
  });

  test('welcome: Enter follows a link', async () => {
    await show('welcome');
    for (let i = 0; i < 3; i++) await tab(false);
    await press('Enter');
    await expect
      .poll(urls, { timeout: 30_000 })
      .toContainEqual(expect.stringMatching(/\/devtools\/options\.html$/));
  });

  test('settings: Space switches a layer, arrows choose level and buffer; Escape changes nothing, and the focus stays', async () => {
    const becomes = async (key: string, value: unknown, at: string): Promise<void> => {
      await expect
        .poll(() => inPage('return (await browser.storage.local.get(args[0]))[args[0]]', key), {
          timeout: 30_000,
        })
        .toEqual(value);
      await expect.poll(focused, { timeout: 30_000 }).toEqual({ at, ring: true });
    };
    await show('options');
    await inPage('await browser.storage.local.clear()');
    await tab(false);
    await press('ArrowUp');
    await becomes('capture', 0, 'capture-0');
    for (let i = 0; i < 3; i++) await tab(false);
    await press(' ');
    await becomes('layers', ['sql', 'vfs', 'query'], 'layer-web');
    await press(' ');
    await becomes('layers', ['sql', 'vfs', 'web', 'query'], 'layer-web');
    for (let i = 0; i < 5; i++) await tab(false);
    const before = Number(await inPage(`return document.querySelector('#buffer').value`));
    await press('ArrowDown');
    await becomes('buffer', before * 2, 'buffer');
    await press('Escape');
    await becomes('buffer', before * 2, 'buffer');
    await inPage('await browser.storage.local.clear()');
  });

  test.each(['Enter', ' '])(
    'access: %j asks the browser; then the focus is on what it says',
    async (key) => {
      await show('access');
      await driven.chrome.run(
        `Services.prefs.setBoolPref('extensions.webextOptionalPermissionPrompts', false)`,
      ); // confirms
      await tab(false);
      await press(key);
      await until(
        `document.querySelector('#allow').disabled && document.activeElement.id === 'outcome'`,
      );
      expect(await inPage(`return document.querySelector('#outcome').textContent`)).toMatch(
        /^Access allowed/,
      );
    },
  );
});
