/** The columns of the files table, and its order. */
import { fileColumns, type OriginFile } from '../../../../analysis/files/table.ts';
import { cellText, sortedRows, viewColumns, widthOf, type Column } from '../../parts/columns.ts';
import type { TreeRow } from './tree.ts';

/** The name, then words, then numbers, what the table is sorted by at first before the others. */
const COLUMNS: readonly Column<OriginFile>[] = viewColumns(fileColumns, {
  path: { mono: false },
  kind: {},
  vfs: { none: '' },
  dur: { key: 'timeUs' },
  reads: {},
  read_bytes: { key: 'readBytes' },
  writes: {},
  write_bytes: { key: 'writeBytes' },
  syncs: {},
  locks: {},
  opens: {},
});

/** @param narrow without the words beside the name */
export const treeColumns = (rows: readonly TreeRow[], narrow: boolean): Column<TreeRow>[] =>
  COLUMNS.filter(({ key, numeric }) => !narrow || numeric || key === 'path').map((column) => {
    const isPath = column.key === 'path';
    // a group has a name and sums
    const text = ({ line, fold }: TreeRow): string =>
      line && (fold === null || column.numeric || isPath) ? cellText(column, line) : '';
    return {
      ...column,
      value: ({ line }) => line && column.value(line),
      text,
      width: isPath ? 'minmax(170px, 1fr)' : widthOf(column.title, rows.map(text)),
    };
  });

/** A sorted copy; ties go by path. @param key of a column */
export const sortedFiles = <Row extends OriginFile>(
  rows: readonly Row[],
  key: string,
  descending: boolean,
): Row[] =>
  sortedRows<OriginFile>(
    [...rows].sort((a, b) => a.path.localeCompare(b.path)),
    COLUMNS.find((column) => column.key === key),
    descending,
  ) as Row[];
