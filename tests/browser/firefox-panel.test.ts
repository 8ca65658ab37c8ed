/**
 * What Firefox's panel does beyond its tab: it records every tab of an origin, and downloads files
 * in every format.
 */
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'puppeteer-core';
import { expect, test } from 'vitest';
import type { DrivenFirefox } from '../../src/drive/firefox.ts';
import type { FirefoxPanel } from '../../src/drive/firefox-panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import type { TestId } from '../../src/drive/panel-control.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { EXPORT_FORMATS } from '../../src/protocol/export-formats.ts';
import type { AppServer } from '../server/server.mjs';
import { recorded, restored, savedStore, savedSummary, state } from './extension-harness.ts';
import { arrived, inFirefox } from './firefox-harness.ts';

const ENGINE = '/journeyapps-wa-sqlite/?vfs=OPFSCoopSync';
let server: AppServer;
let driven: DrivenFirefox;
let page: Page;
let panel: FirefoxPanel;

inFirefox((tab) => ({ server, driven, page, panel } = tab));

test('a recording of an origin includes its other tabs, open and new ones', async () => {
  const origin = server.origin('tabs');
  const open = async (url: string, wanted: string): Promise<Page> => {
    const tab = await driven.browser.newPage();
    await driven.load(tab, url);
    await state(tab, wanted);
    return tab;
  };
  const other = await open(origin + ENGINE, 'ready');
  await page.bringToFront();
  await driven.load(page, `${origin}/demo/?vfs=IDBBatchAtomic`);
  await state(page, 'ready');
  try {
    await startRecording(panel, { scope: 'origin' });
    await recorded(page);
    await recorded(other); // without a reload
    const run = '/journeyapps-wa-sqlite/?vfs=IDBBatchAtomic&run=own-sql&n=3&name=later';
    const later = await open(origin + run, 'done');
    const elsewhere = await open(server.origin('elsewhere') + run, 'done');
    await page.bringToFront();
    await arrived(panel, page);
    await restored(elsewhere); // is told that it isn't recorded
    await stopRecording(panel);
    await Promise.all([page, other, later].map(restored));
    const { threads, commits } = await savedSummary(driven, panel);
    const pages = threads
      .filter(({ kind }) => kind === 'page')
      .map(({ url }) => url.slice(origin.length));
    expect(pages.sort()).toEqual([ENGINE, run, '/demo/?vfs=IDBBatchAtomic'].sort());
    expect(
      threads.filter(
        ({ kind, url }) => kind === 'worker' && url.startsWith(`${origin}/journeyapps`),
      ),
    ).toHaveLength(1); // of the new tab
    expect(commits).toBeGreaterThanOrEqual(4);
  } finally {
    await panel.evaluate(
      `if (!document.querySelector('[data-testid="record"]')) document.querySelector('[data-testid="stop"]').click();`,
    );
    await panel.choose('scope', 'tab');
  }
});

