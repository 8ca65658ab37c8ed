/** What a table shows: its columns, as data. Sorting is pure. */

export interface Column<Row> {
  key: string;
  title: string;
  /** What the number means, for the heading's tooltip. */
  definition?: string;
  /** Right-aligned, and sorted from large to small first. */
  numeric?: boolean;
  /** Sorted by this; null sorts last, whichever the direction. */
  value: (row: Row) => number | string | null;
  /** Shown; without it the value as text, null as "n/a". */
  text?: (row: Row) => string;
  /** `120px`, or `1fr` for what takes the rest. Default 90px. */
  width?: string;
  /** SQL and file names. */
  mono?: boolean;
}

export function cellText<Row>(column: Column<Row>, row: Row): string {
  return column.text ? column.text(row) : String(column.value(row) ?? 'n/a');
}

/** A sorted copy; equal values keep the order they came in. */
export function sortedRows<Row>(
  rows: readonly Row[],
  column: Column<Row> | undefined,
  descending: boolean,
): Row[] {
  if (!column) return [...rows];
  const sign = descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const x = column.value(a);
    const y = column.value(b);
    if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
    if (typeof x === 'number' && typeof y === 'number') return sign * (x - y);
    return sign * String(x).localeCompare(String(y));
  });
}
