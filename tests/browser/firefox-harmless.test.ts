/**
 * Harm that a recording must not do to an app, in Firefox: fail to restore because of something
 * frozen, run the app's code more often, change how its workers read their scripts, or break its
 * policy. Leaks are only tested in Chromium: next to an open toolbox, Firefox retains dropped
 * engines even without a recording.
 */
import type { Page } from 'puppeteer-core';
import { expect, test } from 'vitest';
import type { DrivenFirefox } from '../../src/drive/firefox.ts';
import type { FirefoxPanel } from '../../src/drive/firefox-panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { Op } from '../../src/event/event.ts';
import type { AppServer } from '../server/server.mjs';
import { recorded, restored, savedStore } from './extension-harness.ts';
import { arrived, inFirefox, noticeIn } from './firefox-harness.ts';
import { BLOB_CASES } from './hooks-harness.ts';
import {
  differencesFrom,
  seenWithout,
  servePagePolicies,
  type PolicyCase,
} from './page-policies.ts';
import { countOf } from './threads-harness.ts';

declare function countReads(): Promise<unknown>;
declare function runCases(only: string[]): Promise<unknown>;

let server: AppServer;
let driven: DrivenFirefox;
let page: Page;
let panel: FirefoxPanel;
let labels = 0;
inFirefox((tab) => ({ server, driven, page, panel } = tab));

/** Opens a page with its own origin. */
const open = (): Promise<unknown> =>
  driven.load(page, `${server.origin(`fx-harmless-${++labels}`)}/hook-cases/`);
async function openRecorded(load = open): Promise<void> {
  await driven.load(page, 'about:blank'); // which Record doesn't reload
  await startRecording(panel);
  await load();
  await recorded(page);
}
/**
 * What `look` returns after the app's own script, in a page that isn't recorded and then in one
 * that is.
 */
async function withoutAndWith<T>(look: () => Promise<T>): Promise<{ without: T; during: T }> {
  await open();
  const without = await look();
  await openRecorded();
  return { without, during: await look() };
}
const load = (script: string): Promise<unknown> =>
  page.evaluate(
    (src) =>
      new Promise((done, failed) => {
        const element = Object.assign(document.createElement('script'), { src });
        Object.assign(element, { onload: () => done(null), onerror: failed });
        document.head.append(element);
      }),
    script,
  );

test('what the app has frozen stays, the panel names it, and everything else is restored', async () => {
  await openRecorded();
  const patched = (): Promise<string[]> =>
    page.evaluate(() => {
      const all: [object, string][] = [
        ...([
          [Storage.prototype, 'getItem'],
          [Performance.prototype, 'mark'],
          [WebAssembly, 'instantiate'],
        ] as [object, string][]),
        [IDBObjectStore.prototype, 'put'],
        [IDBFactory.prototype, 'open'],
        [LockManager.prototype, 'request'],
        [FileSystemFileHandle.prototype, 'getFile'],
        [WebAssembly.Table.prototype, 'set'],
        [window, 'Worker'],
        [URL, 'createObjectURL'],
      ];
      // the text of a wrapper lacks the name
      return all
        .filter(([owner, key]) => !String((owner as never)[key]).includes(key))
        .map(([, key]) => key);
    });
  expect(await patched()).toHaveLength(10);
  await page.evaluate(() => {
    for (const object of [Storage.prototype, Performance.prototype, WebAssembly])
      Object.freeze(object);
  });
  await stopRecording(panel);
  await restored(page);
  expect(await patched()).toEqual(['getItem', 'mark', 'instantiate']);
  expect(await page.evaluate(() => '_sqlite3_step' in {})).toBe(false);
  const said = await noticeIn(panel, /^Your app froze these/);
  for (const name of ['Storage.getItem', 'Performance.mark', 'WebAssembly.Instance'])
    expect(said).toContain(name);
  // and still work
  expect(
    await page.evaluate(() => {
      localStorage.setItem('a', 'b');
      return [localStorage.getItem('a'), performance.mark('x').name];
    }),
  ).toEqual(['b', 'x']);
});

test("getters and conversions in a page's arguments run as often as without vfscope", async () => {
  const { without, during } = await withoutAndWith(async () => {
    await load('argument-reads.js');
    return page.evaluate(() => countReads());
  });
  expect(without).toMatchObject({ element: 1, 'options.transfer': 1 });
  expect(during).toEqual(without);
  await stopRecording(panel);
  expect(summaryOf(await savedStore(driven, panel)).faults).toBe(0);
});

test('platform functions that the app replaces are called as often as without vfscope', async () => {
  const calls = (): Promise<unknown> => page.evaluate('JSON.stringify(calls)');
  const { without, during } = await withoutAndWith(async () => {
    await load('replaced.js');
    await page.evaluate('storeAndMark()');
    return calls();
  });
  expect(during).toEqual(without);
  await stopRecording(panel);
  expect(await calls()).toEqual(without); // nor while it sends or restores
  const store = await savedStore(driven, panel);
  expect(summaryOf(store)).toMatchObject({ dropped: 0, faults: 0 });
  const thread = store.threads.find(({ info }) => info.kind === 'page')!;
  expect([countOf(thread, Op.mark), countOf(thread, Op.idbPut)]).toEqual([101, 1]);
});

test('workers from Blobs and by URL objects are as strict as without vfscope, and recorded', async () => {
  const cases = [...BLOB_CASES, 'URLs that are objects'];
  const { without, during } = await withoutAndWith(() =>
    page.evaluate((names) => runCases(names), cases),
  );
  expect(during).toEqual(without);
  const { results } = without as { results: Record<string, [unknown, { strict?: boolean }][]> };
  const strict = BLOB_CASES.filter((name) => results[name]![0]![1].strict);
  expect(strict).toEqual(BLOB_CASES.filter((name) => !/sloppy|only names/.test(name)));
  await arrived(panel, page);
  await stopRecording(panel);
  const store = await savedStore(driven, panel);
  const workers = store.threads.filter((t) => t.info.kind === 'worker' && countOf(t, Op.mark) > 0);
  expect(workers.map(({ info }) => info.name)).toEqual(expect.arrayContaining(BLOB_CASES));
  expect(workers.map(({ info }) => info.url.replace(/^.*\//, ''))).toEqual(
    expect.arrayContaining(['objects.js?q=1', 'echo.js?object', 'echo-module.js?text']),
  );
  expect(summaryOf(store)).toMatchObject({ dropped: 0, faults: 0 });
});

test("a page's policy reports nothing of vfscope, and the workers that it allows are recorded", async () => {
  const policies = await servePagePolicies();
  const of: PolicyCase = ['worker-src self', 'header'];
  try {
    const without = await seenWithout(page, policies, of);
    expect(without.seen).toEqual(Array(4).fill(['worker-src', 'blob', 'enforce']));
    await openRecorded(() => driven.load(page, policies.plain));
    expect(await differencesFrom(without, page, policies, of)).toEqual([]);
    await stopRecording(panel);
    const { threads } = await savedStore(driven, panel);
    const workers = threads.filter(({ info }) => info.kind === 'worker');
    expect(workers.map(({ info }) => info.url.replace(/^.*\//, '')).sort()).toEqual([
      ...Array<string>(3).fill('nested.js'),
      'worker.js',
      'worker.js',
      'worker.js?again',
    ]);
  } finally {
    await policies.close();
  }
});
