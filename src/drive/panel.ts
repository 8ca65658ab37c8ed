/**
 * The real panel in the real DevTools. The only file that uses DevTools' internals (`UI`,
 * `ViewManager`, `DockController`): if a browser changes them, this breaks.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type {
  Browser,
  ElementHandle,
  Frame,
  GoToOptions,
  HTTPResponse,
  Page,
} from 'puppeteer-core';
import type { Ask } from '../protocol/messages.ts';
import { HIDE_TOASTS, saidBy, type DrivenPanel, type TestId } from './panel-control.ts';
import { browserFailed } from '../terminal/failure.ts';

const TIMEOUT_MS = 30_000;
/** Never by animation frames: a panel in the background draws none. */
const POLL_MS = 50;

/** The viewer in a frame of DevTools or in a tab of its own. */
export class Panel implements DrivenPanel {
  constructor(
    readonly frame: Frame,
    private readonly devtools: Page | null,
  ) {}

  /** Wait for a control that is there and can be used. */
  async find(id: TestId, timeoutMs = TIMEOUT_MS): Promise<ElementHandle<HTMLElement>> {
    const found = await this.frame
      .waitForFunction(
        (selector) => {
          const element = document.querySelector<HTMLElement>(selector);
          const usable =
            element &&
            !(element as HTMLButtonElement).disabled &&
            element.getClientRects().length > 0;
          return usable ? element : null;
        },
        { timeout: timeoutMs, polling: POLL_MS },
        `[data-testid="${id}"]`,
      )
      .catch(async (e: Error) => {
        throw browserFailed(
          `The panel shows no usable "${id}" control (${e.message}). It shows: ${await saidBy(this)}`,
        );
      });
    return found as ElementHandle<HTMLElement>;
  }

  /** Press a control, as a user does. */
  async press(id: TestId, timeoutMs = TIMEOUT_MS): Promise<void> {
    const element = await this.find(id, timeoutMs);
    // Puppeteer's own click waits for the element to be drawn, which a panel behind other tabs isn't
    if (await this.frame.evaluate(() => document.hidden))
      await element.evaluate((control) => control.click());
    else await element.click();
    await element.dispose();
  }

  /** Text of a control; '' where it isn't there. */
  textOf(id: TestId): Promise<string> {
    return this.frame.evaluate(
      (selector) => document.querySelector(selector)?.textContent?.trim() ?? '',
      `[data-testid="${id}"]`,
    );
  }

  /** All text of the panel. */
  text(): Promise<string> {
    return this.frame.evaluate(() => document.body.innerText);
  }

  async choose(id: TestId, value: string): Promise<void> {
    await this.frame.select(`[data-testid="${id}"]`, value);
  }

  async setTransport(transport: 'port' | 'runtime'): Promise<void> {
    await this.frame.evaluate(
      (chosen) => chrome.storage.local.set({ transport: chosen }),
      transport,
    );
  }

  async setStored(values: Record<string, unknown>): Promise<void> {
    await this.frame.evaluate((all) => chrome.storage.local.set(all), values);
  }

  /** Open a file, as if the user had chosen it. */
  async open(file: string): Promise<void> {
    const input = await this.frame.waitForSelector('[data-testid="open-input"]', {
      timeout: TIMEOUT_MS,
    });
    await (input as ElementHandle<HTMLInputElement>).uploadFile(file);
  }

  /** Undock DevTools and set their size. The panel's height is 27 px less. */
  async resize(width: number, height: number): Promise<void> {
    if (this.devtools) {
      await this.devtools.evaluate(
        `import('./ui/legacy/legacy.js').then((UI) => UI.DockController.DockController.instance().setDockSide('undocked'))`,
      );
      await this.devtools.setViewport({ width, height });
    } else await this.frame.page().setViewport({ width, height });
    await this.frame.waitForFunction(
      (expected) => Math.abs(innerWidth - expected) <= 2,
      { timeout: TIMEOUT_MS, polling: POLL_MS },
      width,
    );
    await this.frame.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    ); // layout is done
    await this.frame.waitForFunction(() => !document.querySelector('[data-waiting]'), {
      timeout: TIMEOUT_MS,
      polling: POLL_MS,
    });
  }

  /**
   * The panel's page navigates there next: from now on a recording is ready for it. Does nothing
   * where the page isn't recorded.
   */
  async expect(url: string): Promise<void> {
    await this.frame.evaluate(async (address) => {
      const tabId = Number(new URLSearchParams(location.search).get('tab'));
      await chrome.runtime.sendMessage({ k: 'expects', tabId, url: address } satisfies Ask);
    }, url);
  }

  async hideToasts(): Promise<void> {
    await this.frame.evaluate(HIDE_TOASTS);
  }

  /** @param whole all of DevTools instead of only the panel */
  async screenshot(file: string, whole = false): Promise<void> {
    const path = file as `${string}.png`;
    if (!this.devtools) await this.frame.page().screenshot({ path });
    else if (whole) await this.devtools.screenshot({ path });
    else {
      const element = await this.frame.frameElement();
      if (!element) throw browserFailed('The panel has no frame in DevTools any more.');
      await element.screenshot({ path });
    }
  }
}

