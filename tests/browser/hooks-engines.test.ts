/**
 * Engine apps with the hook: rows and stored bytes are the same as without it, and the recorded web
 * calls match the oracle's counts of the same run. FULL=1 runs every app of the catalog.
 */
import { readFile } from 'node:fs/promises';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApp, prepareApp, runApp, storedBy } from '../oracle/baseline.ts';
import { launchPlainBrowser } from '../oracle/browser.ts';
import { ENGINE_APPS } from '../oracle/catalog.ts';
import { runTraced, type OracleCounts } from '../oracle/tracing.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import {
  buildCarried,
  buildHook,
  collectUntil,
  injectHook,
  type SeenEvent,
  type SeenThread,
} from './hooks-harness.ts';
import { Op } from '../../src/event/event.ts';
import { opName } from '../../src/event/operations.ts';
import { FULL } from '../full.ts';
import { fill } from '../twins/deeds.ts';

const SOME = [
  'wa-sqlite IDBBatchAtomic',
  'journeyapps-wa-sqlite OPFSCoopSync',
  'journeyapps-wa-sqlite IDBBatchAtomic jspi',
  'sqlite-org opfs-sahpool',
  'sqlite-org opfs-wl',
  'sql-js',
  'absurd-sql',
  'journeyapps-wa-sqlite IDBBatchAtomic dynamic-asyncify',
  'turso opfs',
];
const apps = ENGINE_APPS.filter(({ id }) => FULL || SOME.includes(id));
/** Runs again with optional layers, each recorded by an additional script. */
const ADDED = {
  '': [],
  instructions: ['journeyapps-wa-sqlite OPFSCoopSync', 'turso opfs'],
  messages: ['journeyapps-wa-sqlite OPFSCoopSync', 'absurd-sql'],
};
type Added = keyof typeof ADDED;
const runs = apps.flatMap((app) =>
  (Object.keys(ADDED) as Added[])
    .filter((added) => FULL || added === '' || ADDED[added].includes(app.id))
    .map((added) => ({ id: app.id + (added && `, with ${added}`), app, added })),
);

let server: AppServer;
let browser: Browser;
let hook: string;
let scripts: Record<Added, string>;
let goldens: Record<string, { stored: string | null }>;
beforeAll(async () => {
  goldens = JSON.parse(await readFile(new URL('../oracle/goldens.json', import.meta.url), 'utf8'));
  let instructions: string;
  let messages: string;
  [server, browser, hook, instructions, messages] = await Promise.all([
    createServer(),
    launchPlainBrowser(),
    buildHook(),
    buildCarried('instructions'),
    buildCarried('messages'),
  ]);
  scripts = { '': '', instructions, messages };
});
afterAll(async () => {
  await browser.close();
  await server.close();
});

const markAt = (threads: SeenThread[], prefix: string): number =>
  threads
    .flatMap((t) => t.events)
    .find((e) => e.op === 'mark' && e.object?.kind === 'name' && e.object.text.startsWith(prefix))
    ?.startMs ?? NaN;

/** The same counts as the oracle's, from records. */
function countsOf(events: SeenEvent[]): OracleCounts {
  const of = (op: string): SeenEvent[] => events.filter((e) => e.op === `opfs.${op}`);
  const bytes = (op: string): number => of(op).reduce((sum, e) => sum + e.length, 0);
  const requests: Record<string, number> = {};
  for (const { op } of events) {
    const name =
      /^idb\.(?:(get|getKey|getAll|getAllKeys|put|add|delete|clear|count|openCursor|openKeyCursor)|cursor(\w+))$/.exec(
        op,
      );
    if (!name) continue;
    const method = name[1] ?? `cursor.${name[2]!.toLowerCase()}`;
    requests[method] = (requests[method] ?? 0) + 1;
  }
  return {
    opfs: {
      reads: of('read').length,
      readBytesAsked: bytes('read'),
      writes: of('write').length,
      writeBytes: bytes('write'),
      flushes: of('flush').length,
      truncates: of('truncate').length,
    },
    idb: {
      transactions: events.filter((e) => e.op === 'idb.transaction' && (e.aux & 3) !== 2).length,
      requests,
    },
  };
}

