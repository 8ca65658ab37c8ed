/** The query of the Flame graph view. */
import { mainThreads } from '../../../analysis/core/main-threads.ts';
import { coarsestStep } from '../../../analysis/core/time-range.ts';
import { FLAME_NEEDS, flameGraph } from '../../../analysis/statements/flame-graph.ts';
import type { FlameRequest, MeasuredFlames } from '../../../protocol/answers/flame.ts';
import { needing, type QueryContext } from './context.ts';

export const flameQueries = {
  /** null where no SQL call was recorded. */
  flameGraph: needing(
    [...Object.values(FLAME_NEEDS), mainThreads],
    (
      { facts, memo }: QueryContext,
      { inverted, ...scope }: FlameRequest,
    ): MeasuredFlames | null => {
      const graph = memo(`flame ${inverted} ${JSON.stringify(scope)}`, () =>
        flameGraph(facts, scope, inverted),
      );
      return graph && { ...graph, stepUs: coarsestStep(facts.get(mainThreads)) };
    },
  ),
};
