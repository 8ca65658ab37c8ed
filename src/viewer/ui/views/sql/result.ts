/** A result as the table and the chart show it. */
import type { EventRef } from '../../../../trace/store.ts';
import { widthOf, type Column } from '../../parts/columns.ts';
import type { SqlAnswer } from '../../../../protocol/answers/sql.ts';

type Result = Pick<SqlAnswer, 'columns' | 'rows'>;

/** Columns that hold numbers and nothing else but NULL. */
export function numericColumns({ columns, rows }: Result): boolean[] {
  return columns.map(
    (_, c) =>
      rows.some((row) => typeof row[c] === 'number') &&
      rows.every((row) => row[c] === null || typeof row[c] === 'number'),
  );
}

export const cellWords = (value: number | string | null | undefined): string =>
  value === null || value === undefined
    ? 'NULL'
    : typeof value === 'number' && !Number.isInteger(value)
      ? value.toLocaleString('en-US', {
          useGrouping: false,
          maximumFractionDigits: Math.abs(value) >= 100 ? 2 : Math.abs(value) >= 1 ? 3 : 6,
        })
      : String(value);

/** Over the numbers of rows. */
export function resultColumns(result: Result): Column<number>[] {
  const numeric = numericColumns(result);
  const looked = result.rows.slice(0, 200);
  return result.columns.map((title, c) => {
    const texts = looked.map((row) => cellWords(row[c]));
    return {
      key: String(c),
      title,
      numeric: numeric[c]!,
      mono: !numeric[c],
      value: (row: number) => result.rows[row]![c]!,
      text: (row: number) => cellWords(result.rows[row]![c]),
      width: widthOf(title, texts),
    };
  });
}

/** Events that rows name by their columns `thread` and `seq`; null where the result has no such columns. */
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
