// The viewer in an ordinary tab on golden traces, for tests of its views: one browser and one built
// panel per test file.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { readTrace } from '../../src/trace/file/read.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { servePanel } from '../../tools/dev/panel.mjs';
import { launchPlainBrowser } from '../oracle/browser.ts';
import { builtPanel } from './built-panel.ts';

const GOLDEN = join(import.meta.dirname, '..', 'traces', 'golden');

/** Selector of a test id. */
export const id = (name: string): string => `[data-testid="${name}"]`;

interface ViewHarness {
  /** A new page for each test; an exception in it fails the test. */
  readonly page: Page;
  readonly url: string;
  /** The analyses' results for a trace. */
  store(name: string): TraceStore;
  /** The same, read again so that a test can change it. */
  fresh(name: string): Promise<TraceStore>;
  /** Open a trace in the page. @param hash including `#` */
  load(name: string, hash?: string): Promise<void>;
  /** Open a trace and one of its views. */
  open(name: string, view: string, width?: number): Promise<TraceStore>;
  waitFor(selector: string): Promise<unknown>;
  /** Waits until an element's text is exactly this. */
  waitText(selector: string, wanted: string): Promise<unknown>;
  click(selector: string): Promise<void>;
}

/** @param names of golden traces, without their extension */
export function viewHarness(names: readonly string[]): ViewHarness {
  let browser: Browser | undefined;
  let server: Awaited<ReturnType<typeof servePanel>> | undefined;
  let failures: string[] = [];
  let page: Page;
  const stores = new Map<string, TraceStore>();

  beforeAll(async () => {
    const traces: Record<string, string> = {};
    for (const name of names) {
      const file = (traces[`${name}.vfst`] = join(GOLDEN, `${name}.vfst`));
      stores.set(name, (await readTrace(readFileSync(file))).store);
    }
    const out = await builtPanel();
    server = await servePanel({ out, traces });
    browser = await launchPlainBrowser();
  }, 400_000); // it builds the panel
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });
  beforeEach(async () => {
    page = await browser!.newPage();
    page.on('pageerror', (error) =>
      failures.push(error instanceof Error ? error.message : String(error)),
    );
  });
  afterEach(async () => {
    await page.close();
    const seen = failures;
    failures = [];
    expect(seen).toEqual([]);
  });

  const harness: ViewHarness = {
    get page() {
      return page;
    },
    get url() {
      return server!.url;
    },
    store: (name) => stores.get(name)!,
    fresh: async (name) => (await readTrace(readFileSync(join(GOLDEN, `${name}.vfst`)))).store,
    async load(name, hash = '') {
      await page.goto(`${server!.url}?test&open=/traces/${name}.vfst${hash}`);
      await page.waitForSelector(id('file-name'));
    },
    async open(name, view, width = 1200) {
      await page.setViewport({ width, height: 700 });
      await harness.load(name);
      await harness.click(id(`tab-${view}`));
      await page.waitForSelector(`${id(`tab-${view}`)}[aria-selected=true]`);
      return stores.get(name)!;
    },
    waitFor: (selector) => page.waitForSelector(selector),
    waitText: (selector, wanted) =>
      page.waitForFunction(
        (s: string, w: string) => document.querySelector(s)?.textContent?.trim() === w,
        { polling: 50 }, // a busy machine may draw no frame for a long time
        selector,
        wanted,
      ),
    click: (selector) => page.$eval(selector, (e) => (e as HTMLElement).click()),
  };
  return harness;
}
