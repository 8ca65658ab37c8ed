// Shared by the viewer's browser tests: the panel in an ordinary tab, a separate profile for each
// test, and reports of page errors.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { launchPlainBrowser } from '../oracle/browser.ts';
import { servePanel } from '../../tools/dev/panel.mjs';
import { builtPanel } from './built-panel.ts';

export const id = (name: string): string => `[data-testid="${name}"]`;
const SHOTS = process.env.VFSCOPE_SHOTS; // a folder for screenshots to inspect

/** Most tests look at the timeline. */
export const showTimeline = (page: Page): Promise<void> =>
  page.$eval(id('tab-timeline'), (tab) => (tab as HTMLElement).click());

export class ViewerPage {
  /** The tab opened last. */
  page!: Page;
  private browser: Browser | undefined;
  private server: Awaited<ReturnType<typeof servePanel>> | undefined;
  private folder = '';
  /** A separate profile for each test, so that no test finds another's recordings. */
  private context!: BrowserContext;
  private failures: string[] = [];

  /** Register the setup of a test file. @param files served in /traces/ */
  constructor(files: () => Promise<Record<string, Uint8Array>>) {
    beforeAll(async () => {
      this.folder = await mkdtemp(join(tmpdir(), 'vfscope-viewer-'));
      const traces: Record<string, string> = {};
      for (const [name, content] of Object.entries(await files()))
        await writeFile((traces[name] = join(this.folder, name)), content);
      const out = await builtPanel();
      this.server = await servePanel({ out, traces });
      this.browser = await launchPlainBrowser();
    });
    afterAll(async () => {
      await this.browser?.close();
      await this.server?.close();
      await rm(this.folder, { recursive: true, force: true });
    });
    beforeEach(async () => {
      this.context = await this.browser!.createBrowserContext();
    });
    afterEach(async () => {
      await this.context.close();
      const seen = this.failures;
      this.failures = [];
      expect(seen).toEqual([]);
    });
  }

  /** The timeline, unless the query names a view. */
  async open(query: string, width = 1200, height = 640): Promise<void> {
    this.page = await this.context.newPage();
    this.page.on('pageerror', (error) =>
      this.failures.push(error instanceof Error ? error.message : String(error)),
    );
    await this.page.setViewport({ width, height });
    await this.page.goto(`${this.server!.url}?test&${query}`);
    await this.page.waitForFunction(() => document.documentElement.dataset.ready === 'true');
    if (!query.includes('#')) await showTimeline(this.page);
  }
  text(selector: string): Promise<string> {
    return this.page.$eval(selector, (e) => e.textContent?.trim() ?? '');
  }
  waitText(selector: string, wanted: string): Promise<unknown> {
    return this.page.waitForFunction(
      (s: string, w: string) => document.querySelector(s)?.textContent?.trim() === w,
      {},
      selector,
      wanted,
    );
  }
  view(): Promise<{ from: number; to: number }> {
    return this.page.$eval(id('timeline'), (e) => ({
      from: Number((e as HTMLElement).dataset.from),
      to: Number((e as HTMLElement).dataset.to),
    }));
  }
  async shot(name: string): Promise<void> {
    if (SHOTS) await this.page.screenshot({ path: join(SHOTS, `${name}.png`) as `${string}.png` });
  }
}
