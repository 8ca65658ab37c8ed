// Every analysis of a trace of 1,000,000 events: its time, how it grows to 10,000,000, and memory. Each size runs in a process of its own.
import { readFileSync, writeFileSync } from 'node:fs';
import { badgesOf, FindingContext, findingsOf } from '../../src/trace/analysis/findings/index.ts';
import { blockWritesOf, writeAmplificationOf } from '../../src/trace/analysis/block-writes.ts';
import { blockAccessesOf } from '../../src/trace/analysis/storage-blocks.ts';
import { cacheReport } from '../../src/trace/analysis/cache.ts';
import { checkpointsOf } from '../../src/trace/analysis/checkpoints.ts';
import { coldWarmOf } from '../../src/trace/analysis/cold-warm.ts';
import { filesOf } from '../../src/trace/analysis/files.ts';
import { headlineNumbers } from '../../src/trace/analysis/headline-numbers.ts';
import { idbUseOf } from '../../src/trace/analysis/idb-use.ts';
import { locksOf } from '../../src/trace/analysis/locks.ts';
import { missRatiosOf } from '../../src/trace/analysis/miss-ratio.ts';
import { pagesOf } from '../../src/trace/analysis/pages.ts';
import { repeatedCallsOf } from '../../src/trace/analysis/redundant-calls.ts';
import { interleavingOf, runsOf } from '../../src/trace/analysis/runs.ts';
import { Analyses } from '../../src/trace/analysis/shared.ts';
import { statementTable } from '../../src/trace/analysis/statement-table.ts';
import { sharedSummary } from '../../src/trace/analysis/summary.ts';
import { walFilesOf, walHistories } from '../../src/trace/analysis/wal.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { syntheticStore } from '../../tests/traces/synthetic.ts';
import { inProcess } from './child.ts';

const MILLION = 1_000_000;
const RUNS = 5;

interface Measured {
  events: number;
  /** By analysis, in order of running: milliseconds of CPU, collecting garbage included; the least of the runs. */
  ms: [string, number][];
  /** The store's columns alone, and what the process had at most in the first round beyond what it had before, garbage included. */
  storeBytes: number;
  peakBytes: number;
}

/** One round: what an analysis needs of another one is computed once, as the panel's worker does. */
function round(store: TraceStore, timed: <T>(name: string, work: () => T) => T): void {
  const shared = new Analyses(store);
  const accesses = timed('accesses to pages', () => shared.accesses);
  timed('transactions', () => shared.transactions);
  timed('anatomy of transactions', () => shared.anatomies);
  timed('statements', () => statementTable(store, {}, shared));
  timed('time partition', () => store.threads.map((thread) => shared.partition(thread)));
  const summary = timed('summary', () => sharedSummary(shared));
  timed('headline numbers', () => headlineNumbers(store, shared, summary));
  timed('files', () => filesOf(store));
  timed('pages', () => pagesOf(store, {}, accesses));
  timed('blocks', () => blockAccessesOf(store));
  timed('patterns', () => [
    runsOf(store, {}, shared),
    interleavingOf(store),
    blockWritesOf(store, {}, shared),
    writeAmplificationOf(store, {}, shared),
    repeatedCallsOf(store),
    idbUseOf(store),
  ]);
  timed('caches', () => cacheReport(store, {}, shared));
  timed('miss-ratio curves', () => missRatiosOf(store, {}, shared));
  timed('cold and warm', () => coldWarmOf(store, MILLION, shared));
  timed('locks', () => locksOf(store));
  const files = timed('calls on logs', () => walFilesOf(store));
  timed('write-ahead logs', () => walHistories(store, files));
  timed('checkpoints', () => checkpointsOf(store, files));
  const context = timed('index of the findings', () => new FindingContext(store, shared));
  timed('findings', () => findingsOf(store, context));
  timed('badges', () => badgesOf(store, context));
}

/** The most memory that the process had since `forgetPeak`, bytes. Linux. */
const peak = (): number => Number(/VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))![1]) * 1024;
/** What building the store took is no matter of the analyses. @returns bytes that the process has now */
function forgetPeak(): number {
  writeFileSync('/proc/self/clear_refs', '5');
  return peak();
}

/** Runs in the process of its own. */
export function child(events: number, runs: number): void {
  const store = syntheticStore({ events });
  globalThis.gc?.();
  const storeBytes = process.memoryUsage().arrayBuffers;
  const before = forgetPeak();
  let peakBytes = 0;
  const best = new Map<string, number>();
  for (let i = 0; i < runs; i++) {
    round(store, (name, work) => {
      const began = process.cpuUsage();
      const result = work();
      const { user, system } = process.cpuUsage(began);
      best.set(name, Math.min(best.get(name) ?? Infinity, (user + system) / 1000));
      return result;
    });
    if (i === 0) peakBytes = peak() - before; // a later round begins with the garbage of the one before
  }
  const measured: Measured = { events: store.eventCount, ms: [...best], storeBytes, peakBytes };
  console.log(JSON.stringify(measured));
}

const sum = (list: readonly [string, number][]): number => list.reduce((ms, [, one]) => ms + one, 0);

export const title = 'Analyses (Node)';
export const about =
  `All analyses of a synthetic trace on 4 threads, one after another: milliseconds of CPU time, for the machine is shared; the least of ${RUNS} rounds for 1,000,000 events, of 2 for ` +
  '10,000,000. What several need is computed once. Aim: 1.5 s together for a million, ten times as long for ten millions, below 60 bytes an event beside the columns (the most in the first round, garbage not yet collected included).';

export async function run(): Promise<{ columns: string[]; rows: (string | number)[][] }> {
  const one = inProcess<Measured>('analysis', `child(${MILLION}, ${RUNS})`);
  const ten = inProcess<Measured>('analysis', `child(${10 * MILLION}, 2)`);
  const of = new Map(ten.ms);
  const row = (name: string, a: number, b: number): (string | number)[] => [
    name,
    a.toFixed(0),
    b.toFixed(0),
    (b / Math.max(a, 0.5)).toFixed(1),
  ];
  const bytes = ({ events, storeBytes }: Measured): string => (storeBytes / events).toFixed(0);
  const beside = ({ events, peakBytes }: Measured): string => (peakBytes / events).toFixed(0);
  return Promise.resolve({
    columns: ['analysis', '1 million', '10 millions', 'ratio'],
    rows: [
      ...one.ms.map(([name, ms]) => row(name, ms, of.get(name)!)),
      row('together', sum(one.ms), sum(ten.ms)),
      ['columns, bytes an event', bytes(one), bytes(ten), ''],
      ['beside them at most, bytes an event', beside(one), beside(ten), ''],
    ],
  });
}
