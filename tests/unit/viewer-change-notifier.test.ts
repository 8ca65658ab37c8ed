// How often the drawing side is notified of changes.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ChangeNotifier, livePaceMs } from '../../src/viewer/session/change-notifier.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('the first change at once, and a hundred after it together', async () => {
  const tell = vi.fn();
  const notifier = new ChangeNotifier({
    recording: () => false,
    events: () => 0,
    waits: () => false,
    tell,
  });
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
  expect(tell).toHaveBeenCalledTimes(3); // the planned notification came with it
});

test('a recording without changes notifies too, and more often with changes', async () => {
  const tell = vi.fn();
  let recording = true;
  const notifier = new ChangeNotifier({
    recording: () => recording,
    events: () => 0,
    waits: () => false,
    tell,
  });
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
  expect(tell.mock.calls.length).toBeLessThanOrEqual(1); // the planned one
});

test('while the app works there are fewer pictures on two processors, and the old rate again once it is idle', async () => {
  const tell = vi.fn();
  let events = 0;
  const notifier = new ChangeNotifier(
    { recording: () => true, events: () => events, waits: () => false, tell },
    2,
  );
  const during = async (ms: number, perMs: number): Promise<number> => {
    tell.mockClear();
    for (let i = 0; i < ms; i++) {
      events += perMs;
      notifier.soon();
      await vi.advanceTimersByTimeAsync(1);
    }
    return tell.mock.calls.length;
  };
  notifier.now();
  await during(500, 100);
  expect(await during(2000, 100)).toBe(2000 / livePaceMs(2, 100_000));
  await during(1500, 1);
  expect(await during(2000, 1)).toBe(2000 / livePaceMs(2, 1000));
});

test('a notification planned when the app began to work is delayed, but sent at once when the queue is processed', async () => {
  const tell = vi.fn();
  let waits = false;
  const notifier = new ChangeNotifier(
    { recording: () => true, events: () => 0, waits: () => waits, tell },
    2,
  );
  notifier.now();
  notifier.soon();
  waits = true;
  await vi.advanceTimersByTimeAsync(livePaceMs(2, Infinity) - 1);
  expect(tell).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(tell).toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(100);
  waits = false;
  notifier.soon();
  await vi.advanceTimersByTimeAsync(0);
  expect(tell).toHaveBeenCalledTimes(3);
});

test('the rate of pictures: slower if processors are few and the app works', () => {
  const paces = [2, 4, 8].map((cores) => [livePaceMs(cores, 100), livePaceMs(cores, 100_000)]);
  const [[restTwo, two], [restFour, four], [restEight, eight]] = paces as [number, number][] as [
    [number, number],
    [number, number],
    [number, number],
  ];
  expect(two).toBeGreaterThan(four);
  expect(four).toBeGreaterThan(restFour);
  expect(two).toBeGreaterThan(restTwo);
  expect(eight).toBe(restEight);
});
