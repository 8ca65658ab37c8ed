/**
 * The engines' own tests, as their packages ship them (tests/apps/engine-suite), while the page is recorded by the real extension:
 * every test passes, as it does unrecorded, and nothing failed inside a hook. Some of the files; FULL=1 runs all.
 */
import { readdirSync } from 'node:fs';
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { goTo, openPanel, type Panel } from '../../src/drive/panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { launch, savedSummary } from './extension-harness.ts';
import { FULL } from '../full.ts';

/** For each package, how many tests of its files pass unrecorded in Chromium 156 (all of them). */
const PASSING: Record<string, Record<string, number>> = {
  'wa-sqlite': {
    'IDBBatchAtomicVFS.test.js': 28,
    'IDBMinimalVFS.test.js': 22,
    'MemoryAsyncVFS.test.js': 10,
    'MemoryVFS.test.js': 10,
    'OriginPrivateFileSystemVFS.test.js': 12,
    'VFS.test.js': 32,
    'WebLocks.test.js': 26,
    'module.test.js': 4,
    'sqlite-api.test.js': 46,
    'tag.test.js': 1,
  },
  '@journeyapps/wa-sqlite': {
    'AccessHandlePoolVFS.test.js': 18,
    'IDBBatchAtomicVFS.test.js': 9,
    'IDBMirrorVFS.test.js': 9,
    'MemoryAsyncVFS.test.js': 9,
    'MemoryVFS.test.js': 18,
    'OPFSAdaptiveVFS.test.js': 9,
    'OPFSAnyContextVFS.test.js': 9,
    'OPFSCoopSyncVFS.test.js': 18,
    'OPFSWriteAheadVFS.test.js': 9,
    'WebLocksMixin.test.js': 26,
    'callbacks.test.js': 20,
    'sqlite-api-open.test.js': 1,
  },
};
/**
 * 68 specs of 2.0.6, on the VFSs and builds of api.test.js. In its sql_0005 eight workers compete
 * for one lock and retry without a pause, so its duration depends on the machine. Past our limit
 * for a spec the eight continue, and every later spec fails, too, recorded or not. The file has no
 * parameter for fewer rounds, and an engine's own tests are run as they are shipped.
 */
const NOT_RUN = 'sql.test.js';
/** A VFS, the API, and functions that SQLite calls. */
const SOME = ['OPFSCoopSyncVFS.test.js', 'sqlite-api.test.js', 'callbacks.test.js'];
/** A worker per test, hundreds of them: minutes each. */
const LONG: Record<string, Record<string, number>> = {
  '@journeyapps/wa-sqlite': { 'api.test.js': 252 },
};

let server: AppServer;
let driven: DrivenBrowser;
let page: Page;
let panel: Panel;
beforeAll(async () => {
  [server, driven] = await Promise.all([createServer(), launch()]);
  page = await driven.firstPage();
  panel = await openPanel(page);
});
afterAll(async () => {
  await driven.close();
  await server.close();
});

test('every test file of the packages is listed here', () => {
  for (const name of Object.keys(PASSING)) {
    const shipped = readdirSync(`node_modules/${name}/test`).filter((f) => f.endsWith('.test.js'));
    const named = [...Object.keys(PASSING[name]!), ...Object.keys(LONG[name] ?? {})];
    expect(shipped.filter((f) => !named.includes(f) && f !== NOT_RUN)).toEqual([]);
  }
});

type Result = [name: string, status: string, messages: string[]];

async function runRecorded(
  name: string,
  files: string[],
  timeout: number,
): Promise<{ results: Result[]; faults: number; dropped: number; events: number }> {
  await startRecording(panel);
  const query = new URLSearchParams([
    ['package', name],
    ...files.map((file): [string, string] => ['file', file]),
  ]);
  await goTo(page, `${server.origin('suite')}/engine-suite/?${query}`);
  // polled, because one query may take no longer than 180 s
  await expect
    .poll(() => page.evaluate(() => document.body.dataset['state']), { timeout, interval: 250 })
    .toMatch(/done|error/);
  const results = await page.evaluate(() => (window as unknown as { results: Result[] }).results);
  await stopRecording(panel);
  const { faults, dropped, events } = await savedSummary(driven, panel);
  return { results, faults, dropped, events };
}

describe.each(Object.entries(PASSING))('%s', (name, files) => {
  const chosen = Object.entries(files).filter(([file]) => FULL || SOME.includes(file));
  // some of these tests wait fixed times, recorded or not, so they get a retry on a busy machine
  test.each(chosen)('%s: %i tests', { retry: 2 }, async (file, count) => {
    const { results, faults, dropped, events } = await runRecorded(name, [file], 100_000);
    expect(results.filter(([, status]) => status !== 'passed')).toEqual([]);
    expect(results).toHaveLength(count);
    expect({ faults, dropped }).toEqual({ faults: 0, dropped: 0 });
    expect(events).toBeGreaterThan(0);
  });
});

test.runIf(FULL).each(Object.entries(LONG['@journeyapps/wa-sqlite']!))(
  '%s: %i tests',
  { timeout: 400_000 },
  async (file, count) => {
    const { results, faults } = await runRecorded('@journeyapps/wa-sqlite', [file], 380_000);
    expect(results.filter(([, status]) => status !== 'passed')).toEqual([]);
    expect(results).toHaveLength(count);
    expect(faults).toBe(0);
  },
);
