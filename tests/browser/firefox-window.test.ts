/** The panel in its own window in Firefox: the popup opens it, bound to its tab, and it records that tab without DevTools. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import type { DrivenFirefox } from '../../src/drive/firefox.ts';
import { FirefoxPanel } from '../../src/drive/firefox-panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { recorded, savedStore, state } from './extension-harness.ts';
import { launchInFirefox } from './firefox-harness.ts';

let server: AppServer;
let driven: DrivenFirefox;
beforeAll(async () => {
  [server, driven] = await Promise.all([createServer(), launchInFirefox()]);
});
afterAll(async () => {
  await driven?.close();
  await server?.close();
});

const APP = '/journeyapps-wa-sqlite/?vfs=AccessHandlePool';
/** 40 inserts: the journal twice and the database once, for CREATE TABLE and for each insert. */
const RUN_SYNCS = 123;

test('the popup opens it; it records its tab', async () => {
  const app = await driven.firstPage();
  const origin = server.origin('firefox-window');
  await driven.load(app, origin + APP);
  await state(app, 'ready');
  await driven.chrome.run(
    `gBrowser.addTab(extension.getURL('devtools/popup.html?tab=' + args[0]), { triggeringPrincipal: Services.scriptSecurityManager.getSystemPrincipal() });`,
    await driven.chrome.inView(
      'background',
      `return (await browser.tabs.query({})).find((tab) => tab.url.startsWith(args[0])).id`,
      origin,
    ),
  );
  await driven.chrome.inView(
    'tab',
    `const button = () => document.getElementById('record-window');
     while (!button()) await new Promise((done) => setTimeout(done, 25));
     setTimeout(() => button().click());`,
  );
  const panel = new FirefoxPanel(driven.chrome, 'panel_window');
  await panel.waitFor(`document.documentElement.dataset.ready === 'true'`);
  await startRecording(panel);
  await recorded(app);
  await driven.load(app, `${origin}${APP}&run=own-sql&n=40`);
  await state(app, 'done');
  await panel.waitFor(
    `document.querySelector('[data-testid="live-syncs"]')?.textContent === '${RUN_SYNCS}'`,
  );
  await stopRecording(panel);
  const { dropped, engines, files } = summaryOf(await savedStore(driven, panel));
  expect(dropped).toBe(0);
  expect(engines).toHaveLength(1);
  expect(files.reduce((sum, { vfs }) => sum + (vfs.xSync ?? 0), 0)).toBe(RUN_SYNCS);
});
