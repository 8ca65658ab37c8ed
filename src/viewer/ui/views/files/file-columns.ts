/** The columns of the files table, and its order. */
import { fileColumns, type OriginFile } from '../../../../analysis/files/table.ts';
import { sortedRows, viewColumns, type Column } from '../../parts/columns.ts';

/** The first is the name, then words, then numbers, what the table is sorted by at first before the others. */
export const COLUMNS: readonly Column<OriginFile>[] = viewColumns(fileColumns, {
  path: {},
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

/** Where the table is narrow: without the words beside the name. */
export const NARROW_COLUMNS = COLUMNS.filter(({ key, numeric }) => numeric || key === 'path');

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
