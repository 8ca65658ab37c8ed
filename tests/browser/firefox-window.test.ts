/** The panel in its own window in Firefox: the popup opens it, bound to its tab, and it records that tab without DevTools. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import type { DrivenFirefox } from '../../src/drive/firefox.ts';
import { FirefoxPanel } from '../../src/drive/firefox-panel.ts';
import type { TestId } from '../../src/drive/panel-control.ts';
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
/**
 * 40 inserts: twice for the journal and once for the database, for CREATE TABLE and for each
 * insert.
 */
const RUN_SYNCS = 123;

/**
 * Presses a button in the popup of this origin's tab.
 * @returns that tab's vfscope window, one for all tests
 */
async function pressInPopup(origin: string, button: string): Promise<FirefoxPanel> {
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
    `const button = () => document.getElementById(args[0]);
     while (!button()) await new Promise((done) => setTimeout(done, 25));
     setTimeout(() => button().click());`,
    button,
  );
  const panel = new FirefoxPanel(driven.chrome, 'panel_window');
  await panel.waitFor(`document.documentElement.dataset.ready === 'true'`);
  return panel;
}

test('the popup opens it, and it records its tab', async () => {
  const app = await driven.firstPage();
  const origin = server.origin('firefox-window');
  await driven.load(app, origin + APP);
  await state(app, 'ready');
  const panel = await pressInPopup(origin, 'record-window');
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

test('the popup opens Doctor: names in a pool, locks with their client, rows of a copy', async () => {
  const app = await driven.firstPage();
  const origin = server.origin('firefox-doctor');
  await driven.load(app, `${origin}${APP}&run=own-sql&n=5`);
  await state(app, 'done');
  await app.evaluate(
    () =>
      new Promise<void>((granted) => {
        void navigator.locks.request('held by test', () => {
          granted();
          return new Promise(() => {});
        });
      }),
  );
  const panel = await pressInPopup(origin, 'open-doctor');
  const rows = async (block: string): Promise<string[][]> => {
    const trs = `[data-testid="doctor-${block}"] tbody tr`;
    await panel.waitFor(`document.querySelector('${trs}')`);
    return panel.evaluate(
      `return [...document.querySelectorAll(args[0])].map((tr) => [...tr.querySelectorAll('td')].map((td) => td.innerText.trim()))`,
      trs,
    ) as Promise<string[][]>;
  };
  expect((await rows('locks')).map((row) => row.slice(0, 4))).toEqual([
    ['held by test', 'held', 'exclusive', 'this page'],
  ]);
  expect((await rows('databases')).map((row) => row.slice(0, 2))).toEqual([
    ['/test-1.db', 'AccessHandlePool'],
  ]);
  expect(await panel.text()).not.toContain('Not read');
  await panel.press('look-inside' as TestId);
  await panel.waitFor(`document.querySelector('[data-testid="copy-table"]')`);
  await panel.press('copy-table' as TestId);
  await panel.waitFor(`document.querySelector('[data-testid="copy-rows"] tbody tr')`);
});
