/** What the Events view's filter offers: the operations that the trace has. */
import { OPS, opName, type Layer } from '../../../event/operations.ts';
import type { QueryContext } from './context.ts';

interface OperationCount {
  name: string;
  layer: Layer;
  events: number;
}

export const eventQueries = {
  /** In the order of layers, the most frequent first. */
  operations(context: QueryContext, _: Record<string, never>): OperationCount[] {
    return context.memo('operations', () => {
      const counts = new Uint32Array(256);
      for (const { events } of context.store.threads)
        for (let row = 0; row < events.count; row++) counts[events.op[row]!]!++;
      const order: Layer[] = ['sql', 'vfs', 'web', 'host'];
      const found: OperationCount[] = [];
      for (const op of OPS)
        if (op && counts[op.code])
          found.push({ name: opName(op.code), layer: op.layer, events: counts[op.code]! });
      return found.sort(
        (a, b) => order.indexOf(a.layer) - order.indexOf(b.layer) || b.events - a.events,
      );
    });
  },
};
