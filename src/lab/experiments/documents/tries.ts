/** What the Lab runs for a finding: the finding's `tryInLab` is the name of an experiment. */
import { EXPERIMENTS } from './index.ts';
import { PATTERNS } from './patterns.ts';
import { QUESTION_EXPERIMENTS } from './questions.ts';
import type { Experiment } from '../model/types.ts';

/** Experiments of the documents, the page's questions, and the findings. */
export const ALL_EXPERIMENTS: readonly Experiment[] = [
  ...EXPERIMENTS,
  ...QUESTION_EXPERIMENTS,
  ...PATTERNS,
];

/** @returns the experiment for a finding's `tryInLab`; undefined = none */
export function experimentFor(key: string): Experiment | undefined {
  return ALL_EXPERIMENTS.find((e) => e.id === key);
}
