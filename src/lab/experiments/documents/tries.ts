/** What the Lab runs for a finding: the names that findings give (`tryInLab`) are those of experiments. */
import { EXPERIMENTS } from './index.ts';
import { PATTERNS } from './patterns.ts';
import { QUESTION_EXPERIMENTS } from './questions.ts';
import type { Experiment } from '../model/types.ts';

/** Of the documents, of the page's questions, and of the findings. */
export const ALL_EXPERIMENTS: readonly Experiment[] = [
  ...EXPERIMENTS,
  ...QUESTION_EXPERIMENTS,
  ...PATTERNS,
];

/** @returns the experiment for a finding's `tryInLab`; undefined where there is none */
export function experimentFor(key: string): Experiment | undefined {
  return ALL_EXPERIMENTS.find((e) => e.id === key);
}
