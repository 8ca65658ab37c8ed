/** What the Lab offers: experiments with their claims, and single workloads. */
import { EXPERIMENTS } from '../experiments/documents/index.ts';
import type { Experiment, Workload } from '../experiments/model/types.ts';
import { PATTERNS } from '../experiments/documents/patterns.ts';
import { experimentFor } from '../experiments/documents/tries.ts';
import { WORKLOADS } from '../experiments/workloads/index.ts';

export type Offer =
  | {
      readonly kind: 'experiment';
      readonly id: string;
      readonly title: string;
      readonly question: string;
      readonly experiment: Experiment;
    }
  | {
      readonly kind: 'workload';
      readonly id: string;
      readonly title: string;
      readonly question: string;
      readonly workload: Workload;
    };

const offered = (experiment: Experiment): Offer => {
  const { id, title, question } = experiment;
  return { kind: 'experiment', id, title, question, experiment };
};
export const EXPERIMENT_OFFERS: readonly Offer[] = EXPERIMENTS.map(offered);
/** The patterns that findings name, both ways. */
export const PATTERN_OFFERS: readonly Offer[] = PATTERNS.map(offered);
export const WORKLOAD_OFFERS: readonly Offer[] = WORKLOADS.map((workload) => {
  const { id, title, question } = workload;
  return { kind: 'workload', id, title, question, workload };
});

/** What a finding's `tryInLab` leads to; undefined where the name is none of them, as an address that was typed may have it. */
export function offerFor(key: string): Offer | undefined {
  const id = experimentFor(key)?.id;
  return [...EXPERIMENT_OFFERS, ...PATTERN_OFFERS].find((offer) => offer.id === id);
}
