/**
 * What remains of a recording in Firefox when the extension is reloaded (as by an update), disabled
 * and enabled, when its process crashes, and when the browser is killed: the next panel offers
 * everything that the panel had counted before the last write to the spool. The app keeps running.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { some } from '../full.ts';
import type { DrivenFirefox } from '../../src/drive/firefox.ts';
import type { FirefoxPanel } from '../../src/drive/firefox-panel.ts';
import { startRecording } from '../../src/drive/session.ts';
import type { TestId } from '../../src/drive/panel-control.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { recorded, restored, state } from './extension-harness.ts';
import { KEEPS_EXTENSION, killExtensionProcess, launchInFirefox } from './firefox-harness.ts';
import { longTest } from './long-test.ts';

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

/** "1,234" or "1.2k", rounded down. 0 while nothing is counted. */
const SYNCS = `((text) => {
  const [, digits, thousands] = /^([\\d.,]+)(k?)$/.exec(text ?? '') ?? [];
  return digits === undefined ? 0 : thousands ? Math.floor((Number(digits) - 0.1) * 1000) : Number(digits.replaceAll(',', ''));
})(document.querySelector('[data-testid="live-syncs"]')?.textContent?.trim())`;
/** Total bytes of all spools. */
const SPOOLED = `(async () => {
  let sum = 0;
  const root = await navigator.storage.getDirectory();
  const folder = await root.getDirectoryHandle('spool', { create: true });
  for await (const handle of folder.values()) if (handle.kind === 'file') sum += (await handle.getFile()).size;
  return sum;
})()`;

/**
 * A page that keeps inserting rows while it is recorded.
 * @returns syncs that the panel had counted, and that the spool has
 */
async function recordSome(
  driven: DrivenFirefox,
  page: Page,
  panel: FirefoxPanel,
  origin: string,
): Promise<number> {
  await startRecording(panel);
  await driven.load(page, origin + APP);
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
  await panel.waitFor(`${SYNCS} > 20`);
  const syncs = (await panel.evaluate(`return ${SYNCS}`)) as number;
  // the spool has grown twice, so it has what the panel counted before
  for (let times = 0; times < 2; times++) {
    const before = await panel.evaluate(`return await ${SPOOLED}`);
    await panel.waitFor(`${SPOOLED}.then((size) => size > args[1])`, [before]);
  }
  return syncs;
}

/** The next panel offers the recording with its origin. When it is opened, its counts match. */
async function expectOffered(panel: FirefoxPanel, origin: string, syncs: number): Promise<void> {
  await panel.find('recovered-offer');
  expect(await panel.textOf('recovered-offer')).toContain(`A recording of ${origin} was not saved`);
  await panel.press('recover' as TestId);
  await panel.waitFor(`${SYNCS} >= args[1]`, [syncs]);
}

/** Ways to stop the extension, run in the browser's window. */
const STOPS: Record<string, string> = {
  'reloaded, as by an update': `await addon.reload();`,
  'switched off and on': `await addon.disable(); await addon.enable();`,
};

test.each(some(Object.entries(STOPS)))('the extension is %s', async (label, stop) => {
  const driven = await launchInFirefox();
  try {
    const page = await driven.firstPage();
    const origin = server.origin(`fx-update-${label.replace(/\W+/g, '-')}`);
    const syncs = await recordSome(driven, page, await driven.openPanel(page), origin);
    await driven.chrome.run(
      `const { AddonManager } = ChromeUtils.importESModule('resource://gre/modules/AddonManager.sys.mjs');
       const addon = await AddonManager.getAddonByID(extension.id);
       ${stop}`,
    );
    // its panel closed with the extension, and the toolbox gets the new extension's
    await expectOffered(await driven.openPanel(page), origin, syncs);
    // the app was not disturbed
    await page.waitForFunction(() => 'answer' in window, { polling, timeout: 60_000 });
    expect(await page.evaluate(() => (window as unknown as { answer: unknown }).answer)).toBe(
      INSERTS,
    );
  } finally {
    await driven.close();
  }
});

longTest("the extension's process crashes", async () => {
  const driven = await launchInFirefox();
  try {
    const page = await driven.firstPage();
    const origin = server.origin('fx-update-crash');
    const syncs = await recordSome(driven, page, await driven.openPanel(page), origin);
    await killExtensionProcess(driven);
    // the panel is an empty frame now: its user closes the toolbox and opens it again
    await driven.chrome.run(
      `const { require } = ChromeUtils.importESModule('resource://devtools/shared/loader/Loader.sys.mjs');
       await require('devtools/client/framework/devtools').gDevTools.closeToolboxForTab(gBrowser.selectedTab);`,
    );
    const panel = await driven.openPanel(page);
    await panel.find('record'); // not Stop: the recording has ended
    await expectOffered(panel, origin, syncs);
    // the page is restored, and its app was not disturbed
    await restored(page);
    await page.waitForFunction(() => 'answer' in window, { polling, timeout: 60_000 });
    expect(await page.evaluate(() => (window as unknown as { answer: unknown }).answer)).toBe(
      INSERTS,
    );
    // and can be recorded again
    await startRecording(panel);
    await recorded(page);
    await state(page, 'ready');
  } finally {
    await driven.close();
  }
});

longTest('the browser is killed', async () => {
  const userDataDir = await mkdtemp(path.join(tmpdir(), 'vfscope-profile-'));
  const origin = server.origin('fx-update-browser');
  try {
    const first = await launchInFirefox({ userDataDir, preferences: KEEPS_EXTENSION });
    const page = await first.firstPage();
    const syncs = await recordSome(first, page, await first.openPanel(page), origin);
    await first.chrome.run(`Services.prefs.savePrefFile(null)`);
    const ended = new Promise((done) => first.browser.once('disconnected', done));
    first.browser.process()!.kill('SIGKILL');
    await ended;
    const second = await launchInFirefox({ userDataDir, preferences: KEEPS_EXTENSION });
    try {
      const tab = await second.firstPage();
      await second.load(tab, origin + APP);
      await expectOffered(await second.openPanel(tab), origin, syncs);
    } finally {
      await second.close();
    }
  } finally {
    await rm(userDataDir, { recursive: true, force: true, maxRetries: 5 });
  }
});
