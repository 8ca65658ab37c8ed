/**
 * The extension built for Firefox, in a real Firefox, with the real panel in its toolbox. Shared by
 * Firefox's tests.
 */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { launchFirefox, type DrivenFirefox, type FirefoxOptions } from '../../src/drive/firefox.ts';
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { FirefoxPanel } from '../../src/drive/firefox-panel.ts';
import { createServer, type AppServer } from '../server/server.mjs';

/** Built by `npm run build`, or into another folder with VFSCOPE_DIST. */
export const FIREFOX_EXTENSION = path.join(process.env['VFSCOPE_DIST'] ?? 'dist', 'firefox');

export const launchInFirefox = (options: Partial<FirefoxOptions> = {}): Promise<DrivenFirefox> =>
  launchFirefox({ extension: FIREFOX_EXTENSION, ...options });

export interface Tab {
  page: Page;
  panel: FirefoxPanel;
}

/**
 * Replaces every other tab with a new one that has the panel in its toolbox. Recordings and hanging
 * pages of the others end with them, and the extension's background sees it as if the user had
 * closed the tabs.
 */
export async function freshTab(driven: DrivenFirefox): Promise<Tab> {
  const page = await driven.browser.newPage();
  await page.bringToFront();
  // from the browser's side, because a page that hangs can't close itself
  await driven.chrome.run(
    `for (const tab of [...gBrowser.tabs]) if (tab !== gBrowser.selectedTab) gBrowser.removeTab(tab, { skipPermitUnload: true });
     for (const end = Date.now() + args[0]; [...extension.extension.views].some((v) => v.viewType === 'devtools_panel'); ) {
       if (Date.now() > end) throw new Error('a panel outlived its tab');
       await new Promise((done) => setTimeout(done, 25));
     }`,
    30_000,
  );
  return { page, panel: await driven.openPanel(page) };
}

/**
 * Firefox drops a temporary extension with its address and its storage when it exits; with these
 * preferences, the next Firefox finds them.
 */
export const KEEPS_EXTENSION = {
  'extensions.webextensions.keepUuidOnUninstall': true,
  'extensions.webextensions.keepStorageOnUninstall': true,
};

/**
 * One Firefox and one server for all tests of a file, and a tab with its panel for each. @param
 * onTab receives them before each test
 */
export function inFirefox(
  onTab: (of: Tab & { driven: DrivenFirefox; server: AppServer }) => void,
): void {
  let server: AppServer;
  let driven: DrivenFirefox;
  beforeAll(async () => {
    [server, driven] = await Promise.all([createServer(), launchInFirefox()]);
  });
  afterAll(async () => {
    await driven?.close();
    await server?.close();
  });
  beforeEach(async () => onTab({ ...(await freshTab(driven)), driven, server }));
}

/** Like the user's switch in about:addons: allow or revoke the extension's access to web pages. */
export async function siteAccessInFirefox(driven: DrivenFirefox, granted: boolean): Promise<void> {
  await driven.chrome.run(
    `const { ExtensionPermissions } = ChromeUtils.importESModule('resource://gre/modules/ExtensionPermissions.sys.mjs');
     await ExtensionPermissions[args[0]](extension.id, { permissions: [], origins: ['*://*/*'] }, extension.extension);`,
    granted ? 'add' : 'remove',
  );
}

/** The kernel's information about a process. `stat`: "pid (name) state parent ..." */
const proc = (pid: number, file: string): Promise<string> =>
  readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');

/**
 * End the process of all extensions of this Firefox, as a crash does. Resolves when it has ended.
 * Linux only.
 * @returns its id
 */
export async function killExtensionProcess({ browser }: DrivenFirefox): Promise<number> {
  const parents = new Map<number, number>();
  for (const pid of (await readdir('/proc')).map(Number).filter((n) => n > 0)) {
    const [, parent] = /^\d+ \(.*\) \S (\d+)/s.exec(await proc(pid, 'stat')) ?? [];
    if (parent) parents.set(pid, Number(parent));
  }
  const root = browser.process()!.pid!;
  const ofOurs = (pid: number | undefined): boolean =>
    pid !== undefined && (pid === root || ofOurs(parents.get(pid)));
  const found: number[] = [];
  for (const pid of parents.keys())
    if (ofOurs(pid) && (await proc(pid, 'comm')).trim() === 'WebExtensions') found.push(pid);
  const [pid, ...others] = found;
  if (pid === undefined || others.length)
    throw new Error(`processes of extensions below ${root}: ${found.join(', ') || 'none'}`);
  process.kill(pid, 'SIGKILL');
  for (const end = Date.now() + 10_000; !/^$|\) Z /.test(await proc(pid, 'stat')); await delay(20))
    if (Date.now() > end) throw new Error(`process ${pid} did not end`);
  return pid;
}

/** The panel's notices as the user reads them, expanded. */
export const noticesIn = (panel: FirefoxPanel): Promise<string[]> =>
  panel.evaluate(`
    document.querySelector('[data-testid="open-notices"][aria-expanded="false"]')?.click();
    await new Promise((done) => setTimeout(done));
    return [...document.querySelectorAll('[data-testid="notice"]')].map((e) => e.innerText.trim());
  `) as Promise<string[]>;

/** Waits until the panel shows a matching notice. @returns its text */
export async function noticeIn(panel: FirefoxPanel, like: RegExp): Promise<string> {
  for (const end = Date.now() + 15_000; ;) {
    const all = await noticesIn(panel);
    const found = all.find((text) => like.test(text));
    if (found !== undefined) return found;
    if (Date.now() > end)
      throw new Error(`no notice like ${String(like)} within 15 s; there are:\n${all.join('\n')}`);
    await panel.evaluate(`
      for (const end = Date.now() + 1000; Date.now() < end; await new Promise((done) => setTimeout(done, 50)))
        if (document.querySelectorAll('[data-testid="notice"]').length !== ${all.length}) return;
    `);
  }
}

/**
 * Waits until everything that the page has done is in the panel: its count of events hasn't changed
 * for a while. A terminated worker's unsent records are lost (50 ms at most).
 * @throws if the page never becomes idle
 */
export async function arrived(panel: FirefoxPanel, page: Page): Promise<void> {
  // in that case the page itself reads what its workers have written
  if (await page.evaluate(() => crossOriginIsolated)) return;
  await panel.evaluate(`
    const end = Date.now() + 20000;
    const count = () => document.querySelector('[data-testid="live-events"]')?.parentElement?.title ?? '';
    for (let last = count(), same = 0; same < 12; ) {
      await new Promise((done) => setTimeout(done, 50));
      const now = count();
      same = now === last ? same + 1 : 0;
      last = now;
      if (Date.now() > end) throw new Error('events went on arriving for 20 s');
    }`);
}
