/**
 * Frames that a page creates and writes itself: recorded and restored, and none of their listeners
 * receives our messages.
 */
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { goTo, openPanel } from '../../src/drive/panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import type { ThreadStore } from '../../src/trace/store.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import {
  callsIn,
  eventsSaid,
  launch,
  reachesPanel,
  recorded,
  restored,
  savedStore,
} from './extension-harness.ts';
import { makeFrames } from './opened-documents.ts';
import { marksOf } from './threads-harness.ts';

let server: AppServer;
let driven: DrivenBrowser;
beforeAll(async () => {
  [server, driven] = await Promise.all([createServer(), launch()]);
});
afterAll(async () => {
  await driven?.close();
  await server?.close();
});

const cases = <R>(page: Page, ask: (of: Window['frameCases']) => R): Promise<R> =>
  page.evaluate(`(${String(ask)})(window.frameCases)`) as Promise<R>;

/** Runs in a page: whether one of our scripts would answer a hook. */
const isHeard = (): boolean => {
  const ports = [new MessageChannel().port2];
  return !dispatchEvent(new MessageEvent('vfscope', { ports, cancelable: true }));
};

test('frames in a recorded tab are recorded and restored; in other tabs they are restored at once, except SharedWorkers', async () => {
  const page = await driven.firstPage();
  const panel = await openPanel(page);
  await startRecording(panel);
  await goTo(page, `${server.origin('opened')}/hook-cases/`);
  await recorded(page);
  expect(await page.evaluate(isHeard)).toBe(true);
  await page.evaluate(makeFrames);
  const { names } = await page.evaluate(() => ({ names: window.frameCases.names }));
  expect(names).toHaveLength(12);
  expect(await cases(page, (c) => c.hooked())).toEqual(names);
  await cases(page, (c) => c.mark('own'));

  const others: Page[] = [];
  for (const [origin, hooked] of [
    ['unrelated', []],
    ['opened', names], // its SharedWorkers are the recorded tab's
  ] as const) {
    const other = await driven.browser.newPage();
    others.push(other);
    await goTo(other, `${server.origin(origin)}/hook-cases/`);
    await other.evaluate(makeFrames);
    await expect.poll(() => other.evaluate(isHeard), { timeout: 30_000 }).toBe(false);
    await expect.poll(() => cases(other, (c) => c.hooked()), { timeout: 30_000 }).toEqual(hooked);
    expect(await cases(other, (c) => c.heard), origin).toEqual([]);
    await cases(other, (c) => c.mark('own'));
  }

  // the recorded tab's have asked earlier; what they hand over is on its way, or has arrived
  await expect.poll(() => cases(page, (c) => c.handing()), { timeout: 30_000 }).toEqual([]);
  await page.bringToFront(); // a panel in the background draws nothing
  await stopRecording(panel);
  for (const one of [page, ...others]) {
    await expect.poll(() => cases(one, (c) => c.hooked()), { timeout: 30_000 }).toEqual([]);
    await restored(one);
    expect(await cases(one, (c) => c.heard)).toEqual([]);
    expect(await one.evaluate(isHeard)).toBe(false);
  }
  const store = await savedStore(driven, panel);
  const marks = store.threads.flatMap((thread) => marksOf(thread).map(({ name }) => name));
  expect(marks.filter((name) => name.startsWith('own')).sort()).toEqual(
    names.map((name) => `own ${name}`).sort(),
  );
  await Promise.all([page, ...others].map((one) => one.close()));
});

test('an SVG document is recorded, as a page and in a frame', async () => {
  const page = await driven.browser.newPage();
  const panel = await openPanel(page);
  await startRecording(panel);
  const go = async (file: string): Promise<void> => {
    const before = callsIn(await eventsSaid(panel));
    await goTo(page, `${server.origin('svg')}/hook-cases/${file}`);
    await recorded(page);
    await reachesPanel(() => eventsSaid(panel), before);
  };
  // one that loads too fast is reported late, and noted (docs/limits.md)
  for (let loads = 0; loads < 8; loads++) await go('picture.svg');
  await go('');
  await page.evaluate(
    () =>
      new Promise((done) => {
        const frame = document.createElement('iframe');
        frame.src = 'picture.svg';
        frame.onload = done;
        document.body.append(frame);
      }),
  );
  await stopRecording(panel);
  const { threads } = await savedStore(driven, panel);
  const pictures = threads.filter(({ info }) => info.url.endsWith('picture.svg'));
  const isDrawn = (thread: ThreadStore): boolean =>
    marksOf(thread).some(({ name }) => name === 'drawn');
  const saysLate = ({ notes }: ThreadStore): boolean =>
    notes.some(({ topic }) => topic === 'late-start');
  expect(pictures.filter((one) => isDrawn(one) === saysLate(one))).toEqual([]);
  expect([...new Set(pictures.filter(isDrawn).map(({ info }) => info.kind))]).toEqual([
    'page',
    'frame',
  ]);
  await page.close();
});
