/**
 * Tables: what is known of a trace, as rows and columns. A subject declares its table once, in its `table.ts`:
 *
 *   export const lockColumns = {
 *     ts: col('moment', 'Begin', 'When the wait began', (w) => w.fromUs),
 *     dur: col('us', 'Waited', 'How long the holder was in its way', (w) => w.toUs - w.fromUs),
 *   } satisfies Columns<WaitLine>;
 *   const lockRows = fact(...); // its value is `Rows<WaitLine>`
 *   export const lockTables = [table('locks', 'Waits for locks', lockRows, lockColumns)]; // all of the subject: tables.ts lists them
 *
 * Views, the Query view, exports and reports take titles, help and values from it, and the text of a cell from its unit.
 */
import { formatAs, formatMeasured, UNKNOWN, type Unit as NumberUnit } from '../../text/numbers.ts';
import { fact, type Fact } from './graph.ts';

export type Cell = number | string | null;

/** Of a column: what its numbers are in; else it holds texts, which stand to the left. `code`: SQL, names of files and calls. */
export type Unit = NumberUnit | 'text' | 'code';
export const isNumeric = (unit: Unit): unit is NumberUnit => unit !== 'text' && unit !== 'code';

export interface Column<in Row> {
  readonly unit: Unit;
  /** Its heading. */
  readonly title: string;
  /** What it means, and when it is not known. */
  readonly help: string;
  /** null = not known, or does not apply. */
  readonly value: (row: Row) => Cell;
  /** How it reads, where the unit of its column alone does not say that. */
  readonly text?: (row: Row) => string;
  /** Shown in the Query view only, or in exported files only. */
  readonly only?: 'sql' | 'exports';
}
/** By name, as in SQL. The order is that of exported files: add new ones at the end. */
export type Columns<Row> = Readonly<Record<string, Column<Row>>>;

/** Rows where they lie: nothing is copied. `at` may answer the same object each time. */
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

/** A value as it is read. @param stepUs of the clock that measured it; null = not known */
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

/** Rows of several parts, one after the other. @param counts by part @param at the place in a part */
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
