/**
 * The build for Safari, run by Chromium: its ports carry only JSON and nothing is handed over, so
 * recordings take the same path as in Safari. Doesn't test Safari's own extension API.
 */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { goTo, openPanel, type Panel } from '../../src/drive/panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { openApp, prepareApp, runApp } from '../oracle/baseline.ts';
import { ENGINE_APPS } from '../oracle/catalog.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { EXTENSION, launch, recorded, savedStore } from './extension-harness.ts';
import { recordedGolden } from './recorded-golden.ts';
import { marksOf } from './threads-harness.ts';

let folder: string;
let server: AppServer;
let driven: DrivenBrowser;
let page: Page;
let panel: Panel;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'vfscope-safari-'));
  await cp(path.join(EXTENSION, '..', 'safari'), folder, { recursive: true });
  const file = path.join(folder, 'manifest.json');
  const manifest = JSON.parse(await readFile(file, 'utf8'));
  expect(manifest.message_serialization).toBeUndefined();
  expect(manifest.background).toEqual({ scripts: ['browser-polyfill.min.js', 'background.js'] });
  // the one thing that Chromium needs differently
  const scripts = JSON.stringify(manifest.background.scripts).slice(1, -1);
  await writeFile(path.join(folder, 'worker.js'), `importScripts(${scripts});`);
  await writeFile(
    file,
    JSON.stringify({ ...manifest, background: { service_worker: 'worker.js' } }),
  );
  [server, driven] = await Promise.all([createServer(), launch({ extension: folder })]);
  page = await driven.firstPage();
  panel = await openPanel(page);
});
afterAll(async () => {
  await driven?.close();
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

test("a SharedWorker, with the script that every page gets if requests can't be followed", async () => {
  await goTo(page, `${server.origin('safari-shared')}/hook-cases/`);
  await startRecording(panel);
  await recorded(page);
  await page.evaluate(
    () =>
      new Promise((done) => {
        const { port } = new SharedWorker('counter.js', { name: 'counter' });
        port.onmessage = done;
        port.postMessage('mark');
      }),
  );
  await stopRecording(panel);
  const { threads } = await savedStore(driven, panel);
  const shared = threads.filter(({ info }) => info.kind === 'shared-worker');
  expect(shared.map((thread) => marksOf(thread).map(({ name }) => name))).toEqual([['mark']]);
});

test.each(['journeyapps-wa-sqlite IDBBatchAtomic', 'sqlite-org opfs-sahpool'])(
  '%s, recorded over ports that carry JSON',
  async (id) => {
    const app = ENGINE_APPS.find((a) => a.id === id)!;
    const golden = JSON.parse(
      await readFile(new URL('../oracle/recorded.json', import.meta.url), 'utf8'),
    )[id];
    await page.goto('about:blank');
    await startRecording(panel);
    await openApp(page, server.origin(`safari-${ENGINE_APPS.indexOf(app)}`) + app.path);
    await prepareApp(page);
    const result = await runApp(page, app.run.workload, app.run.options);
    expect(result.rows).toEqual(app.run.rows);
    await stopRecording(panel);
    const store = await savedStore(driven, panel);
    const summary = summaryOf(store);
    expect(summary.dropped).toBe(0);
    expect(store.threads.map((t) => [t.faults, t.missing, t.orphanEnds])).toEqual(
      store.threads.map(() => [0, 0, 0]),
    );
    expect(recordedGolden(summary, app.bytesVary ?? 'same')).toEqual(golden);
    // nothing was handed over: no frame of the extension was in the page, and no hub was started
    expect(driven.browser.targets().filter((t) => /handover/.test(t.url()))).toEqual([]);
  },
);
