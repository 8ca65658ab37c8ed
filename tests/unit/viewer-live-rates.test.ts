// The sparklines of the live strip: counts per second, from totals that arrive at any rate.
import { expect, test } from 'vitest';
import { LiveRates, SPARK_SECONDS } from '../../src/viewer/ui/shell/live-rates.ts';

test('the current second is left out, and each earlier one has what it added', () => {
  const rates = new LiveRates();
  expect(rates.add(5000, [['reads', 3]])).toBe(true);
  expect(rates.rates('reads')).toEqual([]);
  expect(rates.add(5900, [['reads', 10]])).toBe(false);
  expect(rates.add(6100, [['reads', 12]])).toBe(true);
  rates.add(7000, [['reads', 40]]);
  expect(rates.rates('reads')).toEqual([10, 2]);
});

test('counts of seconds without a report are spread evenly, and an unknown total gives none', () => {
  const rates = new LiveRates();
  rates.add(0, [['reads', 10]]);
  rates.add(500, [['reads', null]]);
  rates.add(4500, [['reads', 50]]);
  expect(rates.rates('reads')).toEqual([10, 10, 10, 10]);
  expect(rates.rates('writes')).toEqual([]);
});

test('a long recording shows only the last seconds, and no second includes all earlier ones', () => {
  const rates = new LiveRates();
  for (let s = 0; s <= 100; s++) rates.add(1000 * s, [['reads', 7 * s]]);
  expect(rates.rates('reads')).toEqual(Array(SPARK_SECONDS).fill(7));
});
