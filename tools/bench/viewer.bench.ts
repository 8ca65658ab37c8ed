// The cost of the viewer on traces of 1,000,000 and 10,000,000 events: time from the file to the
// first full picture and to all events, main-thread script per frame while the user drags and
// zooms, the worker's time per picture; and the time from an event to the screen during a
// recording. The panel runs in an ordinary tab of headless Chromium, or of Firefox with
// BROWSER=firefox, which needs a build.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import { launchFirefox } from '../../src/drive/firefox.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import { heapOfPage } from '../../tests/browser/heap.ts';
import { launchPlainBrowser } from '../../tests/oracle/browser.ts';
import { syntheticStore } from '../../tests/traces/synthetic.ts';
import { liveLatency } from './live-latency.ts';
import { installScriptMeter, moveTimeline, percentile } from './script-meter.ts';

const HUGE = Boolean(process.env['HUGE']);
const FIREFOX = process.env['BROWSER'] === 'firefox';
const FRAMES = 120;
/** For one kind of movement, at each zoom. */
const ZOOMS: readonly (readonly [name: string, presses: number])[] = [
  ['whole trace', 0],
  ['zoomed in 10 times', 6],
  ['zoomed in 1000 times', 11],
];

interface Size {
  events: number;
  file: string;
  name: string;
  /** ms: to the first picture, to all events. */
  goals: [string, string];
}
const MILLION: Size = {
  ...{ events: 1_000_000, file: 'million.vfst', name: '1,000,000 events' },
  goals: [`<= ${FIREFOX ? 1000 : 500} ms`, '<= 1500 ms'],
};
const TEN_MILLION: Size = {
  ...{ events: 10_000_000, file: 'ten-million.vfst', name: '10,000,000 events' },
  goals: ['<= 500 ms', `<= ${FIREFOX ? 10_000 : 5000} ms`],
};

export const title = `Viewer${FIREFOX ? ' (Firefox)' : ''}${HUGE ? ', 10,000,000 events' : ''}`;
export const about =
  `A synthetic trace in 4 threads at a clock of 5 µs, 1600 x 900 px, ${FIREFOX ? 'headless Firefox' : 'headless Chromium'}, software raster. "Open" runs from the call ` +
  'with the file in memory to the first picture of the whole timeline (of a large file from the summaries of its chunks), and to the first one after the worker said that all events are there. ' +
  `"Script" is the main thread's JavaScript in an animation frame while the view moves in each of ${FRAMES} frames, measured in the page: everything that frame callbacks, ` +
  'messages, timers and the input itself run, microtasks included; what the measuring takes itself (about 0.1 ms each time) is known from measuring nothing, and taken off. "Picture" is how long it takes from asking the worker for a picture to having it: while the zoom moves, of ' +
  'the lanes on screen (24 of 32 here) and an eighth of the width on either side; once it has rested for 200 ms, and while the view is panned, of the lanes one screen above and ' +
  "below, too, and half the width on either side. The picture before it stays, moved and stretched, until then. \"Event to pixel\": a page's port sends batches every 50 ms, and a row of the timeline's pixels is read back in every frame; an event's latency ends with the " +
  'first frame in which its place is colored (one pixel is 7 ms here), so up to 50 ms of it are the wait for its batch. ' +
  'HUGE=1 takes 10,000,000 events instead, BROWSER=firefox Firefox.';

