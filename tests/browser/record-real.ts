/** Real apps (tests/oracle/real-apps.ts) recorded by the panel, in Chromium and in Firefox, from their first page to their last call. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'puppeteer-core';
import { expect } from 'vitest';
import type { Panel } from '../../src/drive/panel.ts';
import type { DrivenBrowserBase, DrivenPanel } from '../../src/drive/panel-control.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import type { RealApp } from '../oracle/real-apps.ts';
import { runTraced, type OracleCounts } from '../oracle/tracing.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import {
  callsIn,
  eventsSaid,
  launch,
  reachesPanel,
  recorded,
  savedStore,
} from './extension-harness.ts';
import { launchInFirefox } from './firefox-harness.ts';
import { countsOf } from './grid-counts.ts';

/** Interval of checks of the panel's event count, during which an idle app makes no call. */
const LOOKS = 16;

/** Waits until the app makes no more calls: the panel's event count hasn't changed for a while. */
async function atRest(count: () => Promise<unknown>): Promise<void> {
  let last: unknown;
  let same = 0;
  await expect
    .poll(
      async () => {
        const now = await count();
        same = now === last ? same + 1 : 0;
        last = now;
        return same;
      },
      { timeout: 60_000, interval: 50 },
    )
    .toBeGreaterThanOrEqual(LOOKS);
}

/** Wide enough for the app's own layout. */
const WINDOW = { width: 1300, height: 900 };

/** Number of storage calls that the app's own scripts have counted so far. */
const countedBy = (server: AppServer): Promise<string> =>
  Promise.resolve(JSON.stringify(server.counts()));

/** Use an app, close it, and reopen it. @returns what it reports to have stored */
async function useApp(
  driven: DrivenBrowserBase,
  pages: readonly Page[],
  origin: string,
  app: RealApp,
  rest: () => Promise<void>,
): Promise<unknown> {
  for (const page of pages) await driven.load(page, origin + app.path);
  await app.use(pages, rest);
  const [first] = pages as [Page];
  await first.bringToFront();
  const seen = await app.stored?.(first);
  await rest();
  await driven.load(first, origin + app.path);
  expect(await app.stored?.(first)).toEqual(seen);
  await rest();
  return seen;
}

/**
 * Record an app in all its tabs.
 * @param countIn the panel's text with the event count
 * @param run does the app's work, and may use the panel
 * @param read reads the panel once the recording is saved
 */
async function recordApp<P extends DrivenPanel>(
  driven: DrivenBrowserBase,
  openPanel: (page: Page) => Promise<P>,
  server: AppServer,
  app: RealApp,
  countIn: (panel: P) => Promise<unknown>,
  run: (pages: Page[], work: () => Promise<void>) => Promise<void>,
  read?: (panel: P, store: TraceStore) => Promise<void>,
): Promise<TraceStore> {
  const origin = server.origin(`${app.name}-real`);
  const first = await driven.firstPage();
  await first.setViewport(WINDOW);
  await driven.load(first, `${origin}/nothing`);
  const panel = await openPanel(first);
  const count = (): Promise<unknown> => countIn(panel);
  await startRecording(panel, { scope: app.tabs > 1 ? 'origin' : 'tab' });
  const pages = [first];
  let counted = 0;
  for (;;) {
    await recorded(pages.at(-1)!);
    await reachesPanel(count, counted);
    if (pages.length === app.tabs) break;
    counted = callsIn(await count());
    pages.push(await driven.browser.newPage());
    await driven.load(pages.at(-1)!, `${origin}/nothing`);
  }
  const rest = (): Promise<void> => atRest(app.polls ? () => countedBy(server) : count);
  let seen: unknown;
  await run(pages, async () => {
    seen = await useApp(driven, pages, origin, app, rest);
  });
  await first.bringToFront(); // the panel takes no clicks in the background
  await stopRecording(panel);
  const store = await savedStore(driven, panel);
  await read?.(panel, store);
  // the app without the hooks finds what was stored under them
  await driven.load(first, origin + app.path);
  expect(await app.stored?.(first)).toEqual(seen);
  return store;
}

/** Nothing was dropped, and nothing failed inside a hook. */
function whole(store: TraceStore): TraceStore {
  expect(store.dropped).toBe(0);
  expect(store.threads.map((t) => [t.faults, t.missing, t.orphanEnds])).toEqual(
    store.threads.map(() => [0, 0, 0]),
  );
  return store;
}

