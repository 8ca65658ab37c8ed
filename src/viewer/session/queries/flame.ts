/** The query of the Flame graph view. */
import { CPU_FLAME_NEEDS, cpuFlames } from '../../../analysis/cpu/cpu-flames.ts';
import { mainThreads } from '../../../analysis/core/main-threads.ts';
import { coarsestStep } from '../../../analysis/core/time-range.ts';
import { FLAME_NEEDS, flameGraph } from '../../../analysis/statements/flame-graph.ts';
import type { FlameRequest, MeasuredFlames } from '../../../protocol/answers/flame.ts';
import { needing, type QueryContext } from './context.ts';

export const flameQueries = {
  /** null where no SQL call was recorded. */
  flameGraph: needing(
    [...Object.values(FLAME_NEEDS), ...Object.values(CPU_FLAME_NEEDS), mainThreads],
    (
      { facts, memo }: QueryContext,
      { inverted, sampled = false, ...scope }: FlameRequest,
    ): MeasuredFlames | null => {
      const hasSamples = facts.store.threads.some(({ cpu }) => cpu !== null);
      const graphOf = sampled && hasSamples ? cpuFlames : flameGraph;
      const graph = memo(`flame ${inverted} ${sampled} ${JSON.stringify(scope)}`, () =>
        graphOf(facts, scope, inverted),
      );
      return graph && { ...graph, hasSamples, stepUs: coarsestStep(facts.get(mainThreads)) };
    },
  ),
};
