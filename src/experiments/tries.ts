/** What the Lab runs for a finding: the names that findings give (`tryInLab`), and the experiment behind each. */
import { EXPERIMENTS } from './documents/index.ts';
import { PATTERNS } from './documents/patterns.ts';
import type { Experiment } from './types.ts';

/** Of the documents and of the findings. */
export const ALL_EXPERIMENTS: readonly Experiment[] = [...EXPERIMENTS, ...PATTERNS];

/** Where the experiment is not called as the findings call it: some of their names are those of single workloads. */
const BEHIND: ReadonlyMap<string, string> = new Map([
  ['contention', 'writers-and-readers'],
  ['mariani-1M', 'write-policy'],
  ['absurd-sweep', 'sql-over-storage'],
  ['read-poll', 'polling'],
  ['checkpoint-storm', 'checkpointing'],
  ['cold-start', 'cold-starts'],
]);

/** @returns the experiment for a finding's `tryInLab`; undefined where there is none */
export function experimentFor(key: string): Experiment | undefined {
  const id = BEHIND.get(key) ?? key;
  return ALL_EXPERIMENTS.find((e) => e.id === id);
}
