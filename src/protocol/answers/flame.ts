/** The question and answer of the Flame graph view. */
import type { Scope } from '../../analysis/core/scope.ts';
import type { FlameGraph } from '../../analysis/statements/flame-graph.ts';

export interface FlameRequest extends Scope {
  /** Calls at the top, their callers below. */
  inverted: boolean;
  /** Functions of CPU samples instead of calls. */
  sampled?: boolean;
}

/** The coarsest step of the threads' clocks, microseconds; null = not known. */
export interface MeasuredFlames extends FlameGraph {
  stepUs: number | null;
  /** The recording has CPU samples. */
  hasSamples: boolean;
}
