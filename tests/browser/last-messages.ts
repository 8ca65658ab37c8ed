/** Workers that their page terminates at their last message, or at work (tests/apps/hook-cases/replies.js). */
import { expect } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { unknownTails } from '../../src/analysis/core/unknown-tails.ts';
import type { TraceStore } from '../../src/trace/store.ts';

/** What the worker does, its calls, and the door of its messages; the last one goes on after them. */
export const LAST_MESSAGES: readonly (readonly [work: string, calls: number, door: string])[] = [
  ['burst', 200, 'self'],
  ['burst', 6000, 'port'],
  ['burst', 40_000, 'channel'],
  ['slowly', 4000, 'self'],
  ['pauses', 200, 'self'],
  ['chatty', 200, 'self'],
  ['chatty', 200, 'channel'],
  ['burst', 200, 'throw'],
  ['pauses', 200, 'report'],
  ['pauses', 200, 'worker'],
  ['cancelled', 500, 'port'],
];

/** In the page. @param first calls with pauses that it is asked for before @returns the calls that it said it had made */
export const terminatedAtReply = (
  work: string,
  calls: number,
  door: string,
  first: number,
): Promise<number> =>
  new Promise((done) => {
    const worker = new Worker('replies.js', { name: `${work} ${calls} ${door}` });
    const { port1, port2 } = new MessageChannel();
    const channel = new BroadcastChannel('replies');
    const begin = (): void => {
      worker.onmessage = heard;
      worker.postMessage({ work, n: calls, door }, [port2]);
    };
    const heard = ({ data }: { data: { made: number; done: boolean } }): void => {
      if (!data.done) return;
      worker.terminate();
      channel.close();
      done(data.made);
    };
    // an error is the last word, too
    worker.onerror = (event) => {
      event.preventDefault();
      heard({ data: { made: first + calls, done: true } });
    };
    channel.onmessage = port1.onmessage = heard;
    if (!first) return begin();
    worker.onmessage = ({ data }: MessageEvent<{ done: boolean }>) => {
      if (data.done) begin();
    };
    worker.postMessage({ work: 'pauses', n: first, door: 'self' });
  });

/** Workers canceled at work of whose tails the median is taken: one of them may wait for a busy machine. */
export const CANCELED = 21;

/** From a canceled worker's last record until it was over, at most. @param workers that were terminated */
export function medianTailMs(store: TraceStore, workers: number): number {
  const tails = new Facts(store).get(unknownTails).filter(({ ended }) => ended === 'terminated');
  expect(tails).toHaveLength(workers);
  const ms = tails.map(({ us }) => us! / 1000).sort((a, b) => a - b);
  return ms[workers >> 1]!;
}
