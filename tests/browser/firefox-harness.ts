/** The extension built for Firefox, in a real Firefox, with the real panel in its toolbox: what Firefox's tests share. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { launchFirefox, type DrivenFirefox, type FirefoxOptions } from '../../src/drive/firefox.ts';
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { FirefoxPanel } from '../../src/drive/firefox-panel.ts';
import { createServer, type AppServer } from '../server/server.mjs';

/** Built by `npm run build`, or into a folder of one's own with VFSCOPE_DIST. */
export const FIREFOX_EXTENSION = path.join(process.env['VFSCOPE_DIST'] ?? 'dist', 'firefox');

export const launchInFirefox = (options: Partial<FirefoxOptions> = {}): Promise<DrivenFirefox> =>
  launchFirefox({ extension: FIREFOX_EXTENSION, ...options });

export interface Tab {
  page: Page;
  panel: FirefoxPanel;
}

/**
 * A new tab with the panel in its toolbox, in the place of every other: what those recorded or hang in ends with them. The extension's
 * background learns of it as of any tab that a user closes.
 */
export async function freshTab(driven: DrivenFirefox): Promise<Tab> {
  const page = await driven.browser.newPage();
  await page.bringToFront();
  // from the browser's side: a page that does not answer cannot be asked to close
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

/** Firefox forgets an extension of the session, its address and its storage with it, when it ends; with these the next one finds them. */
export const KEEPS_EXTENSION = {
  'extensions.webextensions.keepUuidOnUninstall': true,
  'extensions.webextensions.keepStorageOnUninstall': true,
};

/** One Firefox and one server for all tests of a file, and a tab with its panel for each. @param onTab hands them over before each test */
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

/** What the user's switch on about:addons does: let the extension into web pages, or no longer. */
export async function siteAccessInFirefox(driven: DrivenFirefox, granted: boolean): Promise<void> {
  await driven.chrome.run(
    `const { ExtensionPermissions } = ChromeUtils.importESModule('resource://gre/modules/ExtensionPermissions.sys.mjs');
     await ExtensionPermissions[args[0]](extension.id, { permissions: [], origins: ['*://*/*'] }, extension.extension);`,
    granted ? 'add' : 'remove',
  );
}

/** Where the kernel tells of a process. `stat`: "pid (name) state parent ..." */
const proc = (pid: number, file: string): Promise<string> =>
  readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');

/**
 * End the process that all extensions of this Firefox run in, as a crash does; resolves when it is gone. Linux only.
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

/** The panel's notices as the user reads them, unfolded. */
export const noticesIn = (panel: FirefoxPanel): Promise<string[]> =>
  panel.evaluate(`
    document.querySelector('[data-testid="open-notices"][aria-expanded="false"]')?.click();
    await new Promise((done) => setTimeout(done));
    return [...document.querySelectorAll('[data-testid="notice"]')].map((e) => e.innerText.trim());
  `) as Promise<string[]>;

/** The panel shows a notice like this, at once or soon. @returns its text */
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
 * Everything that the page has done is in the panel: its count of events has not moved for a while. A worker that is terminated takes
 * with it what it has not sent yet (50 ms at most).
 * @throws where the page never rests
 */
export async function arrived(panel: FirefoxPanel, page: Page): Promise<void> {
  // there the page itself reads what its workers have written
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
