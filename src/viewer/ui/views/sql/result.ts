/** A result in the form for the table and the chart. */
import type { EventRef } from '../../../../trace/store.ts';
import type { Column } from '../../parts/columns.ts';
import type { SqlAnswer } from '../../../../protocol/answers/sql.ts';

type Result = Pick<SqlAnswer, 'columns' | 'rows'>;

/** Columns with numbers and NULL only. */
export function numericColumns({ columns, rows }: Result): boolean[] {
  return columns.map(
    (_, c) =>
      rows.some((row) => typeof row[c] === 'number') &&
      rows.every((row) => row[c] === null || typeof row[c] === 'number'),
  );
}

const MOST_DECIMALS = 6;
/** Maximum useful digits after the decimal point. */
const decimalsOf = (value: number): number =>
  Number.isInteger(value)
    ? 0
    : Math.abs(value) >= 100
      ? 2
      : Math.abs(value) >= 1
        ? 3
        : MOST_DECIMALS;

export const cellWords = (value: number | string | null | undefined): string =>
  value === null || value === undefined
    ? 'NULL'
    : typeof value === 'number' && !Number.isInteger(value)
      ? value.toLocaleString('en-US', {
          useGrouping: false,
          maximumFractionDigits: decimalsOf(value),
        })
      : String(value);

/**
 * Formats a column of numbers: thousands are separated, decimal points aligned. @param looked
 * values that determine the number of decimal digits
 */
function alignedWords(
  looked: readonly (number | string | null | undefined)[],
): (value: number | string | null | undefined) => string {
  const sizes = looked.flatMap((value) => (typeof value === 'number' ? [Math.abs(value)] : []));
  const broken = sizes.filter((size) => !Number.isInteger(size));
  // what the largest needs, and enough that the smallest doesn't read 0
  const digits = broken.length
    ? Math.min(
        MOST_DECIMALS,
        Math.max(
          decimalsOf(Math.max(...sizes)) || decimalsOf(Math.max(...broken)),
          Math.ceil(-Math.log10(Math.min(...broken))) + 1,
        ),
      )
    : 0;
  const format = new Intl.NumberFormat('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return (value) => (typeof value === 'number' ? format.format(value) : cellWords(value));
}

/** Over row indexes. */
export function resultColumns(result: Result): Column<number>[] {
  const numeric = numericColumns(result);
  const looked = result.rows.slice(0, 200);
  return result.columns.map((title, c) => {
    const words = numeric[c] ? alignedWords(looked.map((row) => row[c])) : cellWords;
    return {
      key: String(c),
      title,
      numeric: numeric[c]!,
      mono: !numeric[c],
      value: (row: number) => result.rows[row]![c]!,
      text: (row: number) => words(result.rows[row]![c]),
    };
  });
}

/**
 * Events that rows name in their columns `thread` and `seq`; null if the result has no such
 * columns.
 */
export function eventsOf({ columns, rows }: Result): ((row: number) => EventRef | null) | null {
  const [t, s] = ['thread', 'seq'].map((name) =>
    columns.findIndex((column) => column.toLowerCase() === name),
  ) as [number, number];
  if (t < 0 || s < 0) return null;
  return (i) => {
    const [thread, seq] = [rows[i]?.[t], rows[i]?.[s]];
    return Number.isInteger(thread) && Number.isInteger(seq)
      ? { thread: thread as number, seq: seq as number }
      : null;
  };
}
