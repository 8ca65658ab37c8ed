/**
 * Our tracks in Chrome's Performance panel: after its Record button was pressed, its result has the
 * statements, transactions, and syncs of page and worker, each once.
 */
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { goTo, openPanel, type Panel } from '../../src/drive/panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { threadTitles } from '../../src/analysis/core/thread-titles.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { Op } from '../../src/event/event.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { transactionRows } from '../../src/analysis/transactions/table.ts';
import { laneOfOp } from '../../src/trace/lanes/lanes.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { showView } from './show-view.ts';
import { launch, openNothing, recorded, savedStore, state } from './extension-harness.ts';

let server: AppServer;
let driven: DrivenBrowser;
let page: Page;
let panel: Panel;
beforeAll(async () => {
  [server, driven] = await Promise.all([createServer(), launch()]);
  page = await driven.firstPage();
  await openNothing(page, server.origin('performance'));
  panel = await openPanel(page);
});
afterAll(async () => {
  await driven?.close();
  await server?.close();
});

/**
 * Runs in DevTools, where `code` can use its Performance panel, that panel's button, and the views.
 */
async function inDevTools<T>(code: string): Promise<T> {
  const devtools = (await driven.browser.pages()).find((one) => one.url().startsWith('devtools:'))!;
  return (await devtools.evaluate(`(async () => {
    const { ViewManager, ActionRegistry } = await import('./ui/legacy/legacy.js');
    const views = ViewManager.ViewManager.instance();
    const { TimelinePanel } = (await import('./panels/timeline/timeline.js')).TimelinePanel;
    const record = ActionRegistry.ActionRegistry.instance().getAction('timeline.toggle-recording');
    ${code}
  })()`)) as T;
}
const showOurs = (): Promise<unknown> =>
  inDevTools(
    `await views.showView([...views.views.keys()].find((key) => key.startsWith('chrome-extension://') && key.endsWith('vfscope')));`,
  );
const pressRecord = (): Promise<unknown> =>
  inDevTools(`await views.showView('timeline'); await record.execute();`);
const isRecording = (): Promise<boolean> => inDevTools('return record.toggled();');
const recordings = (): Promise<number> =>
  inDevTools('return TimelinePanel.instance().model?.size() ?? 0;');

/** How many entries each of our tracks has in the newest recording of Chrome's Performance panel, and those that end before they begin. */
const ourTracks = (): Promise<{ tracks: Record<string, number>; backwards: number }> =>
  inDevTools(`
    const { model } = TimelinePanel.instance();
    const { ExtensionTraceData } = model.parsedTrace(model.size() - 1).data;
    const groups = ExtensionTraceData.extensionTrackData.filter(({ name }) => name === 'vfscope');
    const tracks = groups.flatMap(({ entriesByTrack }) => Object.entries(entriesByTrack));
    return {
      tracks: Object.fromEntries(tracks.map(([name, entries]) => [name, entries.length])),
      backwards: tracks.flatMap(([, entries]) => entries).filter(({ dur }) => !(dur >= 0)).length,
    };`);

/** Counts what the panel gives its page for Chrome's trace. */
const countShown = (): Promise<void> =>
  panel.frame.evaluate(() => {
    const { inspectedWindow } = chrome.devtools;
    const run = inspectedWindow.eval.bind(inspectedWindow) as (...args: unknown[]) => void;
    const counted = globalThis as { shown?: number };
    counted.shown = 0;
    inspectedWindow.eval = ((
      ...args: [string, unknown, (value: unknown, failure: unknown) => void]
    ) =>
      run(args[0], args[1], (value: unknown, failure: unknown) => {
        if (!failure && args[0].includes('timeStamp'))
          counted.shown! += args[0].split('"vfscope"').length - 1;
        args[2]?.(value, failure);
      })) as typeof inspectedWindow.eval;
  });
const shown = (): Promise<number> =>
  panel.frame.evaluate(() => (globalThis as { shown?: number }).shown!);

const WORKER = 'journeyapps-wa-sqlite/?vfs=AccessHandlePool';
const PAGE = 'sqlite-org/?vfs=kvvfs';
/** 20 inserts and CREATE TABLE, each with three. */
const SYNCS = 63;

