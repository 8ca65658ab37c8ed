/**
 * Estimates how long runs take, from the duration of one pass of each workload on 2 busy cores in
 * Chromium, by storage. It distinguishes minutes from hours for users who wait, and isn't part of
 * any result.
 */
import { passesOf } from './passes.ts';
import type { Run } from './model/types.ts';
import { placeOf } from './model/vfs-facts.ts';
import { CPU_WORKLOADS } from './workloads/cpu.ts';
import { workloadOf } from './workloads/index.ts';
import { countOf, formatCount } from '../../text/numbers.ts';

/**
 * One pass with the workload's default parameters, seconds: in memory, on OPFS (AccessHandlePool),
 * on IndexedDB (BlockIDB).
 */
const PASS_SECONDS: Readonly<Record<string, readonly [memory: number, opfs: number, idb: number]>> =
  {
    'sql-speed': [12, 18, 45],
    speedtest1: [2, 3.5, 13],
    'kv-sweep': [5, 7, 6],
    'bulk-insert-empty': [1, 1, 1.5],
    'bulk-insert-dropped': [1, 1, 2.5],
    'bulk-insert-reused-wal': [3, 2, 5],
    'sequential-write': [2, 6, 9],
    'random-write': [4, 11, 60],
    'sequential-read': [0.8, 1.3, 3],
    'random-read': [0.8, 1, 3],
    'read-poll': [0.9, 0.5, 2],
    'checkpoint-anatomy': [0.7, 1.3, 4],
    'checkpoint-storm': [1.1, 1.5, 11],
    contention: [6, 6, 8],
    'cold-start': [0.6, 0.6, 1],
    'full-text': [0.5, 0.5, 0.7],
    'big-sort': [1.1, 1.3, 9],
    'give-back-space': [0.8, 0.6, 1.3],
    // texts for counts, in memory
    ...Object.fromEntries(CPU_WORKLOADS.map(({ id }) => [id, [0.5, 1, 2] as const])),
  };
/** Parameters that lengthen a pass proportionally. */
const SIZES: readonly string[] = ['items', 'rows', 'transactions', 'iterations', 'size', 'reads'];

/** Share of a pass's time that doesn't depend on these parameters. */
const FIXED = 0.4;

/** Seconds of one pass; null for a user's workload. */
function passSeconds({ workload, parameters, config }: Run): number | null {
  const known = PASS_SECONDS[workload];
  if (!known) return null;
  const place = placeOf(config.vfs);
  const seconds = known[place === 'in memory' ? 0 : place === 'OPFS' ? 1 : 2];
  const own = workloadOf(workload).parameters;
  return SIZES.reduce((product, name) => {
    const usual = own[name]?.default;
    return usual ? product * Math.max(FIXED, (parameters[name] ?? usual) / usual) : product;
  }, seconds);
}

/** The time as an estimate, without more digits than it justifies. */
function aboutText(seconds: number): string {
  if (seconds < 10) return 'a few seconds';
  if (seconds < 55) return `up to ${Math.ceil(seconds / 10) * 10} s`;
  return `up to ${formatCount(Math.ceil(seconds / 60))} min`;
}

/** `Expect up to 2 min.` */
export function expectText(runs: readonly Run[]): string {
  const each = runs.map((run) => {
    const seconds = passSeconds(run);
    return seconds === null ? null : seconds * passesOf(run);
  });
  const known = each.flatMap((seconds) => seconds ?? []);
  return known.length < each.length
    ? 'How long it takes depends on your script.'
    : `Expect ${aboutText(known.reduce((a, b) => a + b, 0))}${flushText(runs)}.`;
}
/** The number of flushes of a run isn't known beforehand. */
function flushText(runs: readonly Run[]): string {
  const slowest = Math.max(...runs.map(({ config }) => config.slowFlush ?? 0));
  return slowest > 0 ? `, and ${slowest} ms more for each flush` : '';
}

/** Time per commit in a crash test of one configuration. */
const CRASH_SECONDS = 0.5;
/** Estimates how long crash tests take. */
export const crashText = (configs: number, commits: number): string =>
  `Expect ${aboutText(configs * commits * CRASH_SECONDS)}.`;

/** The number of passes and their duration: `96 passes. Expect up to 2 min.` */
export const takesText = (runs: readonly Run[]): string =>
  `${countOf(
    runs.reduce((sum, run) => sum + passesOf(run), 0),
    'pass',
    'passes',
  )}. ${expectText(runs)}`;
