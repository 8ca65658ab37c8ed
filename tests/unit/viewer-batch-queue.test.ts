// On few processors, batches of a busy app wait until it is idle.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { BatchQueue } from '../../src/viewer/session/batch-queue.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const LARGE = 100_000;
/** @returns the numbers of the batches, in the order in which they were processed */
function fed(processors: number): { queue: BatchQueue; taken: number[]; add(bytes: number): void } {
  const taken: number[] = [];
  let n = 0;
  const queue = new BatchQueue(processors);
  const add = (bytes: number): void => {
    const i = n++;
    queue.add(bytes, () => taken.push(i));
  };
  return { queue, taken, add };
}

test("with two processors, large batches wait until the app is idle, and small ones before them don't", async () => {
  const { taken, add } = fed(2);
  add(100);
  expect(taken).toEqual([0]);
  add(LARGE);
  add(100);
  await vi.advanceTimersByTimeAsync(150);
  add(LARGE);
  await vi.advanceTimersByTimeAsync(150);
  expect(taken).toEqual([0]);
  await vi.advanceTimersByTimeAsync(100);
  expect(taken).toEqual([0, 1, 2, 3]);
});

test('an app that is never idle is processed once a second, and before the queue is too long', async () => {
  const { taken, add } = fed(2);
  for (let i = 0; i < 11; i++) {
    add(LARGE);
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(taken.length).toBe(10);
  taken.length = 0;
  for (let i = 0; i < 3; i++) add(8 << 20);
  expect(taken.length).toBeGreaterThan(1);
});

test('an app that keeps working has a shorter limit, until it is idle', async () => {
  const { taken, add } = fed(2);
  const MIB = 1 << 20;
  const takenAfter = (batches: number): number => {
    taken.length = 0;
    for (let i = 0; i < batches; i++) add(MIB);
    return taken.length;
  };
  expect(takenAfter(16)).toBe(16);
  expect(takenAfter(4)).toBe(4);
  expect(takenAfter(3)).toBe(0);
  await vi.advanceTimersByTimeAsync(250);
  expect(taken.length).toBe(3);
  expect(takenAfter(15)).toBe(0);
  expect(takenAfter(1)).toBe(16);
});

test('with many processors all are processed at once, and dropped ones never', async () => {
  const { taken, add } = fed(8);
  add(LARGE);
  expect(taken).toEqual([0]);
  const two = fed(2);
  two.add(LARGE);
  two.queue.drop();
  await vi.advanceTimersByTimeAsync(2000);
  expect(two.taken).toEqual([]);
  two.add(LARGE);
  two.queue.flush();
  expect(two.taken).toEqual([1]);
});
