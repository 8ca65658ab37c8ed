/**
 * The promise of an SQL call that JSPI has suspended: which rejection events the app's window gets,
 * with and without the hook.
 */
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchPlainBrowser } from '../oracle/browser.ts';
import { Flag } from '../../src/event/event.ts';
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

/**
 * Runs in the page: steps that reject because their VFS does, observed in several ways. As text,
 * because a test runner rewrites import().
 */
const STEPS = `(async () => {
  const root = '/journeyapps-wa-sqlite/../node_modules/@journeyapps/wa-sqlite';
  const [{ default: load }, SQLite, { MemoryAsyncVFS }] = await Promise.all([
    import(root + '/dist/wa-sqlite-jspi.mjs'), import(root + '/src/sqlite-api.js'), import(root + '/src/examples/MemoryAsyncVFS.js')]);
  const module = await load();
  const sqlite3 = SQLite.Factory(module);
  let fails = false;
  class FailingVFS extends MemoryAsyncVFS {
    async jRead(...args) {
      if (fails) throw new RangeError('the disk is gone');
      return super.jRead(...args);
    }
  }
  const vfs = new FailingVFS("failing", module);
  await vfs.isReady();
  sqlite3.vfs_register(vfs, true);
  const db = await sqlite3.open_v2('rejects.db');
  await sqlite3.exec(db, 'CREATE TABLE t(a); INSERT INTO t VALUES (1)');

  const seen = [];
  const given = new Map();
  let heard = () => {};
  for (const type of ['unhandledrejection', 'rejectionhandled'])
    addEventListener(type, (event) => {
      event.preventDefault();
      seen.push([type, given.get(event.promise) ?? 'another promise', String(event.reason)]);
      heard();
    });
  const until = async (done) => {
    while (!done()) await new Promise((resolve) => (heard = resolve));
  };
  const statements = [];
  for (let i = 0; i < 3; i++)
    for await (const statement of sqlite3.statements(db, 'SELECT a FROM t WHERE a > ' + i, { unscoped: true })) statements.push(statement);
  fails = true;
  const step = (i, name) => {
    const promise = module._sqlite3_step(statements[i]);
    given.set(promise, name);
    return promise;
  };
  const first = step(0, 'left alone');
  await until(() => seen.length === 1);
  const own = [Object.hasOwn(first, 'constructor'), first instanceof Promise];
  await step(1, 'caught').catch((error) => seen.push(['caught', error.name]));
  try {
    await step(2, 'awaited');
  } catch (error) {
    seen.push(['awaited', error.name]);
  }
  const last = Promise.reject(new Error('of the app'));
  given.set(last, 'last');
  await until(() => seen.some(([, name]) => name === 'last'));
  return { seen, own };
})()`;

test('a rejected SQL promise is as unhandled as without the hook', async () => {
  const answers: unknown[] = [];
  for (const hooked of [false, true]) {
    const page = await browser.newPage();
    if (hooked) await injectHook(page, hook);
    await page.goto(`${server.origin(`rejects-${hooked}`)}/hook-cases/observe/`);
    answers.push(await page.evaluate(STEPS));
    if (hooked) {
      const stepsThatThrew = (flag: number): boolean => (flag & Flag.threw) !== 0;
      const threads = await collectUntil(page, (all) =>
        all.some(
          (t) =>
            t.events.filter((e) => e.op === 'sqlite3_step' && stepsThatThrew(e.flags)).length === 3,
        ),
      );
      expect(threads.map((t) => t.faults)).toEqual(threads.map(() => 0));
    }
    await page.close();
  }
  const [without, recorded] = answers;
  expect(without).toEqual({
    seen: [
      ['unhandledrejection', 'left alone', 'RangeError: the disk is gone'],
      ['caught', 'RangeError'],
      ['awaited', 'RangeError'],
      ['unhandledrejection', 'last', 'Error: of the app'],
    ],
    own: [false, true],
  });
  // the one difference: a promise without reactions still has the accessor
  expect(recorded).toEqual({ ...(without as object), own: [true, true] });
});
