/** The part of a trace that is analyzed. */
import type { ThreadStore } from '../../trace/store.ts';
import { fact } from './graph.ts';

/** [fromUs, toUs), microseconds of the trace; by default the thread's first and last event. */
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

/** The entire trace, for which analyses share their computed values. */
export const isWhole = ({ fromUs, toUs }: TimeRange): boolean =>
  fromUs === undefined && toUs === undefined;