// %s: vitest cuts what $id shows
test.each(runs.map((run) => [run.id, run] as const))('%s', async (id, { app, added }) => {
  // without a separate browser context, where OPFS isn't a file and the oracle can't see it
  const page = await browser.newPage();
  await injectHook(page, scripts[added] + hook);
  const place = runs.findIndex((run) => run.id === id);
  await openApp(page, server.origin(`hooked-${place}`) + app.path);
  await prepareApp(page);
  const { result, counts } = await runTraced(page, () =>
    runApp(page, app.run.workload, app.run.options),
  );
  expect(result.integrity).toBe(app.notSQLite ? null : 'ok');
  expect(result.rows).toEqual(app.run.rows);

  // the last batches may still be on their way: wait until every thread's page has sent a new mark,
  // then for equal counts
  await page.evaluate(() => performance.mark('collected'));
  const during = (threads: SeenThread[]): SeenEvent[] => {
    const [from, to] = [markAt(threads, 'oracle-begin'), markAt(threads, 'oracle-end')];
    return threads.flatMap((t) => t.events).filter((e) => e.startMs >= from && e.startMs <= to);
  };
  const calls = ({ opfs, idb }: OracleCounts): number =>
    opfs.reads +
    opfs.writes +
    opfs.flushes +
    idb.transactions +
    Object.values(idb.requests).reduce((a, b) => a + b, 0);
  const threads = await collectUntil(
    page,
    (all) => markAt(all, 'collected') > 0 && calls(countsOf(during(all))) >= calls(counts),
    (all) => JSON.stringify([countsOf(during(all)), counts]),
  );
  expect(countsOf(during(threads))).toEqual(counts);
  expect(threads.flatMap((t) => t.notes.filter((n) => n.topic !== 'worker-native'))).toEqual([]);
  expect(threads.map((t) => [t.dropped, t.faults])).toEqual(threads.map(() => [0, 0]));
  const posts = threads.flatMap((t) => t.events.filter(({ op }) => op === 'messagePost'));
  expect(posts.length > 0).toBe(added === 'messages');
  const costs = threads.flatMap((t) =>
    t.definitions.filter((d) => d.kind === 'cost' && d.nsPerVfsEvent !== null),
  );
  if (threads.some((t) => t.definitions.some((d) => d.kind === 'engine' && d.layers.vfs)))
    expect(costs.length).toBeGreaterThan(0);
  if (process.env['SHOW']) console.log(app.id, JSON.stringify(costs));
  const stored = await storedBy(page);
  if (!app.bytesVary) expect(stored.total).toBe(goldens[app.id]!.stored);
  await page.close();
});

test('JSPI: memory that grew while an xRead was suspended is reported, and no other', async () => {
  const app = ENGINE_APPS.find(({ id }) => id === 'journeyapps-wa-sqlite IDBBatchAtomic jspi')!;
  const page = await browser.newPage();
  await injectHook(page, hook);
  await openApp(page, server.origin('hooked-memory') + app.path);
  const scan = 'SELECT sum(length(body)) FROM t';
  const of = (threads: SeenThread[], op: string): SeenEvent[] =>
    threads.flatMap((t) => t.events).filter((e) => e.op === op);
  const grew = async (
    item: { allocate: number; during?: string },
    mark: string,
  ): Promise<[string | undefined, number][]> => {
    await runApp(page, 'sql', { sql: [fill(8000)], name: `${mark}.db` });
    await runApp(page, 'sql', { sql: [item, scan], name: `${mark}.db` });
    await page.evaluate((name) => performance.mark(name), mark);
    const threads = await collectUntil(
      page,
      (all) =>
        markAt(all, mark) > 0 &&
        of(all, opName(Op.sqlClose)).filter((e) => e.endSeq > 0).length >= 2,
      (all) => JSON.stringify(all.map((t) => t.events.length)),
    );
    return of(threads, opName(Op.sqlMemoryGrew)).map((e) => [
      of(threads, opName(Op.xRead)).find((read) => read.seq === e.aux)?.op,
      e.offset - e.length,
    ]);
  };
  expect(await grew({ allocate: 40 }, 'before')).toEqual([]);
  const told = await grew({ allocate: 40, during: scan }, 'meanwhile');
  expect(told.length).toBeGreaterThan(0);
  expect(new Set(told.map(([op]) => op))).toEqual(new Set(['xRead']));
  expect(told.every(([, bytes]) => bytes > 0)).toBe(true);
  await page.close();
});
