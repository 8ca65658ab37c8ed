/**
 * The built extension in a real browser, with the real panel in DevTools. Shared by the extension's
 * tests.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'puppeteer-core';
import { expect } from 'vitest';
import { launchBrowser, type DrivenBrowser, type LaunchOptions } from '../../src/drive/browser.ts';
import type { DrivenBrowserBase, DrivenPanel } from '../../src/drive/panel-control.ts';
import type { Panel } from '../../src/drive/panel.ts';
import { saveTrace } from '../../src/drive/session.ts';
import { summaryOf, type Summary } from '../../src/analysis/report/summary.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import type { TraceStore } from '../../src/trace/store.ts';

/** Built by `npm run build`, or into another folder with VFSCOPE_DIST. */
export const EXTENSION = path.join(process.env['VFSCOPE_DIST'] ?? 'dist', 'chrome');

export const launch = (options: Partial<LaunchOptions> = {}): Promise<DrivenBrowser> =>
  launchBrowser({ extension: EXTENSION, ...options });

/** Background tabs draw no frames, so nothing waits for one. */
const polling = 50;

/**
 * A page of an origin without its app, to press Record on. An app that loads later then finds the
 * scripts of its origin registered.
 */
export const openNothing = (page: Page, origin: string): Promise<unknown> =>
  page.goto(`${origin}/nothing`);

/** Waits until the app reports it. */
export const state = (page: Page, wanted: string): Promise<unknown> =>
  page.waitForFunction((text) => document.body?.dataset['state'] === text, { polling }, wanted);

/** Save the panel's recording and read it back. */
export async function savedStore(
  driven: DrivenBrowserBase,
  panel: DrivenPanel,
): Promise<TraceStore> {
  const folder = await mkdtemp(path.join(tmpdir(), 'vfscope-'));
  try {
    const file = path.join(folder, 'trace.vfst');
    await saveTrace(driven, panel, file);
    const { store, warnings } = await readTrace(await readFile(file));
    if (warnings.length) throw new Error(warnings.join('\n'));
    return store;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Save the panel's recording and summarize it. */
export async function savedSummary(
  driven: DrivenBrowserBase,
  panel: DrivenPanel,
): Promise<Summary> {
  return summaryOf(await savedStore(driven, panel));
}

/** A hook runs in this page. */
export const recorded = (page: Page): Promise<unknown> =>
  page.waitForFunction(() => Symbol.for('vfscope.thread') in globalThis, { polling });
/** No hook runs in this page, or not any more. */
export const restored = (page: Page): Promise<unknown> =>
  page.waitForFunction(() => !(Symbol.for('vfscope.thread') in globalThis), { polling });

/** The panel's text about its number of events. */
export const eventsSaid = (panel: Panel): Promise<string> =>
  panel.frame.evaluate(
    () => document.querySelector('[data-testid="live-events"]')?.parentElement?.title ?? '',
  );

/** The number in that text. */
export const callsIn = (said: unknown): number =>
  Number(/^Calls recorded: ([\d,]+)/.exec(String(said))?.[1]?.replaceAll(',', '') ?? 0);

/**
 * Waits until the panel counts a call, so the page is connected to it. If the page leaves earlier,
 * its records are lost.
 * @param than calls that it counted before
 */
export const reachesPanel = (count: () => Promise<unknown>, than = 0): Promise<void> =>
  expect
    .poll(async () => callsIn(await count()), { timeout: 30_000, interval: polling })
    .toBeGreaterThan(than);

/**
 * Waits until the panel counts more events. @param than its earlier text; by default its current
 * one
 */
export async function moreEvents(panel: Panel, than?: string): Promise<void> {
  await panel.frame.waitForFunction(
    (text) =>
      (document.querySelector('[data-testid="live-events"]')?.parentElement?.title ?? '') !== text,
    { timeout: 30_000, polling },
    than ?? (await eventsSaid(panel)),
  );
}

/**
 * Waits until the panel's timeline shows this many pages. All of them have made a call, so each is
 * connected to the panel. If there are several, the titles of their threads begin with the page:
 * `Page 2 · Worker db.js`.
 */
export const pagesShown = (panel: Panel, count: number): Promise<unknown> =>
  panel.frame.waitForFunction(
    (n) => {
      const titles = [...document.querySelectorAll('.timeline [data-testid^="thread-"]')].map((e) =>
        e.textContent!.trim(),
      );
      const below = /^Page \d+ · (?:.* · )?(?:shared |service )?(?:worker|frame) /i;
      return titles.filter((title) => title.startsWith('Page') && !below.test(title)).length === n;
    },
    { timeout: 30_000, polling },
    count,
  );

/**
 * Waits until a number of the panel's live strip has this value: all the calls that it counts have
 * arrived. @param id such as `syncs`
 */
export const liveNumber = (panel: Panel, id: string, value: number): Promise<unknown> =>
  panel.frame.waitForFunction(
    (testId, text) => document.querySelector(`[data-testid="${testId}"]`)?.textContent === text,
    { timeout: 30_000, polling },
    `live-${id}`,
    String(value),
  );

/**
 * Everything in a page that our scripts could have changed: names and descriptors of globals, of
 * the storage APIs, and of the DOM's root; functions by their source text.
 */
export function traces(): Record<string, string> {
  const found: Record<string, string> = {};
  const describe = (name: string, object: object): void => {
    for (const key of Reflect.ownKeys(object)) {
      const d = Object.getOwnPropertyDescriptor(object, key)!;
      const part = (v: unknown): string =>
        typeof v === 'function'
          ? `${v.name}/${v.length}:${Function.prototype.toString.call(v)}`
          : typeof v;
      const flags = `${Number(d.configurable)}${Number(d.enumerable)}${Number(d.writable)}`;
      found[`${name}.${String(key)}`] = `${flags} ${part(d.value)} ${part(d.get)} ${part(d.set)}`;
    }
  };
  describe('window', window);
  describe('navigator', navigator);
  describe('document', document);
  for (const name of Object.getOwnPropertyNames(window)) {
    const value: unknown = Object.getOwnPropertyDescriptor(window, name)?.value;
    if (
      typeof value !== 'function' &&
      name !== 'WebAssembly' &&
      name !== 'Atomics' &&
      name !== 'Reflect' &&
      name !== 'Object'
    )
      continue;
    describe(name, value as object);
    const { prototype } = value as { prototype?: object };
    if (prototype) describe(`${name}.prototype`, prototype);
  }
  found['html'] = document.documentElement.outerHTML;
  found['frames'] = String(window.length);
  found['resources'] = String(
    performance.getEntriesByType('resource').filter((e) => e.name.includes('extension')).length,
  );
  return found;
}

/** The differences, by name. */
export function differences(a: Record<string, string>, b: Record<string, string>): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((key) => a[key] !== b[key]);
}
