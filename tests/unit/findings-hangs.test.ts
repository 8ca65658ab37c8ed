// Waits for a lock that another page holds, and whether they block the app.
import { describe, expect, test } from 'vitest';
import { Flag } from '../../src/event/event.ts';
import type { ThreadBuilder } from '../traces/builder.ts';
import { findingsOf, locksOf } from '../traces/analyses.ts';
import { MS, PAGE, play, S } from '../traces/findings/stage.ts';

interface Of {
  /** When workers of the holder's and of the waiter's page make a call, in seconds. */
  holderWorks?: readonly number[];
  waiterWorks?: readonly number[];
  /** Whether the request is SQLite's own, inside xLock. */
  sqlite?: boolean;
  /** Whether the lock is released after 6 s. */
  comes?: boolean;
  hidden?: boolean;
  /** Whether both are workers of one page. */
  together?: boolean;
}
/** From 1 s to 11 s a page waits for another page's lock. */
const recorded = (of: Of) =>
  play(({ thread }) => {
    const holder = thread({ id: 'p1', kind: 'page', name: 'one' });
    const two = of.together ? ({ parent: 'p1' } as const) : ({ kind: 'page' } as const);
    const waiter = thread({ id: 'p2', name: 'two', ...two });
    const works = (b: ThreadBuilder, seconds: readonly number[] = []): void => {
      const file = b.file('/app.db');
      for (const at of [0, ...seconds]) {
        b.now = at * S;
        b.call('xRead', { object: file, offset: 0, length: PAGE, dur: MS });
      }
    };
    works(thread({ id: 'w1', parent: 'p1' }), of.holderWorks);
    works(thread({ id: 'w2', parent: 'p2' }), of.waiterWorks);
    holder.now = 500 * MS;
    if (of.hidden) holder.call('visibility', { aux: 1 });
    const lock = (b: ThreadBuilder): number => b.define({ kind: 'lock', text: 'leader' });
    const held = { object: lock(holder), flags: Flag.async };
    holder.call('lockHeld', of.comes ? { ...held, dur: 5.5 * S } : { ...held, open: true });
    holder.now = 11 * S;
    holder.call('mark');
    waiter.now = S;
    const open = !of.comes;
    const ask = (): void =>
      void waiter.call('lockRequest', {
        object: lock(waiter),
        flags: Flag.async,
        dur: 5 * S,
        open,
      });
    if (of.sqlite)
      waiter.call(
        'xLock',
        { object: waiter.file('/app.db'), aux: 1, flags: Flag.async, open },
        ask,
      );
    else ask();
    waiter.now = 11 * S;
    waiter.call('mark');
  });
const found = (of: Of): unknown[] =>
  findingsOf(recorded(of)).flatMap(({ rule, confidence, savingUs }) =>
    rule === 'F05' || rule === 'F27'
      ? [[rule, confidence, savingUs && Math.round(savingUs / MS)]]
      : [],
  );

describe('a lock that the app requests', () => {
  const leads = [2, 4, 6, 8, 10];
  test("doesn't block the app if both pages continue to work in their workers", () => {
    for (const hidden of [false, true])
      expect(found({ hidden, holderWorks: leads, waiterWorks: leads })).toEqual([]);
  });
  test('nor if only the waiting page continues to work', () => {
    for (const comes of [false, true])
      for (const hidden of [false, true])
        expect(found({ hidden, comes, waiterWorks: [3] })).toEqual([]);
    expect(found({ waiterWorks: [0.9995] })).toEqual([]); // begun earlier, and still running
  });
  test("isn't a hang if a worker of its holder works", () => {
    expect(found({ holderWorks: leads })).toEqual([]);
    expect(locksOf(recorded({ holderWorks: leads })).stuck).toMatchObject([
      { holderCalls: 5, holderIdleUs: 999_001, waiterWorks: false },
    ]);
  });
  test('may be one if all workers are idle and it was never granted', () => {
    expect(found({})).toEqual([['F05', 'possible', null]]);
    expect(found({ hidden: true })).toEqual([
      ['F05', 'possible', null],
      ['F27', 'possible', null],
    ]);
  });
  test('was likely one if it was granted in the end', () => {
    expect(found({ comes: true })).toEqual([['F05', 'likely', 5000]]);
  });
});

test('SQLite that waits inside a call hangs, whatever else its page does', () => {
  expect(found({ sqlite: true })).toEqual([['F05', 'certain', 10_000]]);
  expect(found({ sqlite: true, waiterWorks: [3, 5] })).toEqual([['F05', 'certain', 10_000]]);
  expect(found({ sqlite: true, waiterWorks: [3], hidden: true })).toEqual([
    ['F05', 'certain', 10_000],
    ['F27', 'likely', null],
  ]);
});
test("a page that waits for itself isn't working because of the call that waits", () => {
  expect(found({ sqlite: true, comes: true, together: true })).toEqual([['F05', 'likely', 5000]]);
});
test('a hidden holder is to blame from its last call on', () => {
  expect(found({ comes: true, hidden: true, holderWorks: [2] })).toEqual([
    ['F05', 'likely', 5000],
    ['F27', 'likely', 3999],
  ]);
  expect(found({ comes: true, hidden: true, holderWorks: [2, 5] })).toEqual([]);
});
