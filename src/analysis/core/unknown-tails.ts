/**
 * Threads that were ended from outside before they could send their last records: a worker that is
 * terminated, or that ends with its page, and a thread that doesn't answer when the recording
 * stops. Such a thread may have done more than the trace has.
 */
import { DRAIN_EVERY_MS } from '../../event/capture.ts';
import { isCached, lastEndUs } from '../../trace/thread-end.ts';
import { countOf, formatCount, formatDuration } from '../../text/numbers.ts';
import { fact } from './graph.ts';
import { rootOf } from './thread-origin.ts';
import { threadTitles } from './thread-titles.ts';

export interface UnknownTail {
  /** Place in TraceStore.threads. */
  thread: number;
  /** The thread's name in every view. */
  title: string;
  /** How it ended; null = it did not answer. */
  ended: string | null;
  /** It was paused with its page in the back/forward cache. */
  isCached: boolean;
  /**
   * Maximum time from its last record until it is known to be over, microseconds; null = it sent
   * none. A busy worker may keep running and sending records after its page has terminated it. Then
   * this is the time between two drains.
   */
  us: number | null;
}

/** In the order of the threads. */
export const unknownTails = fact(
  'unknownTails',
  'threads whose end is unknown',
  {},
  (store): readonly UnknownTail[] => {
    const titles = threadTitles(store);
    return store.threads.flatMap((thread) => {
      const { unknownUntilUs: until, events, ended, index } = thread;
      if (until === null) return [];
      const us = events.count ? Math.max(DRAIN_EVERY_MS * 1000, until - lastEndUs(thread)) : null;
      const cached = ended === null && isCached(store.threads[rootOf(store, index)]!);
      return [{ thread: index, title: titles[index]!, ended, isCached: cached, us }];
    });
  },
);

/** `1 tail unknown`; '' if there is none. */
export const tailCount = (tails: readonly UnknownTail[]): string =>
  tails.length ? `${countOf(tails.length, 'tail')} unknown` : '';

/** How many a text names. */
const NAMED = 3;
const HOW: Record<string, string> = { terminated: 'was terminated', closed: 'ended with its page' };

/** @param tails at least one */
export function tailsText(tails: readonly UnknownTail[]): string {
  const said = tails.slice(0, NAMED).map(({ title, ended, isCached: cached, us }) => {
    const how = cached
      ? 'was paused with its page in the back/forward cache'
      : (HOW[ended ?? ''] ?? "didn't answer when the recording stopped,");
    return us === null
      ? `${title} ${how} before it sent anything`
      : `${title} ${how} at most ${formatDuration(us)} after its last records`;
  });
  const more = tails.length - said.length;
  return `${said.join('; ')}${more ? `; and ${formatCount(more)} more` : ''}: what happened there then is unknown.`;
}
