// Sampled totals of intervals against plain sums, at every size that the index grows through and beyond what its short columns hold.
import { describe, expect, test } from 'vitest';
import { IntervalIndex, KINDS } from '../../src/trace/interval-index.ts';

const N = 300_000;

describe.each([
  ['short gaps', 8],
  ['a gap of hours in the middle', 5e12],
])('%s', (_, gap) => {
  const index = new IntervalIndex();
  const begins = new Float64Array(N);
  const lengths = new Float64Array(N);
  for (let i = 0, at = 1000; i < N; i++) {
    at += i === N / 2 ? gap : i % 3;
    begins[i] = at;
    lengths[i] = i === N / 2 ? gap / 2 : i % 5;
    index.push(at, lengths[i]!, i % KINDS, i);
    at += lengths[i]!;
  }

  test('every interval is where it was put', () => {
    for (let i = 0; i < N; i++)
      if (index.startOf(i) !== begins[i] || index.lengthOf(i) !== lengths[i] || index.endOf(i) !== begins[i]! + lengths[i]!)
        expect.fail(`interval ${i} is ${index.startOf(i)} + ${index.lengthOf(i)}, not ${begins[i]} + ${lengths[i]}`);
    expect(index.count).toBe(N);
  });

  test('totals before any interval, and running totals, are plain sums; also when the room that is left is given back', () => {
    const trimmed = (): void => index.trim();
    for (const before of [() => undefined, trimmed]) {
      before();
      const [times, counts] = [new Float64Array(KINDS), new Float64Array(KINDS)];
      const [sums, numbers] = [new Float64Array(KINDS), new Float64Array(KINDS)];
      const cursor = index.cursor();
      for (let i = 0; i < N; i++) {
        if (i % 997 === 0) {
          index.totals(i, times, counts);
          expect([...times, ...counts]).toEqual([...sums, ...numbers]);
          times.fill(0);
          counts.fill(0);
          cursor.add(begins[i]!, times, counts);
          expect(times.reduce((a, b) => a + b)).toBe(sums.reduce((a, b) => a + b));
        }
        sums[i % KINDS]! += lengths[i]!;
        numbers[i % KINDS]!++;
      }
    }
  });
});
