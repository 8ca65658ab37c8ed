/** What the Events view's filter offers: the operations that the trace has. */
import type { EventRef, TraceStore } from '../../../trace/store.ts';
import { OPS, opName, type Layer } from '../../../event/operations.ts';
import { fact } from '../../../analysis/core/graph.ts';
import { callStory, durationsOfKind, type CallStory } from '../../../analysis/events/call-story.ts';
import { rowsByOperation } from '../../../analysis/core/rows-by-operation.ts';
import { requestDetails, type RequestDetails } from '../../../analysis/messages/request-details.ts';
import { requests } from '../../../analysis/messages/requests.ts';
import { answerOf, needing, type QueryContext } from './context.ts';
import type { OperationCount } from '../../../protocol/answers/events.ts';

const operations = fact('operations', 'calls by operation', {}, operationsOf);

function operationsOf(store: TraceStore): OperationCount[] {
  const counts = new Uint32Array(256);
  for (const { events } of store.threads)
    for (let row = 0; row < events.count; row++) counts[events.op[row]!]!++;
  const order: Layer[] = ['sql', 'vfs', 'web', 'host'];
  const found: OperationCount[] = [];
  for (const op of OPS)
    if (op && counts[op.code])
      found.push({ name: opName(op.code), layer: op.layer, events: counts[op.code]!, own: op.own });
  return found.sort(
    (a, b) => order.indexOf(a.layer) - order.indexOf(b.layer) || b.events - a.events,
  );
}

export const eventQueries = {
  /** In the order of layers, the most frequent first. */
  operations: answerOf(operations),

  /** One call in sentences; null = no such event, or not any more. */
  callStory({ store, memo }: QueryContext, { thread: index, seq }: EventRef): CallStory | null {
    const thread = store.threads[index];
    const row = thread?.events.rowOfSeq(seq) ?? -1;
    if (!thread || row < 0) return null;
    return callStory(thread, row, (op, key) =>
      memo(`durations ${key}`, () => durationsOfKind(store, op, key)),
    );
  },

  /**
   * The request that a message was posted or handled for; null = none, or no such event any more.
   */
  requestDetails: needing(
    [requests],
    ({ store, facts }: QueryContext, { thread: index, seq }: EventRef): RequestDetails | null => {
      const thread = store.threads[index];
      const row = thread?.events.rowOfSeq(seq) ?? -1;
      if (!thread || row < 0) return null;
      const known = facts.known({ requests, rowsByOperation });
      return requestDetails(store, known.requests, known.rowsByOperation, thread, row);
    },
  ),
};
