/** The real panel in Firefox's real toolbox, driven from the browser's window. */
import { readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { HIDE_TOASTS, saidBy, type DrivenPanel, type TestId } from './panel-control.ts';
import { browserFailed } from '../terminal/failure.ts';
import type { FirefoxChrome } from './firefox-chrome.ts';

const TIMEOUT_MS = 30_000;
const POLL_MS = 50;
/** The toolbox's row of tabs above the panel, px. */
const TOOLBOX_TABS = 29;
/**
 * The part of the browser's window beside the toolbox: its toolbars and a strip of the page, px.
 */
const ABOVE_TOOLBOX = 240;

const selector = (id: TestId): string => `[data-testid="${id}"]`;
/** In the panel: waits until `condition(args)` returns a truthy value, and returns that. */
const until = (condition: string): string => `
  for (const end = Date.now() + args[0]; ; ) {
    const found = await (${condition});
    if (found || Date.now() > end) return found;
    await new Promise((done) => setTimeout(done, ${POLL_MS}));
  }`;

export class FirefoxPanel implements DrivenPanel {
  /** @param view the panel in DevTools, or in its own window */
  constructor(
    private readonly chrome: FirefoxChrome,
    private readonly view: 'devtools_panel' | 'panel_window' = 'devtools_panel',
  ) {}

  /**
   * Runs the body of an asynchronous function in the panel; `args` are its arguments, all as JSON.
   * @returns what the body returns
   */
  evaluate(body: string, ...args: unknown[]): Promise<unknown> {
    return this.chrome.inView(this.view, body, ...args);
  }

  /**
   * Wait until this expression in the panel is truthy.
   * @throws CommandFailure with what the panel shows instead
   */
  async waitFor(condition: string, args: unknown[] = [], timeoutMs = TIMEOUT_MS): Promise<unknown> {
    const found = await this.evaluate(until(condition), timeoutMs, ...args);
    if (found) return found;
    throw browserFailed(
      `The panel didn't reach this state: ${condition}. It shows: ${await saidBy(this)}`,
    );
  }

  async find(id: TestId, timeoutMs = TIMEOUT_MS): Promise<void> {
    const usable =
      '((e) => e && !e.disabled && e.getClientRects().length > 0)(document.querySelector(args[1]))';
    if (await this.evaluate(until(usable), timeoutMs, selector(id))) return;
    throw browserFailed(
      `The panel shows no usable "${id}" control. It shows: ${await saidBy(this)}`,
    );
  }

  async press(id: TestId, timeoutMs = TIMEOUT_MS): Promise<void> {
    for (const end = Date.now() + timeoutMs; ;) {
      await this.find(id, Math.max(0, end - Date.now()));
      // Real mouse events, so actions that need a user gesture work. A control that is moving or
      // disabled doesn't get the click.
      const heard = await this.chrome.frameScript(
        this.view,
        `const element = content.document.querySelector(args[0]);
         if (!element) return false;
         let heard = false;
         const hear = () => void (heard = true);
         element.addEventListener('click', hear, true);
         element.scrollIntoView({ block: 'nearest' });
         const box = element.getBoundingClientRect();
         const x = box.left + box.width / 2, y = box.top + box.height / 2;
         for (const type of ['mousemove', 'mousedown', 'mouseup'])
           if (typeof content.synthesizeMouseEvent === 'function')
             content.synthesizeMouseEvent(type, x, y, { button: 0, clickCount: type === 'mousemove' ? 0 : 1 }, {});
           else content.windowUtils.sendMouseEvent(type, x, y, 0, type === 'mousemove' ? 0 : 1, 0);
         element.removeEventListener('click', hear, true);
         return heard;`,
        selector(id),
      );
      if (heard) return;
    }
  }

  async choose(id: TestId, value: string): Promise<void> {
    await this.find(id);
    await this.evaluate(
      `const select = document.querySelector(args[0]);
       select.value = args[1];
       select.dispatchEvent(new Event('input', { bubbles: true }));
       select.dispatchEvent(new Event('change', { bubbles: true }));`,
      selector(id),
      value,
    );
  }

  textOf(id: TestId): Promise<string> {
    return this.evaluate(
      `return document.querySelector(args[0])?.textContent?.trim() ?? ''`,
      selector(id),
    ) as Promise<string>;
  }

  text(): Promise<string> {
    return this.evaluate('return document.body.innerText') as Promise<string>;
  }

  async open(file: string): Promise<void> {
    await this.waitFor('document.querySelector(args[1])', [selector('open-input')]);
    // as bytes: content processes can't make a File from a path
    await this.evaluate(
      `const transfer = new DataTransfer();
       transfer.items.add(new File([Uint8Array.from(atob(args[2]), (c) => c.charCodeAt(0))], args[1]));
       const input = document.querySelector(args[0]);
       input.files = transfer.files;
       input.dispatchEvent(new Event('input', { bubbles: true }));
       input.dispatchEvent(new Event('change', { bubbles: true }));`,
      selector('open-input'),
      basename(file),
      (await readFile(file)).toString('base64'),
    );
  }

  async setTransport(transport: 'port' | 'runtime'): Promise<void> {
    await this.evaluate('await browser.storage.local.set({ transport: args[0] })', transport);
  }

  async setStored(values: Record<string, unknown>): Promise<void> {
    await this.evaluate('await browser.storage.local.set(args[0])', values);
  }

  async resize(width: number, height: number): Promise<void> {
    await this.chrome.run(
      `const [width, height, above] = args;
       window.resizeTo(width, height + above);
       const frame = gBrowser.getPanel().querySelector('.devtools-toolbox-bottom-iframe');
       frame.style.height = height + 'px';`,
      width,
      height,
      ABOVE_TOOLBOX,
    );
    const wanted = height - TOOLBOX_TABS;
    await this.waitFor(
      'Math.abs(innerWidth - args[1]) <= 2 && Math.abs(innerHeight - args[2]) <= 4',
      [width, wanted],
    );
    await this.evaluate(
      'await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))',
    ); // layout is done
    await this.waitFor("!document.querySelector('[data-waiting]')");
  }

  async hideToasts(): Promise<void> {
    await this.evaluate(HIDE_TOASTS);
  }

  async screenshot(file: string): Promise<void> {
    const png = (await this.chrome.run(
      `const view = [...extension.extension.views].find((v) => v.viewType === 'devtools_panel');
       const bitmap = await view.xulBrowser.browsingContext.currentWindowGlobal.drawSnapshot(null, 1, 'white');
       const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
       canvas.getContext('2d').drawImage(bitmap, 0, 0);
       const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: 'image/png' })).arrayBuffer());
       let text = '';
       for (const byte of bytes) text += String.fromCharCode(byte);
       return btoa(text);`,
    )) as string;
    await writeFile(file, Buffer.from(png, 'base64'));
  }
}

/**
 * Opens the toolbox on the selected tab and shows our panel. Only a visible panel loads its page.
 */
export async function openFirefoxPanel(chrome: FirefoxChrome): Promise<FirefoxPanel> {
  const shown = await chrome.run(
    `const { require } = ChromeUtils.importESModule('resource://devtools/shared/loader/Loader.sys.mjs');
     const { gDevTools } = require('devtools/client/framework/devtools');
     const toolbox = await gDevTools.showToolboxForTab(gBrowser.selectedTab, { toolId: 'webconsole' });
     for (const end = Date.now() + args[0]; Date.now() < end; ) { // the devtools page registers its panel a little later
       const tool = toolbox.getAdditionalTools().find(({ label }) => label === 'vfscope');
       if (tool) { await toolbox.selectTool(tool.id); return true; }
       await new Promise((done) => setTimeout(done, args[1]));
     }
     return false;`,
    TIMEOUT_MS,
    POLL_MS,
  );
  if (!shown)
    throw browserFailed('The toolbox shows no vfscope panel: the extension is not loaded.');
  const panel = new FirefoxPanel(chrome);
  await panel.waitFor(`document.documentElement.dataset.ready === 'true'`);
  return panel;
}
