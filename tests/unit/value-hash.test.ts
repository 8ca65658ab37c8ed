/** Hashes of values distinguish values and reveal nothing about them. */
import { expect, test } from 'vitest';
import {
  finished,
  hashOfValue,
  mix,
  UNKNOWN_VALUE,
  type BindKind,
} from '../../src/engines/value-hash.ts';

const heap = new Uint8Array(4096);
const memory = { bytes: () => heap } as unknown as Parameters<typeof hashOfValue>[2];
const SALT = 0x1234_5677;
const of = (kind: BindKind, value: unknown, length?: unknown, salt = SALT): number =>
  hashOfValue(salt, kind, memory, value, length);
const run = (...values: number[]): number => finished(values.reduce(mix, 0));

test('pairs of small numbers, which differ in few bits, rarely collide', () => {
  const seen = new Set<number>();
  const n = 400;
  for (let a = 0; a < n; a++) for (let b = 0; b < n; b++) seen.add(run(of('int', a), of('int', b)));
  // of 160,000 random 32-bit numbers about 3 collide
  expect(n * n - seen.size).toBeLessThan(20);
});

test('distinguishes 64-bit numbers that are equal as doubles, texts by all of their bytes, and kinds', () => {
  const big = 2n ** 62n;
  expect(of('int64', big)).not.toBe(of('int64', big + 1n));
  expect(of('int64', 7n)).toBe(of('int64', 7n));
  heap.fill(97, 16, 1016);
  const long = of('text', 16, 1000);
  for (const at of [16, 515, 1015]) {
    heap[at] = 98;
    expect(of('text', 16, 1000)).not.toBe(long);
    heap[at] = 97;
  }
  expect([of('text', 16, 1000), of('text', 16, 999) === long]).toEqual([long, false]);
  expect(of('text', 16, -1)).toBe(long); // up to its NUL
  expect(of('blob', 16, 1000)).not.toBe(long);
  expect(of('text16', 16, -1)).toBe(of('text16', 16, 1000));
  expect(of('null', 0)).not.toBe(of('int', 0));
});

test('a long value has no hash, because all of it would have to be read', () => {
  expect(of('text', 16, 1024)).not.toBe(UNKNOWN_VALUE);
  expect(of('text', 16, 1025)).toBe(UNKNOWN_VALUE);
  expect(of('blob', 16, 1025)).toBe(UNKNOWN_VALUE);
});

test('another salt gives other hashes', () => {
  expect(run(of('int', 1))).not.toBe(run(of('int', 1, undefined, SALT + 2)));
});
