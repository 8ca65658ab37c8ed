// How much later a worker starts while it is recorded: from `new Worker` to its first answer,
// compared with a tab that isn't recorded.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CDPSession, Page } from 'puppeteer-core';
import { createServer } from '../../tests/server/server.mjs';
import { launchBrowser } from '../../src/drive/browser.ts';
import { startRecording } from '../../src/drive/session.ts';
import { least, median } from './recorded-app.ts';

const REPEATS = Number(process.env['REPEATS'] ?? 30);
const PAGE = '/nothing';

export const title = 'Start of a worker (Chromium)';
export const about =
  `Milliseconds from \`new Worker\` or \`new SharedWorker\` until the first answer to a message that was posted at once, minimum (median) of ${REPEATS} interleaved starts: recorded, with the panel in a window, and in a browser without recording. Puppeteer's own listening in these pages is off: with it each start takes about 4 ms more. Aim: 10 ms later at most. ` +
  "The aim isn't reached. Of a classic worker's start, its thread's CPU time is 13 ms longer: V8 parses the hook's text (5.5 ms), compiles the functions that install it (4), and runs them (3), and the script comes from a Blob (0.6). The page's part and the request for the app's script come on top. Compiling the whole text at once takes 15 ms. A text without the functions that only an engine needs, which is half of it, saves 1.8 ms. They can't come later: that takes eval, which a page's policy may refuse. " +
  "A SharedWorker's start also waits for the background, which says where all tabs start it from: 5.6 ms (lower quartile of 40 starts on an overloaded machine), and for one more message to the worker, which brings the app's port. " +
  'The last row has no recording: a classic worker whose script comes from a Blob that imports it, without and with the text of the hook before it, which is parsed, and never called.';

const KINDS = {
  'dedicated, classic': ['echo.js', 'classic'],
  'dedicated, module': ['echo-module.js', 'module'],
  'shared, the first page': ['shared.js', 'shared'],
} as const;

const started = (page: Page, script: string, type: string, run: number): Promise<number> =>
  page.evaluate(
    async (url, of, name) => {
      const began = performance.now();
      if (of === 'shared') {
        const { port } = new SharedWorker(url, name);
        await new Promise((done) => (port.onmessage = done));
        return performance.now() - began;
      }
      const worker = new Worker(url, { type: of as WorkerType });
      worker.postMessage('last');
      await new Promise((done) => (worker.onmessage = done));
      const ms = performance.now() - began;
      worker.terminate();
      return ms;
    },
    `/hook-cases/${script}`,
    type,
    `start ${run}`,
  );

/**
 * Disables Puppeteer's instrumentation of workers. While it listens to requests, Chromium
 * determines the lines that made each one, and V8 parses every script that waits for it a second
 * time: 4.5 ms for the hook.
 */
async function unwatched(page: Page): Promise<void> {
  const client = (page as unknown as { _client(): CDPSession })._client();
  await client.send('Network.disable');
  await client.send('Target.setAutoAttach', {
    autoAttach: false,
    waitForDebuggerOnStart: false,
    flatten: true,
  });
}

const text = (of: number[]): string => `${least(of).toFixed(1)} (${median(of).toFixed(1)})`;
const rowOf = (kind: string, without: number[], taken: number[]): string[] => [
  kind,
  text(without),
  text(taken),
  (least(taken) - least(without)).toFixed(1),
];

/** The cost of reading and parsing the hook, without running it. */
const parsed = (page: Page, script: string, before: string): Promise<number> =>
  page.evaluate(
    async (url, text) => {
      const app = JSON.stringify(new URL(url, location.href).href);
      const parts = [text, `(() => importScripts(${app}))()`]; // in a function, as in the hook
      const blob = URL.createObjectURL(new Blob(parts, { type: 'text/javascript' }));
      const began = performance.now();
      const worker = new Worker(blob);
      worker.postMessage('last');
      await new Promise((done) => (worker.onmessage = done));
      const ms = performance.now() - began;
      worker.terminate();
      URL.revokeObjectURL(blob);
      return ms;
    },
    `/hook-cases/${script}`,
    before,
  );

export async function run(): Promise<{ columns: string[]; rows: string[][] }> {
  const server = await createServer();
  const extension = `${process.env['VFSCOPE_DIST'] ?? 'dist'}/chrome`;
  const [idle, recording] = [
    await launchBrowser({ extension }),
    await launchBrowser({ extension }),
  ];
  try {
    const pages = { native: await idle.firstPage(), recorded: await recording.firstPage() };
    const address = server.origin('worker-start') + PAGE;
    await Promise.all(Object.values(pages).map((page) => page.goto(address)));
    await startRecording(await recording.openWindow(pages.recorded));
    await Promise.all(Object.values(pages).map(unwatched));
    const rows: string[][] = [];
    for (const [kind, [script, type]] of Object.entries(KINDS)) {
      const taken = { native: [] as number[], recorded: [] as number[] };
      for (let i = -2; i < REPEATS; i++)
        for (const name of ['native', 'recorded'] as const) {
          await pages[name].bringToFront();
          const ms = await started(pages[name], script, type, i);
          if (i >= 0) taken[name].push(ms); // before: disk and code caches
        }
      rows.push(rowOf(kind, taken.native, taken.recorded));
    }
    const hook = await readFile(join(extension, 'hooks.js'), 'utf8');
    const taken = { without: [] as number[], with: [] as number[] };
    await pages.native.bringToFront();
    for (let i = -2; i < REPEATS; i++)
      for (const [name, text] of [
        ['without', ''],
        ['with', `function never(){${hook}}`],
      ] as const) {
        const ms = await parsed(pages.native, KINDS['dedicated, classic'][0], text);
        if (i >= 0) taken[name].push(ms);
      }
    rows.push(rowOf('the text of the hook, never called', taken.without, taken.with));
    return { columns: ['worker', 'native ms', 'recorded ms', 'later, minima'], rows };
  } finally {
    await Promise.all([idle.close(), recording.close(), server.close()]);
  }
}