interface Result {
  columns: string[];
  rows: (string | number)[][];
}
type Tell = (what: string, measured: string, goal: string) => void;
const ms = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} ms`;

const launch = async (): Promise<Browser> =>
  FIREFOX
    ? (
        await launchFirefox({
          extension: join(process.env['VFSCOPE_DIST'] ?? 'dist', 'firefox'),
          // else a clock of whole milliseconds
          preferences: { 'privacy.reduceTimerPrecision': false },
        })
      ).browser
    : launchPlainBrowser();

async function panel(browser: Browser, url: string): Promise<Page> {
  const page = await browser.newPage();
  await installScriptMeter(page);
  await page.setViewport({ width: 1600, height: 900 });
  await page.goto(url);
  await page.waitForFunction(() => document.documentElement.dataset.ready === 'true');
  return page;
}

/** Open a trace. @returns ms until the first picture, and until the first one with all events */
const open = (page: Page, name: string): Promise<{ first: number; all: number }> =>
  page.evaluate(async (file) => {
    const blob = await (await fetch(`/traces/${file}`)).blob();
    await blob.arrayBuffer(); // read over the network before the clock starts
    const frame = (): string | undefined =>
      document.querySelector<HTMLElement>('[data-testid=timeline]')?.dataset.frame;
    const next = async (seen: string | undefined): Promise<number> => {
      while (frame() === seen) await new Promise(requestAnimationFrame);
      return performance.now();
    };
    // the previous trace's picture is still refined for a moment
    for (let seen = frame(), since = performance.now(); performance.now() - since < 500;) {
      await new Promise(requestAnimationFrame);
      if (frame() !== seen) [seen, since] = [frame(), performance.now()];
    }
    const began = performance.now();
    const first = next(frame());
    window.scriptMeter.opened = null;
    const whole = (async () => {
      while (!window.scriptMeter.opened) await new Promise(requestAnimationFrame);
      return next(window.scriptMeter.opened.frame);
    })();
    await window.panel.viewer.open(blob, file);
    return { first: (await first) - began, all: (await whole) - began };
  }, name);

/**
 * Time until everything about the whole trace is there: the strip's numbers, and the tables of
 * these tabs.
 */
const WHOLE_TRACE = [
  ['timeline', '[data-testid=live-commits]'],
  ['answer', '[data-testid=finding-title], [data-testid=no-findings]'],
  ['transactions', '[data-testid=transaction-count]'],
  ['statements', '[data-testid=statement-count]'],
] as const;

/** Show one view after the other. @returns ms until the last of them was filled */
const tables = (page: Page): Promise<number> =>
  page.evaluate(async (views) => {
    const began = performance.now();
    for (const [tab, filled] of views) {
      document.querySelector<HTMLElement>(`[data-testid=tab-${tab}]`)!.click();
      const there = (): boolean => {
        const found = document.querySelector(filled);
        return (
          found !== null && !found.classList.contains('unknown') && /\w/.test(found.textContent)
        );
      };
      while (!there()) {
        if (performance.now() - began > 60_000) throw new Error(`${tab} shows no ${filled}`);
        await new Promise(requestAnimationFrame);
      }
    }
    const took = performance.now() - began;
    document.querySelector<HTMLElement>('[data-testid=tab-timeline]')!.click();
    return took;
  }, WHOLE_TRACE);

const filtered = (page: Page): Promise<number> =>
  page.evaluate(async () => {
    document.querySelector<HTMLElement>('[data-testid=tab-events]')!.click();
    const count = (): string =>
      document.querySelector('[data-testid=event-count]')?.textContent ?? '';
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

/** Drag and zoom at several depths. */
async function moved(page: Page, what: string, tell: Tell): Promise<void> {
  await page.waitForSelector('[data-testid=timeline][data-frame]');
  await page.keyboard.press('0');
  const all: { script: number[]; answer: number[] } = { script: [], answer: [] };
  for (const [depth, presses] of ZOOMS) {
    for (let i = 0; i < presses; i++) await page.keyboard.press('w');
    for (const kind of ['pan', 'zoom'] as const) {
      const { scriptMs, answerMs } = await moveTimeline(page, kind, FRAMES);
      all.script.push(...scriptMs);
      all.answer.push(...answerMs);
      const spread = (values: readonly number[]): string =>
        `${ms(percentile(values, 0.5))}, ${ms(percentile(values, 0.95))}`;
      tell(`${what}, ${kind}, ${depth}: script per frame, median and p95`, spread(scriptMs), '');
      if (answerMs.length < 10) continue; // most pans find their picture painted
      tell(
        `${what}, ${kind}, ${depth}: picture from the worker, median and p95 of ${answerMs.length}`,
        spread(answerMs),
        '',
      );
    }
  }
  tell(
    `${what}: script per frame, all of these, median`,
    ms(percentile(all.script, 0.5)),
    '<= 4 ms',
  );
  tell(`${what}: script per frame, all of these, p95`, ms(percentile(all.script, 0.95)), '<= 8 ms');
  tell(
    `${what}: picture from the worker, all of these, p95`,
    ms(percentile(all.answer, 0.95)),
    '<= 16 ms',
  );
}

/** Resident memory of the largest process that shows web pages, MB. */
async function rendererMb(browser: Browser): Promise<number> {
  const client = await browser.target().createCDPSession();
  const { processInfo } = await client.send('SystemInfo.getProcessInfo');
  await client.detach();
  const sizes = processInfo
    .filter(({ type }) => type === 'renderer')
    .map(
      async ({ id }) =>
        Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${id}/status`, 'utf8'))?.[1] ?? NaN) /
        1024,
    );
  return Math.max(...(await Promise.all(sizes)));
}

