// Where the time went in an area, while the recording runs: known, or shown as unknown.
import { expect, test } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { Op } from '../../src/event/event.ts';
import { TimelineLanes } from '../../src/timeline/timeline-lanes.ts';
import type { AreaAnswer } from '../../src/protocol/answers/timeline.ts';
import { timelineQueries } from '../../src/viewer/session/queries/timeline.ts';
import type { QueryContext } from '../../src/viewer/session/queries/context.ts';
import { batchOf, newStore, ThreadBuilder } from '../traces/builder.ts';
import { contextOf } from './viewer-context.ts';

/** A trace that grows, and its timeline. */
function growing() {
  const store = newStore();
  const [a, b] = [new ThreadBuilder(store), new ThreadBuilder(store)];
  const lanes = new TimelineLanes(store);
  const settle = (): void => {
    lanes.update(store.extent()[1]);
    lanes.settle(new Facts(store));
  };
  const area = (fromUs: number, toUs: number): Promise<AreaAnswer> => {
    lanes.update(store.extent()[1]);
    const context: QueryContext = { ...contextOf(store), timeline: () => lanes };
    return timelineQueries.timelineArea(context, {
      fromUs,
      toUs,
      by: 'operation',
      threadsOff: [],
      layers: ['sql'],
    });
  };
  return { store, a, b, settle, area };
}

test("events since the last analysis aren't shown as idle time", async () => {
  const { a, b, settle, area } = growing();
  for (const t of [a, b]) {
    t.call('sqlStep', { dur: 100 });
    t.send();
  }
  expect((await area(0, 100)).times).toBeNull();
  settle();
  expect((await area(0, 200)).times).toMatchObject({ cpuUs: 200, idleUs: 200 });
  a.call('sqlStep', { dur: 100 });
  a.send();
  expect(await area(0, 200)).toMatchObject({ times: null, sqlThreads: 2 });
  expect((await area(0, 100)).times).toMatchObject({ cpuUs: 200, idleUs: 0 });
  settle();
  expect((await area(0, 200)).times).toMatchObject({ cpuUs: 300, idleUs: 100 });
});

test('the picture shows from where on it is not analyzed', () => {
  const { store, a, settle } = growing();
  const exact = (lanes: TimelineLanes): number => {
    lanes.update(store.extent()[1]);
    return lanes.frames(['0:time'], 0, 200, 10)[0]!.exact!;
  };
  const lanes = new TimelineLanes(store);
  a.call('sqlStep', { dur: 100 });
  a.send();
  expect(exact(lanes)).toBe(0);
  lanes.settle(new Facts(store));
  expect(exact(lanes)).toBe(10);
  a.call('sqlStep', { dur: 100 });
  a.send();
  expect(exact(lanes)).toBe(5);
  settle();
  lanes.settle(new Facts(store));
  expect(exact(lanes)).toBe(10);
});

test('an end that arrives late, without any row, changes where the time went', async () => {
  const { store, a, settle, area } = growing();
  const { thread } = a;
  const step = a.call('sqlStep', { open: true });
  a.idle(100);
  a.call('mark', { dur: 0 });
  a.send();
  settle();
  expect((await area(0, 100)).times).toMatchObject({ cpuUs: 100, idleUs: 0 });
  thread.append(batchOf(thread.info, 2, [[40, 40, step, 9, Op.end, 101, NaN, 0, 0, 0, 0, 0, 0]]));
  expect(store.eventCount).toBe(2);
  settle();
  expect((await area(0, 100)).times).toMatchObject({ cpuUs: 40, idleUs: 60 });
});
