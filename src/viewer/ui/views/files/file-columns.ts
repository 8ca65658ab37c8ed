/** The columns of the files table, and its sorting. */
import { fileColumns, type OriginFile } from '../../../../analysis/files/table.ts';
import type { FileLine } from '../../../../protocol/answers/files.ts';
import { cellText, sortedRows, viewColumns, type Column } from '../../parts/columns.ts';

/** A row of the table: an origin, a group or a file. */
export interface TreeRow {
  key: string;
  /** Of an origin or a group. For a file in a group, its role ("journal"), otherwise its path. */
  name: string;
  /**
   * Next to the name: distinguishes it from another of the same name, or the kind of a file without
   * a group.
   */
  about: string;
  /** The file, or the sums of a group; null for an origin. */
  line: FileLine | null;
  /** Key of what it folds; null for a file. */
  fold: string | null;
  /** From 1. */
  level: number;
}

/** The name with the kind, then texts, then numbers, starting with the initial sort column. */
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

/** A sorted copy; ties are sorted by path. @param key of a column */
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
