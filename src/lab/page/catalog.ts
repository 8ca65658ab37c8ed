/** The Lab's offers: experiments with their claims, and single workloads. */
import { EXPERIMENTS } from '../experiments/documents/index.ts';
import { onVfs, type PlacedExperiment } from '../experiments/on-vfs.ts';
import type { FaultSettings } from '../experiments/model/faults.ts';
import type { Experiment, VfsName, Workload } from '../experiments/model/types.ts';
import { PATTERNS } from '../experiments/documents/patterns.ts';
import { QUESTION_EXPERIMENTS } from '../experiments/documents/questions.ts';
import { experimentFor } from '../experiments/documents/tries.ts';
import { WORKLOADS } from '../experiments/workloads/index.ts';

interface ExperimentOffer<E extends Experiment> {
  readonly kind: 'experiment';
  readonly id: string;
  readonly title: string;
  readonly question: string;
  readonly experiment: E;
}
interface WorkloadOffer {
  readonly kind: 'workload';
  readonly id: string;
  readonly title: string;
  readonly question: string;
  readonly workload: Workload;
}
export type Offer = ExperimentOffer<Experiment> | WorkloadOffer;
/** What runs, with the chosen VFSs of an experiment. */
export type PlacedOffer = ExperimentOffer<PlacedExperiment> | WorkloadOffer;

/** @param vfs the chosen ones; none: its own @param faults for all of its runs */
export function placedOffer(
  offer: Offer,
  vfs: readonly VfsName[],
  faults: FaultSettings = {},
): PlacedOffer {
  if (offer.kind === 'workload') return offer;
  const experiment = onVfs(offer.experiment, vfs, 'browser', faults);
  return { ...offer, title: experiment.title, experiment };
}

const offered = (experiment: Experiment): Offer => {
  const { id, title, question } = experiment;
  return { kind: 'experiment', id, title, question, experiment };
};
export const EXPERIMENT_OFFERS: readonly Offer[] = EXPERIMENTS.map(offered);
/** The questions on the first page. */
export const QUESTION_OFFERS: readonly Offer[] = QUESTION_EXPERIMENTS.map(offered);
/** The patterns that findings name, both as found and as advised. */
export const PATTERN_OFFERS: readonly Offer[] = PATTERNS.map(offered);
export const WORKLOAD_OFFERS: readonly Offer[] = WORKLOADS.map((workload) => {
  const { id, title, question } = workload;
  return { kind: 'workload', id, title, question, workload };
});

/**
 * The offer for a finding's `tryInLab`; undefined for an unknown name, such as one from a typed
 * address.
 */
export function offerFor(key: string): Offer | undefined {
  const id = experimentFor(key)?.id;
  return [...EXPERIMENT_OFFERS, ...QUESTION_OFFERS, ...PATTERN_OFFERS].find(
    (offer) => offer.id === id,
  );
}
