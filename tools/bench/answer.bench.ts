// How soon the Answer shows its first sentence, and everything, for a large recording. The panel
// runs in an ordinary tab of headless Chromium.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'puppeteer-core';
import { saveTrace } from '../../src/trace/file/write.ts';
import { launchPlainBrowser } from '../../tests/oracle/browser.ts';
import { syntheticStore } from '../../tests/traces/synthetic.ts';
import { installScriptMeter } from './script-meter.ts';

const EVENTS = 1_000_000;
const REPEATS = Number(process.env['REPEATS'] ?? 5);

export const title = 'Answer';
export const about =
  `A synthetic trace of ${EVENTS.toLocaleString('en-US')} events in 4 threads, ${REPEATS} tabs one after the other, minimum (median). The panel opens the file and shows the Answer by itself. Times count from when the worker ` +
  'said that all events are there: until the first sentence is the one that stays, and until the whole view is computed, what to do, top statements, tables, and moments included.';

/** ms since the file was loaded. */
interface Times {
  sentence: number;
  whole: number;
}

async function opened(browser: Browser, url: string): Promise<Times> {
  const page = await browser.newPage();
  await installScriptMeter(page);
  await page.setViewport({ width: 1280, height: 800 });
  await page.goto(`${url}?test`);
  await page.waitForFunction(() => document.documentElement.dataset.ready === 'true');
  const times = await page.evaluate(async () => {
    const blob = await (await fetch('/traces/million.vfst')).blob();
    await blob.arrayBuffer(); // read over the network before the clock starts
    void window.panel.viewer.open(blob, 'million.vfst');
    const find = (testid: string): HTMLElement | null =>
      document.querySelector(`[data-testid=${testid}]`);
    const frame = (): Promise<number> => new Promise(requestAnimationFrame);
    const began = performance.now();
    let [loaded, sentence, text] = [0, 0, ''];
    for (;;) {
      await frame();
      const now = performance.now();
      if (now - began > 60_000) throw new Error('the Answer is not complete after 60 s');
      if (!window.scriptMeter.opened) continue;
      loaded ||= now;
      const said = find('answer')?.textContent ?? '';
      if (said !== text) [text, sentence] = [said, now];
      const isIdle = find('answer-view')?.getAttribute('aria-busy') === 'false';
      const isThere =
        find('top-statements') && (find('actions')?.children.length || find('no-findings'));
      if (text && isIdle && isThere) return { sentence: sentence - loaded, whole: now - loaded };
    }
  });
  await page.close();
  return times;
}

export async function run(): Promise<{ columns: string[]; rows: string[][] }> {
  const folder = await mkdtemp(join(tmpdir(), 'vfscope-bench-'));
  const { buildPanel, servePanel } = (await import(
    new URL('../dev/panel.mjs', import.meta.url).href
  )) as typeof import('../dev/panel.mjs');
  const file = join(folder, 'million.vfst');
  const trace = await saveTrace(syntheticStore({ events: EVENTS, clockStepUs: 5 }));
  await writeFile(file, Buffer.from(await trace.arrayBuffer()));
  await buildPanel(join(folder, 'panel'));
  const server = await servePanel({ out: join(folder, 'panel'), traces: { 'million.vfst': file } });
  const browser = await launchPlainBrowser();
  const all: Times[] = [];
  try {
    for (let i = 0; i < REPEATS; i++) all.push(await opened(browser, server.url));
  } finally {
    await browser.close();
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
  const row = (name: string, of: keyof Times, goal: string): string[] => {
    const ms = all.map((times) => times[of]).sort((a, b) => a - b);
    return [name, `${ms[0]!.toFixed(0)} ms (${ms[ms.length >> 1]!.toFixed(0)} ms)`, goal];
  };
  return {
    columns: ['what', 'measured', 'goal'],
    rows: [
      row('first sentence', 'sentence', '<= 500 ms'),
      row('whole Answer', 'whole', '<= 1000 ms'),
    ],
  };
}
