/**
 * How long runs take, before they run: from what a pass of each workload took on a machine with 2 cores, by where it stores. It tells people
 * who wait minutes from hours, and is in no result.
 */
import { passesOf } from './passes.ts';
import type { Run } from './model/types.ts';
import { placeOf } from './model/vfs-facts.ts';
import { workloadOf } from './workloads/index.ts';
import { countOf, formatCount } from '../../text/numbers.ts';

/** Of one pass at the workload's own size, seconds: in memory, on OPFS (AccessHandlePool), on IndexedDB (BlockIDB). */
const PASS_SECONDS: Readonly<Record<string, readonly [memory: number, opfs: number, idb: number]>> =
  {};
/** Parameters that a pass takes longer for, in proportion. */
const SIZES: readonly string[] = ['items', 'rows', 'transactions', 'iterations', 'size', 'reads'];

/** Seconds of one pass; null for a workload of the user's. */
function passSeconds({ workload, parameters, config }: Run): number | null {
  const known = PASS_SECONDS[workload];
  if (!known) return null;
  const place = placeOf(config.vfs);
  const seconds = known[place === 'in memory' ? 0 : place === 'OPFS' ? 1 : 2];
  const own = workloadOf(workload).parameters;
  return SIZES.reduce((product, name) => {
    const usual = own[name]?.default;
    return usual ? (product * (parameters[name] ?? usual)) / usual : product;
  }, seconds);
}

/** The time as one says it beforehand: no digit more than it deserves. */
function aboutText(seconds: number): string {
  if (seconds < 10) return 'a few seconds';
  if (seconds < 55) return `about ${Math.ceil(seconds / 10) * 10} s`;
  return `about ${formatCount(Math.ceil(seconds / 60))} min`;
}

/** How many passes, and how long they take: `96 passes. Expect about 2 min.` */
export function takesText(runs: readonly Run[]): string {
  const passes = runs.reduce((sum, run) => sum + passesOf(run), 0);
  const each = runs.map((run) => {
    const seconds = passSeconds(run);
    return seconds === null ? null : seconds * passesOf(run);
  });
  const known = each.flatMap((seconds) => seconds ?? []);
  const time =
    known.length < each.length
      ? 'How long they take depends on your script.'
      : `Expect ${aboutText(known.reduce((a, b) => a + b, 0))}.`;
  return `${countOf(passes, 'pass', 'passes')}. ${time}`;
}
