/**
 * A worker sends waiting data before each of its messages, but only once a millisecond if this
 * takes more than 2 % of its time.
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Patches } from '../../src/record/patches.ts';
import type { Recorder } from '../../src/record/recorder.ts';

/** What a drain costs with DevTools open, ms. */
const DRAIN_MS = 0.045;

/** A door that messages leave a service worker by. */
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
  vi.spyOn(EventTarget.prototype, 'addEventListener').mockReturnValue(); // Node's global scope hears no errors
  vi.spyOn(EventTarget.prototype, 'removeEventListener').mockReturnValue();
  vi.resetModules(); // the hook keeps the platform's functions as they are when it comes
});
afterEach(() => {
  patches.restore();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/**
 * So many messages, each after one record, and so long after each other.
 * @returns when drains began, which messages had left before their record did, and which records wait in the end
 */
async function post(
  messages: number,
  everyMs: number,
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
    now += DRAIN_MS;
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

test('200 messages in a row: none leaves before its record', async () => {
  const { drains, overtook } = await post(200, 0);
  expect([drains.length, overtook]).toEqual([200, []]);
});

test('messages whose drains take less than 2 %: however many, none leaves before its record', async () => {
  const { drains, overtook } = await post(20_000, (DRAIN_MS / 0.02) * 1.01);
  expect([drains.length, overtook]).toEqual([20_000, []]);
});

test('where they take more, one a millisecond, and one in the end', async () => {
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