async function measure(browser: Browser, url: string, tell: Tell): Promise<void> {
  const { name, file, goals } = HUGE ? TEN_MILLION : MILLION;
  const page = await panel(browser, `${url}?test`);
  for (const [what, [firstGoal, allGoal]] of [
    [name, goals],
    [`${name}, a second time`, ['', '']],
  ] as const) {
    const { first, all } = await open(page, file);
    tell(`${what}: open to the first full picture`, ms(first), firstGoal);
    tell(`${what}: open to all events`, ms(all), HUGE ? allGoal : '');
    if (!FIREFOX) {
      tell(
        `${what}: resident memory of the tab's process then`,
        `${(await rendererMb(browser)).toFixed(0)} MB`,
        HUGE ? '<= 600 MB' : '',
      );
      const heap = await heapOfPage(page, page.workers());
      tell(
        `${what}: heap and array buffers of page and workers, garbage collected`,
        `${(heap / 2 ** 20).toFixed(0)} MB`,
        HUGE ? '<= 600 MB' : '',
      );
    }
    const filled = await tables(page);
    tell(
      `${what}: open to the whole trace's numbers, overview, findings, transactions, statements`,
      ms(all + filled),
      HUGE ? '' : allGoal,
    );
    if (HUGE) break; // twice takes too long
  }
  if (!HUGE) tell('filter a million events by a word', ms(await filtered(page)), '');
  await moved(page, name, tell);
  if (!FIREFOX)
    tell(
      `${name}: resident memory of the tab's process with all of these`,
      `${(await rendererMb(browser)).toFixed(0)} MB`,
      '',
    );
  await page.close();
}

async function recorded(browser: Browser, url: string, tell: Tell): Promise<void> {
  const page = await panel(browser, `${url}?test&live&key=bench`);
  const { median, p95, events, frames } = await liveLatency(page);
  tell(
    `event to pixel at 50,000 events/s, median (${events.toLocaleString('en-US')} events, ${frames} frames)`,
    ms(median),
    '',
  );
  tell('the same, p95', ms(p95), '<= 100 ms');
  await page.close();
}

export async function run(): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'vfscope-bench-'));
  const { buildPanel, servePanel } = (await import(
    new URL('../dev/panel.mjs', import.meta.url).href
  )) as typeof import('../dev/panel.mjs');
  const rows: Result['rows'] = [];
  const tell: Tell = (...row) => {
    console.error(row.join('  ')); // show progress during a long run
    rows.push(row);
  };
  const { file, events } = HUGE ? TEN_MILLION : MILLION;
  const traces = { [file]: join(folder, file) };
  await writeFile(
    traces[file]!,
    Buffer.from(await (await saveTrace(syntheticStore({ events, clockStepUs: 5 }))).arrayBuffer()),
  );
  await buildPanel(join(folder, 'panel'));
  const server = await servePanel({ out: join(folder, 'panel'), traces });
  const browser = await launch();
  try {
    await measure(browser, server.url, tell);
    if (!HUGE) await recorded(browser, server.url, tell);
  } finally {
    await browser.close();
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
  return { columns: ['what', 'measured', 'goal'], rows };
}
