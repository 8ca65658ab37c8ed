// How often the drawing side is told of changes.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ChangeNotifier } from '../../src/viewer/session/change-notifier.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('the first change at once, a hundred after it together', async () => {
  const tell = vi.fn();
  const notifier = new ChangeNotifier({ recording: () => false, tell });
  notifier.soon();
  await vi.advanceTimersByTimeAsync(0);
  expect(tell).toHaveBeenCalledTimes(1);
  for (let i = 0; i < 100; i++) notifier.soon();
  await vi.advanceTimersByTimeAsync(99);
  expect(tell).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1000);
  expect(tell).toHaveBeenCalledTimes(2);
  notifier.soon();
  notifier.now();
  await vi.advanceTimersByTimeAsync(1000);
  expect(tell).toHaveBeenCalledTimes(3); // what was planned is told with it
});

test('a recording without any change tells all the same, more often where there is some', async () => {
  const tell = vi.fn();
  let recording = true;
  const notifier = new ChangeNotifier({ recording: () => recording, tell });
  notifier.now();
  await vi.advanceTimersByTimeAsync(1000);
  expect(tell).toHaveBeenCalledTimes(3);
  for (let i = 0; i < 1000; i++) {
    notifier.soon();
    await vi.advanceTimersByTimeAsync(1);
  }
  expect(tell.mock.calls.length).toBeGreaterThan(3 + 20);
  recording = false;
  tell.mockClear();
  await vi.advanceTimersByTimeAsync(2000);
  expect(tell.mock.calls.length).toBeLessThanOrEqual(1); // what was planned
});
