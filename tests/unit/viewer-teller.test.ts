// How often the drawing side is told of changes.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Teller } from '../../src/viewer/session/teller.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('the first change at once, a hundred after it together', async () => {
  const tell = vi.fn();
  const teller = new Teller({ recording: () => false, tell });
  teller.soon();
  await vi.advanceTimersByTimeAsync(0);
  expect(tell).toHaveBeenCalledTimes(1);
  for (let i = 0; i < 100; i++) teller.soon();
  await vi.advanceTimersByTimeAsync(99);
  expect(tell).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1000);
  expect(tell).toHaveBeenCalledTimes(2);
  teller.soon();
  teller.now();
  await vi.advanceTimersByTimeAsync(1000);
  expect(tell).toHaveBeenCalledTimes(3); // what was planned is told with it
});

test('a recording without any change tells all the same, more often where there is some', async () => {
  const tell = vi.fn();
  let recording = true;
  const teller = new Teller({ recording: () => recording, tell });
  teller.now();
  await vi.advanceTimersByTimeAsync(1000);
  expect(tell).toHaveBeenCalledTimes(3);
  for (let i = 0; i < 1000; i++) {
    teller.soon();
    await vi.advanceTimersByTimeAsync(1);
  }
  expect(tell.mock.calls.length).toBeGreaterThan(3 + 20);
  recording = false;
  tell.mockClear();
  await vi.advanceTimersByTimeAsync(2000);
  expect(tell.mock.calls.length).toBeLessThanOrEqual(1); // what was planned
});
