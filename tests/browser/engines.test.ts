/**
 * The engine grid: every engine app is recorded by the extension from the real panel, saved, and
 * read back from the file. Rows, integrity, and stored bytes match the untraced goldens. The file's
 * counts match those of Chromium's own tracing of the same run. What was recognized, and every VFS
 * call by file, match tests/oracle/recorded.json. Nothing is dropped. All of this runs again with
 * every recording option on. Runs some of the apps; FULL=1 runs all, GRID=<part of an id> those
 * with this name; UPDATE_GOLDENS=1 rewrites recorded.json.
 */
import { readFile, writeFile } from 'node:fs/promises';
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { openPanel, type Panel } from '../../src/drive/panel.ts';
import type { CaptureOptions } from '../../src/event/capture.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { summaryOf, type Summary } from '../../src/analysis/report/summary.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { openApp, prepareApp, runApp, storedBy } from '../oracle/baseline.ts';
import { some } from '../full.ts';
import { ENGINE_APPS, someApps, type EngineApp } from '../oracle/catalog.ts';
import { runTraced, type OracleCounts } from '../oracle/tracing.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { launch, openNothing, savedStore } from './extension-harness.ts';
import { countsOf } from './grid-counts.ts';
import { recordedGolden, type RecordedGolden } from './recorded-golden.ts';
import { findingsOf } from '../traces/analyses.ts';

let server: AppServer;
let driven: DrivenBrowser;
let page: Page;
let panel: Panel;
let goldens: Record<string, { stored: string | null }>;
let recorded: Record<string, RecordedGolden>;
let judged: { rows: Record<string, string[]>; byTime: string[] };
const RECORDED = new URL('../oracle/recorded.json', import.meta.url);
const UPDATE = process.env['UPDATE_GOLDENS'] === '1';

beforeAll(async () => {
  goldens = JSON.parse(await readFile(new URL('../oracle/goldens.json', import.meta.url), 'utf8'));
  judged = JSON.parse(await readFile(new URL('../oracle/findings.json', import.meta.url), 'utf8'));
  recorded = JSON.parse(await readFile(RECORDED, 'utf8'));
  [server, driven] = await Promise.all([createServer(), launch()]);
  page = await driven.firstPage();
  panel = await openPanel(page);
});
afterAll(async () => {
  await driven?.close();
  await server?.close();
  if (!UPDATE) return;
  const inOrder = ENGINE_APPS.flatMap(({ id }) =>
    recorded[id] ? [[id, recorded[id]] as const] : [],
  );
  await writeFile(RECORDED, `${JSON.stringify(Object.fromEntries(inOrder), null, 1)}\n`);
});

/**
 * One recording of an app: load, prepare, run under the oracle, stop, hash its stored bytes, save,
 * read.
 */
async function record(
  app: EngineApp,
  origin: string,
  capture: Partial<CaptureOptions>,
): Promise<{ store: TraceStore; summary: Summary; counts: OracleCounts; stored: string }> {
  await openNothing(page, origin); // Record reloads the page: the previous app must not start again
  await startRecording(panel, { capture });
  await openApp(page, origin + app.path);
  await prepareApp(page);
  const { result, counts } = await runTraced(page, () =>
    runApp(page, app.run.workload, app.run.options),
  );
  expect(result.rows).toEqual(app.run.rows);
  expect(result.integrity).toBe(app.notSQLite ? null : 'ok');
  await stopRecording(panel); // every thread has said bye, so ending the app's worker loses nothing
  const stored = await storedBy(page);
  const store = await savedStore(driven, panel);
  return { store, summary: summaryOf(store), counts, stored: stored.total };
}

const part = process.env['GRID'];
const apps = part ? ENGINE_APPS.filter(({ id }) => id.includes(part)) : someApps();

/** Every option beyond the defaults. */
const EVERY_OPTION = {
  capture: 3,
  stacks: true,
  messages: true,
  instructions: true,
} as const satisfies Partial<CaptureOptions>;
const grid = [
  ...apps.map((app) => ({ how: 'by default', app, capture: { instructions: false } })),
  ...some(apps).map((app) => ({ how: 'every option on', app, capture: EVERY_OPTION })),
];

describe('recorded by the panel', () => {
  test.each(grid)('$app.id, $how', async ({ how, app, capture }) => {
    const { store, summary, counts, stored } = await record(
      app,
      server.origin(`grid-${ENGINE_APPS.indexOf(app)}-${how.replaceAll(' ', '-')}`),
      capture,
    );
    // the app sees no difference
    if (!app.bytesVary) expect(stored).toBe(goldens[app.id]!.stored);
    // nothing is lost, nothing failed inside a hook
    expect(summary.dropped).toBe(0);
    expect(store.threads.map((t) => [t.faults, t.missing, t.orphanEnds])).toEqual(
      store.threads.map(() => [0, 0, 0]),
    );
    expect(summary.threads.flatMap((t) => t.note ?? [])).toEqual([]);
    // the counts match the oracle's
    expect(countsOf(store)).toEqual(counts);
    // recognized correctly, with files by the app's names, even if a pool hides them, and every VFS
    // call counted Record reloads the empty page, which may be too early to be recorded
    const threads = summary.threads.filter(({ url }) => !url.endsWith('/nothing'));
    const golden = recordedGolden({ ...summary, threads }, app.bytesVary ?? 'same');
    if (capture.instructions) {
      // the page cache isn't read while instructions are counted
      const { engines, ...rest } = recorded[app.id]!;
      expect(golden).toEqual({
        ...rest,
        engines: engines.map((e) => ({ ...e, layers: { ...e.layers, counters: false } })),
        pageCache: { hits: null, misses: null },
      });
      return;
    }
    if (UPDATE) recorded[app.id] = golden;
    else expect(golden).toEqual(recorded[app.id]);
    // no finding that wasn't judged to be true of this app
    const rules = findingsOf(store).map((f) => f.rule);
    expect(
      rules.filter((rule) => !judged.rows[app.id]!.includes(rule) && !judged.byTime.includes(rule)),
    ).toEqual([]);
  });
});
