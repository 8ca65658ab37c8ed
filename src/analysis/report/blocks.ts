/** The parts of a report. */
import { formatCount } from '../../text/numbers.ts';
import { cut, oneLine, UNKNOWN_SQL } from '../../text/clean.ts';
import { cellText as textOf, isNumeric, type Column, type Columns } from '../core/table.ts';

/** A text that a narrow layout may put on a separate line. */
export type Cell = string | { text: string; wide: true };
export interface ReportTable {
  head: readonly string[];
  rows: readonly (readonly Cell[])[];
  /** Columns with texts, aligned left. Numbers are aligned right. */
  texts: readonly number[];
  /** Columns that hold SQL. */
  code?: readonly number[];
}
export interface Block {
  heading: string;
  facts?: readonly (readonly [label: string, value: string])[];
  table?: ReportTable;
  lines?: readonly string[];
}
export interface Report {
  title: string;
  blocks: readonly Block[];
}

/** A cell of the catalog as in a report, which labels what has no name. */
function shownCell<Row>(name: string, { unit, value, text }: Column<Row>, row: Row): string {
  const cell = value(row);
  if (name === 'fingerprint' && cell === null) return UNKNOWN_SQL;
  return name === 'path' && cell === '' ? '(no name)' : (text?.(row) ?? textOf(unit, cell));
}

const LONGEST = { code: 100, path: 60 };

/**
 * Rows of a table of the catalog, in some of its columns. Long texts are cut: a statement at its
 * end, a path in its middle.
 * @param longest characters of such a text
 */
export function tableOf<Row, C extends Columns<Row>>(
  columns: C,
  names: readonly (keyof C & string)[],
  rows: readonly Row[],
  longest?: number,
): ReportTable {
  const shown = names.map((name) => columns[name]!);
  const places = (is: (name: string, i: number) => boolean): number[] =>
    names.flatMap((name, i) => (is(name, i) ? [i] : []));
  return {
    head: shown.map(({ title }) => title),
    rows: rows.map((row) =>
      shown.map((column, i) => {
        const text = shownCell(names[i]!, column, row);
        if (names[i] === 'path') return cut(oneLine(text), longest ?? LONGEST.path, 'both');
        return column.unit === 'code' ? cut(oneLine(text), longest ?? LONGEST.code) : text;
      }),
    ),
    texts: places((_, i) => !isNumeric(shown[i]!.unit)),
    code: places((name) => name === 'fingerprint'),
  };
}
/** After a list that was cut. */
export const moreLines = (more: number): string[] =>
  more > 0 ? [`... and ${formatCount(more)} more.`] : [];

export const cellText = (cell: Cell): string => (typeof cell === 'string' ? cell : cell.text);
