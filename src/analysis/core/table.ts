/**
 * Tables: the data of a trace as rows and columns. A subject declares its table once, in its
 * `table.ts`:
 *
 *   export const lockColumns = {
 *     ts: col('moment', 'Begin', 'When the wait began', (w) => w.fromUs),
 *     dur: col('us', 'Waited', 'How long the holder was in its way', (w) => w.toUs - w.fromUs),
 *   } satisfies Columns<WaitLine>;
 *   const lockRows = fact(...); // its value is `Rows<WaitLine>`
 *   export const lockTables = [table('locks', 'Waits for locks', lockRows, lockColumns)]; // all of the subject: tables.ts lists them
 *
 * Views, the Query view, exports and reports take titles, help, and values from it, and the text of
 * a cell from its unit.
 */
import { formatAs, formatMeasured, UNKNOWN, type Unit as NumberUnit } from '../../text/numbers.ts';
import { fact, type Fact } from './graph.ts';

export type Cell = number | string | null;

/**
 * The unit of a column's numbers, or what its texts are (texts are aligned left). `code`: SQL,
 * names of files and calls.
 */
export type Unit = NumberUnit | 'text' | 'code';
export const isNumeric = (unit: Unit): unit is NumberUnit => unit !== 'text' && unit !== 'code';

export interface Column<in Row> {
  readonly unit: Unit;
  /** Its heading. */
  readonly title: string;
  /** What it means, and when it isn't known. */
  readonly help: string;
  /** null = not known, or not applicable. */
  readonly value: (row: Row) => Cell;
  /** Its text, if the column's unit alone doesn't determine it. */
  readonly text?: (row: Row) => string;
  /** Only shown in the Query view, or only in exported files. */
  readonly only?: 'sql' | 'exports';
}
/** By name, as in SQL. The order is that of exported files, so add new ones at the end. */
export type Columns<Row> = Readonly<Record<string, Column<Row>>>;

/** Rows without a copy. `at` may return the same object each time. */
export interface Rows<Row> {
  readonly count: number;
  at(i: number): Row;
}
export interface Table<Row> {
  readonly name: string;
  readonly help: string;
  readonly rows: Fact<Rows<Row>>;
  readonly columns: Columns<Row>;
}

/* @__NO_SIDE_EFFECTS__ */
export function col<Row>(
  unit: Unit,
  title: string,
  help: string,
  value: (row: Row) => Cell,
  only?: 'sql' | 'exports',
): Column<Row> {
  return { unit, title, help, value, ...(only && { only }) };
}

/* @__NO_SIDE_EFFECTS__ */
export function table<Row>(
  name: string,
  help: string,
  rows: Fact<Rows<Row>>,
  columns: Columns<Row>,
): Table<Row> {
  return { name, help, rows, columns };
}

/** A value as text. @param stepUs of the clock that measured it; null = not known */
export function cellText(unit: Unit, value: Cell, stepUs: number | null = null): string {
  if (value === null) return UNKNOWN;
  if (typeof value === 'string' || !isNumeric(unit)) return String(value);
  return unit === 'us' ? formatMeasured(value, stepUs) : formatAs(value, unit);
}

export const listed = <Row>(list: readonly Row[]): Rows<Row> => ({
  count: list.length,
  at: (i) => list[i]!,
});

/** The rows of a table, listed in a fact. */
export const rowsIn = /* @__NO_SIDE_EFFECTS__ */ <T, Row>(
  name: string,
  from: Fact<T>,
  list: (value: T) => readonly Row[],
): Fact<Rows<Row>> => fact(name, from.label, { from }, (_, known) => listed(list(known.from)));

/**
 * Rows of several parts, one after the other.
 * @param counts by part @param at the index in a part
 */
export function inParts<Row>(
  counts: readonly number[],
  at: (part: number, i: number) => Row,
): Rows<Row> {
  const starts = [0];
  for (const n of counts) starts.push(starts.at(-1)! + n);
  let part = 0;
  return {
    count: starts.at(-1)!,
    at(i) {
      if (i < starts[part]!) part = 0;
      while (i >= starts[part + 1]!) part++;
      return at(part, i - starts[part]!);
    },
  };
}
