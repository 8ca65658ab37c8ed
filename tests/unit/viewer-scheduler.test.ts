// When the store's worker starts its long work: as soon as the first picture is done, and step by
// step.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { RunningQuery } from '../../src/viewer/session/query-queue.ts';
import { Scheduler, type ScheduledWork } from '../../src/viewer/session/scheduler.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { newStore } from '../traces/builder.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function paced(changes: Partial<ScheduledWork>): { scheduler: Scheduler; computed: () => number } {
  const facts = new Facts(newStore());
  let computed = 0;
  const of: ScheduledWork = {
    background: [],
    facts: () => facts,
    growing: () => false,
    pictured: () => false,
    dueIn: () => (computed ? null : 0),
    compute: () => void computed++,
  };
  return { scheduler: new Scheduler({ ...of, ...changes }), computed: () => computed };
}

test('the numbers of a whole trace are computed once its picture is shown, whenever that is', async () => {
  let pictured = false;
  const { scheduler, computed } = paced({ pictured: () => pictured });
  scheduler.plan();
  await vi.advanceTimersByTimeAsync(1);
  expect(computed()).toBe(0);
  pictured = true;
  scheduler.plan();
  await vi.advanceTimersByTimeAsync(1);
  expect(computed()).toBe(1);
  await vi.advanceTimersByTimeAsync(1000);
  expect(computed()).toBe(1); // the first plan doesn't repeat it
});

test('and also without a picture; those of a growing trace wait', async () => {
  const [still, growing] = [paced({}), paced({ growing: () => true, pictured: () => true })];
  for (const { scheduler } of [still, growing]) scheduler.plan();
  await vi.advanceTimersByTimeAsync(1);
  expect([still.computed(), growing.computed()]).toEqual([0, 0]);
  await vi.advanceTimersByTimeAsync(1000);
  expect([still.computed(), growing.computed()]).toEqual([1, 1]);
});

test('a view that sends more queries gets its answers before the numbers of the whole trace', async () => {
  const facts = new Facts({ eventCount: 1e6 } as TraceStore);
  const { scheduler, computed } = paced({ pictured: () => true, facts: () => facts });
  scheduler.plan();
  for (let asked = 0; asked < 3; asked++) {
    await Promise.all([scheduler.prepare([], new RunningQuery()), vi.advanceTimersByTimeAsync(30)]);
    expect(computed()).toBe(0);
  }
  await vi.advanceTimersByTimeAsync(100);
  expect(computed()).toBe(1);
});
