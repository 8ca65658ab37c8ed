/**
 * Results side by side: which steps and counters to show, the base of each run, and the verdicts on
 * the claims.
 */
import { ALWAYS_SHOWN, placed } from '../experiments/model/aggregate.ts';
import { verdictsOfEach } from '../experiments/grid-result.ts';
import { experimentResult } from '../experiments/run-experiment.ts';
import { storedVerdicts } from '../experiments/storage-verdicts.ts';
import type { ExperimentResult, RunResult, Verdict } from '../experiments/model/result-types.ts';
import { workloadOf } from '../experiments/workloads/index.ts';
import type { PlacedExperiment } from '../experiments/on-vfs.ts';
import type { Offer, PlacedOffer } from './catalog.ts';
import { runsOfExperiment } from './grid.ts';
import type { QueuedRun } from './run-queue.ts';

type Maybe = RunResult | null;

/** Steps of the results, the sum first. */
export function stepsOf(results: readonly Maybe[]): { id: string; title: string }[] {
  const twins = results.some((result) => result?.steps.some(({ twin }) => twin));
  const steps = new Map([['total', twins ? 'all steps by SQL' : 'all steps']]);
  for (const result of results)
    for (const { id, title } of result?.steps ?? []) steps.set(id, title);
  if (steps.size === 2) steps.delete([...steps.keys()][1]!); // one step: the sum is the step
  return [...steps].map(([id, title]) => ({ id, title }));
}

/**
 * Counters worth a row: the workload's watched ones and those in an experiment's claims, or all
 * that moved.
 */
export function countersOf(
  results: readonly Maybe[],
  step: string,
  everything: boolean,
  claimed: readonly string[] = [],
): string[] {
  const first = results.find((r) => r !== null);
  if (!first) return [];
  const watched = workloadOf(first.run.workload, first.run.sql).watch;
  const known = (counter: string): boolean =>
    results.some((r) => r && placed(r, { step, counter })?.value);
  const moved = new Set(
    results.flatMap((r) =>
      Object.keys(
        (step === 'total' ? r?.totals : r?.steps.find((s) => s.id === step)?.counters) ?? {},
      ),
    ),
  );
  const extra = [...moved].filter((name) => everything || ALWAYS_SHOWN.test(name)).sort();
  return [...new Set([...watched, ...claimed, ...extra])].filter(known);
}

/** For each column, the column to compare it with: an experiment defines it for its variants. */
export function basesOf(offer: Offer, columns: number): number[] {
  if (offer.kind !== 'experiment') return Array.from({ length: columns }, () => 0);
  const { variants } = offer.experiment;
  const order = runsOfExperiment(offer.experiment).map(({ variant }) => variant);
  return order.map((id) =>
    Math.max(
      0,
      order.indexOf(variants.find((v) => v.id === id)?.against ?? offer.experiment.baseline),
    ),
  );
}

/**
 * The progress of an unfinished run.
 * @param running whether the queue is running: a canceled run waits for nothing
 */
export function stateText({ state, run, samples }: QueuedRun, running: boolean): string {
  const passes = run.repeats > 1 ? `, pass ${samples.length} of ${run.repeats}` : '';
  if (state === 'running')
    return run.mode === 'time' && samples.length === 0 ? 'warms up' : `running${passes}`;
  return running ? 'waiting' : 'canceled';
}

/**
 * An experiment's expectations between variants, a workload's expectations of every result, and
 * whether all stored the same.
 */
export function verdictsOf(
  offer: PlacedOffer,
  columns: readonly { heading: string; item: QueuedRun }[],
): Verdict[] {
  if (columns.some(({ item }) => item.state === 'waiting' || item.state === 'running')) return [];
  if (offer.kind === 'experiment')
    return [
      ...experimentResultOf(
        offer.experiment,
        columns.map(({ item }) => item),
      ).verdicts,
    ];
  const done = columns.flatMap(({ heading, item }) =>
    item.result ? [{ name: heading, result: item.result }] : [],
  );
  return done.length ? [...verdictsOfEach(done), ...storedVerdicts(done)] : [];
}

/** @param items in the order of `runsOfExperiment` */
export function experimentResultOf(
  experiment: PlacedExperiment,
  items: readonly QueuedRun[],
): ExperimentResult {
  const results = new Map<string, RunResult>();
  const skipped: Record<string, string> = {};
  runsOfExperiment(experiment).forEach(({ variant }, i) => {
    const item = items[i];
    if (item?.result) results.set(variant, item.result);
    else if (item?.message) skipped[variant] = item.message;
  });
  return experimentResult(experiment, results, skipped);
}
