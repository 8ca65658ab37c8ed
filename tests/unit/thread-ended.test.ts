// When a thread ends, its open calls, its locks, and its page's visibility end with it.
import { expect, test } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { hiddenTimes } from '../../src/analysis/locks/rules.ts';
import { findingContext } from '../../src/analysis/rules/context.ts';
import { longestReserved } from '../../src/analysis/transactions/longest-reserved.ts';
import { LockLevel } from '../../src/sqlite/constants.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

/** Two threads, of which the second runs until 10 s. */
function threads(first: (thread: ThreadBuilder) => void, ended: 'terminated' | null) {
  const store = newStore();
  const [one, other] = [new ThreadBuilder(store, { kind: 'page' }), new ThreadBuilder(store)];
  first(one);
  other.call('sqlStep', { dur: 10_000_000 });
  for (const thread of [one, other]) thread.send();
  one.thread.ended = ended;
  return { facts: new Facts(store), thread: one.thread };
}

test.each([
  ['terminated', 2_000_000],
  [null, 10_000_000],
] as const)('a write lock that is not released lasts until its thread ends (%s)', (ended, toUs) => {
  const { facts } = threads((t) => {
    const object = t.file('app.db');
    for (const aux of [LockLevel.shared, LockLevel.reserved])
      t.call('xLock', { object, context: 1, aux, dur: 500_000 });
    t.call('xWrite', { object, context: 1, offset: 0, length: 512, dur: 1_000_000 });
  }, ended);
  expect(facts.get(longestReserved)).toMatchObject({ fromUs: 1_000_000, toUs, open: true });
});

const HIDDEN = 1;
const [LEFT, BACK, INTO_CACHE] = [1, 2, 3];
const hidden = (
  first: (t: ThreadBuilder) => void,
  ended: 'terminated' | null = null,
): number[][] => {
  const { facts, thread } = threads(first, ended);
  return hiddenTimes(facts.get(findingContext), thread).map(({ fromUs, toUs }) => [fromUs, toUs]);
};
test("a page that was left isn't hidden any more, and leaving didn't hide it", () => {
  expect(
    hidden((t) => {
      t.call('visibility', { aux: HIDDEN, dur: 0 });
      t.idle(700);
      t.call('navigation', { aux: LEFT, dur: 0 });
    }),
  ).toEqual([[0, 700]]);
  expect(
    hidden((t) => {
      t.idle(100);
      t.call('navigation', { aux: LEFT, dur: 0 });
      t.call('visibility', { aux: HIDDEN, dur: 0 });
    }),
  ).toEqual([]);
});
test('a page in the back/forward cache is hidden until it comes back', () => {
  expect(
    hidden((t) => {
      t.call('navigation', { aux: INTO_CACHE, dur: 0 });
      t.call('visibility', { aux: HIDDEN, dur: 0 });
      t.idle(900);
      t.call('navigation', { aux: BACK, dur: 0 });
    }),
  ).toEqual([[0, 900]]);
});
test('a hidden page whose thread ended is hidden until then', () => {
  const hides = (t: ThreadBuilder): void => {
    t.call('visibility', { aux: HIDDEN, dur: 0 });
    t.call('xRead', { dur: 300 });
  };
  expect(hidden(hides, 'terminated')).toEqual([[0, 300]]);
  expect(hidden(hides)).toEqual([[0, 10_000_000]]);
});
