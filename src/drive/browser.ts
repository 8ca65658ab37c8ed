/**
 * Starts a Chromium with the built extension loaded over the pipe, with a fresh profile by default.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Browser, Page, WebWorker } from 'puppeteer-core';
import type { DrivenBrowserBase } from './panel-control.ts';
import { findChromium, HOW_TO_INSTALL } from './find-browser.mjs';
import { browserFailed } from '../terminal/failure.ts';
import { grantedCopy } from './granted-copy.ts';
import { goTo, openPanel, openPanelWindow, type Panel } from './panel.ts';
import { checkInstalled, checkStartable, didNotStart } from './startable.ts';

export interface LaunchOptions {
  /** Folder of the built extension; `null` starts a browser without one. */
  extension: string | null;
  /**
   * Load the shipped extension, which has access to no site until the user allows it. Else it has
   * access to all sites.
   */
  shipped?: boolean;
  /** A visible window instead of headless. */
  headed?: boolean;
  /** DevTools and pages in dark colors. */
  dark?: boolean;
  /** Window size in px. */
  width?: number;
  height?: number;
  /** Keep the profile here. */
  userDataDir?: string;
  /** Keep the welcome page open, which appears with a fresh profile. */
  welcome?: boolean;
  args?: string[];
  /**
   * The hook that also gets into workers from outside: `drivenHook` of native-workers.ts. Replaces
   * the extension's own hook.
   */
  hook?: string | null;
  /** The caller handles Ctrl+C, SIGTERM, and SIGHUP: they don't end the browser. */
  outlivesSignals?: boolean;
}

export interface DrivenBrowser extends DrivenBrowserBase {
  /** '' without an extension */
  extensionId: string;
  /**
   * The extension's service worker, for `chrome.*`. A handle keeps that worker alive, so get it
   * late and release it.
   */
  serviceWorker(): Promise<WebWorker>;
  openPanel(page: Page): Promise<Panel>;
  openWindow(page: Page): Promise<Panel>;
}

/**
 * Without the pages that Chromium opens for its address bar. At each start they take a second of
 * CPU time, beside the first app.
 */
export const NO_POPUP_PAGES = '--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup';

/**
 * @throws CommandFailure (exit code 3) without a browser or a build, or if the browser doesn't
 * start
 */
export async function launchBrowser(options: LaunchOptions): Promise<DrivenBrowser> {
  const {
    extension,
    headed = false,
    dark = false,
    width = 1300,
    height = 900,
    userDataDir,
    welcome = false,
    args = [],
  } = options;
  const handled = !options.outlivesSignals;
  const executablePath = findChromium();
  checkInstalled('Chromium', executablePath, HOW_TO_INSTALL, extension);
  checkStartable(executablePath, headed);
  // slow to load, so only where a browser is driven
  const { default: puppeteer } = await import('puppeteer-core');
  const copy =
    extension === null || options.shipped
      ? null
      : grantedCopy(extension, userDataDir, options.hook ?? undefined);
  let browser: Browser;
  try {
    browser = await puppeteer.launch({
      executablePath,
      headless: !headed,
      pipe: true, // extensions load over the pipe, the only way that branded Chrome supports
      enableExtensions: extension === null ? false : [copy?.folder ?? resolve(extension)],
      handleDevToolsAsPage: true,
      defaultViewport: null,
      userDataDir,
      handleSIGINT: handled,
      handleSIGTERM: handled,
      handleSIGHUP: handled,
      args: [
        ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), // as root, Chromium doesn't start otherwise
        NO_POPUP_PAGES,
        `--window-size=${width},${height}`,
        ...(dark ? ['--force-dark-mode'] : []),
        ...args,
      ],
    });
  } catch (e) {
    copy?.remove();
    throw didNotStart(executablePath, 'a Chromium or Chrome 148', e as Error);
  }
  if (copy) browser.once('disconnected', copy.remove);
  try {
    const extensionId = extension === null ? '' : await idOfExtension(browser);
    if (!welcome && userDataDir === undefined && extension !== null)
      await closeWelcomePage(browser, extension, extensionId);
    return driven(browser, extensionId);
  } catch (e) {
    await browser.close();
    throw e;
  }
}

const isOurWorker = (type: string, url: string): boolean =>
  type === 'service_worker' && url.startsWith('chrome-extension://');

async function idOfExtension(browser: Browser): Promise<string> {
  const target = await browser
    .waitForTarget((t) => isOurWorker(t.type(), t.url()), { timeout: 15_000 })
    .catch((e: Error) => {
      throw browserFailed(`The extension did not start in the browser: ${e.message}`);
    });
  return new URL(target.url()).host;
}

/**
 * It opens once after each installation, so wait for it: later it would come between a command and
 * its page.
 */
async function closeWelcomePage(
  browser: Browser,
  extension: string,
  extensionId: string,
): Promise<void> {
  if (!existsSync(join(extension, 'devtools/welcome.html'))) return; // an older build
  const url = `chrome-extension://${extensionId}/devtools/welcome.html`;
  const target = await browser
    .waitForTarget((t) => t.url() === url, { timeout: 15_000 })
    .catch((e: Error) => {
      throw browserFailed(`The extension did not show its welcome page: ${e.message}`);
    });
  await (await target.page())?.close();
}

function driven(browser: Browser, extensionId: string): DrivenBrowser {
  return {
    browser,
    extensionId,
    async serviceWorker() {
      const target = await browser.waitForTarget((t) => isOurWorker(t.type(), t.url()), {
        timeout: 15_000,
      });
      const worker = await target.worker();
      if (!worker) throw browserFailed("The extension's service worker could not be reached.");
      return worker;
    },
    async downloadTo(folder) {
      const session = await browser.target().createCDPSession();
      await session.send('Browser.setDownloadBehavior', {
        behavior: 'allow',
        downloadPath: resolve(folder),
      });
    },
    firstPage: async () => (await browser.pages())[0] ?? (await browser.newPage()),
    openPanel,
    openWindow: (page) => openPanelWindow(page, extensionId),
    load: async (page, url) =>
      (await goTo(page, url, { waitUntil: 'load', timeout: 60_000 }))?.status(),
    close: () => browser.close(),
  };
}
