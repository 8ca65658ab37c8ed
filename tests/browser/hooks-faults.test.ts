/**
 * Exceptions inside the hooks, in every layer: the app's rows, database, and errors are the same as
 * without a recording. The faults are counted in the trace and shown in the panel.
 */
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { goTo, openPanel } from '../../src/drive/panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { EXTENSION, launch, recorded, state } from './extension-harness.ts';
import { buildHook } from './hooks-harness.ts';
import { notice, saved } from './threads-harness.ts';

let server: AppServer;
let plain: DrivenBrowser;
let faulty: DrivenBrowser;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'vfscope-faulty-'));
  await cp(EXTENSION, folder, { recursive: true });
  await writeFile(
    path.join(folder, 'hooks.js'),
    await buildHook(new URL('./faulty-hook.ts', import.meta.url)),
  );
  [server, plain, faulty] = await Promise.all([
    createServer(),
    launch({ extension: null }),
    launch({ extension: folder }),
  ]);
});
afterAll(async () => {
  await Promise.all([plain?.close(), faulty?.close(), server?.close()]);
  await rm(folder, { recursive: true, force: true });
});

/** What the app itself reports about a run, without times. */
type Drive = (page: Page) => Promise<unknown>;

/** Errors that reach the page's window, from any source. */
const watchErrors = (page: Page): Promise<unknown> =>
  page.evaluateOnNewDocument(() => {
    const errors: string[] = [];
    Object.assign(window, { errorsSeen: errors });
    addEventListener('error', (e) => errors.push(e.message));
    addEventListener('unhandledrejection', (e) => errors.push(String(e.reason)));
  });
const errorsSeen = (page: Page): Promise<string[]> =>
  page.evaluate(() => (window as unknown as { errorsSeen: string[] }).errorsSeen);

const engine: Drive = async (page) => {
  await state(page, 'ready');
  return page.evaluate(async () => {
    const app = window as unknown as {
      run(w: string, o: object): Promise<{ rows: unknown; integrity: unknown }>;
    };
    const { rows, integrity } = await app.run('standard', { n: 200, autocommits: 20 });
    return { rows, integrity };
  });
};
const demo: Drive = async (page) => {
  await state(page, 'ready');
  for (const button of ['#one-by-one', '#check']) {
    await page.click(button);
    await state(page, 'ready');
  }
  return page.evaluate(() => [
    document.body.dataset['count'],
    document.querySelector('#status')!.textContent.replace(/[\d.,]+ m?s\b/g, ''),
  ]);
};

const APPS: [name: string, url: string, drive: Drive][] = [
  ['the demo', '/demo/?vfs=OPFSCoopSync', demo],
  ['OPFS sync access handles', '/journeyapps-wa-sqlite/?vfs=OPFSCoopSync', engine],
  ['IndexedDB under Asyncify', '/wa-sqlite/?vfs=IDBBatchAtomic', engine],
  ['IndexedDB under JSPI', '/journeyapps-wa-sqlite/?vfs=IDBBatchAtomic&build=jspi', engine],
  ["SQLite's own build with its pool", '/sqlite-org/?vfs=opfs-sahpool', engine],
  ['a database in memory', '/sql-js/', engine],
];

test.each(APPS)('%s', async (name, url, drive) => {
  const label = `faults-${APPS.findIndex(([other]) => other === name)}`;
  const without = await plain.browser.newPage();
  await watchErrors(without);
  await without.goto(server.origin(label) + url);
  const expected = await drive(without);
  if (drive === engine) expect(expected).toMatchObject({ integrity: 'ok' });

  const page = await faulty.browser.newPage();
  await watchErrors(page);
  const panel = await openPanel(page);
  await startRecording(panel);
  await goTo(page, server.origin(label) + url);
  await recorded(page);
  expect(await drive(page)).toEqual(expected);
  expect(await errorsSeen(page)).toEqual(await errorsSeen(without));
  await notice(panel, /A hook failed; the page went on without it.*injected (before|after)/);
  await stopRecording(panel);
  const { summary } = await saved(faulty, panel);
  if (process.env['SHOW']) console.log(name, summary.faults, 'faults in', summary.events, 'events');
  expect(summary.faults).toBeGreaterThan(10);
  expect(summary.events).toBeGreaterThan(100);
  await Promise.all([page.close(), without.close()]);
});
