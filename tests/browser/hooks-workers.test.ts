/**
 * Workers: every case behaves the same with and without the hook, under every page policy, and each
 * worker is recorded or noted.
 */
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchPlainBrowser } from '../oracle/browser.ts';
import { FULL } from '../full.ts';
import {
  BLOB_CASES,
  buildHook,
  collectUntil,
  markedClosed,
  NESTED_WORKERS,
  NETWORK_WORKERS,
  openCases,
  POLICIES,
  serveCases,
  type SeenThread,
} from './hooks-harness.ts';

declare function runCases(
  only?: string[],
): Promise<{ results: Record<string, unknown>; seenByWindow: unknown[] }>;

let browser: Browser;
let server: Awaited<ReturnType<typeof serveCases>>;
let hook: string;
beforeAll(async () => {
  [browser, server, hook] = await Promise.all([launchPlainBrowser(), serveCases(), buildHook()]);
});
afterAll(async () => {
  await browser.close();
  await server.close();
});

const open = (policy: string, withHook = true): Promise<Page> =>
  openCases(browser, server.url(policy), withHook ? hook : null);
const close = (page: Page): Promise<void> => page.browserContext().close();
const shortUrl = (url = ''): string =>
  url.startsWith('blob:') || url.startsWith('data:')
    ? url.slice(0, 5)
    : url.replace(/^.*\//, '').replace(/to=http.*/, 'to=elsewhere');
/** Scripts of the workers whose own mark was recorded, one line for each worker. */
const recorded = (threads: SeenThread[]): string[] =>
  threads
    .filter((t) => t.identity.kind === 'worker' && t.events.some((e) => e.op === 'mark'))
    .map((t) => shortUrl(t.identity.url))
    .sort();
/** Names of those that were started from Blobs. */
const blobsRecorded = (threads: SeenThread[]): string[] =>
  threads
    .filter((t) => t.identity.url.startsWith('blob:') && t.events.some((e) => e.op === 'mark'))
    .map((t) => t.identity.name);
const notes = (threads: SeenThread[]): string[] =>
  threads
    .flatMap((t) =>
      t.notes
        .filter((n) => n.topic === 'worker-native')
        .map((n) => `${shortUrl(n.url)}: ${n.text}`),
    )
    .sort();

/** Workers that always stay native, and why. */
const NATIVE = [
  ['data:', 'a data: URL has no origin'],
  ['echo.js?trusted', 'the page uses Trusted Types'],
  ['echo.js?trusted-inside', 'the page uses Trusted Types'],
  ['shared.js', 'it may have been running before'],
];
/**
 * Workers whose script neither importScripts nor an importing module can load. They run natively,
 * if at all.
 */
const UNLOADED = [
  ...[
    'text%2Fplain',
    'application%2Foctet-stream',
    '',
    'text%2Fhtml',
    'application%2Fjson',
    'image%2Fpng',
  ].map((type) => `echo.js?type=${type}`),
  'echo-module.js?type=text%2Fplain',
  'strict.js?type=text%2Fplain',
  'echo.js?to=elsewhere',
  'missing.js',
  'unlinked-module.js',
  'blob:', // the module without a type
];
const distinct = (names: string[]): string[] => [...new Set(names)];
const count = (names: string[], name: string): number => names.filter((n) => n === name).length;

/** What must have been recorded or noted under a policy, once it has arrived. */
const EXPECTED: Record<string, (page: Page) => Promise<SeenThread[]>> = {
  plain: allRecorded,
  isolated: allRecorded,
  // workers from Blobs inherit this policy, so our code must not request what it forbids
  'connect-src self': allRecorded,
  async 'worker-src self'(page) {
    const threads = await collectUntil(page, (all) => notes(all).length >= 10);
    expect(recorded(threads)).toEqual([]);
    for (const name of NETWORK_WORKERS.filter((url) => !url.startsWith('throws.js')))
      expect(notes(threads)).toContainEqual(
        expect.stringMatching(
          `^${name.replace(/[.?]/g, '\\$&')}: Not recorded: the page's CSP forbids blob: workers`,
        ),
      );
    return threads;
  },
  async 'no wasm'(page) {
    const threads = await collectUntil(page, (all) => count(recorded(all), 'blob:') >= 6);
    expect(distinct(recorded(threads))).toEqual(['blob:']);
    for (const name of NETWORK_WORKERS)
      expect(notes(threads)).toContainEqual(
        expect.stringMatching(
          `^${name.replace(/[.?]/g, '\\$&')}: Not recorded: the page's CSP forbids WebAssembly`,
        ),
      );
    return threads;
  },
  async 'trusted types'(page) {
    const threads = await collectUntil(page, (all) => notes(all).length >= 1);
    expect(notes(threads)).toContainEqual(
      expect.stringMatching(/^echo.js\?trusted: Not recorded: the page uses Trusted Types/),
    );
    return threads;
  },
};
async function allRecorded(page: Page): Promise<SeenThread[]> {
  const complete = (all: SeenThread[]): boolean =>
    count(recorded(all), 'blob:') >= 6 &&
    BLOB_CASES.every((name) => blobsRecorded(all).includes(name)) &&
    [...NETWORK_WORKERS, ...NESTED_WORKERS].every((url) => recorded(all).includes(url)) &&
    count(recorded(all), 'echo.js') >= 6 &&
    notes(all).length >= NATIVE.length + UNLOADED.length;
  const threads = await collectUntil(page, complete);
  expect(distinct(recorded(threads))).toEqual(
    ['blob:', ...NETWORK_WORKERS, ...NESTED_WORKERS].sort(),
  );
  expect(blobsRecorded(threads)).toEqual(expect.arrayContaining(BLOB_CASES));
  const inner = threads.find((t) => t.identity.name === 'inner');
  expect(inner?.identity.parent).toBe(
    threads.find((t) => t.identity.url.endsWith('nested.js'))?.identity.id,
  );
  const reason = (start: string) => expect.stringMatching(`: Not recorded: ${start}`) as string;
  const [others, unloaded] = [
    NATIVE.map(([name, why]) => [name, reason(why!)]),
    UNLOADED.map((name) => [name, reason("vfscope couldn't start it")]),
  ];
  expect(
    Object.fromEntries(notes(threads).map((note) => [note.slice(0, note.indexOf(': Not')), note])),
  ).toEqual(Object.fromEntries([...others, ...unloaded]));
  const closed = threads.find((t) => t.identity.url.endsWith('closes.js'))!;
  expect(closed.bye).toBe('closed');
  expect(markedClosed(closed.events)).toHaveLength(30);
  return threads;
}

/** The other policies refuse the same by other directives. */
const IN_SHORT = ['plain', 'isolated', 'worker-src self', 'trusted types'];

describe.each(Object.keys(POLICIES).filter((name) => FULL || IN_SHORT.includes(name)))(
  'page policy: %s',
  (policy) => {
    test('the app sees the same', async () => {
      const [native, hooked] = [await open(policy, false), await open(policy)];
      const run = (page: Page) => page.evaluate(() => runCases());
      const [without, withHook] = await Promise.all([run(native), run(hooked)]);
      if (process.env['SHOW']) console.log(JSON.stringify(without, null, 1));
      expect(withHook.results).toEqual(without.results);
      expect(withHook.seenByWindow).toEqual(without.seenByWindow);
      const threads = await EXPECTED[policy]!(hooked);
      expect(
        threads.reduce((n, t) => n + t.faults, 0),
        JSON.stringify(threads.flatMap((t) => t.notes)),
      ).toBe(0);
      await Promise.all([close(native), close(hooked)]);
    });
  },
);

/**
 * Fills the process with wasm memories, then lets a worker mark its time.
 * @returns the number of memories, and the worker's answer
 */
const workerOfFullProcess = (page: Page): Promise<{ memories: number; said: unknown }> =>
  page.evaluate(async () => {
    const memories: WebAssembly.Memory[] = [];
    Object.assign(window, { memories });
    try {
      for (;;) memories.push(new WebAssembly.Memory({ initial: 1 }));
    } catch {
      // the process has no addresses left
    }
    const script = "performance.mark('full'); postMessage('ran');";
    const worker = new Worker(URL.createObjectURL(new Blob([script])));
    const said = await new Promise((done) => {
      worker.onmessage = ({ data }) => done(data);
      worker.onerror = ({ message }) => done(message);
    });
    return { memories: memories.length, said };
  });

test.each(['plain', 'isolated'])(
  'a process without room for another wasm memory: %s',
  async (policy) => {
    const page = await open(policy);
    const { memories, said } = await workerOfFullProcess(page);
    expect(memories).toBeGreaterThan(8);
    expect(said).toBe('ran');
    const threads = await collectUntil(page, (all) => recorded(all).length > 0);
    const worker = threads.find(({ identity }) => identity.kind === 'worker')!;
    expect(worker.events.filter(({ op }) => op === 'mark')).toHaveLength(1);
    expect(worker.notes.map(({ topic, text }) => [topic, text])).toContainEqual([
      'tracer-error',
      expect.stringMatching(/^memory for engines: RangeError/),
    ]);
    await close(page);
  },
);
