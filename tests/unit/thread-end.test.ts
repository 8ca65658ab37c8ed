// Calls that a thread left open when its page closed end with the thread, not with the trace.
import { describe, expect, test } from 'vitest';
import { Op } from '../../src/event/event.ts';
import { areaRows } from '../../src/analysis/time/area.ts';
import { threadEndUs } from '../../src/trace/thread-end.ts';
import { TimelineLanes } from '../../src/timeline/timeline-lanes.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { batchOf, newStore, ThreadBuilder } from '../traces/builder.ts';

const END = 9_000_000;
const ASYNC = 8;

/**
 * A worker waits and has two requests pending when its page closes, at 10 ms. Another page runs
 * until 9 s.
 */
function reloaded(ended: string | null): TraceStore {
  const store = newStore();
  const [gone, other] = [new ThreadBuilder(store), new ThreadBuilder(store)];
  const idb = gone.define({ kind: 'idb-store', db: 'app', store: 'blocks' });
  gone.idle(1000);
  gone.call('lockHeld', {
    object: gone.define({ kind: 'lock', text: 'db' }),
    open: true,
    flags: ASYNC,
  });
  for (const dur of [1000, 1000]) {
    gone.call('idbGet', { object: idb, open: true, flags: ASYNC });
    gone.idle(dur);
  }
  gone.call('atomicsWait', { open: true });
  gone.idle(7000);
  gone.call('threadEnd', { dur: 0 });
  gone.send();
  gone.thread.ended = ended;
  other.call('xRead', { dur: END });
  other.send();
  return store;
}

describe.each([
  ['pagehide', 10_000],
  ['stopped', END],
  [null, END],
])('ended: %s', (ended, until) => {
  test('its end', () => {
    const store = reloaded(ended);
    expect(threadEndUs(store.threads[0]!, END)).toBe(until);
    expect(threadEndUs(store.threads[0]!, END)).toBe(until);
  });

  test('an area counts its open calls up to it', () => {
    const rows = areaRows(
      reloaded(ended),
      { fromUs: 0, toUs: END, by: 'operation', threads: [0], layers: ['web'] },
      END,
      () => [],
    );
    const wait = rows.find(({ name }) => name === 'atomics.wait')!;
    expect([wait.totalUs, wait.maxUs]).toEqual([until - 3000, until - 3000]);
  });

  test('the tracks of calls, of single calls, and of locks draw them up to it, and count them as in flight', () => {
    const lanes = new TimelineLanes(reloaded(ended));
    lanes.update(END);
    for (const key of ['0:web', '0:lock', '0:sub1', '0:sub2']) {
      const { tail } = lanes.lane(key)!;
      expect(tail.endOf(tail.count - 1) / 1000, key).toBe(until);
    }
    const [queue] = lanes.frames(['0:queue'], 20_000, END, 1);
    expect(queue!.values![0]).toBeCloseTo(until === END ? 2 : 0, 5);
  });
});

test('an end that arrives late moves it', () => {
  const store = newStore();
  const t = new ThreadBuilder(store);
  t.call('xRead', { dur: 10 });
  t.send();
  t.thread.ended = 'pagehide';
  expect(threadEndUs(t.thread, END)).toBe(10);
  t.call('xRead', { dur: 20 });
  t.send();
  expect(threadEndUs(t.thread, END)).toBe(30);
});

test("a thread's last end follows its rows, late ends, corrected ends, and dropped rows", () => {
  const store = newStore();
  const t = new ThreadBuilder(store);
  expect(t.thread.lastUs).toBe(-Infinity);
  const long = t.call('xRead', { open: true });
  t.idle(10);
  t.call('xRead', { dur: 5 });
  t.send();
  expect(t.thread.lastUs).toBe(15);
  const end = (us: number, endSeq: number): void => {
    const { info } = t.thread;
    const row = [0, us, long, endSeq, Op.end, 0, NaN, 0, 0, 0, 0, 0, 0];
    t.thread.append(batchOf(info, t.thread.received, [row]));
  };
  end(40, 9);
  expect(t.thread.lastUs).toBe(40);
  end(30, 9); // read half-written earlier
  expect(t.thread.lastUs).toBe(30);
  expect(store.extent()).toEqual([0, 30]);
  t.thread.forget(1);
  expect(t.thread.lastUs).toBe(15);
  expect(store.extent()).toEqual([10, 15]);
});
