/**
 * What a recording needs from a browser and the panel in it, the same for Chromium (browser.ts,
 * panel.ts) and Firefox (firefox.ts, firefox-panel.ts).
 */
import type { Browser, Page } from 'puppeteer-core';

/** Ids by which commands and tests find the viewer's controls. */
export type TestId =
  | 'record'
  | 'stop'
  | 'clear'
  | 'save'
  | 'open'
  | 'open-input'
  | 'scope'
  | 'profile'
  | `tab-${string}`
  | `group-${string}`
  | `fold-${string}`
  | 'recovered-offer'
  | 'recording-open'
  | 'record-empty'
  | `allow-${string}`
  | `flight-${string}`
  | `live-${string}`;

/** The viewer, in the browser's own developer tools. */
export interface DrivenPanel {
  /**
   * Press a control as a user does, once it is there and enabled.
   * @throws CommandFailure where it doesn't appear
   */
  press(id: TestId, timeoutMs?: number): Promise<void>;
  /**
   * Wait for a control that is there and enabled.
   * @throws CommandFailure where it doesn't appear
   */
  find(id: TestId, timeoutMs?: number): Promise<unknown>;
  /** Choose an option of a select. */
  choose(id: TestId, value: string): Promise<void>;
  /** Text of a control; '' where it isn't there. */
  textOf(id: TestId): Promise<string>;
  /** All text of the panel. */
  text(): Promise<string>;
  /** Open a file, as if the user had chosen it. */
  open(file: string): Promise<void>;
  /** Set `{transport}` in the extension's storage: 'runtime' never hands ports over. */
  setTransport(transport: 'port' | 'runtime'): Promise<void>;
  /** Set these in the extension's local storage, where the panel's settings are. */
  setStored(values: Record<string, unknown>): Promise<void>;
  /** Set the size of the developer tools, px. */
  resize(width: number, height: number): Promise<void>;
  /** Hide messages about what the panel was driven to do, before a picture. */
  hideToasts(): Promise<void>;
  /** PNG of the panel. */
  screenshot(file: string): Promise<void>;
}

export const HIDE_TOASTS =
  "for (const toast of document.querySelectorAll('[data-testid=toast]')) toast.style.display = 'none';";

/** The panel's text, for an error: the beginning of its toolbar and the end of its messages. */
export async function saidBy(panel: Pick<DrivenPanel, 'text'>): Promise<string> {
  const text = (await panel.text()).replace(/\s*\n\s*/g, ' | ');
  return text.length > 2000 ? `${text.slice(0, 1000)} ... ${text.slice(-1000)}` : text;
}

/** A browser with the built extension in it. */
export interface DrivenBrowserBase {
  readonly browser: Browser;
  /** The first page, empty. */
  firstPage(): Promise<Page>;
  /** Open the developer tools of a page and show our panel. */
  openPanel(page: Page): Promise<DrivenPanel>;
  /** Show our panel in its own window. Absent where developer tools don't slow pages down. */
  openWindow?(page: Page): Promise<DrivenPanel>;
  /**
   * Go to a URL and wait until it has loaded.
   * @returns the response's HTTP status; undefined where the browser doesn't report it
   * @throws the browser's Error where it doesn't load
   */
  load(page: Page, url: string): Promise<number | undefined>;
  /** From now on, files that pages download are saved into this folder. */
  downloadTo(folder: string): Promise<void>;
  close(): Promise<void>;
}
