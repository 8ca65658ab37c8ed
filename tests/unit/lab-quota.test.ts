/** The bytes that a quota lets in: growth counts, overwriting doesn't, and what is gone gives its bytes back. */
import { expect, it } from 'vitest';
import { Quota } from '../../src/lab/experiments/worker/quota.ts';

it('a file may grow to the quota, be overwritten at it, and grow again once another is gone', () => {
  const quota = new Quota(100);
  expect(quota.resize('a', 60)).toBe(true);
  expect(quota.resize('b', 41)).toBe(false);
  expect(quota.resize('b', 40)).toBe(true);
  expect(quota.resize('a', 60)).toBe(true); // nothing grows
  expect(quota.resize('a', 61)).toBe(false);
  expect(quota.resize('a', 10)).toBe(true); // cut
  expect(quota.resize('b', 90)).toBe(true);
  const back = quota.remove('b');
  expect(quota.resize('a', 100)).toBe(true);
  quota.put('a', undefined);
  back(); // what was taken away by a transaction that failed
  expect(quota.resize('c', 11)).toBe(false);
  expect(quota.resize('c', 10)).toBe(true);
});
