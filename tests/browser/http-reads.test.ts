/** What a VFS reads over HTTP: by synchronous requests in a worker (sql.js-httpvfs), and by fetch while the engine is suspended. */
import { expect, test } from 'vitest';
import { openPanel } from '../../src/drive/panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { Op } from '../../src/event/event.ts';
import { ownersOf } from '../../src/trace/owners.ts';
import { summaryTime } from '../traces/analyses.ts';
import { createServer } from '../server/server.mjs';
import { launchPlainBrowser } from '../oracle/browser.ts';
import { launch, openNothing, savedStore } from './extension-harness.ts';
import { buildHook, collectUntil, injectHook } from './hooks-harness.ts';

test('HTTP requests of a VFS are reads, and none of its CPU time', async () => {
  const [server, driven] = await Promise.all([createServer(), launch()]);
  try {
    const page = await driven.firstPage();
    const panel = await openPanel(page);
    const origin = server.origin('http-reads');
    await openNothing(page, origin);
    await startRecording(panel);
    await page.goto(`${origin}/httpvfs/`);
    await page.waitForSelector('body[data-state=ready]');
    const counted = await page.evaluate(
      () =>
        (globalThis as unknown as { counted: { bytes: number; requests: number; first: string } })
          .counted,
    );
    expect(counted.first).toMatch(/^Place/);
    await stopRecording(panel);
    const store = await savedStore(driven, panel);
    let [requests, bytes, us] = [0, 0, 0];
    for (const thread of store.threads) {
      const { events } = thread;
      const owners = ownersOf(thread);
      for (let row = 0; row < events.count; row++) {
        if (events.op[row] !== Op.httpXhr) continue;
        requests++;
        bytes += events.length[row]!;
        us += events.dur[row]!;
        // a request for the headers alone asks for the size, as the database is opened
        if (events.length[row]! > 0) expect(events.op[owners.vfs(row)]).toBe(Op.xRead);
        else expect(events.op[owners.sql(row)]).toBe(Op.sqlOpen);
        expect(thread.definitions.get(events.object[row]!)).toMatchObject({
          text: expect.stringMatching(/\/places\.sqlite$/) as string,
        });
      }
    }
    expect(requests).toBeGreaterThan(10);
    // the library leaves out the request for the size, and counts of each range the last byte less the first
    expect({ requests, bytes }).toEqual({
      requests: counted.requests + 1,
      bytes: counted.bytes + counted.requests,
    });
    expect(summaryTime(store)!.ioUs).toBeGreaterThan(0.9 * us);
  } finally {
    await driven.close();
    await server.close();
  }
});

/** In the page: a VFS that asks the server for each read, and the app's own request beside. As text: a test runner rewrites import(). */
const FETCHES = `(async () => {
  const root = '/journeyapps-wa-sqlite/../node_modules/@journeyapps/wa-sqlite';
  const [{ default: load }, SQLite, { MemoryAsyncVFS }] = await Promise.all([
    import(root + '/dist/wa-sqlite-jspi.mjs'), import(root + '/src/sqlite-api.js'), import(root + '/src/examples/MemoryAsyncVFS.js')]);
  const module = await load();
  const sqlite3 = SQLite.Factory(module);
  let asks = false;
  let asked = 0;
  let bytes = 0;
  class HttpVFS extends MemoryAsyncVFS {
    async jRead(...args) {
      if (asks) {
        const response = await fetch('/httpvfs/main.js?token=hidden', { cache: 'no-store' });
        bytes += (await response.arrayBuffer()).byteLength;
        asked++;
      }
      return super.jRead(...args);
    }
  }
  const vfs = new HttpVFS('http', module);
  await vfs.isReady();
  sqlite3.vfs_register(vfs, true);
  const db = await sqlite3.open_v2('http.db');
  await sqlite3.exec(db, 'PRAGMA cache_size=0; CREATE TABLE t(a); INSERT INTO t VALUES (1), (2)');
  await (await fetch('/httpvfs/main.js')).text();
  asks = true;
  const rows = [];
  await sqlite3.exec(db, 'SELECT a FROM t', ([a]) => rows.push(a));
  asks = false;
  await sqlite3.close(db);
  return { rows, asked, bytes };
})()`;

test('fetch of a VFS and its body are reads of the call that waits for them', async () => {
  const [server, browser, hook] = await Promise.all([
    createServer(),
    launchPlainBrowser(),
    buildHook(),
  ]);
  try {
    const page = await browser.newPage();
    await injectHook(page, hook);
    await page.goto(`${server.origin('http-fetch')}/hook-cases/observe/`);
    const { rows, asked, bytes } = (await page.evaluate(FETCHES)) as {
      rows: number[];
      asked: number;
      bytes: number;
    };
    expect(rows).toEqual([1, 2]);
    expect(asked).toBeGreaterThan(0);
    const threads = await collectUntil(page, (all) =>
      all.some((t) => t.events.some((e) => e.op === 'sqlite3_close')),
    );
    const { events } = threads.find((t) => t.events.some((e) => e.op === 'sqlite3_close'))!;
    const [fetches, bodies] = ['http.fetch', 'http.body'].map((op) =>
      events.filter((e) => e.op === op),
    );
    expect(fetches).toHaveLength(asked);
    expect(fetches!.map(({ object }) => object)).toEqual(
      fetches!.map(() => expect.objectContaining({ text: '/httpvfs/main.js' }) as unknown),
    );
    expect(bodies!.reduce((sum, { length }) => sum + length, 0)).toBe(bytes);
    const reads = new Set(events.filter((e) => e.op === 'xRead').map(({ seq }) => seq));
    for (const { parent } of [...fetches!, ...bodies!]) expect(reads.has(parent)).toBe(true);
    expect(threads.map((t) => t.faults)).toEqual(threads.map(() => 0));
  } finally {
    await browser.close();
    await server.close();
  }
});
