// Number formats: the same everywhere, and unknown values are never 0.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  UNKNOWN,
  countOf,
  formatBytes,
  formatCount,
  formatDuration,
  formatExact,
  formatMeasured,
  formatMoment,
  formatSpan,
  formatNumber,
  formatShare,
  formatShortCount,
} from '../../src/text/numbers.ts';

describe('numbers', () => {
  it('writes durations with three digits', () => {
    expect([0, 0.25, 1.5, 12.34, 999.9, 45_678, 1_234_567, 150e6].map(formatDuration)).toEqual([
      ...['0', '250 ns', '1.5 µs', '12.3 µs', '1 ms', '45.7 ms', '1.23 s', '2 min 30 s'],
    ]);
    expect([179.4e6, 179.7e6, -179.7e6].map(formatDuration)).toEqual([
      '2 min 59 s',
      '3 min 0 s',
      '-3 min 0 s',
    ]);
  });
  it("shows that a duration is below the clock's step, if the step is known", () => {
    const at100 = [0, 40, 99.99999, 100, 250].map((us) => formatMeasured(us, 100));
    expect(at100).toEqual(['< 100 µs', '< 100 µs', '100 µs', '100 µs', '250 µs']);
    expect([formatMeasured(0, null), formatMeasured(0, 0)]).toEqual(['0', '0']);
  });
  it('a shorter time range is shown in more detail', () => {
    expect(formatSpan(1_703_100, 2_133_800)).toBe('1.703 s to 2.134 s');
    expect(formatSpan(0, 90e6)).toBe('0.000 s to 90.000 s');
    expect(formatSpan(1_000_001, 1_000_013)).toBe('1.000001 s to 1.000013 s');
    expect(formatSpan(1_000_000, 1_012_345)).toBe('1.0000 s to 1.0123 s');
    expect(formatSpan(5, 5)).toBe('0.000005 s to 0.000005 s');
  });

  it('writes bytes, counts, shares, and moments', () => {
    expect([0, 1023, 4096, 1.5 * 2 ** 20].map(formatBytes)).toEqual([
      '0 B',
      '1,023 B',
      '4 KiB',
      '1.5 MiB',
    ]);
    expect([853.3333129882812, 12.5, 0.25, 1023.7].map(formatBytes)).toEqual([
      '853 B',
      '12.5 B',
      '0.25 B',
      '1 KiB',
    ]);
    expect([9_999, 12_345, 4_560_000].map(formatShortCount)).toEqual(['9,999', '12.3k', '4.56M']);
    expect([0, 0.0001, 0.253, 1].map(formatShare)).toEqual(['0 %', '<0.1 %', '25.3 %', '100 %']);
    expect([0, 1.6, 950_000, 2_000_000.5].map(formatMoment)).toEqual([
      '0.000000 s',
      '0.000002 s',
      '0.950000 s',
      '2.000001 s',
    ]);
  });
  it('writes means with three digits, and compared numbers with three decimals', () => {
    expect([0, 2, 2.25, 12.345, 1234.5, 0.012345].map(formatNumber)).toEqual([
      ...['0', '2', '2.25', '12.3', '1,235', '0.0123'],
    ]);
    expect([2, 12.3456, 1234.5].map(formatExact)).toEqual(['2', '12.346', '1,234.5']);
  });
  it('has a noun that agrees', () => {
    expect([countOf(1, 'sync'), countOf(2, 'sync'), countOf(1234, 'flush', 'flushes')]).toEqual([
      ...['1 sync', '2 syncs', '1,234 flushes'],
    ]);
  });
  it('writes n/a for unknown values', () => {
    for (const format of [formatBytes, formatCount, formatDuration, formatExact, formatMoment])
      expect([format(null), format(undefined)]).toEqual([UNKNOWN, UNKNOWN]);
    expect([formatNumber(null), formatShare(null), formatMeasured(null, 100)]).toEqual(
      Array(3).fill(UNKNOWN),
    );
  });
  it('is never off by more than half of the third digit, and never has a needless zero', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-3, max: 119e6, noNaN: true }), (us) => {
        const [, digits, unit] = /^([\d.,]+) (\S+)$/.exec(formatDuration(us))!;
        const scale = { ns: 1e-3, µs: 1, ms: 1e3, s: 1e6 }[unit!]!;
        expect(Math.abs(Number(digits!.replaceAll(',', '')) * scale - us)).toBeLessThanOrEqual(
          us * 0.00502,
        );
        expect(digits).not.toMatch(/\.\d*0$/);
      }),
    );
  });
});
