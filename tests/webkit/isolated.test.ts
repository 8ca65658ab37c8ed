/**
 * The bridge between the page's world and an isolated one in WebKit, with the scripts of Safari's
 * build: everything that is recorded goes through the content script and ports that carry JSON
 * only, whichever of the two scripts runs first. WebKit's own extension host isn't tested, because
 * Linux has none.
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { differences, traces } from '../browser/extension-harness.ts';
import { countsOf, repeatable } from '../browser/grid-counts.ts';
import { recordedGolden } from '../browser/recorded-golden.ts';
import { openApp, prepareApp, runApp, storedBy } from '../oracle/baseline.ts';
import { ENGINE_APPS } from '../oracle/catalog.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { mark } from './hooked-app.ts';
import { asksIn, launchIsolated, SITES, WORLD, type IsolatedWebKit } from './isolated-page.ts';
import { RECORDED, Recording, WAIT } from './isolated-recording.ts';

let server: AppServer;
let driven: IsolatedWebKit;
beforeAll(async () => {
  [server, driven] = await Promise.all([createServer(), launchIsolated(RECORDED)]);
});
afterAll(async () => {
  await driven?.close();
  await server?.close();
});

let panel: Recording;
beforeEach(() => {
  panel?.close();
  panel = new Recording(driven.page);
});
const until: Recording['until'] = (holds) => panel.until(holds);
const meanwhile: Recording['meanwhile'] = (work) => panel.meanwhile(work);

const site = (label: string, kind: string): string => server.origin(`${label}.${kind}`);
/** A page that waits once it is ready. */
const openPage = (label: string, kind: string): Promise<void> =>
  openApp(driven.page.asPuppeteer(), `${site(label, kind)}/journeyapps-wa-sqlite/`);
const hookIsThere = (): Promise<boolean> =>
  driven.page.evaluate(() => Symbol.for('vfscope.thread') in globalThis);

describe('an engine, recorded through the isolated world', () => {
  const id = 'journeyapps-wa-sqlite IDBBatchAtomic';
  const app = ENGINE_APPS.find((a) => a.id === id)!;
  const golden = async (file: string) =>
    JSON.parse(await readFile(new URL(`../oracle/${file}.json`, import.meta.url), 'utf8'))[id];

  test.each([
    ['over one port', 0],
    ['while the background repeatedly dies', 3],
  ])('%s: every count is that of Chromium', async (_, deaths) => {
    const { page } = driven;
    const url = site(`engine-${deaths}`, SITES.both) + app.path;
    await openApp(page.asPuppeteer(), url);
    await meanwhile(prepareApp(page.asPuppeteer()));
    await meanwhile(mark(page, 'oracle-begin'));
    const running = runApp(page.asPuppeteer(), app.run.workload, app.run.options);
    let lost = 0;
    // the page has something to send even after the app has ended, because each death delays later
    // connections
    const says = (): Promise<void> => page.evaluate(() => void performance.mark('t-still-here'));
    for (let i = 0; i < deaths; i++) {
      const before = panel.batches.length;
      await until(async () => {
        await says();
        expect(panel.batches.length).toBeGreaterThan(before);
      });
      // at a moment when something is on its way
      await vi.waitFor(async () => {
        await says();
        expect((await asksIn(page, ({ ports }) => ports.at(-1)!.posted.length))[0]).toBeGreaterThan(
          0,
        );
      }, WAIT);
      lost += await panel.far.die();
    }
    const result = await meanwhile(running);
    await meanwhile(mark(page, 'oracle-end'));
    await panel.stopped();
    expect(result.rows).toEqual(app.run.rows);
    expect((await storedBy(page.asPuppeteer())).total).toBe((await golden('goldens')).stored);

    const store = panel.store();
    const summary = summaryOf(store);
    expect(summary.dropped).toBe(0);
    expect(store.threads.map((t) => [t.faults, t.missing, t.orphanEnds])).toEqual(
      store.threads.map(() => [0, 0, 0]),
    );
    expect(repeatable(app, countsOf(store))).toEqual(
      repeatable(app, (await golden('goldens')).counts),
    );
    expect(recordedGolden(summary, app.bytesVary ?? 'same')).toEqual(await golden('recorded'));
    // every death made the relay reconnect and lost messages, which were sent again
    expect((await asksIn(page, ({ ports }) => ports.length))[0]).toBe(1 + deaths);
    expect(lost).toBeGreaterThanOrEqual(deaths);
    expect([...panel.byes.values()]).toEqual(panel.hellos.map(() => 'stopped'));
    expect((await asksIn(page, ({ asked }) => asked))[0]).toEqual([
      { k: 'recorded?', document: 'new', reloads: false },
    ]);
  });
});