const ready = (frame: Frame): Promise<unknown> =>
  frame
    .waitForFunction(() => document.documentElement.dataset['ready'] === 'true', {
      timeout: TIMEOUT_MS,
      polling: POLL_MS,
    })
    .catch(async (e: Error) => {
      const text = await frame.evaluate(() => document.body.innerText).catch(() => '');
      throw browserFailed(`The panel isn't ready: ${e.message}. It shows: ${text.slice(0, 400)}`);
    });

/** The panel that was opened last for a page. */
const panels = new WeakMap<Page, Panel>();
function opened(panel: Panel, page: Page): Panel {
  panels.set(page, panel);
  return panel;
}

/**
 * Like `page.goto`, but first prepares a recording of that page. A browser reports an address to an
 * extension when it already requests it, and a server on the same machine can respond faster than
 * the extension.
 */
export async function goTo(
  page: Page,
  url: string,
  options?: GoToOptions,
): Promise<HTTPResponse | null> {
  await expectPage(page, url);
  return page.goto(url, options);
}

/** The panel of that page, if there is one, gets ready for the page's next address. */
export async function expectPage(page: Page, url: string): Promise<void> {
  const panel = panels.get(page);
  if (panel && !panel.frame.detached) await panel.expect(url);
}

/** Open DevTools on a page and show our panel. */
export async function openPanel(page: Page): Promise<Panel> {
  const devtools = await page.openDevTools();
  // before .root-view exists, ViewManager throws "Unable to create settings"
  await devtools.waitForSelector('.root-view', { timeout: TIMEOUT_MS });
  const shown = await devtools.evaluate(
    `(async () => {
      const { ViewManager } = (await import('./ui/legacy/legacy.js')).ViewManager;
      const manager = ViewManager.instance();
      for (let left = ${TIMEOUT_MS / POLL_MS}; left > 0; left--) { // the devtools page registers its panel 1-2 s after opening
        const id = [...manager.views.keys()].find((key) => key.startsWith('chrome-extension://') && key.endsWith('vfscope'));
        if (id) { await manager.showView(id); return true; }
        await new Promise((done) => setTimeout(done, ${POLL_MS}));
      }
      return false;
    })()`,
  );
  if (!shown) throw browserFailed('DevTools shows no vfscope panel: the extension is not loaded.');
  for (const end = Date.now() + TIMEOUT_MS; Date.now() < end; await delay(POLL_MS)) {
    const frame = devtools
      .frames()
      .find(
        (f) =>
          f.url().startsWith('chrome-extension://') && f.url().includes('/devtools/panel.html'),
      );
    if (!frame) continue;
    await ready(frame);
    return opened(new Panel(frame, devtools), page);
  }
  throw browserFailed('The vfscope panel did not appear in DevTools.');
}

/** The next one to open. @param known pages that don't count */
async function newPage(browser: Browser, known: ReadonlySet<Page>): Promise<Page> {
  for (const end = Date.now() + TIMEOUT_MS; Date.now() < end; await delay(POLL_MS)) {
    const found = (await browser.pages()).find((one) => !known.has(one));
    if (found) return found;
  }
  throw browserFailed('The browser opened no window for the panel.');
}

/** The panel in its own window, for this page. It doesn't slow the page down as DevTools do. */
export async function openPanelWindow(page: Page, extensionId: string): Promise<Panel> {
  const browser = page.browser();
  await page.bringToFront();
  const session = await browser.target().createCDPSession();
  const known = new Set(await browser.pages());
  await session.send('Target.createTarget', { url: 'about:blank', newWindow: true });
  await session.detach();
  const shown = await newPage(browser, known);
  await openPanelTab(shown, extensionId);
  const tab = await shown.evaluate(async () => {
    const own = await chrome.tabs.getCurrent();
    const others = await chrome.tabs.query({ active: true });
    return others.find(({ windowId }) => windowId !== own?.windowId)?.id;
  });
  if (tab === undefined) throw browserFailed('The browser has no tab to record.');
  return opened(await openPanelTab(shown, extensionId, tab), page);
}

/**
 * The panel's page as a tab of its own.
 * @param tab id of the tab to record; without it, a viewer of files
 */
export async function openPanelTab(page: Page, extensionId: string, tab?: number): Promise<Panel> {
  await page.goto(
    `chrome-extension://${extensionId}/devtools/panel.html${tab === undefined ? '' : `?tab=${tab}`}`,
  );
  await ready(page.mainFrame());
  return new Panel(page.mainFrame(), null);
}
