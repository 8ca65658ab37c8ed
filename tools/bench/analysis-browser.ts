// CPU time of the analyses in a worker of headless Chromium, from /proc: of all threads of the
// worker's process, including compilation and garbage collection.
import { readFile, readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Browser, Page } from 'puppeteer-core';
import { launchPlainBrowser } from '../../tests/oracle/browser.ts';
import type { Answered, Asked } from './analysis-worker.ts';

/** @returns milliseconds of CPU by round, by step */
export async function roundsInChromium(
  events: number,
  rounds: number,
): Promise<Map<string, number>[]> {
  const source = await workerSource();
  const browser = await launchPlainBrowser();
  try {
    const page = await browser.newPage();
    await page.goto('data:text/html,');
    await page.evaluate((text) => {
      const worker = new Worker(`data:text/javascript,${encodeURIComponent(text)}`);
      const asking = (asked: unknown): Promise<unknown> =>
        new Promise((done, failed) => {
          worker.onmessage = ({ data }: MessageEvent<unknown>) => done(data);
          worker.onerror = ({ message }) => failed(new Error(message));
          worker.postMessage(asked);
        });
      Object.assign(globalThis, { asking });
    }, source);
    await ask(page, { make: events });
    const process = await rendererOf(browser);
    const measured: Map<string, number>[] = [];
    for (let i = 0; i < rounds; i++) {
      const ms = new Map<string, number>();
      for (const name of (await ask(page, 'round')) as string[]) {
        const before = await cpuMs(process);
        await ask(page, 'step');
        ms.set(name, (await cpuMs(process)) - before);
      }
      measured.push(ms);
    }
    return measured;
  } finally {
    await browser.close();
  }
}

const ask = (page: Page, asked: Asked): Promise<Answered> =>
  page.evaluate(
    (what) => (globalThis as unknown as { asking(asked: Asked): Promise<Answered> }).asking(what),
    asked,
  );

async function workerSource(): Promise<string> {
  const { asShipped } = (await import(
    new URL('../build/as-shipped.mjs', import.meta.url).href
  )) as typeof import('../build/as-shipped.mjs');
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('analysis-worker.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    plugins: [asShipped],
    logLevel: 'warning',
  });
  return outputFiles[0]!.text;
}

/** The web page process that has used most CPU time. */
async function rendererOf(browser: Browser): Promise<number> {
  const client = await browser.target().createCDPSession();
  const { processInfo } = await client.send('SystemInfo.getProcessInfo');
  await client.detach();
  return processInfo
    .filter(({ type }) => type === 'renderer')
    .sort((a, b) => b.cpuTime - a.cpuTime)[0]!.id;
}

/** Of all threads of a process, milliseconds. Linux. */
async function cpuMs(process: number): Promise<number> {
  const threads = await readdir(`/proc/${process}/task`);
  const times = threads.map(async (thread) =>
    Number((await readFile(`/proc/${process}/task/${thread}/schedstat`, 'utf8')).split(' ')[0]),
  );
  return (await Promise.all(times)).reduce((sum, ns) => sum + ns, 0) / 1e6;
}
