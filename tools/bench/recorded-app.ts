/** Engine apps run in one browser with DevTools and the panel open, recorded or not: what the benchmarks of recording have in common. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { readFileSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'puppeteer-core';
import { createServer, type AppServer } from '../../tests/server/server.mjs';
import {
  openApp,
  prepareApp,
  runApp,
  type Workload,
  type WorkloadOptions,
} from '../../tests/oracle/baseline.ts';
import { launchBrowser, type DrivenBrowser } from '../../src/drive/browser.ts';
import { openPanel, type Panel } from '../../src/drive/panel.ts';
import { saveTrace, startRecording, stopRecording } from '../../src/drive/session.ts';
import { Op } from '../../src/event/event.ts';
import { readTrace } from '../../src/trace/file/read.ts';

export interface BenchedRun {
  readonly path: string;
  readonly workload: Workload;
  readonly options: WorkloadOptions;
}

export interface Taken {
  /** Of the app's own clock, over the workload. */
  ms: number;
  /** CPU time of the page's workers over the workload, ms; NaN where the system does not tell. It leaves out what else the machine does. */
  cpuMs: number;
}

/** Of a browser of our own; close it. */
export class RecordedApps {
  private origins = 0;
  private constructor(
    private readonly server: AppServer,
    private readonly driven: DrivenBrowser,
    private readonly page: Page,
    private readonly panel: Panel,
  ) {}

  static async open(): Promise<RecordedApps> {
    const server = await createServer();
    const driven = await launchBrowser({
      extension: `${process.env['VFSCOPE_DIST'] ?? 'dist'}/chrome`,
    });
    const page = await driven.firstPage();
    return new RecordedApps(server, driven, page, await openPanel(page));
  }

  async close(): Promise<void> {
    await this.driven.close();
    await this.server.close();
  }

  /** One run under an origin without storage. Rejects where the app fails. */
  async run({ path: app, workload, options }: BenchedRun, recorded: boolean): Promise<Taken> {
    const { page, panel } = this;
    await page.goto('about:blank'); // Record reloads the page: the last app must not start again
    if (recorded) await startRecording(panel);
    await openApp(page, this.server.origin(`bench-${this.origins++}`) + app);
    await prepareApp(page);
    const root = this.driven.browser.process()?.pid;
    const before = workerCpuMs(root);
    await page.evaluate(() => performance.mark('bench-begin'));
    const { ms } = await runApp(page, workload, options);
    await page.evaluate(() => performance.mark('bench-end'));
    const cpuMs = workerCpuMs(root) - before;
    if (recorded) await stopRecording(panel);
    return { ms, cpuMs };
  }

  /** Events of the last recorded run's workload, of all threads. */
  async events(): Promise<number> {
    const folder = await mkdtemp(path.join(tmpdir(), 'vfscope-bench-'));
    try {
      const file = path.join(folder, 'run.vfst');
      await saveTrace(this.driven, this.panel, file);
      const { threads } = (await readTrace(await readFile(file))).store;
      const markAt = (text: string): number => {
        for (const { events, definitions } of threads)
          for (let i = 0; i < events.count; i++) {
            if (events.op[i] !== Op.mark) continue;
            const name = definitions.get(events.object[i]!);
            if (name?.kind === 'name' && name.text === text) return events.t0[i]!;
          }
        throw new Error(`the recording holds no mark ${text}`);
      };
      const [from, to] = [markAt('bench-begin'), markAt('bench-end')];
      let count = 0;
      for (const { events } of threads)
        for (let i = 0; i < events.count; i++)
          if (events.t0[i]! > from && events.t0[i]! < to) count++;
      return count;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
}

/** CPU time so far of all workers in the pages (not in the extension) below a browser's process, from Linux' /proc. */
function workerCpuMs(root: number | undefined): number {
  if (process.platform !== 'linux' || root === undefined) return NaN;
  const parents = new Map<number, number>();
  const readOr = (file: string): string => {
    try {
      return readFileSync(file, 'utf8');
    } catch {
      return ''; // the process or thread has ended meanwhile
    }
  };
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? readOr(`/proc/${name}/stat`) : '';
    if (stat)
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
  }
  const isBelow = (pid: number): boolean =>
    pid === root || ((parents.get(pid) ?? 0) > 1 && isBelow(parents.get(pid)!));
  let ns = 0;
  for (const pid of [...parents.keys()].filter(isBelow)) {
    const command = readOr(`/proc/${pid}/cmdline`);
    if (!command.includes('--type=renderer') || command.includes('--extension-process')) continue;
    for (const thread of readdirSync(`/proc/${pid}/task`))
      if (readOr(`/proc/${pid}/task/${thread}/comm`).startsWith('DedicatedWorker'))
        ns += Number(readOr(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0]);
  }
  return ns / 1e6;
}

export interface Compared {
  off: Taken[];
  on: Taken[];
}

/** `repeats` interleaved pairs of runs after one of each that warms disk and code caches; neither side always runs second. */
export async function compare(
  apps: RecordedApps,
  of: BenchedRun,
  repeats: number,
): Promise<Compared & { events: number }> {
  await apps.run(of, false);
  await apps.run(of, true);
  const events = await apps.events();
  const off: Taken[] = [];
  const on: Taken[] = [];
  for (let i = 0; i < repeats; i++)
    for (const recorded of i % 2 === 1 ? [true, false] : [false, true])
      (recorded ? on : off).push(await apps.run(of, recorded));
  return { off, on, events };
}

export const least = (values: readonly number[]): number => Math.min(...values);
export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1]!;
