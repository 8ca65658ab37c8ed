// What the viewer costs on traces of 1,000,000 and 10,000,000 events: from the file to the first full picture and to all events, script on
// the main thread per frame while the user drags and zooms; and how long an event takes to the screen while it is recorded. Measured in
// headless Chromium, on the panel in an ordinary tab.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { saveTrace } from '../../src/trace/file/write.ts';
import { liveLatency } from './live-latency.ts';
import { launchPlainBrowser } from '../../tests/oracle/browser.ts';
import { syntheticStore } from '../../tests/traces/synthetic.ts';

const HUGE = Boolean(process.env['HUGE']);
const SIZES: readonly (readonly [string, number])[] = [
  ['million.vfst', 1_000_000],
  ...(HUGE ? [['ten-million.vfst', 10_000_000] as const] : []),
];
const FRAMES = 120;

export const title = 'Viewer';
export const about =
  'Synthetic traces in 4 threads at a clock of 5 µs, 1600 x 900 px, software raster. "Open" runs from the call with the file ' +
  'in memory to the first picture of the whole timeline, and to the first one after all events are there. "Script" is the main thread’s JavaScript per ' +
  'animation frame while the view moves in every frame. "Event to pixel": a page’s port sends batches every 50 ms, and a row of the timeline’s pixels is read back ' +
  'in every frame; an event’s latency ends with the first frame in which its place is coloured (one pixel is 7 ms here), so up to 50 ms of it are the wait for its batch. HUGE=1 adds 10,000,000 events.';

interface Result {
  columns: string[];
  rows: (string | number)[][];
}

/** Move the view once a frame. @returns mean script time per frame, ms, over so many frames */
async function movement(page: Page, kind: 'pan' | 'zoom'): Promise<{ mean: number; frames: number }> {
  const client = await page.createCDPSession();
  await client.send('Performance.enable');
  const script = async (): Promise<number> => {
    const { metrics } = await client.send('Performance.getMetrics');
    return metrics.find((m) => m.name === 'ScriptDuration')!.value * 1000;
  };
  const before = await script();
  const frames = await page.evaluate(
    async (what, wanted) => {
      const canvas = document.querySelector<HTMLCanvasElement>('[data-testid=timeline]')!;
      const box = canvas.getBoundingClientRect();
      for (let i = 0; i < wanted; i++) {
        const forth = Math.floor(i / 15) % 2 === 0 ? 1 : -1;
        const change = what === 'pan' ? { shiftKey: true, deltaY: 30 * forth } : { ctrlKey: true, deltaY: 40 * forth };
        canvas.dispatchEvent(
          new WheelEvent('wheel', { ...change, clientX: box.x + box.width / 2, clientY: box.y + 60, bubbles: true, cancelable: true }),
        );
        await new Promise(requestAnimationFrame);
      }
      return wanted;
    },
    kind,
    FRAMES,
  );
  const spent = (await script()) - before;
  await client.detach();
  return { mean: spent / frames, frames };
}

export async function run(): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'vfscope-bench-'));
  const { buildPanel, servePanel } = (await import(new URL('../panel.mjs', import.meta.url).href)) as typeof import('../panel.mjs');
  const rows: Result['rows'] = [];
  const told = rows.push.bind(rows);
  rows.push = (...more) => {
    for (const row of more) console.error(row.join('  ')); // a long run shows how far it is
    return told(...more);
  };
  const traces: Record<string, string> = {};
  for (const [name, events] of SIZES) {
    const bytes = await (await saveTrace(syntheticStore({ events, clockStepUs: 5 }))).arrayBuffer();
    await writeFile((traces[name] = join(folder, name)), Buffer.from(bytes));
  }
  await buildPanel(join(folder, 'panel'));
  const server = await servePanel({ out: join(folder, 'panel'), traces });
  const browser = await launchPlainBrowser();
  try {
    const page = await browser.newPage();
    await page.setViewport({ width: 1600, height: 900 });
    await page.goto(`${server.url}?test`);
    await page.waitForFunction(() => document.documentElement.dataset.ready === 'true');
    const open = (name: string): Promise<{ first: number; all: number }> =>
      page.evaluate(async (file) => {
        const blob = await (await fetch(`/traces/${file}`)).blob();
        await blob.arrayBuffer(); // read from the network before the clock starts
        const frame = (): string | undefined => document.querySelector<HTMLElement>('[data-testid=timeline]')?.dataset.frame;
        const next = async (seen: string | undefined): Promise<number> => {
          while (frame() === seen) await new Promise(requestAnimationFrame);
          return performance.now();
        };
        const began = performance.now();
        const first = next(frame());
        await window.panel.viewer.open(blob, file);
        const all = await next(frame());
        return { first: (await first) - began, all: all - began };
      }, name);
    const opened = async (name: string, what: string, goals: [string, string]): Promise<void> => {
      const { first, all } = await open(name);
      rows.push([`${what}: open to the first full picture`, `${first.toFixed(0)} ms`, goals[0]]);
      rows.push([`${what}: open to all events`, `${all.toFixed(0)} ms`, goals[1]]);
    };
    await opened('million.vfst', '1,000,000 events', ['<= 500 ms', '']);
    await opened('million.vfst', 'the same, a second time', ['', '']);
    const filter = await page.evaluate(async () => {
      document.querySelector<HTMLElement>('[data-testid=tab-events]')!.click();
      const count = (): string => document.querySelector('[data-testid=event-count]')?.textContent ?? '';
      while (!/^1,\d{3},\d{3} /.test(count())) await new Promise(requestAnimationFrame);
      const input = document.querySelector<HTMLInputElement>('[data-testid=filter]')!;
      const began = performance.now();
      input.value = 'xsync';
      input.dispatchEvent(new Event('input', { bubbles: true }));
      while (/^1,\d{3},\d{3} /.test(count())) await new Promise(requestAnimationFrame);
      const took = performance.now() - began;
      document.querySelector<HTMLElement>('[data-testid=tab-timeline]')!.click();
      return took;
    });
    rows.push(['filter a million events by a word', `${filter.toFixed(0)} ms`, '']);
    await page.waitForSelector('[data-testid=timeline][data-frame]');
    const moved = async (what: string): Promise<void> => {
      for (const [depth, presses] of [
        ['whole trace', 0],
        ['zoomed in 1000 times', 17],
      ] as const) {
        for (let i = 0; i < presses; i++) await page.keyboard.press('w');
        for (const kind of ['pan', 'zoom'] as const)
          rows.push([`${what}: script per frame, ${kind}, ${depth}`, `${(await movement(page, kind)).mean.toFixed(1)} ms`, '<= 4 ms']);
      }
    };
    await moved('1,000,000 events');
    await page.keyboard.press('0');
    if (HUGE) {
      await opened('ten-million.vfst', '10,000,000 events', ['<= 500 ms', '<= 5000 ms']);
      await moved('10,000,000 events');
    }
    await page.close();
    const live = await browser.newPage();
    await live.setViewport({ width: 1600, height: 900 });
    await live.goto(`${server.url}?test&live&key=bench`);
    await live.waitForFunction(() => document.documentElement.dataset.ready === 'true');
    const { median, p95, events, frames } = await liveLatency(live);
    rows.push([
      `event to pixel at 50,000 events/s, median (${events.toLocaleString('en-US')} events, ${frames} frames)`,
      `${median.toFixed(0)} ms`,
      '',
    ]);
    rows.push(['the same, p95', `${p95.toFixed(0)} ms`, '<= 100 ms']);
  } finally {
    await browser.close();
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
  return { columns: ['what', 'measured', 'goal'], rows };
}
