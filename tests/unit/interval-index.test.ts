// Sampled totals of intervals against plain sums, at every size to which the index grows, and for
// rows that its short columns can't hold.
import { describe, expect, test } from 'vitest';
import { IntervalIndex, KINDS } from '../../src/trace/lanes/interval-index.ts';
import { TotalsCursor } from '../../src/trace/lanes/totals-cursor.ts';

const N = 300_000;

/**
 * The row of an interval. From the middle on, rows are so far apart that two bytes can't hold the
 * difference.
 */
const rowOf = (i: number, far: number): number => (i < N / 2 ? i : i + (i % 2) * far);

describe.each([
  ['short gaps', 8, 0],
  ['a gap of hours in the middle', 5e12, 40_000],
])('%s', (_, gap, far) => {
  const index = new IntervalIndex();
  const begins = new Float64Array(N);
  const lengths = new Float64Array(N);
  for (let i = 0, at = 1000; i < N; i++) {
    at += i === N / 2 ? gap : i % 3;
    begins[i] = at;
    lengths[i] = i === N / 2 ? gap / 2 : i % 5;
    index.push(at, lengths[i]!, i % KINDS, rowOf(i, far));
    at += lengths[i]!;
  }

  test('every interval is found where it was added', () => {
    for (let i = 0; i < N; i++)
      if (
        index.startOf(i) !== begins[i] ||
        index.endOf(i) - index.startOf(i) !== lengths[i] ||
        index.endOf(i) !== begins[i]! + lengths[i]!
      )
        expect.fail(
          `interval ${i} is ${index.startOf(i)} + ${index.endOf(i) - index.startOf(i)}, not ${begins[i]} + ${lengths[i]}`,
        );
    expect(index.count).toBe(N);
    for (let i = 0; i < N; i++)
      if (index.rowOf(i) !== rowOf(i, far))
        expect.fail(`interval ${i} is of row ${index.rowOf(i)}`);
  });

  test('totals before any interval, and running totals, are plain sums, also after spare memory is released', () => {
    const trimmed = (): void => index.trim();
    for (const before of [() => undefined, trimmed]) {
      before();
      const times = new Float64Array(KINDS);
      const sums = new Float64Array(KINDS);
      const cursor = new TotalsCursor(index);
      for (let i = 0; i < N; i++) {
        if (i % 997 === 0) {
          index.totals(i, times);
          expect([...times]).toEqual([...sums]);
          cursor.moveTo(begins[i]!);
          times.set(cursor.now);
          expect(times.reduce((a, b) => a + b)).toBe(sums.reduce((a, b) => a + b));
        }
        sums[i % KINDS]! += lengths[i]!;
      }
    }
  });

  test('intervals of each kind are counted between any two', () => {
    const counts = new Float64Array(KINDS);
    index.countKinds(3, 3 + KINDS * 2 + 1, counts);
    expect([...counts]).toEqual(Array.from({ length: KINDS }, (_, k) => (k === 3 ? 3 : 2)));
  });

  test('a short sample counts in part by its time, off by at most a quarter of its span, and a gap by nothing', () => {
    const span = 200; // of a sample: 32 intervals, whose mean distance and length add up to 3
    const cursor = new TotalsCursor(index, span);
    const times = new Float64Array(KINDS);
    const before = (ns: number): number => {
      const i = index.before(ns);
      index.totals(i, times);
      const whole = times.reduce((a, b) => a + b);
      return whole - (i ? Math.max(0, begins[i - 1]! + lengths[i - 1]! - ns) : 0);
    };
    let [coarse, exact, worst] = [0, 0, 0];
    const end = begins[N - 1]! + lengths[N - 1]!;
    const moments = Array.from(
      { length: 2000 },
      (_, i) => begins[0]! + ((begins[N / 2 - 1]! - begins[0]!) * i) / 2000,
    );
    if (gap > 1e6)
      moments.push(...[0.1, 0.5, 0.9].map((share) => begins[N / 2]! - gap + gap * share)); // in the gap
    moments.push(
      ...Array.from(
        { length: 2000 },
        (_, i) => begins[N / 2 + 40]! + ((end - begins[N / 2 + 40]!) * i) / 2000,
      ),
    );
    for (const ns of moments) {
      const wanted = before(ns);
      cursor.moveTo(ns);
      const off = Math.abs(cursor.now.reduce((a, b) => a + b) - wanted);
      if (cursor.exact) expect(off).toBe(0);
      else worst = Math.max(worst, off);
      cursor.exact ? exact++ : coarse++;
    }
    expect(coarse).toBeGreaterThan(3900);
    expect(worst).toBeLessThanOrEqual(span / 4 + KINDS);
    if (gap > 1e6) expect(exact).toBeGreaterThanOrEqual(3);
  });
});

test.each([
  ['as many as came', 1],
  ['far fewer', 0.3],
  ['far more', 4],
])(
  'room is made once for as many as are expected, and given back where it is not needed: expected %s',
  (_, share) => {
    const columnOf = ({ since }: { since?: Uint32Array }): Uint32Array => since!;
    const [index, plain] = [new IntervalIndex(), new IntervalIndex()];
    const columns = new Set<Uint32Array>();
    for (let i = 0; i < N; i++) {
      if (i === 10_000) index.expect(N * share);
      for (const each of [index, plain]) each.push(i * 10, i % 7, i % KINDS, i);
      if (i >= 10_000) columns.add(columnOf(index as never));
    }
    const wanted = Math.ceil(N * share);
    expect(columnOf(index as never).length).toBeGreaterThanOrEqual(Math.max(N, wanted));
    // the existing one, and the one large enough for all
    if (share >= 1) expect(columns.size).toBeLessThanOrEqual(2);
    index.trim();
    expect(columnOf(index as never).length).toBeLessThanOrEqual(N * 1.125);
    const [sums, wantedSums] = [new Float64Array(KINDS), new Float64Array(KINDS)];
    for (const i of [0, 9_999, 10_001, N - 1, N]) {
      index.totals(i, sums);
      plain.totals(i, wantedSums);
      expect([...sums]).toEqual([...wantedSums]);
    }
  },
);
