/**
 * Adds what a journal holds and the copy on disk lacks to the trace that was read from the copy.
 */
import type { ThreadMessage } from '../../protocol/messages.ts';
import { MAX_THREADS } from '../../trace/file/format.ts';
import type { TraceStore } from '../../trace/store.ts';

/**
 * The copy may have some of the messages, or parts of them. A row that exists isn't added again,
 * and an end may be applied twice. The journal only contains what each line is allowed to send
 * (journal-worker.ts).
 * @param messages in their order @returns whether anything was added
 */
export function replay(store: TraceStore, messages: readonly ThreadMessage[]): boolean {
  if (!messages.length) return false;
  const said = store.threads.map(
    (thread) => new Set(thread.said.map((definition) => JSON.stringify(definition))),
  );
  for (const message of messages) {
    if (message.k === 'hello') {
      if (store.threads.length < MAX_THREADS)
        store.thread({ ...message.thread, timeOrigin: message.timeOrigin });
    } else if (message.k === 'batch') {
      const { batch } = message;
      const thread = store.threadById(batch.thread);
      const known = thread && said[thread.index];
      const definitions = batch.definitions.filter(
        (definition) => !known?.has(JSON.stringify(definition)),
      );
      thread?.append({ ...batch, definitions });
    } else if (message.k === 'bye') {
      const thread = store.threadById(message.thread);
      if (thread) thread.ended ??= message.reason;
    }
  }
  return true;
}
