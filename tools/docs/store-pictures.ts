// `npm run docs -- store-pictures`: records the demo with the built extension in a real Chromium,
// and makes the stores' screenshots, tiles, and walk-through. Look at them before uploading.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { launchBrowser, type DrivenBrowser } from '../../src/drive/browser.ts';
import { openPanel } from '../../src/drive/panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { createServer } from '../../tests/server/server.mjs';
import { apng } from './apng.ts';
import { show } from './show-view.ts';
import { captioned, tile } from './store-pages.ts';

const out = 'store-assets/pictures';
const WIDTH = 1280;
const HEIGHT = 800;
const SCREENSHOTS = [
  '1-answer',
  '2-timeline',
  '3-statements',
  '4-files',
  '5-timeline-dark',
] as const;
/** Each frame of the walk-through: a screenshot of `steps` and its caption. */
const WALK = [
  ['app', 'Your app, as it is. It runs SQLite on OPFS or IndexedDB.'],
  ['empty', 'Open DevTools, choose vfscope, press Record.'],
  ['recording', 'Use the app: vfscope counts every read, write, lock, and sync.'],
  ['1-answer', 'Stop, and read what to change, the largest saving first ...'],
  ['2-timeline', '... and when it happened: SQL, VFS calls, storage, locks.'],
] as const;
const FRAME_MS = 3000;

/** The demo reports its state in `body[data-state]` and `#status`. */
const says = (page: Page, start: string): Promise<unknown> =>
  page.waitForFunction(
    (text) =>
      document.body.dataset['state'] === 'ready' &&
      document.querySelector('#status')?.textContent?.startsWith(text),
    { polling: 50 },
    start,
  );

async function useDemo(page: Page): Promise<void> {
  await says(page, 'Opened in');
  await page.click('#import');
  await says(page, 'Imported');
  await page.type('#search', 'sourdough', { delay: 20 });
  await page.click('#one-by-one');
  await says(page, 'Added 100 notes');
}

/** Record the demo and take a screenshot at every step. */
async function recordAndShoot(
  driven: DrivenBrowser,
  url: string,
  shot: (name: string) => string,
  views: [view: string, name: string][],
) {
  const page = await driven.firstPage();
  await page.goto(url);
  await says(page, 'Opened in');
  await page.setViewport({ width: WIDTH, height: HEIGHT });
  await page.screenshot({ path: shot('app') as `${string}.png` });
  const panel = await openPanel(page);
  await panel.resize(WIDTH, HEIGHT);
  await panel.screenshot(shot('empty'), true);
  await startRecording(panel);
  await useDemo(page);
  await show(panel, 'timeline');
  await panel.screenshot(shot('recording'), true);
  await stopRecording(panel);
  for (const [view, name] of views) {
    await show(panel, view);
    await panel.screenshot(shot(name), true);
  }
}

const dataUrl = (file: string): string =>
  `data:image/png;base64,${readFileSync(file).toString('base64')}`;

/** A page of ours as an image. */
async function draw(page: Page, html: string, width: number, height: number): Promise<Uint8Array> {
  await page.setViewport({ width, height });
  await page.setContent(html, { waitUntil: 'load' });
  return page.screenshot({ clip: { x: 0, y: 0, width, height } });
}

/** Takes all screenshots and replaces existing ones. */
export async function write(): Promise<void> {
  mkdirSync(out, { recursive: true });
  const steps = 'node_modules/.cache/vfscope-store-pictures';
  const shot = (name: string): string =>
    join((SCREENSHOTS as readonly string[]).includes(name) ? out : steps, `${name}.png`);
  const extension = join(process.env['VFSCOPE_DIST'] ?? 'dist', 'chrome');
  const server = await createServer();
  try {
    for (const dark of [false, true]) {
      const driven = await launchBrowser({ extension, dark, width: WIDTH, height: HEIGHT + 150 });
      try {
        const views: [string, string][] = dark
          ? [['timeline', '5-timeline-dark']]
          : [
              ['answer', '1-answer'],
              ['timeline', '2-timeline'],
              ['statements', '3-statements'],
              ['files', '4-files'],
            ];
        await recordAndShoot(
          driven,
          `${server.url}/demo/?vfs=OPFSCoopSync`,
          dark ? (name) => shot(name === views[0]![1] ? name : `dark-${name}`) : shot,
          views,
        );
        if (dark) continue;
        const page = await driven.browser.newPage();
        const icon = dataUrl('store-assets/icons/icon-256.png');
        const panel = dataUrl(shot('2-timeline'));
        for (const [width, height] of [
          [440, 280],
          [1400, 560],
        ] as const)
          writeFileSync(
            join(out, `tile-${width}x${height}.png`),
            await draw(page, tile({ icon, panel, width, height }), width, height),
          );
        const frames = [];
        for (const [name, text] of WALK)
          frames.push({
            png: await draw(page, captioned(dataUrl(shot(name)), text), 960, 656),
            ms: FRAME_MS,
          });
        writeFileSync(join(out, 'walk-through.png'), apng(frames));
      } finally {
        await driven.close();
      }
    }
  } finally {
    await server.close();
  }
}