/** In a separate Chromium. The recording's counts match Chromium's own tracing of the same run. */
export async function recordTraced(
  app: RealApp,
  read?: (panel: Panel, store: TraceStore) => Promise<void>,
): Promise<TraceStore> {
  return inBrowser(
    launch(),
    async (driven, server) => {
      let counts: OracleCounts | undefined;
      const store = await recordApp(
        driven,
        driven.openPanel,
        server,
        app,
        eventsSaid,
        async (pages, work) => {
          ({ counts } = await runTraced(pages, work));
        },
        read,
      );
      expect(countsOf(store)).toEqual(counts);
      return whole(store);
    },
    { behind: app.behind ?? {} },
  );
}

/**
 * The counts of the app's own scripts (tests/server/count-storage.js), according to the recording.
 */
function oracleOf(server: AppServer): OracleCounts {
  const { transactions = 0, ...rest } = server.counts();
  const opfs = { reads: 0, readBytesAsked: 0, writes: 0, writeBytes: 0, flushes: 0, truncates: 0 };
  const requests: Record<string, number> = {};
  for (const [name, n] of Object.entries(rest))
    if (name in opfs) opfs[name as keyof typeof opfs] = n;
    else requests[name] = n;
  return { opfs, idb: { transactions, requests } };
}

/**
 * Share of the calls that a worker's own counts may lack if the app terminates it while it works.
 */
const LOST = 0.02;

/** The recording's counts match those of the app's own scripts in the same run. */
export function expectAsCounted(app: RealApp, store: TraceStore, server: AppServer): void {
  const [seen, own] = [countsOf(store, true), oracleOf(server)];
  if (!app.terminates) return expect(seen).toEqual(own);
  const flat = ({ opfs, idb }: OracleCounts): Record<string, number> => ({
    ...opfs,
    ...idb.requests,
    transactions: idb.transactions,
  });
  const [a, b] = [flat(seen), flat(own)];
  expect(Object.keys(a).sort()).toEqual(Object.keys(b).sort());
  for (const [name, n] of Object.entries(a)) {
    expect(b[name], name).toBeLessThanOrEqual(n);
    expect(b[name], name).toBeGreaterThanOrEqual(Math.floor(n * (1 - LOST)));
  }
}

/** In a separate Firefox, with the counts of the app's own scripts. */
export const recordInFirefox = (app: RealApp): Promise<TraceStore> =>
  inBrowser(
    launchInFirefox(),
    async (driven, server) =>
      whole(
        await recordApp(
          driven,
          driven.openPanel,
          server,
          app,
          (panel) =>
            panel.evaluate(
              `return document.querySelector('[data-testid="live-events"]')?.parentElement?.title ?? ''`,
            ),
          (_, work) => work(),
          async (_, store) => expectAsCounted(app, store, server),
        ),
      ),
    { counted: true },
  );

const HASH = new URL('../apps/common/storage-hash.js', import.meta.url);

/**
 * Hashes of everything that a page's origin has stored: storage-hash.js, wherever the origin's own
 * files are.
 */
async function hashStored(page: Page): Promise<unknown> {
  const module = await readFile(HASH, 'utf8');
  return page.evaluate(`(() => { ${module.replace(/^export /gm, '')}; return storageHash(); })()`);
}

/**
 * Use an app in one tab, closed and reopened, with fixed randomness and date
 * (tests/server/fix-chance.js).
 * @param record whether vfscope records it
 * @returns hashes of what it stored, by location
 */
export async function storedBy(app: RealApp, record: boolean): Promise<unknown> {
  const driven = await launch();
  const fixed = { dateMoves: app.waitsByDate === true };
  const server = await createServer({ counted: true, fixed });
  try {
    const origin = server.origin(`${app.name}-real`);
    const only = { ...app, tabs: 1 };
    const page = await driven.firstPage();
    await page.setViewport(WINDOW);
    const work = (_: unknown, all: () => Promise<void>): Promise<void> => all();
    if (record) await recordApp(driven, driven.openPanel, server, only, eventsSaid, work);
    else {
      await useApp(driven, [page], origin, only, () => atRest(() => countedBy(server)));
      await driven.load(page, origin + app.path); // as recordApp does after Stop
      await app.stored?.(page);
    }
    await atRest(() => countedBy(server));
    await driven.load(page, `${origin}/nothing`);
    await atRest(() => countedBy(server));
    return await hashStored(page);
  } finally {
    await driven.close();
    await server.close();
  }
}

async function inBrowser<D extends DrivenBrowserBase>(
  launched: Promise<D>,
  use: (driven: D, server: AppServer) => Promise<TraceStore>,
  options: Parameters<typeof createServer>[0] = {},
): Promise<TraceStore> {
  const driven = await launched;
  const server = await createServer(options);
  try {
    return await use(driven, server);
  } finally {
    await driven.close();
    await server.close();
  }
}
