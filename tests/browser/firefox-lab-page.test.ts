/**
 * The Lab with a page in Firefox: a copy of the page's database, and a recording from the real
 * panel in the real toolbox, whose replay makes the same storage requests as Chromium's.
 */
import { showView } from './show-view.ts';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { some } from '../full.ts';
import type { DrivenFirefox } from '../../src/drive/firefox.ts';
import { openFirefoxLab } from '../../src/lab/drive/firefox-lab.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { DEFAULT_CONFIG } from '../../src/lab/experiments/model/types.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { openApp, prepareApp, runApp } from '../oracle/baseline.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { recorded, state } from './extension-harness.ts';
import { arrived, freshTab, launchInFirefox } from './firefox-harness.ts';

const GOLDEN = readFileSync(
  path.join(import.meta.dirname, '..', 'traces', 'golden', 'opfs-coop-sync.vfst'),
);
let server: AppServer;
let driven: DrivenFirefox;
beforeAll(async () => {
  [server, driven] = await Promise.all([createServer(), launchInFirefox()]);
}, 90_000);
afterAll(async () => {
  await driven?.close();
  await server?.close();
});

/** Resolves when it is truthy in the Lab's page. */
async function until(expression: string, ms = 30_000): Promise<unknown> {
  const found = await driven.chrome.inView(
    'tab',
    `for (const end = Date.now() + args[0]; ; await new Promise((done) => setTimeout(done, 50))) {
       const found = (${expression});
       if (found || Date.now() > end) return found;
     }`,
    ms,
  );
  if (found) return found;
  throw new Error(
    `the Lab didn't reach this state: ${expression}. It shows: ${String(await driven.chrome.inView('tab', 'return document.body.innerText'))}`,
  );
}
const press = (id: string): Promise<unknown> =>
  until(
    `((e) => e && (e.click(), true))(document.querySelector('[data-testid="${id}"]:not(:disabled)'))`,
  );
const textIn = async (id: string): Promise<string> =>
  (await driven.chrome.inView(
    'tab',
    `return document.querySelector(args[0])?.innerText.trim() ?? ''`,
    `[data-testid="${id}"]`,
  )) as string;
/** Id of the selected tab in the extension API. */
const tabId = (): Promise<unknown> =>
  driven.chrome.run('return extension.extension.tabManager.getWrapper(gBrowser.selectedTab).id;');
/** Closes the Lab's tab, so that the next one is the only one. */
const closeLab = (): Promise<unknown> =>
  driven.chrome.run(
    `for (const tab of [...gBrowser.tabs]) if (tab.linkedBrowser.currentURI.spec.startsWith(extension.getURL('')))
       gBrowser.removeTab(tab, { skipPermitUnload: true });`,
  );

it.each(
  some([
    ['OPFSCoopSync', 'opfs.writes'],
    ['BlockIDB', 'block.put'],
    ['IDBBatchAtomic', 'idb.put'],
  ] as const),
)('replay on %s: the calls and bytes of the recording', async (vfs, counter) => {
  const lab = await openFirefoxLab(driven);
  try {
    const { report, trace, left } = await lab.replay(GOLDEN, {
      ...DEFAULT_CONFIG,
      vfs,
      ...(vfs === 'BlockIDB' ? { blockSize: 8192 } : {}),
    });
    expect(report.replayed.vfs).toEqual(report.recorded.vfs);
    expect(report.replayed.web[counter]).toBeGreaterThanOrEqual(
      vfs === 'IDBBatchAtomic' ? 100 : 1004,
    );
    expect(report.error).toMatchObject({ vfs: 'OPFSCoopSync', certain: true, differing: 0 });
    const { store, warnings } = await readTrace(trace);
    expect(warnings).toEqual([]);
    expect(summaryOf(store).files.find((f) => f.kind === 'journal')!.vfs.xWriteBytes).toBe(873_724);
    expect(left).toEqual([]);
    expect(await lab.storage()).toEqual([]);
  } finally {
    await closeLab();
  }
});

const SQL = [
  'CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT)',
  [300, "INSERT INTO note VALUES($i, 'note number $i')"],
  'DELETE FROM note WHERE id % 3 = 0',
] as const;

