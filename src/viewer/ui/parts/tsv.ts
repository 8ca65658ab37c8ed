/** Rows in the form that spreadsheets accept from the clipboard: tab-separated, with a heading. */
import { formatCount } from '../../../text/numbers.ts';
import { cellText, type Column } from './columns.ts';

/** Maximum rows to copy. */
export const MOST_COPIED = 50_000;
/**
 * The message after copying rows. @param of how many should have been copied @param rest where to
 * find the others, as the sentence's end
 */
export function copiedText(copied: number, of: number, rest = ''): string {
  const cut = of > copied ? ` The first of ${formatCount(of)}${rest}.` : '';
  return `${formatCount(copied)} row${copied === 1 ? ' is' : 's are'} on the clipboard.${cut}`;
}

/**
 * A cell of tab-separated text: no tab, no line break, and nothing that a spreadsheet takes for a
 * formula.
 */
export function tsvCell(text: string): string {
  const flat = text.replace(/[\t\r\n\u2028\u2029]+/g, ' ');
  return /^[=+\-@]/.test(flat) && !/^-?\d+(\.\d+)?$/.test(flat) ? `'${flat}` : flat;
}

/** @param cells texts, the heading first */
export const tsvLines = (cells: readonly (readonly string[])[]): string =>
  cells.map((line) => `${line.map(tsvCell).join('\t')}\n`).join('');

/** Rows of a table: raw numbers (times in microseconds), texts as displayed. */
export function tsvOfRows<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const cell = (column: Column<Row>, row: Row): string => {
    const value = column.value(row);
    return typeof value === 'number' ? String(value) : cellText(column, row);
  };
  return tsvLines([
    columns.map(({ title }) => title),
    ...rows.map((row) => columns.map((column) => cell(column, row))),
  ]);
}
