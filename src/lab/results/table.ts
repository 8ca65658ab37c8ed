/** A table of the Lab's results, described once for the page and the terminal. */
import type { Spread } from '../experiments/model/result-types.ts';
import { formatCount, formatMeasured, formatExact } from '../../text/numbers.ts';

export interface ResultTable {
  readonly id: string;
  readonly title: string;
  /** What the rows include, and what they don't. */
  readonly help: string;
  /** The first column holds names, the others numbers. */
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Text columns besides the first, from 0. */
  readonly texts?: readonly number[];
  /** Rows that may be left out: the last ones. */
  readonly more: number;
}

const MOST_ROWS = 100;
/** The rows of a table, without those above the limit. */
export const shortened = <Row>(
  rows: readonly Row[],
  cells: (row: Row) => string[],
): Pick<ResultTable, 'rows' | 'more'> => ({
  rows: rows.slice(0, MOST_ROWS).map(cells),
  more: Math.max(0, rows.length - MOST_ROWS),
});

/** A count in full; '' = none. */
export const number = (n: number | undefined | null): string =>
  n === undefined || n === null ? '' : formatExact(n);

/** A time; '' = none. @param stepMs the clock's resolution: shorter times read `< 1 ms` */
export const milliseconds = (ms: number | undefined | null, stepMs = 0): string =>
  ms === undefined || ms === null ? '' : formatMeasured(ms * 1000, stepMs * 1000);

/** From the shortest to the longest pass. */
export function fromToText({ least, most }: Spread, stepMs = 0): string {
  const [from, to] = [milliseconds(least, stepMs), milliseconds(most, stepMs)];
  return from === to ? from : `${from} to ${to}`;
}

/** `b - a` with its sign, `=` for no difference; counts with all digits. */
export function exactDifference(a: number, b: number, times = false): string {
  if (a === b) return '=';
  const by = Math.abs(b - a);
  return `${b > a ? '+' : '−'}${times ? milliseconds(by) : number(by)}`;
}

/** Without an exponent, even for tiny changes. */
const TWO_DIGITS = new Intl.NumberFormat('en-US', {
  minimumSignificantDigits: 2,
  maximumSignificantDigits: 2,
});
/** `=` for the same number, `+1.2 %` near it, else `×1.5`; '' where the first is 0. */
export function ratioOf(value: number, base: number): string {
  if (value === base) return '=';
  if (base === 0) return '';
  if (value === 0) return '×0';
  const ratio = value / base;
  if (Math.abs(ratio - 1) < 0.1)
    return `${ratio > 1 ? '+' : '−'}${TWO_DIGITS.format(Math.abs(ratio - 1) * 100)} %`;
  return `×${ratio >= 100 ? formatCount(ratio) : ratio >= 10 ? ratio.toPrecision(3) : TWO_DIGITS.format(ratio)}`;
}

/** `A`, `A and B`, `A, B, and C`. */
export const listed = (names: readonly string[]): string =>
  names.length < 3 ? names.join(' and ') : `${names.slice(0, -1).join(', ')}, and ${names.at(-1)!}`;
