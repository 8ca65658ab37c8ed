/** The question and answer of the Flame graph view. */
import type { Scope } from '../../analysis/core/scope.ts';
import type { FlameGraph } from '../../analysis/statements/flame-graph.ts';

/** Of the scope its range, thread and statement. */
export interface FlameRequest extends Scope {
  /** Calls at the top, below them what called them. */
  inverted: boolean;
}

/** The coarsest step of the threads' clocks, microseconds; null = not known. */
export interface MeasuredFlames extends FlameGraph {
  stepUs: number | null;
  /** Of the thread that was asked for; null = of all. */
  threadTitle: string | null;
}
