/**
 * Runs engine apps in one browser with the panel open, recorded or not. Shared by the benchmarks of
 * recording.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
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
import type { Panel } from '../../src/drive/panel.ts';
import { saveTrace, startRecording, stopRecording } from '../../src/drive/session.ts';
import { CAPTURE_DEFAULTS, PROFILES } from '../../src/event/capture.ts';
import { Op } from '../../src/event/event.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import type { TraceStore } from '../../src/trace/store.ts';

import { cpuByPart, PARTS, profileWorker, type CpuByPart, type WorkerPart } from './cpu-by-part.ts';

export interface BenchedRun {
  readonly path: string;
  readonly workload: Workload;
  readonly options: WorkloadOptions;
}

/** Workloads of about half a second. "memory" only makes VFS calls and SQL: the worst case. */
export const WORKLOADS: (BenchedRun & { name: string })[] = [
  {
    name: 'IndexedDB: @journeyapps IDBBatchAtomic, Asyncify',
    path: '/journeyapps-wa-sqlite/?vfs=IDBBatchAtomic',
    workload: 'standard',
    options: { n: 4000 },
  },
  {
    name: 'IndexedDB: @journeyapps IDBBatchAtomic, JSPI',
    path: '/journeyapps-wa-sqlite/?vfs=IDBBatchAtomic&build=jspi',
    workload: 'standard',
    options: { n: 4000 },
  },
  {
    name: 'OPFS: @journeyapps OPFSCoopSync',
    path: '/journeyapps-wa-sqlite/?vfs=OPFSCoopSync',
    workload: 'standard',
    options: { n: 8000 },
  },
  {
    name: 'OPFS: @sqlite.org opfs-sahpool',
    path: '/sqlite-org/?vfs=opfs-sahpool',
    workload: 'standard',
    options: { n: 20_000 },
  },
  {
    name: 'memory: @journeyapps MemoryVFS, 5000 autocommits',
    path: '/journeyapps-wa-sqlite/?vfs=Memory',
    workload: 'own-sql',
    options: { n: 5000 },
  },
];

export interface Taken {
  /** The app's own time for the workload. */
  ms: number;
  /**
   * CPU time of the page's workers during the workload, ms; NaN if the system doesn't provide it.
   * Excludes everything else on the machine.
   */
  cpuMs: number;
  /** The same for all processes. */
  cpu: CpuByPart | null;
  /** If the page's first worker was profiled: ms by part. */
  worker?: Record<WorkerPart, number> | undefined;
}

/** Results of a recorded run. */
export interface RecordedRun {
  store: TraceStore;
  fromUs: number;
  toUs: number;
}

/** Where the panel is. */
export const PLACES = ['DevTools', 'window'] as const;
export type Place = (typeof PLACES)[number];
/** Not recorded; recorded by vfscope; recorded by Chrome, as in its Performance panel. */
export type Mode = 'off' | 'full' | 'light' | 'chrome';

/** What Chrome's Performance panel records by default (DevTools' TimelineController). */
const PERFORMANCE_PANEL = [
  ...['blink.console', 'blink.user_timing', 'cppgc', 'devtools.timeline', 'latencyInfo', 'loading'],
  ...['navigation,rail', 'v8', 'v8.execute', 'disabled-by-default-devtools.target-rundown'],
  ...['', '.frame', '.stack'].map((part) => `disabled-by-default-devtools.timeline${part}`),
  ...['', '-sources'].map((part) => `disabled-by-default-devtools.v8-source-rundown${part}`),
  ...['compile', 'cpu_profiler', 'inspector'].map((part) => `disabled-by-default-v8.${part}`),
  ...['disabled-by-default-lighthouse'],
];

/** With a separate browser, which the caller must close. */
export class RecordedApps {
  private origins = 0;
  private constructor(
    private readonly server: AppServer,
    private readonly driven: DrivenBrowser,
    private readonly page: Page,
    private readonly panel: Panel,
  ) {}

  static async open(place: Place = 'DevTools'): Promise<RecordedApps> {
    const server = await createServer();
    const driven = await launchBrowser({
      extension: `${process.env['VFSCOPE_DIST'] ?? 'dist'}/chrome`,
    });
    const page = await driven.firstPage();
    const panel = await (place === 'DevTools' ? driven.openPanel(page) : driven.openWindow(page));
    return new RecordedApps(server, driven, page, panel);
  }

  async close(): Promise<void> {
    await this.driven.close();
    await this.server.close();
  }

