/**
 * Workers that their page terminates at their last message, or while they work
 * (tests/apps/hook-cases/replies.js).
 */
import { expect } from 'vitest';
import { Op } from '../../src/event/event.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { countOf } from './threads-harness.ts';

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

/** In the page. @param first calls with pauses that it is asked for before @param mark ends the worker's name @returns the calls that it said it had made */
export const terminatedAtReply = (
  work: string,
  calls: number,
  door: string,
  first: number,
  mark = '',
): Promise<number> =>
  new Promise((done) => {
    const worker = new Worker('replies.js', { name: `${work} ${calls} ${door}${mark}` });
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
    // an error counts as the last message, too
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

/** Workers canceled at work. */
export const CANCELED = 21;
/**
 * What a canceled worker's recording may lack: it writes at most once a millisecond, and sends its
 * records every 50 ms.
 */
export const MOST_MISSING = 50;

/**
 * In the page: terminates a worker in the middle of endless writes. @returns its writes, read from
 * its file after the worker has ended
 */
export async function canceledAtWork(name: string, ms: number): Promise<number> {
  const worker = new Worker('replies.js', { name });
  await new Promise((done) => {
    worker.onmessage = done;
    worker.postMessage({ work: 'written', n: 0, door: 'self' });
  });
  await new Promise((done) => setTimeout(done, ms));
  worker.terminate();
  const root = await navigator.storage.getDirectory();
  const file = await root.getFileHandle(name);
  for (;;)
    try {
      // refused while the worker exists
      await (await file.createWritable({ keepExistingData: true })).abort();
      break;
    } catch {
      await new Promise((done) => setTimeout(done, 20));
    }
  const made = new Uint32Array(await (await file.getFile()).arrayBuffer())[0]!;
  await root.removeEntry(name);
  return made;
}

/** Number of writes missing in the recording, by worker. @param made by the name of the worker */
export function missingWrites(
  { threads }: TraceStore,
  made: ReadonlyMap<string, number>,
): number[] {
  return [...made].map(([name, count]) => {
    const thread = threads.find(({ info }) => info.name === name)!;
    expect(thread.ended).toBe('terminated');
    return count - countOf(thread, Op.opfsWrite);
  });
}
