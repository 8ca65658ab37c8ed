/**
 * Our tracks in Chrome's own Performance panel: while it records, Chromium's trace has statements, transactions, and syncs of page and
 * worker, each once. DevTools tells extensions of its recording by its ExtensionServer; the trace here is taken over CDP, as two can't record.
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

/** What DevTools does where its Performance panel begins or ends to record. */
async function profiling(happens: 'profilingStarted' | 'profilingStopped'): Promise<void> {
  const devtools = (await driven.browser.pages()).find((one) => one.url().startsWith('devtools:'))!;
  await devtools.evaluate(`(async () => {
    const { ExtensionServer } = await import('./panels/common/common.js');
    ExtensionServer.ExtensionServer.instance().${happens}();
  })()`);
}

interface Stamp {
  name: string;
  args: { data?: Record<string, unknown> };
}

/** Chromium's trace of this work. */
async function traced(work: () => Promise<void>): Promise<Stamp[]> {
  const session = await driven.browser.target().createCDPSession();
  const events: Stamp[] = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as Stamp[])));
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: {
      recordMode: 'recordAsMuchAsPossible',
      includedCategories: ['devtools.timeline', 'blink.console', 'blink.user_timing'],
      excludedCategories: ['*'],
    },
  });
  try {
    await work();
  } finally {
    const done = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
    await session.send('Tracing.end');
    await done;
    await session.detach();
  }
  return events.filter(({ name }) => name === 'TimeStamp');
}

/** Counts what the panel hands to its page for Chrome's trace. */
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

/** Record both apps while the Performance panel "records". @param until by which all is there */
async function recordBoth(
  name: string,
  until: (store: TraceStore) => Promise<unknown>,
): Promise<{ store: TraceStore; stamps: Stamp[] }> {
  await openNothing(page, server.origin(name));
  await startRecording(panel);
  await recorded(page);
  let store!: TraceStore;
  const stamps = await traced(async () => {
    await profiling('profilingStarted');
    for (const app of [WORKER, PAGE]) {
      await goTo(page, `${server.origin(name)}/${app}`);
      await state(page, 'ready');
      await page.evaluate(() =>
        (window as never as { run(w: string, o: object): Promise<unknown> }).run('own-sql', {
          n: 20,
        }),
      );
    }
    await stopRecording(panel);
    store = await savedStore(driven, panel);
    await until(store);
    await profiling('profilingStopped');
  });
  return { store, stamps: stamps.filter(({ args }) => args.data?.['trackGroup'] === 'vfscope') };
}

const toggle = async (): Promise<void> => {
  await showView(panel, 'settings');
  const box = await panel.frame.waitForSelector('[data-testid="settings-performance"]');
  await box!.click();
};

test('with the setting on, each statement, transaction, and sync of page and worker, once', async () => {
  await countShown();
  await toggle();
  let wanted: Record<string, number> = {};
  const { stamps } = await recordBoth('performance', (store) => {
    wanted = wantedOf(store);
    const all = Object.values(wanted).reduce((a, b) => a + b);
    return expect.poll(shown, { timeout: 30_000 }).toBeGreaterThanOrEqual(all);
  });
  const found: Record<string, number> = {};
  for (const { args } of stamps) {
    const track = String(args.data!['track']);
    found[track] = (found[track] ?? 0) + 1;
    expect(args.data!['end']).toBeGreaterThanOrEqual(args.data!['start'] as number);
  }
  expect(found).toEqual(wanted);
  expect(Object.entries(found).filter(([track]) => track.startsWith('Syncs'))).toEqual([
    [expect.stringContaining('worker.js'), SYNCS],
    [expect.stringContaining('/sqlite-org/'), SYNCS],
  ]);
  // nothing that the app could find
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
  const { stamps } = await recordBoth('performance-off', async () => undefined);
  expect(stamps).toEqual([]);
  expect(await shown()).toBe(before);
}, 120_000);

/** By track: what the recording has. */
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
