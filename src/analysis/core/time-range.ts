/** The part of a trace that is looked at. */
import type { ThreadStore } from '../../trace/store.ts';
import { fact } from './graph.ts';

/** [fromUs, toUs), microseconds of the trace; the thread's first and last event where not said. */
export interface TimeRange {
  fromUs?: number;
  toUs?: number;
}

/** Begin of the trace's first event and end of its last, microseconds; [0, 0] without one. */
export const extent = fact('extent', 'length of the recording', {}, (store): [number, number] =>
  store.extent(),
);

/** The coarsest clock step of some threads, microseconds; null = not known. */
export function coarsestStep(threads: readonly ThreadStore[]): number | null {
  const steps = threads.flatMap(({ environment }) =>
    environment && Number.isFinite(environment.clockStepUs) ? [environment.clockStepUs] : [],
  );
  return steps.length ? Math.max(...steps) : null;
}

/** Everything: what several analyses need of it is computed once. */
export const isWhole = ({ fromUs, toUs }: TimeRange): boolean =>
  fromUs === undefined && toUs === undefined;
