// Columns that begin narrow: all values read back unchanged, and small numbers take few bytes.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EventColumns, type NarrowColumn } from '../../src/trace/columns.ts';

const u32 = fc.oneof(
  { weight: 3, arbitrary: fc.nat(300) },
  fc.nat(70_000),
  fc.constantFrom(255, 256, 65_535, 65_536, 0x7fffffff, 0xffffffff),
);
const i32 = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: -130, max: 130 }) },
  fc.constantFrom(-32_768, -32_769, 32_767, 32_768, -(2 ** 31), 2 ** 31 - 1),
);
const real = fc.oneof(fc.constantFrom(NaN, 0, 5, 0.1, 4096, 2 ** 24 + 1, 2 ** 40), fc.nat(1e9));
const row = fc.record({
  dur: real,
  result: i32,
  offset: real,
  length: u32,
  object: u32,
  context: u32,
  aux: u32,
  aux2: u32,
});
type Row = Record<NarrowColumn, number>;
const NAMES = ['dur', 'result', 'offset', 'length', 'object', 'context', 'aux', 'aux2'] as const;

const written = (rows: readonly Row[], width: 'narrow' | 'wide'): EventColumns => {
  const events = new EventColumns(1, width);
  for (const r of rows) {
    events.reserve(1);
    const at = events.count++;
    for (const name of NAMES) events.set(name, at, r[name]);
  }
  return events;
};
const read = (events: EventColumns): Row[] =>
  Array.from({ length: events.count }, (_, i) => {
    const { dur, result, offset, length, object, context, aux, aux2 } = events.row(i);
    return { dur, result, offset, length, object, context, aux, aux2 };
  });

describe('columns', () => {
  test('return what was written one by one, appended, or moved to the front', () => {
    fc.assert(
      fc.property(
        fc.array(row, { maxLength: 40 }),
        fc.array(row, { maxLength: 40 }),
        fc.nat(80),
        (first, second, dropped) => {
          const events = written(first, 'narrow');
          expect(read(events)).toEqual(first);
          events.append(written(second, 'wide'));
          events.append(written(second, 'narrow'));
          const all = [...first, ...second, ...second];
          expect(read(events)).toEqual(all);
          events.dropFront(dropped);
          expect(read(events)).toEqual(all.slice(dropped));
          events.reserve(1);
          events.count++;
          expect(events.row(events.count - 1).aux2).toBe(0);
        },
      ),
    );
  });

  test('widen only what needs it, and allocate no more than requested', () => {
    const events = new EventColumns(0, 'narrow');
    events.reserve(1000, true);
    expect([events.capacity, events.byteLength]).toEqual([1000, 37_000]);
    events.set('length', 0, 4096);
    events.set('result', 0, 101);
    events.set('offset', 0, 32 + 900 * 4120);
    events.set('dur', 0, 12.5);
    expect(events.byteLength).toBe(37_000);
    events.set('object', 0, 256);
    expect(events.byteLength).toBe(38_000);
    events.set('dur', 0, 0.1);
    expect(events.byteLength).toBe(42_000);
    events.set('aux2', 0, 13);
    expect(events.byteLength).toBe(42_000);
  });
});
