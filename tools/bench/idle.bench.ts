// The cost of vfscope while nothing is recorded: loading a page and starting its worker without the
// extension, with it, and after a recording.
import type { Browser, Page } from 'puppeteer-core';
import { launchPlainBrowser } from '../../tests/oracle/browser.ts';
import { openApp, prepareApp } from '../../tests/oracle/baseline.ts';
import { createServer } from '../../tests/server/server.mjs';
import { launchBrowser } from '../../src/drive/browser.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { least, median } from './recorded-app.ts';

const REPEATS = Number(process.env['REPEATS'] ?? 30);
const APP = '/journeyapps-wa-sqlite/?vfs=Memory';

export const title = 'Where nothing is recorded (Chromium)';
export const about =
  `Milliseconds until a page's load event by its own navigation timing, and until the worker with its engine is ready, ${REPEATS} interleaved loads each: without vfscope, with ` +
  `vfscope installed, and in a tab that was recorded before. Ratios are of medians, to the first column. The browsers are three, the first without extensions at all, the last with the panel open in a window.`;

interface Loaded {
  load: number;
  ready: number;
}

async function load(page: Page, address: string): Promise<Loaded> {
  await page.goto('about:blank');
  const began = performance.now();
  await openApp(page, address);
  await prepareApp(page);
  const ready = performance.now() - began;
  const load = await page.evaluate(() => {
    const [timing] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
    return timing!.loadEventEnd;
  });
  return { load, ready };
}

export async function run(): Promise<{ columns: string[]; rows: (string | number)[][] }> {
  const server = await createServer();
  const plain: Browser = await launchPlainBrowser();
  const extension = `${process.env['VFSCOPE_DIST'] ?? 'dist'}/chrome`;
  const [idle, after] = [await launchBrowser({ extension }), await launchBrowser({ extension })];
  try {
    const address = server.origin('idle') + APP;
    const recordedBefore = await after.firstPage();
    const panel = await after.openWindow(recordedBefore);
    await startRecording(panel);
    await load(recordedBefore, address);
    await stopRecording(panel);
    const pages = {
      without: await plain.newPage(),
      installed: await idle.firstPage(),
      'after a recording': recordedBefore,
    };
    const names = Object.keys(pages) as (keyof typeof pages)[];
    const taken = Object.fromEntries(names.map((name) => [name, [] as Loaded[]])) as Record<
      keyof typeof pages,
      Loaded[]
    >;
    for (const name of names) await load(pages[name], address); // disk and code caches
    for (let i = 0; i < REPEATS; i++)
      for (let j = 0; j < names.length; j++) {
        const name = names[(i + j) % names.length]!;
        await pages[name].bringToFront();
        taken[name].push(await load(pages[name], address));
      }
    const row = (what: string, ms: (one: Loaded) => number): (string | number)[] => {
      const all = names.map((name) => taken[name].map(ms));
      const base = median(all[0]!);
      return [
        what,
        ...all.map(
          (of, i) =>
            `${median(of).toFixed(1)} (min ${least(of).toFixed(1)})${i ? `, ${(median(of) / base).toFixed(2)}` : ''}`,
        ),
      ];
    };
    return {
      columns: ['median ms until', ...names],
      rows: [row('load event', (one) => one.load), row('engine ready', (one) => one.ready)],
    };
  } finally {
    await Promise.all([plain.close(), idle.close(), after.close(), server.close()]);
  }
}
