/** What a report is made of. */

/** A text that a narrow layout may put on a line of its own. */
export type Cell = string | { text: string; wide: true };
export interface ReportTable {
  head: readonly string[];
  rows: readonly (readonly Cell[])[];
  /** Columns that hold texts: to the left; numbers to the right. */
  texts: readonly number[];
  /** The first column holds SQL. */
  sql?: true;
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

export const cellText = (cell: Cell): string => (typeof cell === 'string' ? cell : cell.text);
