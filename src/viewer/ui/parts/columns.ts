/** The columns of a table as data. Sorting is pure. */
import { cellText as textOf, isNumeric, type Columns } from '../../../analysis/core/table.ts';
import { UNKNOWN } from '../../../text/numbers.ts';
import type { SortOrder } from '../view-setting.svelte.ts';

export interface Column<Row> {
  key: string;
  title: string;
  /** What the number means, for the heading's tooltip. */
  definition?: string;
  /** Right-aligned, and sorted in descending order first. */
  numeric?: boolean;
  /** Sort key; null sorts last in both directions. */
  value: (row: Row) => number | string | null;
  /** Displayed text; by default the value as text, null as "n/a". */
  text?: (row: Row) => string;
  /**
   * A CSS track whose first number is its minimum px, or `1fr` for the rest of the width. By
   * default as wide as its longest text.
   */
  width?: string;
  /** SQL and file names. */
  mono?: boolean;
  /** For a table with only some of its rows: the caller can sort by this. */
  sorts?: boolean;
}

export const ariaSort = ({ key, descending }: SortOrder, column: string) =>
  key === column ? (descending ? 'descending' : 'ascending') : 'none';

/** What a view adds to a column of the catalog, such as its width. A custom value is a text. */
export type Own<Row> =
  | string
  | (Partial<Column<Row>> & {
      /** Step of the clock that measured it; null = not known. */
      stepUs?: (row: Row) => number | null;
      /** Shown where the value is null, instead of "n/a". */
      none?: string;
    });
type RowOf<C extends Columns<never>> = Parameters<C[keyof C]['value']>[0];

/** Columns of the catalog as a view shows them. @param own those that it shows, in its order */
export function viewColumns<C extends Columns<never>>(
  columns: C,
  own: { readonly [K in keyof C]?: Own<RowOf<C>> },
): Column<RowOf<C>>[] {
  return Object.entries(own).map(([name, more]) => {
    const column = columns[name]! as Columns<RowOf<C>>[string];
    const { stepUs, none, ...rest } = typeof more === 'string' ? { width: more } : more!;
    const { value = column.value } = rest;
    const unit = rest.value ? 'text' : column.unit;
    return {
      key: name,
      title: column.title,
      definition: column.help,
      numeric: isNumeric(unit),
      mono: unit === 'code',
      value,
      text(row) {
        if (column.text && !rest.value) return column.text(row);
        const cell = value(row);
        return cell === null && none !== undefined ? none : textOf(unit, cell, stepUs?.(row));
      },
      ...rest,
    };
  });
}

/** The same columns for row indexes, where rows are made on access. */
export const overPlaces = <Row>(
  columns: readonly Column<Row>[],
  rowAt: (place: number) => Row,
): Column<number>[] =>
  columns.map((column) => ({
    ...column,
    value: (place) => column.value(rowAt(place)),
    text: (place) => cellText(column, rowAt(place)),
  }));

export function cellText<Row>(column: Column<Row>, row: Row): string {
  return column.text ? column.text(row) : String(column.value(row) ?? UNKNOWN);
}

/** Columns in which some row has a value, and the others. */
export function withValues<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): { shown: Column<Row>[]; empty: Column<Row>[] } {
  const has = ({ value }: Column<Row>): boolean =>
    rows.length === 0 || rows.some((row) => value(row) !== null);
  return { shown: columns.filter(has), empty: columns.filter((column) => !has(column)) };
}

/** Columns for things that few recordings have: shown if there are any. */
const COUNTED = ['instructions', 'commit_instructions'];
export const withCounts = <Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): readonly Column<Row>[] =>
  columns.filter(
    ({ key, value }) => !COUNTED.includes(key) || rows.some((row) => value(row) !== null),
  );

/** A sorted copy; equal values keep their order. */
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

/**
 * Columns in the user's order. One that isn't named stays after the column that it follows by
 * default. @param keys [] = the default order
 */
export function arranged<Row>(
  columns: readonly Column<Row>[],
  keys: readonly string[],
): readonly Column<Row>[] {
  if (!keys.length) return columns;
  const byKey = new Map(columns.map((column) => [column.key, column]));
  const found = keys.flatMap((key) => byKey.get(key) ?? []);
  for (const [i, column] of columns.entries())
    if (!keys.includes(column.key)) {
      const before = columns[i - 1];
      found.splice(before ? found.indexOf(before) + 1 : 0, 0, column);
    }
  return found;
}

/** Columns of a table while their visibility is decided. */
interface Track {
  key: string;
  /** Its minimum width. */
  px: number;
  /** It takes the rest of the width. */
  flexible: boolean;
}
/**
 * Keys of columns that don't fit: the last ones, but never the first, the one that takes the rest,
 * or the one that sorts. @param menu width of the button for hidden columns, px
 */
export function withoutRoom(
  tracks: readonly Track[],
  px: number,
  menu: number,
  sortedBy: string,
): ReadonlySet<string> {
  const out = new Set<string>();
  let sum = tracks.reduce((all, track) => all + track.px, 0);
  if (sum > px) sum += menu;
  for (let i = tracks.length - 1; i > 0 && sum > px; i--) {
    const track = tracks[i]!;
    if (track.flexible || track.key === sortedBy) continue;
    out.add(track.key);
    sum -= track.px;
  }
  return out;
}

/** Keys with one moved. @param to its index among the others */
export function moved(keys: readonly string[], key: string, to: number): string[] {
  const others = keys.filter((one) => one !== key);
  others.splice(Math.max(0, Math.min(others.length, to)), 0, key);
  return others;
}
