/**
 * The demo on IndexedDB, recorded by the panel in Chromium's and Firefox's own developer tools: the
 * same actions give equal numbers, also in WebKit (tests/webkit/demo.test.ts). UPDATE_GOLDENS=1
 * rewrites Chromium's.
 */
import { readFile, writeFile } from 'node:fs/promises';
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DrivenBrowserBase, DrivenPanel } from '../../src/drive/panel-control.ts';
import { goTo, openPanel } from '../../src/drive/panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { DEMO, demoNumbers, useDemo } from '../oracle/demo-run.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { launch, savedStore } from './extension-harness.ts';
import { launchInFirefox } from './firefox-harness.ts';
import { longTest } from './long-test.ts';

const FILE = new URL('../oracle/demo-idb.json', import.meta.url);
const ABOUT =
  'The demo (tests/apps/demo, journeyapps-wa-sqlite on IDBBatchAtomic, Asyncify) used as in demo-run.ts on an origin without storage. The numbers are equal in Chromium, Firefox (tests/browser/demo-numbers.test.ts) and WebKitGTK (tests/webkit/demo.test.ts).';

let server: AppServer;
beforeAll(async () => void (server = await createServer()));
afterAll(() => server?.close());

interface Browser {
  driven: DrivenBrowserBase & { close(): Promise<void> };
  panel: DrivenPanel;
  page: Page;
  go(url: string): Promise<unknown>;
}

async function numbersIn(label: string, { driven, panel, page, go }: Browser): Promise<object> {
  try {
    await go('about:blank');
    await startRecording(panel);
    await go(server.origin(label) + DEMO);
    await useDemo(page);
    await stopRecording(panel);
    return demoNumbers(await savedStore(driven, panel));
  } finally {
    await driven.close();
  }
}
const golden = async (): Promise<unknown> => JSON.parse(await readFile(FILE, 'utf8')).numbers;

test('Chromium', async () => {
  const driven = await launch();
  const page = await driven.firstPage();
  const numbers = await numbersIn('demo-chromium', {
    driven,
    page,
    panel: await openPanel(page),
    go: (url) => goTo(page, url),
  });
  if (process.env['UPDATE_GOLDENS'] === '1')
    await writeFile(FILE, `${JSON.stringify({ about: ABOUT, numbers }, null, 2)}\n`);
  expect(numbers).toEqual(await golden());
});

longTest('Firefox', { timeout: 240_000 }, async () => {
  const driven = await launchInFirefox();
  const page = await driven.firstPage();
  const numbers = await numbersIn('demo-firefox', {
    driven,
    page,
    panel: await driven.openPanel(page),
    go: (url) => driven.load(page, url),
  });
  expect(numbers).toEqual(await golden());
});
