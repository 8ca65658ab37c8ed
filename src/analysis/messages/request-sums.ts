/** Where the time of all requests between threads went, together. */
import type { TraceStore } from '../../trace/store.ts';
import { fact } from '../core/graph.ts';
import { requests } from './requests.ts';
import { unrecordedRequests } from './unrecorded-requests.ts';

/** Microseconds, summed over requests. Each of several requests at the same time counts. */
export interface RequestSums {
  count: number;
  /** Requests whose answer, or handling, is a guess. */
  guessed: number;
  /** Requests without a recorded answer. */
  unanswered: number;
  /** Requests that a thread posted while it handled another: their time is in the other's, too. */
  nested: number;
  /** Messages to workers that aren't recorded, which aren't in any other number. */
  unrecorded: number;
  /**
   * From postMessage to the end of the answer's listeners: the sum of the following, except for
   * steps of two clocks.
   */
  totalUs: number;
  /** Until the other thread has started, and then in its queue. */
  startUs: number;
  queueUs: number;
  /** Until earlier requests were answered, in a thread that takes all at once. */
  behindUs: number;
  /**
   * From there until the answer is posted: while SQL ran, without storage calls; storage calls; and
   * the rest.
   */
  sqlUs: number;
  storageUs: number;
  otherUs: number;
  answerQueueUs: number;
  listenersUs: number;
}

const recorded = ({ threads }: TraceStore): boolean =>
  threads.some(({ environment }) => environment?.capture.messages);

/** null if messages weren't recorded. */
export const requestSums = fact(
  'requestSums',
  'messages between threads',
  { requests, unrecordedRequests },
  (store, { requests: all, unrecordedRequests: unrecorded }): RequestSums | null => {
    if (!recorded(store)) return null;
    const sum = (us: (request: (typeof all)[0]) => number | null): number =>
      all.reduce((whole, request) => whole + (us(request) ?? 0), 0);
    return {
      count: all.length,
      guessed: all.filter(({ pairing }) => pairing === 'guess').length,
      unanswered: all.filter(({ answer }) => !answer).length,
      nested: all.filter(({ outer }) => outer).length,
      unrecorded: unrecorded.length,
      totalUs: sum((r) => r.totalUs),
      startUs: sum((r) => r.startUs),
      queueUs: sum((r) => r.queueUs - r.startUs),
      behindUs: sum((r) => r.behindUs),
      sqlUs: sum((r) => r.sqlUs),
      storageUs: sum((r) => r.storageUs),
      otherUs: sum((r) => (r.workUs ?? 0) - r.behindUs - r.sqlUs - r.storageUs),
      answerQueueUs: sum((r) => r.answerQueueUs),
      listenersUs: sum((r) => r.listenersUs),
    };
  },
);
