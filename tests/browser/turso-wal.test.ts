/**
 * Turso's VFS calls aren't visible: its commits are detected from commit frames in its OPFS writes.
 */
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RecordReader } from '../../src/event/batch.ts';
import { AUX_WAL_HEADER, Op } from '../../src/event/event.ts';
import { openApp, prepareApp, runApp } from '../oracle/baseline.ts';
import { launchPlainBrowser } from '../oracle/browser.ts';
import { ENGINE_APPS } from '../oracle/catalog.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { buildHook, collectUntil, injectHook } from './hooks-harness.ts';

let server: AppServer;
let browser: Browser;
let hook: string;
beforeAll(async () => {
  [server, browser, hook] = await Promise.all([createServer(), launchPlainBrowser(), buildHook()]);
});
afterAll(async () => {
  await browser.close();
  await server.close();
});

const FRAME = 24 + 4096;
/** Those of Turso 0.7.2 in this workload. */
const FRAMES = 62;
/** CREATE TABLE, CREATE INDEX, the transaction, 20 autocommits, UPDATE. */
const COMMITS = 1 + 1 + 1 + 20 + 1;

test('every commit of Turso is a commit frame in OPFS', async () => {
  const app = ENGINE_APPS.find(({ id }) => id === 'turso opfs')!;
  const page = await browser.newPage();
  await injectHook(page, hook);
  await openApp(page, server.origin('turso-wal') + app.path);
  await prepareApp(page);
  const { rows } = await runApp(page, app.run.workload, app.run.options);
  expect(rows).toEqual(app.run.rows);
  // frames are written before the answers arrive, but their batch may still be on its way
  const frames = (events: { op: string; length: number }[]): number =>
    events.filter((e) => e.op === 'opfs.write' && e.length === FRAME).length;
  const threads = await collectUntil(page, (all) => frames(all.flatMap((t) => t.events)) >= FRAMES);
  expect(
    threads.flatMap((t) => t.definitions.flatMap((d) => (d.kind === 'engine' ? [d.name] : []))),
  ).toContain('@tursodatabase/database-wasm');
  expect(threads.map((t) => t.faults)).toEqual(threads.map(() => 0));
  const records = await page.evaluate(() =>
    window.vfscopeStandIn.batches.map((batch) => batch.records),
  );
  const writes = records.flatMap((base64) => {
    const r = new RecordReader(new Uint8Array(Buffer.from(base64, 'base64')).buffer);
    return Array.from({ length: r.count }, (_, i) => ({
      op: r.op(i),
      length: r.length(i),
      page: r.aux(i),
      commit: r.aux2(i),
    })).filter((w) => w.op === Op.opfsWrite);
  });
  expect(writes.filter((w) => w.page === AUX_WAL_HEADER)).toHaveLength(1);
  const seen = writes.filter((w) => w.page !== 0 && w.page !== AUX_WAL_HEADER);
  expect(seen).toHaveLength(FRAMES);
  expect(seen.filter((w) => w.commit !== 0)).toHaveLength(COMMITS);
  expect(Math.max(...seen.map((w) => w.page))).toBe(seen.findLast((w) => w.commit !== 0)!.commit);
  await page.close();
});
