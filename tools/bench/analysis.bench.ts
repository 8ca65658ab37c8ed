// Every analysis of a trace of 1,000,000 events: its time, its growth to 10,000,000 events, and
// memory; in Node, and in a worker of Chromium. Each size runs in a separate process.
import { readFileSync, writeFileSync } from 'node:fs';
import { syntheticStore } from '../../tests/traces/synthetic.ts';
import { stepsOf } from './analyses.ts';
import { roundsInChromium } from './analysis-browser.ts';
import { inProcess } from './child.ts';

const MILLION = 1_000_000;
/** The same at both sizes, because the minimum of more rounds is lower. */
const RUNS = 5;

interface Measured {
  events: number;
  /**
   * By round, by analysis in execution order: milliseconds of CPU, including compilation and
   * garbage collection.
   */
  rounds: [string, number][][];
  /**
   * The size of the store's columns alone, and the peak memory of the process in the first round
   * minus its memory before, including garbage.
   */
  storeBytes: number;
  peakBytes: number;
}

/** The process's peak memory since `forgetPeak`, bytes. Linux. */
const peak = (): number =>
  Number(/VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))![1]) * 1024;
/** Excludes what building the store took. @returns the process's current memory, bytes */
function forgetPeak(): number {
  writeFileSync('/proc/self/clear_refs', '5');
  return peak();
}

/** Runs in a separate process. */
export function child(events: number): void {
  const store = syntheticStore({ events });
  globalThis.gc?.();
  const storeBytes = process.memoryUsage().arrayBuffers;
  const before = forgetPeak();
  let peakBytes = 0;
  const rounds = Array.from({ length: RUNS }, (_, i) => {
    const ms = stepsOf(store).map(({ name, work }): [string, number] => {
      const began = process.cpuUsage();
      work();
      const { user, system } = process.cpuUsage(began);
      return [name, (user + system) / 1000];
    });
    // a later round starts with the garbage of the previous one
    if (i === 0) peakBytes = peak() - before;
    return ms;
  });
  const measured: Measured = { events: store.eventCount, rounds, storeBytes, peakBytes };
  console.log(JSON.stringify(measured));
}

/** By analysis: the time of the first round, and the minimum of all. */
interface Times {
  first: ReadonlyMap<string, number>;
  least: ReadonlyMap<string, number>;
}
function timesOf(rounds: readonly ReadonlyMap<string, number>[]): Times {
  const first = rounds[0]!;
  return {
    first,
    least: new Map(
      [...first.keys()].map((name) => [name, Math.min(...rounds.map((round) => round.get(name)!))]),
    ),
  };
}

export const title = 'Analyses';
export const about =
  'All analyses of a synthetic trace on 4 threads, one after another, in Node and in a worker of headless Chromium: milliseconds of CPU time of all threads, ' +
  `compiling and collecting garbage included, for the machine is shared; in the first round, as the panel runs them, and the least of ${RUNS}. What several need is ` +
  'computed once, in the first row that needs it. "Growth" is the least time for 10,000,000 events / that for 1,000,000. The large trace has 12.5 times as many checkpoints (77,437 against 6,173), which is what their row may grow; what ' +
  'memory alone costs is in the row for comparison. Aim: 1.5 s together for a million, ten times as long for ten millions, below 60 bytes an event beside the columns (the most in the first round, garbage not yet collected included).';

export async function run(): Promise<{ columns: string[]; rows: (string | number)[][] }> {
  const one = inProcess<Measured>('analysis', `child(${MILLION})`);
  const ten = inProcess<Measured>('analysis', `child(${10 * MILLION})`);
  const times = [
    ...[one, ten].map(({ rounds }) => rounds.map((ms) => new Map(ms))),
    await roundsInChromium(MILLION, RUNS),
  ].map(timesOf);
  const [small, large] = times as [Times, Times, Times];
  const row = (
    name: string,
    of: (ms: ReadonlyMap<string, number>) => number,
  ): (string | number)[] => {
    const [a, b] = [of(small.least), of(large.least)];
    return [
      name,
      ...times.flatMap(({ first, least }) => [of(first).toFixed(0), of(least).toFixed(0)]),
      a < 1 ? '' : (b / a).toFixed(1),
    ];
  };
  const [comparison, ...names] = [...small.first.keys()] as [string, ...string[]];
  const bytes = (name: string, of: (measured: Measured) => number): string[] => {
    const [a, b] = [one, ten].map((measured) => (of(measured) / measured.events).toFixed(0)) as [
      string,
      string,
    ];
    return [name, a, '', b, '', '', '', ''];
  };
  return {
    columns: [
      'analysis',
      '1 million, first',
      'least',
      '10 millions, first',
      'least',
      'Chromium, 1 million, first',
      'least',
      'growth',
    ],
    rows: [
      ...names.map((name) => row(name, (ms) => ms.get(name)!)),
      row('together', (ms) => names.reduce((sum, name) => sum + ms.get(name)!, 0)),
      row(comparison, (ms) => ms.get(comparison)!),
      bytes('columns, bytes an event', ({ storeBytes }) => storeBytes),
      bytes('beside them at most, bytes an event', ({ peakBytes }) => peakBytes),
    ],
  };
}