it.each(
  some([
    ['opfs', 'journeyapps-wa-sqlite/?vfs=OPFSCoopSync', 'OPFS'],
    ['idb-second', 'journeyapps-wa-sqlite/?vfs=IDBBatchAtomic', 'IndexedDB'],
    ['idb-first', 'wa-sqlite/?vfs=IDBBatchAtomic', 'IndexedDB'],
  ]),
)(
  "%s: a copy of the page's database while the app has it open, and a script on it",
  async (origin, address, place) => {
    const page: Page = await driven.browser.newPage();
    try {
      await page.bringToFront();
      await openApp(page, `${server.origin(`copy-${origin}`)}/${address}`);
      await prepareApp(page);
      await runApp(page, 'sql', { pragmas: [], sql: SQL });
      await page.bringToFront();
      await openFirefoxLab(driven, `?page=${String(await tabId())}`);
      await until(
        `document.querySelector('[data-testid="page-databases"] tbody tr, [data-testid="lab-error"]')`,
      );
      expect(await textIn('lab-error')).toBe('');
      expect(
        await until(`document.querySelector('[data-testid="page-databases"] tbody td')?.innerText`),
      ).toBe(place);
      await press('copy-database');
      await until(
        `document.querySelector('[data-testid="own-database"], [data-testid="lab-error"]')`,
      );
      expect(await textIn('lab-error')).toBe('');
      expect(await textIn('own-database')).toMatch(/pages? of 4 KiB,\s+1 table\./);
      await driven.chrome.inView(
        'tab',
        `const e = document.querySelector('[data-testid="own-sql"]');
       e.value = args[0];
       e.dispatchEvent(new Event('input', { bubbles: true }));`,
        'SELECT id FROM note WHERE body >= ?1 OR 1; SELECT count(*) FROM note;',
      );
      await press('lab-run');
      await until(
        `document.querySelector('[data-testid="open-trace"], [data-testid="run-error"]')`,
      );
      expect(await textIn('run-error')).toBe('');
      const rows = `[...document.querySelectorAll('[data-testid="results"] tbody tr')]
      .filter((row) => row.querySelector('th').textContent === 'rows').map((row) => row.querySelector('.number').textContent)[0]`;
      expect(await until(rows)).toBe('201');
    } finally {
      await closeLab();
      await page.close();
    }
  },
);

it('the panel in the toolbox passes on its recording, during and after it', async () => {
  const { page, panel } = await freshTab(driven);
  await startRecording(panel);
  await driven.load(page, `${server.origin('hand-over')}/journeyapps-wa-sqlite/?vfs=OPFSCoopSync`);
  await recorded(page);
  await state(page, 'ready');
  await page.evaluate(() =>
    (window as unknown as { run(w: string, o: object): Promise<unknown> }).run('own-sql', {
      n: 20,
    }),
  );
  await arrived(panel, page);
  await showView(panel, 'files');
  // the link is elsewhere before that
  await panel.waitFor(`document.querySelector('[data-testid="file-row"]')`);
  await panel.press('replay-in-lab' as never);
  await until(
    `document.querySelector('[data-testid="replay-facts"], [data-testid="replay-error"]')`,
  );
  expect(await textIn('replay-error')).toBe('');
  expect(await textIn('replay-from')).toMatch(
    /KiB from the panel, which records it, as it was at \d\d:\d\d:\d\d\)$/,
  );
  await stopRecording(panel);
  await press('replay-panel');
  await until(
    `/from the panel, at /.test(document.querySelector('[data-testid="replay-from"]')?.innerText ?? '')`,
  );
  await press('replay-vfs-OPFSCoopSync');
  await press('replay-run');
  await until(
    `document.querySelector('[data-testid="replay-table"], [data-testid="replay-error"]')`,
    55_000,
  );
  expect(await textIn('replay-error')).toBe('');
  expect(await textIn('replay-error-words')).toMatch(
    /which the recording was made on \(.*\), 0 of \d+ VFS counts differ/,
  );
  await closeLab();
});
