// The modeled cost of recording, in multiples of a call's cost on its thread.
import { expect, test } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { callCounts } from '../../src/analysis/files/call-counts.ts';
import { costNs } from '../../src/analysis/files/call-cost.ts';
import type { Said, SaidNumber } from '../../src/analysis/numbers/said.ts';
import { costSaid, costText } from '../../src/analysis/findings/cost-said.ts';
import { recordingCost } from '../../src/analysis/time/recording-cost.ts';
import { timesInSql, totalTimeInSql } from '../../src/analysis/time/summary-time.ts';
import { Flag } from '../../src/event/event.ts';
import { formatDuration, formatShare } from '../../src/text/numbers.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

/**
 * A thread with 100 SQL and VFS calls, and 10 requests.
 * @param callNs the measured cost of a call; null = nothing
 * @param tracerUs vfscope's own time
 */
function recorded(callNs: number | null, tracerUs = 0): Facts {
  const t = new ThreadBuilder(newStore());
  if (callNs !== null)
    t.say({
      ...{ kind: 'cost', id: 0 },
      ...{ nsPerJsEvent: callNs, nsPerVfsEvent: 2 * callNs, nsPerClockPair: 50 },
    });
  const object = t.file('/app.db');
  t.call('sqlStep', { aux: 1, context: 1, result: 101, dur: 1000 }, () => {
    for (let i = 0; i < 99; i++) t.call('xRead', { object, length: 4096, dur: 10_000 });
    if (tracerUs) t.call('tracer', { dur: tracerUs });
  });
  for (let i = 0; i < 10; i++) t.call('idbGet', { flags: Flag.async, dur: 100 });
  t.send();
  return new Facts(t.store);
}

const numbersOf = (said: Said): SaidNumber[] => said.filter((part) => typeof part !== 'string');

test('each kind of call has its factor, a thread with an engine its start, and DevTools make all dearer', () => {
  const of = (
    ...[counts, ns = 100, hasEngine = false, devtools = false]: Partial<Parameters<typeof costNs>>
  ) => costNs(counts!, ns, hasEngine, devtools);
  const one = of([100, 0, 0]);
  expect(one.start).toBe(0);
  expect(of([200, 0, 0]).calls).toBe(2 * one.calls);
  expect(of([0, 100, 0]).calls).toBeGreaterThan(one.calls);
  expect(of([0, 0, 100]).calls).toBeGreaterThan(of([0, 100, 0]).calls);
  const slow = of([100, 0, 0], 200, true);
  expect(slow.calls).toBe(2 * one.calls);
  expect(slow.start).toBeGreaterThan(0);
  expect(of([100, 0, 0], 100, false, true).calls).toBeGreaterThan(one.calls);
});

test('every call of a recording counts, at the smaller of the measured costs', () => {
  const facts = recorded(100);
  const { calls } = costNs([100, 0, 10], 100, false, false);
  expect(facts.get(callCounts).cost).toEqual({ ns: calls, startNs: 0, events: 110 });
  const { us, share, timedUs } = facts.get(recordingCost);
  expect(us).toBe(calls / 1000);
  expect(share).toBeGreaterThan(0);
  expect(share).toBeLessThan(1);
  // the share has its base beside it
  expect(costText({ us, share, timedUs })).toBe(
    `Recording cost your app about ${formatDuration(us)}, ${formatShare(share)} of its time in SQL.`,
  );
  expect(costText({ us, share: null, timedUs })).toBe(
    `Recording cost your app about ${formatDuration(us)}.`,
  );
  expect(costText({ us, share: 1, timedUs })).toMatch(
    /as much as SQLite itself: these times are too short/,
  );
});

test("is at least vfscope's part of the time in SQL", () => {
  const facts = recorded(100, 50_000);
  const { tracerUs } = facts.get(timesInSql)!;
  expect(tracerUs).toBe(50_000);
  expect(facts.get(recordingCost)).toEqual({
    us: tracerUs,
    share: tracerUs / facts.get(totalTimeInSql)!,
    timedUs: tracerUs,
  });
});

test('its numbers lead to the statements in which it was timed, and the estimate is explained where none was', () => {
  const [timed] = numbersOf(costSaid({ us: 2000, share: 0.1, timedUs: 1000 }));
  expect(timed).toMatchObject({ text: '2 ms', list: 'statements', about: { part: 'tracer' } });
  const [none, share] = numbersOf(costSaid({ us: 2000, share: 0.1, timedUs: 0 }));
  expect(none).toMatchObject({ text: '2 ms', list: null, about: null });
  expect(share).toMatchObject({ text: '10 %', list: 'statements', about: { part: null } });
});

test('it is not known where no thread measured a call', () => {
  expect(recorded(null).get(recordingCost)).toEqual({ us: null, share: null, timedUs: 0 });
});
