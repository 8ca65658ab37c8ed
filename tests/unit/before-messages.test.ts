/**
 * A worker sends waiting data before each of its messages, but only once a millisecond if this
 * takes more than 2 % of its time.
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Patches } from '../../src/record/patches.ts';
import type { Recorder } from '../../src/record/recorder.ts';

/** Cost of a drain with DevTools open, ms. */
const DRAIN_MS = 0.045;

/** The object through which a service worker sends messages. */
class Client {
  sent: number[] = [];
  postMessage(record: number): void {
    this.sent.push(record);
  }
}
const patches = new Patches();
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  vi.stubGlobal('Client', Client);
  // Node's global scope receives no errors
  vi.spyOn(EventTarget.prototype, 'addEventListener').mockReturnValue();
  vi.spyOn(EventTarget.prototype, 'removeEventListener').mockReturnValue();
  vi.resetModules(); // the hook stores the platform's functions when it loads
});
afterEach(() => {
  patches.restore();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/**
 * Posts `count` messages, each after one record, at an interval.
 * @returns when drains began, which messages had left before their record, and which records still
 * wait at the end
 */
async function post(
  messages: number,
  everyMs: number,
  drainMs = (_nth: number): number => DRAIN_MS,
): Promise<{ drains: number[]; overtook: number[]; waiting: () => number }> {
  const { drainBeforeMessages } = await import('../../src/hooks/before-messages.ts');
  let now = 0;
  let made = 0;
  let sent = 0;
  const drains: number[] = [];
  const recorder: Pick<Recorder, 'backlogRecords' | 'current' | 'now' | 'end'> = {
    get backlogRecords() {
      return made - sent;
    },
    current: 0, // no SQL runs
    now: () => now,
    end: () => undefined,
  };
  drainBeforeMessages(patches, recorder as Recorder, () => {
    drains.push(now);
    sent = made;
    now += drainMs(drains.length);
  });
  const client = new Client();
  const overtook: number[] = [];
  for (let i = 0; i < messages; i++) {
    now += everyMs;
    made++;
    client.postMessage(i);
    if (sent < made) overtook.push(i);
  }
  expect(client.sent).toHaveLength(messages);
  return { drains, overtook, waiting: () => made - sent };
}
const gaps = (times: number[]): number[] => times.slice(1).map((time, i) => time - times[i]!);

test('of 200 messages in a row, none leaves before its record', async () => {
  const { drains, overtook } = await post(200, 0);
  expect([drains.length, overtook]).toEqual([200, []]);
});

test('200 messages in a row, on a machine where some drains wait for a core: none leaves before its record', async () => {
  const { overtook } = await post(200, 0, (nth) => (nth % 20 ? DRAIN_MS : 30));
  expect(overtook).toEqual([]);
});

test('if drains take less than 2 %, no message leaves before its record, however many there are', async () => {
  const { drains, overtook } = await post(20_000, (DRAIN_MS / 0.02) * 1.01);
  expect([drains.length, overtook]).toEqual([20_000, []]);
});

test('if they take more, there is one a millisecond, and one at the end', async () => {
  const everyMs = 0.005;
  const { drains, overtook, waiting } = await post(40_000, everyMs);
  const [first = 0] = overtook;
  expect(first).toBeGreaterThan(20 / DRAIN_MS); // 20 ms are saved up
  expect(first).toBeLessThan(500);
  const later = gaps(drains.slice(first));
  expect(Math.min(...later)).toBeGreaterThanOrEqual(1);
  expect(Math.max(...later)).toBeLessThan(1 + 2 * everyMs);
  expect(waiting()).toBeGreaterThan(0);
  vi.runAllTimers();
  expect([waiting(), drains.length - first - later.length]).toEqual([0, 2]);
});
