/**
 * What remains of a recording when the extension is reloaded (as by an update), disabled, or
 * crashes, and when the browser does: the next panel offers everything that the panel had counted
 * before the last write to the spool. The app keeps running.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { some } from '../full.ts';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { goTo, openPanel, type Panel } from '../../src/drive/panel.ts';
import { startRecording } from '../../src/drive/session.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { launch, moreEvents, recorded, restored, state } from './extension-harness.ts';

const APP = '/journeyapps-wa-sqlite/?vfs=AccessHandlePool';
const INSERTS = 2500;
const polling = 50;
let server: AppServer;
beforeAll(async () => {
  server = await createServer();
});
afterAll(async () => {
  await server?.close();
});

/** "1,234" or "1.2k", rounded down. */
async function shown(panel: Panel, id: 'live-syncs'): Promise<number> {
  const [, digits, thousands] = /^([\d.,]+)(k?)$/.exec(await panel.textOf(id))!;
  return thousands
    ? Math.floor((Number(digits) - 0.1) * 1000)
    : Number(digits!.replaceAll(',', ''));
}

/**
 * Resolves when the spool has grown twice, so that it has what the panel counted before.
 * @param ours a page of the extension
 */
async function spooled(ours: Page): Promise<void> {
  const size = (): Promise<number> =>
    ours.evaluate(async () => {
      const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle('spool');
      let sum = 0;
      for await (const handle of folder.values())
        if (handle.kind === 'file') sum += (await (handle as FileSystemFileHandle).getFile()).size;
      return sum;
    });
  for (let times = 0; times < 2; times++) {
    const before = await size();
    await expect.poll(size, { timeout: 30_000, interval: polling }).toBeGreaterThan(before);
  }
}

interface Running {
  driven: DrivenBrowser;
  page: Page;
  /** A page of the extension, and the browser's own page of extensions. */
  ours: Page;
  switches: Page;
  panel: Panel;
  /** An unrecorded tab, which would share its SharedWorkers with the recorded one. */
  beside: Page;
  /** Syncs that the panel had counted, and that the spool has. */
  syncs: number;
}

const wrapsShared = (page: Page): Promise<boolean> =>
  page.evaluate(() => Object.hasOwn(new SharedWorker('counter.js'), 'port'));

/** A page that keeps inserting rows while it is recorded. */
async function recordSome(driven: DrivenBrowser, origin: string): Promise<Running> {
  const switches = await driven.firstPage();
  await goTo(switches, 'chrome://extensions/');
  await switches.evaluate(() =>
    (
      chrome as unknown as { developerPrivate: Developer }
    ).developerPrivate.updateProfileConfiguration({ inDeveloperMode: true }),
  ); // otherwise an unpacked extension stays off once it was stopped
  const ours = await driven.browser.newPage();
  await ours.goto(`chrome-extension://${driven.extensionId}/devtools/options.html`);
  const page = await driven.browser.newPage();
  await goTo(page, origin + APP);
  await state(page, 'ready');
  const panel = await openPanel(page);
  await startRecording(panel);
  await recorded(page);
  await state(page, 'ready');
  await page.evaluate((n) => {
    const app = window as unknown as {
      run(w: string, o: object): Promise<{ rows: unknown[][] }>;
      answer: unknown;
    };
    app.run('own-sql', { n }).then(
      ({ rows }) => (app.answer = rows[0]![0]),
      (e: unknown) => (app.answer = String(e)),
    );
  }, INSERTS);
  const beside = await driven.browser.newPage();
  await goTo(beside, `${origin}/hook-cases/`);
  expect(await wrapsShared(beside)).toBe(true);
  await page.bringToFront();
  await moreEvents(panel);
  await expect
    .poll(() => shown(panel, 'live-syncs').catch(() => 0), { timeout: 30_000 })
    .toBeGreaterThan(20);
  const syncs = await shown(panel, 'live-syncs');
  await spooled(ours);
  return { driven, page, ours, switches, panel, beside, syncs };
}

interface Developer {
  updateProfileConfiguration(change: { inDeveloperMode: boolean }): Promise<void>;
  reload(id: string): Promise<void>;
}
const reload = (switches: Page, id: string): Promise<void> =>
  switches.evaluate(
    (extension) =>
      (chrome as unknown as { developerPrivate: Developer }).developerPrivate.reload(extension),
    id,
  );
const enable = (switches: Page, id: string, on: boolean): Promise<void> =>
  switches.evaluate((extension, wanted) => chrome.management.setEnabled(extension, wanted), id, on);

const STOPS: Record<string, (running: Running) => Promise<void>> = {
  'reloaded, as by an update': ({ switches, driven }) => reload(switches, driven.extensionId),
  'switched off and on': async ({ switches, driven }) => {
    await enable(switches, driven.extensionId, false);
    await enable(switches, driven.extensionId, true);
  },
  'crashed and reloaded': async ({ switches, driven, ours }) => {
    await crash(ours);
    await reload(switches, driven.extensionId);
  },
  'crashed, and its panel opened again': async ({ ours, panel }) => {
    const devtools = panel.frame.page();
    await crash(ours);
    await devtools.close();
  },
};

/**
 * Ends the process that this page of the extension shares with its panel and its service worker.
 */
async function crash(ours: Page): Promise<void> {
  const gone = new Promise((done) => ours.once('error', done));
  const session = await ours.createCDPSession();
  // never answered, because its process is gone
  void session.send('Page.crash').catch(() => undefined);
  await gone;
}

/** The next panel offers the recording. When it is opened, its counts match. */
async function expectOffered(page: Page, origin: string, syncs: number): Promise<void> {
  const panel = await openPanel(page);
  await panel.find('record'); // not Stop: the recording has ended
  await panel.find('recovered-offer');
  expect(await panel.textOf('recovered-offer')).toContain(`A recording of ${origin} was not saved`);
  await panel.press('recover' as 'record');
  await expect
    .poll(() => shown(panel, 'live-syncs').catch(() => 0), { timeout: 30_000 })
    .toBeGreaterThanOrEqual(syncs);
}

test.each(some(Object.entries(STOPS)))('the extension is %s', async (label, stop) => {
  const driven = await launch();
  try {
    const origin = server.origin(`update-${label.replace(/\W+/g, '-')}`);
    const running = await recordSome(driven, origin);
    await stop(running);
    const { page, beside, syncs } = running; // its DevTools closed with the extension
    if (!label.startsWith('crashed, and'))
      await expect.poll(() => wrapsShared(beside), { timeout: 30_000 }).toBe(false);
    await expectOffered(page, origin, syncs);
    await restored(page);
    // the app was not disturbed
    await page.waitForFunction(() => 'answer' in window, { polling, timeout: 60_000 });
    expect(await page.evaluate(() => (window as unknown as { answer: unknown }).answer)).toBe(
      INSERTS,
    );
  } finally {
    await driven.close();
  }
});

test('the browser is killed', async () => {
  const userDataDir = await mkdtemp(path.join(tmpdir(), 'vfscope-profile-'));
  const origin = server.origin('update-browser');
  try {
    const first = await launch({ userDataDir });
    const { syncs } = await recordSome(first, origin);
    const ended = new Promise((done) => first.browser.once('disconnected', done));
    first.browser.process()!.kill('SIGKILL');
    await ended;
    const second = await launch({ userDataDir });
    try {
      const page = await second.browser.newPage();
      await goTo(page, origin + APP);
      await expectOffered(page, origin, syncs);
    } finally {
      await second.close();
    }
  } finally {
    await rm(userDataDir, { recursive: true, force: true, maxRetries: 5 });
  }
});
