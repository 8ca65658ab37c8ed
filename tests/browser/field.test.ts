/**
 * `vfscope/field`, built by Vite for production, before the scripts of engine apps: rows and stored
 * bytes are the same as without it, and the report counts the app's statements. FULL=1 runs every
 * app of the catalog.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'puppeteer-core';
import { build, type Rollup } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FULL } from '../full.ts';
import { openApp, prepareApp, runApp, storedBy } from '../oracle/baseline.ts';
import { launchPlainBrowser } from '../oracle/browser.ts';
import { ENGINE_APPS } from '../oracle/catalog.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { executions } from '../../src/analysis/core/executions.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { isFieldReport, type FieldReport } from '../../src/field/report.ts';
import type { LastSeconds } from '../../src/field/ring.ts';
import { readTrace } from '../../src/trace/file/read.ts';

const SOME = [
  'journeyapps-wa-sqlite OPFSCoopSync',
  'wa-sqlite IDBBatchAtomic',
  'journeyapps-wa-sqlite IDBBatchAtomic jspi',
  'sqlite-org opfs-sahpool',
];
const apps = ENGINE_APPS.filter(({ id, notSQLite }) => !notSQLite && (FULL || SOME.includes(id)));
const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));

/** The file in the package. */
const SHIPPED = 'dist/lib/field.js';
type FieldTrace = typeof import('../../src/field/trace.ts');

/** A production build by Vite, as one script. */
async function built(entry: string): Promise<string> {
  const result = (await build({
    root: path('tests/apps/field'),
    logLevel: 'silent',
    configFile: false,
    resolve: { alias: { 'vfscope/field': path(SHIPPED) } },
    build: {
      write: false,
      target: 'es2022',
      lib: { entry: path(entry), formats: ['iife'], name: 'field' },
    },
  })) as Rollup.RollupOutput[];
  return result[0]!.output[0].code;
}

let server: AppServer;
let browser: Browser;
let goldens: Record<string, { stored: string | null }>;
beforeAll(async () => {
  goldens = JSON.parse(await readFile(path('tests/oracle/goldens.json'), 'utf8'));
  const field = await built('tests/apps/field/entry.js');
  [server, browser] = await Promise.all([
    createServer({ before: `${field};\n` }),
    launchPlainBrowser(),
  ]);
});
afterAll(async () => {
  await browser.close();
  await server.close();
});

interface Told {
  report?: FieldReport;
  last?: { records: number[] };
}
/** Answer of the thread that runs SQLite. */
function asked(page: Page, what: 'flush' | 'last'): Promise<Told> {
  return page.evaluate(async (word) => {
    const channel = new BroadcastChannel('vfscope-field-test');
    const all = new Promise<Told>((resolve) => {
      channel.onmessage = ({
        data,
      }: MessageEvent<{ report?: FieldReport; last?: LastSeconds | null }>) => {
        const records = data.last && Array.from(new Uint8Array(data.last.records));
        if (data.report?.runs || records?.length)
          resolve({ ...data, last: records ? { ...data.last, records } : undefined } as Told);
      };
    });
    channel.postMessage(word);
    return all;
  }, what);
}

test.each(apps)('$id: rows and stored bytes are the same as without it', async (app) => {
  const page = await browser.newPage();
  await openApp(page, server.origin(`field-${apps.indexOf(app)}`) + app.path);
  const engine = await prepareApp(page);
  const result = await runApp(page, app.run.workload, app.run.options);
  expect(result.integrity).toBe('ok');
  expect(result.rows).toEqual(app.run.rows);
  // a rewrite of SQLite isn't hooked, so it has no report
  const { report } = isRewrite(app.id) ? {} : await asked(page, 'flush');
  if (report) expectReport(report, engine.sqliteVersion);
  const stored = await storedBy(page);
  if (!app.bytesVary) expect(stored.total).toBe(goldens[app.id]!.stored);
  await page.close();
});

const isRewrite = (id: string): boolean => id.startsWith('turso');
function expectReport(report: FieldReport, version: string | null): void {
  expect(isFieldReport(report)).toBe(true);
  expect(Buffer.byteLength(JSON.stringify(report))).toBeLessThan(4096);
  // wa-sqlite repeats calls that a VFS refuses while it prepares, and no app learns of those
  expect(report).toMatchObject({ faults: 0, failed: 0, weight: 1, labels: { release: '1.0' } });
  expect(report.sqlite).toBe(version);
  expect(report.statements.length).toBeGreaterThan(3);
  expect(report.statements.some(({ text }) => /^insert/i.test(text))).toBe(true);
}

test("a report of the demo is less than 4 KB, and counts a person's actions", async () => {
  const page = await browser.newPage();
  await page.goto(`${server.origin('field-demo')}/demo/?vfs=OPFSCoopSync`);
  const says = (start: string): Promise<unknown> =>
    page.waitForFunction(
      (text) =>
        document.querySelector('#status')?.textContent?.startsWith(text) &&
        document.body.dataset['state'] === 'ready',
      {},
      start,
    );
  await says('Opened in');
  await page.click('#import');
  await says('Imported 5,000 notes');
  const { report } = await asked(page, 'flush');
  expectReport(report!, report!.sqlite);
  expect(report!.runs).toBeGreaterThan(5000);
  await page.close();
});

test('the last seconds become a trace with the same executions', async () => {
  const app = ENGINE_APPS.find(({ id }) => id === SOME[0])!;
  const page = await browser.newPage();
  await openApp(page, server.origin('field-last') + app.path);
  await prepareApp(page);
  await runApp(page, 'own-sql', { n: 20 });
  const { last } = await asked(page, 'last');
  const { report } = await asked(page, 'flush');
  const records = new Uint8Array(last!.records).buffer;
  const { saveTrace } = (await import(path('dist/lib/field-trace.js'))) as FieldTrace;
  const blob = await saveTrace({ ...(last as unknown as LastSeconds), records });
  const { store } = await readTrace(new Uint8Array(await blob.arrayBuffer()));
  const facts = new Facts(store);
  expect(facts.get(executions).of(store.threads[0]!).count).toBe(report!.runs);
  await page.close();
});

test('the script is at most 15 KB gzipped', async () => {
  expect(gzipSync(await built(SHIPPED)).length).toBeLessThanOrEqual(15_000);
});