/** Number of checks in a row that must find nothing new. */
const LOOKS = 16;

/** Resolves when the panel has shown everything. */
async function allShown(): Promise<void> {
  let [last, same] = [-1, 0];
  const look = async (): Promise<number> => {
    const now = await shown();
    same = now === last ? same + 1 : 0;
    last = now;
    return same;
  };
  await expect.poll(look, { timeout: 30_000, interval: 50 }).toBeGreaterThanOrEqual(LOOKS);
}

/**
 * Records both apps while Chrome's Performance panel records, during which no other panel can be
 * selected.
 */
async function recordBoth(
  name: string,
): Promise<Awaited<ReturnType<typeof ourTracks>> & { store: TraceStore }> {
  await openNothing(page, server.origin(name));
  await startRecording(panel);
  await recorded(page);
  await pressRecord();
  await expect.poll(isRecording, { timeout: 30_000 }).toBe(true);
  const before = await recordings();
  for (const app of [WORKER, PAGE]) {
    await goTo(page, `${server.origin(name)}/${app}`);
    await state(page, 'ready');
    await page.evaluate(() =>
      (window as never as { run(w: string, o: object): Promise<unknown> }).run('own-sql', {
        n: 20,
      }),
    );
  }
  await allShown();
  await pressRecord();
  await expect.poll(recordings, { timeout: 60_000 }).toBe(before + 1);
  await showOurs();
  await stopRecording(panel);
  return { ...(await ourTracks()), store: await savedStore(driven, panel) };
}

const toggle = async (): Promise<void> => {
  await showView(panel, 'settings');
  const box = await panel.frame.waitForSelector('[data-testid="settings-performance"]');
  await box!.click();
};

test('with the setting on, each statement, transaction, and sync of page and worker, once', async () => {
  await countShown();
  await toggle();
  const { tracks, backwards, store } = await recordBoth('performance');
  const wanted = wantedOf(store);
  for (const [track, flushes] of flushesOfSetup(store)) {
    const early = tracks[track]! - wanted[track]!;
    // they are shown if they arrive before SQLite does
    if (early > 0 && early <= flushes) tracks[track]! -= early;
  }
  expect(tracks).toEqual(wanted);
  expect(backwards).toBe(0);
  expect(Object.entries(tracks).filter(([track]) => track.startsWith('Syncs'))).toEqual([
    [expect.stringContaining('worker.js'), SYNCS],
    [expect.stringContaining('/sqlite-org/'), SYNCS],
  ]);
  // nothing that the app could detect
  expect(
    await page.evaluate(
      () =>
        performance.getEntries().filter(({ entryType }) => /^(mark|measure)$/.test(entryType))
          .length,
    ),
  ).toBe(0);
}, 120_000);

test('with the setting off, none', async () => {
  await toggle();
  const before = await shown();
  const { tracks } = await recordBoth('performance-off');
  expect(tracks).toEqual({});
  expect(await shown()).toBe(before);
}, 120_000);

/** By track of syncs: the flushes with which a VFS set up its storage, before its first call. */
function flushesOfSetup(store: TraceStore): [string, number][] {
  const titles = threadTitles(store);
  return store.threads.map(({ index, events: { op, count } }) => {
    const first = op.subarray(0, count).findIndex((code) => laneOfOp(code) === 'vfs');
    const setup = op.subarray(0, Math.max(0, first));
    return [`Syncs · ${titles[index]!}`, setup.filter((code) => code === Op.opfsFlush).length];
  });
}

/** By track: the recording's content. */
function wantedOf(store: TraceStore): Record<string, number> {
  const titles = threadTitles(store);
  const lines = new Facts(store).get(transactionRows);
  const wanted: Record<string, number> = {};
  const add = (track: string, thread: number, n = 1): void => {
    const key = `${track} · ${titles[thread]!}`;
    if (n) wanted[key] = (wanted[key] ?? 0) + n;
  };
  for (const { index, events } of store.threads)
    for (let row = 0; row < events.count; row++) {
      if (laneOfOp(events.op[row]!) === 'sql') add('Statements', index);
      if (events.op[row] === Op.xSync) add('Syncs', index);
    }
  for (let i = 0; i < lines.count; i++) add('Transactions', lines.at(i).thread);
  return wanted;
}