  /**
   * One run under an origin without storage. Rejects if the app fails. @param profile the page's
   * first worker, which slows it down
   */
  async run(
    { path: app, workload, options }: BenchedRun,
    mode: Mode,
    profile = false,
  ): Promise<Taken> {
    const { page, panel } = this;
    const recorded = mode === 'full' || mode === 'light';
    await page.goto('about:blank'); // Record reloads the page: don't start the last app again
    if (recorded)
      await startRecording(panel, {
        capture: { ...CAPTURE_DEFAULTS, layers: [...PROFILES[mode]] },
      });
    const endTracing = mode === 'chrome' ? await this.trace() : null;
    await openApp(page, this.server.origin(`bench-${this.origins++}`) + app);
    await prepareApp(page);
    const root = this.driven.browser.process()?.pid;
    const profiled = profile ? await profileWorker(page.workers()[0]!.client) : null;
    const before = cpuByPart(root);
    await page.evaluate(() => performance.mark('bench-begin'));
    const { ms } = await runApp(page, workload, options);
    await page.evaluate(() => performance.mark('bench-end'));
    const after = cpuByPart(root);
    const worker = await profiled?.();
    const cpu =
      before &&
      after &&
      (Object.fromEntries(PARTS.map((part) => [part, after[part] - before[part]])) as CpuByPart);
    if (recorded) {
      await stopRecording(panel);
      // a run that missed the worker has about ten events, and would look like the fastest
      const events = await panel.textOf('live-events');
      if (!/[kM,]/.test(events)) throw new Error(`${app} was not recorded: ${events} events`);
    }
    await endTracing?.();
    return { ms, cpuMs: cpu?.['traced workers'] ?? NaN, cpu, worker };
  }

  /** @returns ends it; the recording is discarded */
  private async trace(): Promise<() => Promise<void>> {
    const session = await this.driven.browser.target().createCDPSession();
    await session.send('Tracing.start', {
      transferMode: 'ReturnAsStream',
      traceConfig: {
        recordMode: 'recordUntilFull',
        excludedCategories: ['*'],
        includedCategories: PERFORMANCE_PANEL,
      },
    });
    return async () => {
      const complete = new Promise<string | undefined>((done) =>
        session.once('Tracing.tracingComplete', ({ stream }) => done(stream)),
      );
      await session.send('Tracing.end');
      const handle = await complete;
      if (handle !== undefined) await session.send('IO.close', { handle });
      await session.detach();
    };
  }

  /** The last recorded run: its trace, and the start and end of its workload, microseconds. */
  async recorded(): Promise<RecordedRun> {
    const folder = await mkdtemp(path.join(tmpdir(), 'vfscope-bench-'));
    try {
      const file = path.join(folder, 'run.vfst');
      await saveTrace(this.driven, this.panel, file);
      const { store } = await readTrace(await readFile(file));
      const { threads } = store;
      const markAt = (text: string): number => {
        for (const { events, definitions } of threads)
          for (let i = 0; i < events.count; i++) {
            if (events.op[i] !== Op.mark) continue;
            const name = definitions.get(events.object[i]!);
            if (name?.kind === 'name' && name.text === text) return events.t0[i]!;
          }
        throw new Error(`the recording holds no mark ${text}`);
      };
      return { store, fromUs: markAt('bench-begin'), toUs: markAt('bench-end') };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
}

/** Number of the workload's events, in all threads. */
export function eventsOf({ store: { threads }, fromUs, toUs }: RecordedRun): number {
  let count = 0;
  for (const { events } of threads)
    for (let i = 0; i < events.count; i++)
      if (events.t0[i]! > fromUs && events.t0[i]! < toUs) count++;
  return count;
}

/**
 * `repeats` interleaved runs of each mode, after one that warms disk and code caches. The order of
 * modes changes with each round.
 */
export async function compare<M extends Mode>(
  apps: RecordedApps,
  of: BenchedRun,
  repeats: number,
  modes: readonly M[],
): Promise<{ taken: Record<M, Taken[]>; recorded: RecordedRun | null }> {
  let recorded: RecordedRun | null = null;
  const taken = {} as Record<M, Taken[]>;
  for (const mode of modes) {
    taken[mode] = [];
    await apps.run(of, mode);
    if (mode === 'full') recorded = await apps.recorded();
  }
  for (let i = 0; i < repeats; i++)
    for (let j = 0; j < modes.length; j++) {
      const mode = modes[(i + j) % modes.length]!;
      taken[mode].push(await apps.run(of, mode));
    }
  return { taken, recorded };
}

export const least = (values: readonly number[]): number => Math.min(...values);
export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1]!;