describe('whichever script runs first', () => {
  test('both at the start: connected by the first line', async () => {
    await openPage('at-once', SITES.both);
    await driven.page.evaluate(() => void performance.mark('t-at-once'));
    await until(() => expect(panel.marks()).toEqual(['t-at-once']));
    expect((await asksIn(driven.page, ({ lines }) => lines))[0]).toBe(1);
    await panel.stopped();
  });

  test('the content script long after the hook: earlier events are recorded, too', async () => {
    const { page } = driven;
    await openPage('content-late', SITES.hook);
    await page.evaluate(() => void performance.mark('t-before'));
    await vi.waitFor(
      async () => expect((await asksIn(page, ({ lines }) => lines))[0]).toBeGreaterThan(0),
      WAIT,
    ); // not received
    expect((await asksIn(page, ({ ports }) => ports.length))[0]).toBe(0);
    await page.evaluateInWorlds(WORLD, driven.content);
    await page.evaluate(() => void performance.mark('t-after'));
    await until(() => expect(panel.marks()).toEqual(['t-before', 't-after']));
    expect((await asksIn(page, ({ lines }) => lines))[0]).toBeGreaterThan(1);
    await panel.stopped();
    expect(summaryOf(panel.store()).dropped).toBe(0);
  });

  test('the hook long after the content script, in an open page', async () => {
    const { page } = driven;
    await openPage('hook-late', SITES.content);
    const before = await page.evaluate(traces);
    await page.evaluate(driven.hook);
    await page.evaluate(() => void performance.mark('t-late'));
    await until(() => expect(panel.marks()).toEqual(['t-late']));
    expect((await asksIn(page, ({ lines }) => lines))[0]).toBe(1);
    await panel.stopped();
    expect(await hookIsThere()).toBe(false);
    expect(differences(before, await page.evaluate(traces))).toEqual([]);
  });

  test('the content script twice, as when a recording starts on a page seen before: one relay', async () => {
    const { page } = driven;
    await openPage('twice', SITES.both);
    await page.evaluateInWorlds(WORLD, driven.content);
    await page.evaluate(() => void performance.mark('t-twice'));
    await until(() => expect(panel.marks()).toEqual(['t-twice']));
    expect((await asksIn(page, ({ ports, asked }) => [ports.length, asked.length]))[0]).toEqual([
      1, 1,
    ]);
    await panel.stopped();
  });
});

test('a SharedWorker stays a single one, and is recorded', async () => {
  const { page } = driven;
  const url = `${site('one', SITES.shared)}/hook-cases/`;
  await page.asPuppeteer().goto(url);
  const ask = (mark: string): Promise<{ id: string; connections: number; location: string }> =>
    page.evaluate(
      `new Promise((done, failed) => {
        const worker = new SharedWorker('counter.js', 'counter');
        worker.onerror = () => failed(new Error('error event'));
        worker.port.onmessage = ({ data }) => done(data);
        worker.port.postMessage('${mark}');
      })`,
    );
  const first = await meanwhile(ask('t-first'));
  const second = await meanwhile(ask('t-second'));
  expect(first).toMatchObject({ connections: 1, location: `${url}counter.js` });
  expect(second).toMatchObject({ id: first.id, connections: 2 });
  await until(() => expect(panel.marks()).toEqual(['t-first', 't-second']));
  expect(panel.hellos.map(({ kind }) => kind).sort()).toEqual(['page', 'shared-worker']);
  await panel.stopped();
});

describe('the page', () => {
  test("is restored if it isn't recorded, and its worlds see nothing of each other", async () => {
    const { page } = driven;
    await openPage('restored', SITES.content);
    const before = await page.evaluate(traces);
    await vi.waitFor(
      async () => expect(await page.evaluate(() => performance.now())).toBeGreaterThan(500),
      WAIT,
    ); // the early answer is stale
    await asksIn(page, (state) => void (state.answer = { ...state.answer, recorded: false }));
    await page.evaluate(
      `globalThis.heard = []; addEventListener('message', ({ data }) => heard.push(data));`,
    );
    await page.evaluate(driven.hook);
    await vi.waitFor(async () => expect(await hookIsThere()).toBe(false), WAIT);
    // offer and answer were passed, and the app's listener received neither
    expect(await page.evaluate('heard')).toEqual([]);
    await page.evaluate('delete globalThis.heard');
    expect(differences(before, await page.evaluate(traces))).toEqual([]);
    expect(
      await page.evaluate('[typeof browser, typeof vfscopeListens, typeof vfscopeMock]'),
    ).toEqual(['undefined', 'undefined', 'undefined']);
    expect((await asksIn(page, ({ ports }) => ports.length))[0]).toBe(0);
  });

  test('is restored if the background requests it', async () => {
    const { page } = driven;
    await openPage('told', SITES.both);
    await until(() => expect(panel.hellos.map(({ kind }) => kind)).toContain('page'));
    await asksIn(page, (state) => state.tell({ k: 'restore', joins: [] }));
    await vi.waitFor(async () => expect(await hookIsThere()).toBe(false), WAIT);
    await until(() => expect([...panel.byes.values()]).toContain('stopped'));
  });
});
