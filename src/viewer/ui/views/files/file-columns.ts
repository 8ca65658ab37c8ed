/** The columns of the files table, and its order. */
import { fileColumns, type OriginFile } from '../../../../analysis/files/table.ts';
import type { FileLine } from '../../../../protocol/answers/files.ts';
import { cellText, sortedRows, viewColumns, type Column } from '../../parts/columns.ts';

/** A row of the table: an origin, a group or a file. */
export interface TreeRow {
  key: string;
  /** Of an origin or a group; of a file in a group what it is in it ("journal"), else its path. */
  name: string;
  /** Beside the name: what tells it from another of the same name, or what a file without a group is. */
  about: string;
  /** The file, or the sums of a group; null of an origin. */
  line: FileLine | null;
  /** What is closed and opened with it; null of a file. */
  fold: string | null;
  /** From 1. */
  level: number;
}

/** The name, which says its kind, then words, then numbers, what the table is sorted by at first before the others. */
const COLUMNS: readonly Column<OriginFile>[] = viewColumns(fileColumns, {
  path: { mono: false },
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

/** @param narrow without the VFS */
export const treeColumns = (narrow: boolean): Column<TreeRow>[] =>
  COLUMNS.filter(({ key, numeric }) => !narrow || numeric || key === 'path').map((column) => {
    const isPath = column.key === 'path';
    // a group has a name and sums
    const text = ({ line, fold }: TreeRow): string =>
      line && (fold === null || column.numeric || isPath) ? cellText(column, line) : '';
    return {
      ...column,
      value: ({ line }) => line && column.value(line),
      text,
      ...(isPath && { width: 'minmax(150px, 1fr)' }),
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
