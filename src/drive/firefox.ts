/** Starts a Firefox with the built extension installed for this session, in a fresh profile. */
import { resolve } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import type { DrivenBrowserBase, DrivenPanel } from './panel-control.ts';
import { browserFailed } from '../terminal/failure.ts';
import { findFirefox, HOW_TO_INSTALL_FIREFOX } from './find-browser.mjs';
import { FirefoxChrome } from './firefox-chrome.ts';
import { grantedCopy } from './granted-copy.ts';
import { openFirefoxPanel, type FirefoxPanel } from './firefox-panel.ts';
import { checkInstalled, checkStartable, didNotStart } from './startable.ts';

export interface FirefoxOptions {
  /** Folder of the extension built for Firefox. */
  extension: string;
  /**
   * Install the shipped extension, which has access to no site until the user allows it. Else it
   * has access to all sites.
   */
  shipped?: boolean;
  /** A visible window instead of headless. */
  headed?: boolean;
  dark?: boolean;
  /** Preferences in addition to puppeteer's. */
  preferences?: Record<string, string | number | boolean>;
  /** A profile to reuse. By default a fresh one, deleted with the browser. */
  userDataDir?: string;
  /** The caller handles Ctrl+C, SIGTERM, and SIGHUP: they don't end the browser. */
  outlivesSignals?: boolean;
}

export interface DrivenFirefox extends DrivenBrowserBase {
  readonly chrome: FirefoxChrome;
  openPanel(page: Page): Promise<FirefoxPanel & DrivenPanel>;
  /** Press a button of the page that asks for site access, and accept the browser's prompt. */
  allowAccess(button?: 'allow' | 'allow-all'): Promise<void>;
}

const TIMEOUT_MS = 30_000;

/**
 * @throws CommandFailure (exit code 3) without a browser or a build, or if the browser doesn't
 * start
 */
export async function launchFirefox({
  extension,
  shipped = false,
  headed = false,
  dark = false,
  preferences = {},
  userDataDir,
  outlivesSignals = false,
}: FirefoxOptions): Promise<DrivenFirefox> {
  const executablePath = findFirefox();
  checkInstalled('Firefox', executablePath, HOW_TO_INSTALL_FIREFOX, extension);
  checkStartable(executablePath, headed);
  const { default: puppeteer } = await import('puppeteer-core');
  let browser: Browser;
  try {
    browser = await puppeteer.launch({
      browser: 'firefox',
      executablePath,
      userDataDir,
      headless: !headed,
      defaultViewport: null,
      handleSIGINT: !outlivesSignals,
      handleSIGTERM: !outlivesSignals,
      handleSIGHUP: !outlivesSignals,
      protocolTimeout: 120_000,
      args: ['--remote-allow-system-access'],
      extraPrefsFirefox: {
        'browser.download.folderList': 2,
        'browser.download.alwaysOpenPanel': false,
        'devtools.toolbox.host': 'bottom',
        'devtools.theme': dark ? 'dark' : 'light',
        ...(dark ? { 'ui.systemUsesDarkTheme': 1 } : {}),
        ...preferences,
      },
    });
  } catch (e) {
    throw didNotStart(executablePath, 'a Firefox 140', e as Error);
  }
  try {
    const copy = shipped ? null : grantedCopy(extension, userDataDir);
    if (copy) browser.once('disconnected', copy.remove);
    const id = await browser.installExtension(copy?.folder ?? resolve(extension));
    return driven(browser, await FirefoxChrome.of(browser, id));
  } catch (e) {
    await browser.close(); // else it would keep running
    throw browserFailed(`The extension did not start in Firefox: ${(e as Error).message}`);
  }
}

function driven(browser: Browser, chrome: FirefoxChrome): DrivenFirefox {
  return {
    browser,
    chrome,
    firstPage: async () => (await browser.pages())[0] ?? (await browser.newPage()),
    async openPanel(page) {
      await page.bringToFront(); // the toolbox opens on the selected tab
      return openFirefoxPanel(chrome);
    },
    load: (page, url) => load(chrome, page, url),
    async downloadTo(folder) {
      await chrome.run(
        `Services.prefs.setStringPref('browser.download.dir', args[0])`,
        resolve(folder),
      );
    },
    allowAccess: (button = 'allow') => allowAccess(chrome, button),
    close: () => browser.close(),
  };
}

/**
 * page.goto never ends where the page changes its process (COOP). So this only starts the
 * navigation, and reads the response's status from the resulting page.
 */
async function load(chrome: FirefoxChrome, page: Page, url: string): Promise<number | undefined> {
  const { _id: context } = page.mainFrame() as unknown as { _id: string };
  await chrome.send('browsingContext.navigate', { context, url, wait: 'complete' });
  return (await page.evaluate(
    () =>
      (performance.getEntriesByType('navigation')[0] as PerformanceNavigationTiming | undefined)
        ?.responseStatus,
  )) as number | undefined;
}

/**
 * The access page is an ordinary tab of the extension: a real click in it opens the prompt, and
 * accepting closes the page.
 */
async function allowAccess(chrome: FirefoxChrome, button: 'allow' | 'allow-all'): Promise<void> {
  await chrome.run(
    `Services.prefs.setBoolPref('extensions.webextOptionalPermissionPrompts', false); // accepts the prompt
     const pages = () => gBrowser.tabs.filter((t) => t.linkedBrowser.currentURI.spec.includes('/devtools/access.html'));
     const until = async (condition, failure) => {
       for (const end = Date.now() + args[0]; !condition(); await new Promise((done) => setTimeout(done, 50)))
         if (Date.now() > end) throw new Error(failure);
     };
     await until(() => pages().some((t) => !t.hasAttribute('busy')), 'the page that asks for access did not open');
     const [tab] = pages();
     gBrowser.selectedTab = tab;
     tab.linkedBrowser.messageManager.loadFrameScript('data:application/javascript,' + encodeURIComponent(\`(async () => {
       const button = () => content.document.querySelector('html[data-ready] #\${args[1]}');
       while (!button()) await new Promise((done) => content.setTimeout(done, 50));
       const box = button().getBoundingClientRect();
       for (const type of ['mousedown', 'mouseup'])
         if (content.synthesizeMouseEvent) content.synthesizeMouseEvent(type, box.left + 5, box.top + 5, { button: 0, clickCount: 1 }, {});
         else content.windowUtils.sendMouseEvent(type, box.left + 5, box.top + 5, 0, 1, 0);
     })()\`), false);
     await until(() => pages().length === 0, 'access was not given: the page that asks for it is still open');`,
    TIMEOUT_MS,
    button,
  );
}
