/**
 * Engine apps in WebKit with the hook: rows, integrity, stored bytes, storage calls, and every VFS
 * call by file match Chromium's goldens. GRID=<part of an id> runs some of them.
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { countsOf, repeatable } from '../browser/grid-counts.ts';
import { buildHook } from '../browser/hooks-harness.ts';
import { recordedGolden, type RecordedGolden } from '../browser/recorded-golden.ts';
import { ENGINE_APPS, type EngineApp } from '../oracle/catalog.ts';
import type { OracleCounts } from '../oracle/tracing.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { runHooked, type HookedRun } from './hooked-app.ts';
import { launchWebKit, type DrivenWebKit } from './minibrowser.ts';

/** On storage that WebKitGTK has. */
const NATIVE = [
  'wa-sqlite IDBBatchAtomic',
  'wa-sqlite IDBMinimal',
  'journeyapps-wa-sqlite IDBBatchAtomic',
  'journeyapps-wa-sqlite IDBMirror',
  'journeyapps-wa-sqlite OPFSAnyContext',
  'journeyapps-wa-sqlite MemoryAsync',
  'sqlite-org kvvfs',
  'sql-js',
];
/** On a stand-in for sync access handles. */
const OVER_STAND_IN = [
  'wa-sqlite AccessHandlePool',
  'journeyapps-wa-sqlite OPFSCoopSync',
  'sqlite-org opfs-sahpool',
];

const part = process.env['GRID'] ?? '';
const these = (ids: string[]): [string, EngineApp][] =>
  ids
    .filter((id) => id.includes(part))
    .map((id) => [id, ENGINE_APPS.find((app) => app.id === id)!]);

let server: AppServer;
let driven: DrivenWebKit;
let goldens: Record<string, { counts: OracleCounts; stored: string | null }>;
let recorded: Record<string, RecordedGolden>;
beforeAll(async () => {
  goldens = JSON.parse(await readFile(new URL('../oracle/goldens.json', import.meta.url), 'utf8'));
  recorded = JSON.parse(
    await readFile(new URL('../oracle/recorded.json', import.meta.url), 'utf8'),
  );
  [server, driven] = await Promise.all([createServer(), launchWebKit()]);
});
afterAll(async () => {
  await driven?.close();
  await server?.close();
});

function asInChromium(id: string, app: EngineApp, { result, store }: HookedRun): void {
  expect(result.rows).toEqual(app.run.rows);
  expect(result.integrity).toBe('ok');
  const summary = summaryOf(store);
  expect(summary.dropped).toBe(0);
  expect(store.threads.map((t) => [t.faults, t.missing, t.orphanEnds])).toEqual(
    store.threads.map(() => [0, 0, 0]),
  );
  // the inspector's start script runs with the page's first script, whose element already exists
  expect(
    store.threads.flatMap((t) => t.notes.filter(({ topic }) => topic !== 'late-start')),
  ).toEqual([]);
  expect.soft(repeatable(app, countsOf(store))).toEqual(repeatable(app, goldens[id]!.counts));
  expect.soft(recordedGolden(summary, app.bytesVary ?? 'same')).toEqual(recorded[id]);
}

describe("on the browser's own storage", () => {
  let hook: string;
  beforeAll(async () => void (hook = await buildHook()));
  test.each(these(NATIVE))('%s', async (id, app) => {
    const run = await runHooked(
      driven.page,
      hook,
      server.origin(`wk-${ENGINE_APPS.indexOf(app)}`),
      app,
    );
    asInChromium(id, app, run);
    expect(run.stored.total).toBe(goldens[id]!.stored);
  });
});

describe('on a stand-in for sync access handles in memory', () => {
  let hook: string;
  beforeAll(
    async () => void (hook = await buildHook(new URL('./access-handles.js', import.meta.url))),
  );
  test.each(these(OVER_STAND_IN))('%s', async (id, app) => {
    asInChromium(
      id,
      app,
      await runHooked(driven.page, hook, server.origin(`wk-${ENGINE_APPS.indexOf(app)}`), app),
    );
  });
});