test('a saved recording survives a canceled download, and the toolbox closing on it', async () => {
  await startRecording(panel);
  await driven.load(page, server.origin('canceled') + ENGINE);
  await state(page, 'ready');
  await page.evaluate(() =>
    (window as unknown as { run(w: string, o: object): Promise<unknown> }).run('own-sql', { n: 5 }),
  );
  await arrived(panel, page);
  await stopRecording(panel);
  const events = await panel.textOf('live-events');
  const folder = await mkdtemp(path.join(tmpdir(), 'vfscope-canceled-'));
  try {
    await driven.downloadTo(folder);
    await driven.chrome.run(
      `const { Downloads } = ChromeUtils.importESModule('resource://gre/modules/Downloads.sys.mjs');
       const list = await Downloads.getList(Downloads.ALL);
       await list.addView({
         onDownloadAdded(download) {
           if (!download.target.path.startsWith(args[0])) return; // an earlier one
           void list.removeView(this);
           window.vfscopeCanceled = (async () => {
             await download.finalize(true);
             // if it completed faster
             await IOUtils.remove(download.target.path, { ignoreAbsent: true });
           })();
         },
       });`,
      folder,
    );
    await panel.press('save');
    await panel.find('toast' as TestId);
    await expect
      .poll(() =>
        driven.chrome.run('await window.vfscopeCanceled; return Boolean(window.vfscopeCanceled)'),
      )
      .toBe(true);
    expect(await readdir(folder)).toEqual([]);
    await driven.chrome.run(
      `const { require } = ChromeUtils.importESModule('resource://devtools/shared/loader/Loader.sys.mjs');
       await require('devtools/client/framework/devtools').gDevTools.closeToolboxForTab(gBrowser.selectedTab);`,
    );
    panel = await driven.openPanel(page);
    await panel.press('recording-open');
    await panel.waitFor(
      `document.querySelector('[data-testid="live-events"]')?.textContent?.trim() === args[1]`,
      [events],
    );
    await panel.press('clear');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('every format is written, and contains the recording', async () => {
  await startRecording(panel);
  await driven.load(page, server.origin('exports') + ENGINE);
  await state(page, 'ready');
  await page.evaluate(() =>
    (window as unknown as { run(w: string, o: object): Promise<unknown> }).run('own-sql', { n: 5 }),
  );
  await arrived(panel, page);
  await stopRecording(panel);
  const store = await savedStore(driven, panel);
  const folder = await mkdtemp(path.join(tmpdir(), 'vfscope-exports-'));
  try {
    await driven.downloadTo(folder);
    const files: Record<string, Buffer> = {};
    for (const [format, { ending }] of Object.entries(EXPORT_FORMATS)) {
      if (format === 'vfst') continue; // has its own button, Save
      await panel.press('export' as TestId);
      await panel.press(`export-${format}` as TestId);
      // a download first appears as an empty file, a .part, and a name that isn't ours
      let name = '';
      const bytes = async (): Promise<number> => {
        const names = await readdir(folder);
        name =
          names.find((each) => each.startsWith('exports.') && each.endsWith(`.${ending}`)) ?? '';
        if (names.length !== 1 || !name) return 0;
        return (await stat(path.join(folder, name)).catch(() => ({ size: 0 }))).size;
      };
      await expect.poll(bytes, { timeout: 30_000 }).toBeGreaterThan(1000);
      files[format] = await readFile(path.join(folder, name));
      await rm(path.join(folder, name));
    }
    const text = (format: string): string => files[format]!.toString('utf8');
    expect(text('csv').trimEnd().split('\n')).toHaveLength(store.eventCount + 1);
    expect(
      (JSON.parse(text('chrome')) as { traceEvents: unknown[] }).traceEvents.length,
    ).toBeGreaterThan(store.eventCount);
    expect(Object.keys(JSON.parse(text('firefox')) as object)).toContain('threads');
    expect(/\.xSync\(/.test(text('vfstrace'))).toBe(true);
    expect(
      text('html').split('<code>insert into t values(?,?,?)</code></td><td class="n">5</td>'),
    ).toHaveLength(2);
    const start = (format: string): string => files[format]!.toString('latin1', 0, 6);
    expect([start('arrow').slice(0, 4), start('parquet').slice(0, 4)]).toEqual(['ARRO', 'PAR1']);
    await panel.press('export' as TestId);
    await panel.press('export-share' as TestId);
    await panel.press('export-run' as TestId);
    await expect.poll(() => readdir(folder), { timeout: 30_000 }).toEqual(['sanitized-trace.vfst']);
    const shared = async () => readTrace(await readFile(path.join(folder, 'sanitized-trace.vfst')));
    await expect
      .poll(async () => (await shared().catch(() => null))?.store.eventCount, { timeout: 30_000 })
      .toBe(store.eventCount);
    const { header, store: clean } = await shared();
    expect(header.sanitized).toBe(true);
    expect(summaryOf(clean).commits).toBe(summaryOf(store).commits);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
