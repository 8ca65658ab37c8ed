/** The columns of the files table: title, definition, text, order. */
import type { FileRow } from '../../../../analysis/files/files.ts';
import { formatBytes, formatCount, formatDuration } from '../../../../text/numbers.ts';

export interface FileColumn {
  key: Exclude<keyof FileRow, 'idb'>;
  title: string;
  definition: string;
  numeric: boolean;
  text(row: FileRow): string;
}

const count = (
  key: 'reads' | 'writes' | 'syncs' | 'locks' | 'opens',
  title: string,
  definition: string,
): FileColumn => ({
  key,
  title,
  definition,
  numeric: true,
  text: (row) => formatCount(row[key]),
});
const bytes = (key: 'readBytes' | 'writeBytes', title: string, definition: string): FileColumn => ({
  key,
  title,
  definition,
  numeric: true,
  text: (row) => formatBytes(row[key]),
});
const word = (key: 'path' | 'kind' | 'vfs', title: string, definition: string): FileColumn => ({
  key,
  title,
  definition,
  numeric: false,
  text: (row) => row[key],
});

/** The first is the name, then words, then numbers, what the table is sorted by at first before the others. */
export const COLUMNS: readonly FileColumn[] = [
  word('path', 'File or store', 'Path as the VFS or OPFS names it; database/store for IndexedDB'),
  word(
    'kind',
    'Kind',
    'main-db, journal, wal, temp: SQLite’s files, seen by VFS calls. opfs, idb-store, storage: what lies beneath',
  ),
  word('vfs', 'VFS', 'Name of the VFS that opened it'),
  {
    key: 'timeUs',
    title: 'Time',
    definition: 'Sum of the durations of all its calls',
    numeric: true,
    text: (row) => formatDuration(row.timeUs),
  },
  count('reads', 'Reads', 'xRead; get, getAll, cursor steps; OPFS reads'),
  bytes('readBytes', 'Read', 'Bytes read. Failed and short reads count as 0'),
  count('writes', 'Writes', 'xWrite; put, add; OPFS writes'),
  bytes('writeBytes', 'Written', 'Bytes written. Failed writes count as 0'),
  count('syncs', 'Syncs', 'xSync; OPFS flush; a writable stream closed'),
  count('locks', 'Locks', 'xLock calls'),
  count('opens', 'Opens', 'xOpen; access handles, files and streams opened'),
];

/** Where the table is narrow: without the words beside the name. */
export const NARROW_COLUMNS: readonly FileColumn[] = COLUMNS.filter(
  ({ key, numeric }) => numeric || key === 'path',
);

/** A sorted copy; ties go by path. */
export function sortedFiles<Row extends FileRow>(
  rows: readonly Row[],
  key: FileColumn['key'],
  descending: boolean,
): Row[] {
  const sign = descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [a[key], b[key]];
    const order =
      typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y));
    return order * sign || a.path.localeCompare(b.path);
  });
}
