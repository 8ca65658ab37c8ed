// How much later a worker starts while it is recorded: from `new Worker` until its first answer, beside the same in a tab that is not recorded.
import type { Page } from 'puppeteer-core';
import { createServer } from '../../tests/server/server.mjs';
import { launchBrowser } from '../../src/drive/browser.ts';
import { startRecording } from '../../src/drive/session.ts';
import { least, median } from './recorded-app.ts';

const REPEATS = Number(process.env['REPEATS'] ?? 30);
const PAGE = '/nothing';

export const title = 'Start of a worker (Chromium)';
export const about = `Milliseconds from \`new Worker\` or \`new SharedWorker\` until the first answer to a message that was posted at once, minimum (median) of ${REPEATS} interleaved starts: recorded, with the panel in a window, and in a browser without recording. Aim: 10 ms later at most.`;

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

export async function run(): Promise<{ columns: string[]; rows: (string | number)[][] }> {
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
    const rows: (string | number)[][] = [];
    for (const [kind, [script, type]] of Object.entries(KINDS)) {
      const taken = { native: [] as number[], recorded: [] as number[] };
      for (let i = -2; i < REPEATS; i++)
        for (const name of ['native', 'recorded'] as const) {
          await pages[name].bringToFront();
          const ms = await started(pages[name], script, type, i);
          if (i >= 0) taken[name].push(ms); // before: disk and code caches
        }
      const { native, recorded } = taken;
      const text = (of: number[]): string => `${least(of).toFixed(1)} (${median(of).toFixed(1)})`;
      rows.push([kind, text(native), text(recorded), (least(recorded) - least(native)).toFixed(1)]);
    }
    return { columns: ['worker', 'native ms', 'recorded ms', 'later, minima'], rows };
  } finally {
    await Promise.all([idle.close(), recording.close(), server.close()]);
  }
}
