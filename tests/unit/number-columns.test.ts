// Tables of numbers: rows keep what was written, also when the browser provides no memory.
import { expect, test } from 'vitest';
import { columns, each, lowerBound } from '../../src/trace/number-columns.ts';

const refuse = function (): never {
  throw new RangeError('Array buffer allocation failed');
};

class Reads extends columns({
  us: Float64Array,
  row: Uint32Array,
  bytes: [Uint8Array, Float64Array],
  ...each(['hits', 'misses'], [Uint8Array, Uint32Array]),
}) {}

const row = (i: number): Record<'us' | 'row' | 'bytes' | 'hits' | 'misses', number> => ({
  us: i / 3,
  row: i,
  bytes: i ** 3,
  hits: i,
  misses: i * 2,
});
const addRow = (
  reads: Reads,
  { us, row: place, bytes, hits, misses }: ReturnType<typeof row>,
): number => {
  const i = reads.add();
  reads.us[i] = us;
  reads.row[i] = place;
  reads.set('bytes', i, bytes);
  reads.set('hits', i, hits);
  reads.set('misses', i, misses);
  return i;
};
const filled = (count: number): Reads => {
  const reads = new Reads(2);
  for (let i = 0; i < count; i++) expect(addRow(reads, row(i))).toBe(i);
  return reads;
};
const all = (reads: Reads): unknown[] =>
  Array.from({ length: reads.count }, (_, i) => reads.numbers(i));
const rows = (from: number, to: number): unknown[] =>
  Array.from({ length: to - from }, (_, i) => row(from + i));

test('a column begins narrow, and becomes as wide as its numbers need', () => {
  const reads = filled(100);
  expect(all(reads)).toEqual(rows(0, 100));
  expect([reads.hits, reads.bytes, reads.row]).toEqual([
    expect.any(Uint8Array),
    expect.any(Uint32Array),
    expect.any(Uint32Array),
  ]);
  reads.set('bytes', 0, 2 ** 40);
  reads.set('misses', 0, 256);
  expect(reads.numbers(0)).toEqual({ ...row(0), bytes: 2 ** 40, misses: 256 });
  expect(all(reads).slice(1)).toEqual(rows(1, 100));
  expect(new Reads(1, 'wide').bytes).toBeInstanceOf(Float64Array);
});

test('rows are appended, shown in part, dropped, and released, and a new row is 0', () => {
  const reads = filled(3000);
  reads.append(filled(2000));
  expect(all(reads)).toEqual([...rows(0, 3000), ...rows(0, 2000)]);
  expect(all(reads.part(2999, 3001))).toEqual([row(2999), row(0)]);
  const { capacity } = reads;
  reads.dropFront(10);
  expect([reads.capacity, reads.add()]).toEqual([capacity, 4990]);
  expect(reads.numbers(4990)).toEqual({ us: 0, row: 0, bytes: 0, hits: 0, misses: 0 });
  reads.dropFront(4980);
  expect(all(reads).slice(0, 10)).toEqual(rows(1990, 2000));
  expect(reads.capacity).toBeLessThan(capacity);
  reads.release();
  expect([reads.count, reads.byteLength]).toEqual([0, 0]);
});

test.each(['Float64Array', 'Uint32Array'] as const)('no memory for a longer %s', (kind) => {
  const reads = filled(2);
  const Real = globalThis[kind];
  // the table's constructor is that of its current array
  const column = kind === 'Float64Array' ? reads.us : reads.row;
  Object.defineProperty(column, 'constructor', { value: refuse, configurable: true });
  expect(() => reads.add()).toThrow(RangeError);
  expect([reads.count, reads.capacity, all(reads)]).toEqual([2, 2, rows(0, 2)]);
  expect(() => reads.reserve(1000, true)).toThrow(RangeError);
  expect(all(reads)).toEqual(rows(0, 2));
  Object.defineProperty(column, 'constructor', { value: Real });
  expect([addRow(reads, row(2)), all(reads)]).toEqual([2, rows(0, 3)]);
});

test('without memory for fewer rows, they move to the front in place', () => {
  const reads = filled(3000);
  Object.defineProperty(reads.misses, 'constructor', { value: refuse });
  const { capacity } = reads;
  reads.dropFront(2900);
  expect(reads.capacity).toBe(capacity);
  expect(all(reads)).toEqual(rows(2900, 3000));
});

test('lowerBound finds the first number that is not less, within a part', () => {
  const values = new Uint32Array([1, 3, 3, 5]);
  expect([0, 1, 2, 3, 4, 5, 6].map((v) => lowerBound(values, v, 4))).toEqual([0, 0, 1, 1, 3, 3, 4]);
  expect([lowerBound(values, 0, 4, 2), lowerBound(values, 9, 2)]).toEqual([2, 2]);
});
