/** The table of files and stores. */
import { grouped } from '../core/maps.ts';
import type { TraceStore } from '../../trace/store.ts';
import { originOfThread } from '../core/thread-origin.ts';
import { col, rowsIn, table, type Columns } from '../core/table.ts';
import { filesOf, type FileRow } from './files.ts';
import { fact } from '../core/graph.ts';
import { isInScope, type Scope } from '../core/scope.ts';
import { transferKinds, transferTitle, type TransferRow } from './transfer-kinds.ts';

export interface OriginFile extends FileRow {
  /**
   * Origin whose storage it is in; '' if the recording has only one. Files of the same name on two
   * origins are two files.
   */
  origin: string;
}

/**
 * Rows by origin, because storage is separate by origin. A single origin isn't named. The most time
 * first.
 * @param scope the range in which counted calls begin, and their thread
 */
export function filesByOrigin(
  store: TraceStore,
  scope: Pick<Scope, 'fromUs' | 'toUs' | 'thread'> = {},
): OriginFile[] {
  const byOrigin = grouped(
    store.threads.filter(({ events }) => events.count > 0),
    (thread) => originOfThread(thread) || 'unknown origin',
  );
  const one = byOrigin.size <= 1;
  return [...byOrigin]
    .flatMap(([origin, some]) =>
      filesOf(
        store,
        some.filter((thread) => isInScope(thread, scope)),
        scope,
      ).map((row) => ({ ...row, origin: one ? '' : origin })),
    )
    .sort((a, b) => b.timeUs - a.timeUs || (a.path < b.path ? -1 : 1));
}

export const originFiles = fact('originFiles', 'files', {}, (store) => filesByOrigin(store));

export const fileColumns = {
  path: col(
    'code',
    'File or store',
    'Path as the VFS or OPFS names it, after its VFS where several files have one path; database/store for IndexedDB',
    (f) => f.path,
  ),
  kind: col(
    'text',
    'Kind',
    "main-db, journal, wal, temp: SQLite's files, seen by VFS calls. opfs, idb-store, storage: what lies under them",
    (f) => f.kind,
  ),
  vfs: col('text', 'VFS', 'Name of the VFS that opened it', (f) => f.vfs || null),
  dur: col(
    'us',
    'Time',
    'Sum of the durations of all its calls, syncs, locks, and opens included',
    (f) => f.timeUs,
  ),
  reads: col(
    'count',
    'Reads',
    'Calls that ask for content: xRead; requests of IndexedDB for keys or values; reads of OPFS and localStorage; HTTP requests that SQLite waits for',
    (f) => f.reads,
  ),
  read_bytes: col(
    'bytes',
    'Read',
    'Bytes read. Failed and short reads count as 0',
    (f) => f.readBytes,
  ),
  writes: col(
    'count',
    'Writes',
    'Calls that store content: xWrite; put, add, and updates in IndexedDB; writes of OPFS and localStorage',
    (f) => f.writes,
  ),
  write_bytes: col(
    'bytes',
    'Written',
    'Bytes written. Failed writes count as 0',
    (f) => f.writeBytes,
  ),
  syncs: col('count', 'Syncs', 'xSync; OPFS flush; a writable stream closed', (f) => f.syncs),
  locks: col('count', 'Locks', 'xLock calls', (f) => f.locks),
  opens: col('count', 'Opens', 'xOpen; access handles, files, and streams opened', (f) => f.opens),
  origin: col(
    'text',
    'Origin',
    'Origin that stores it; null if the recording has one origin',
    (f) => f.origin || null,
  ),
} satisfies Columns<OriginFile>;

export const transferColumns = {
  path: col('code', 'File or store', 'As in the table of files', (t) => t.path),
  kind: col('text', 'Kind', 'As in the table of files', (t) => t.kind),
  way: col('text', 'Way', 'read or write', (t) => t.way),
  what: col(
    'text',
    'What it is',
    "From SQLite's file formats: change counter, page, journal header, ... Content: known by its size only",
    (t) => transferTitle(t),
  ),
  least_bytes: col('bytes', 'Smallest', 'Bytes requested by the smallest call', (t) => t.least),
  most_bytes: col('bytes', 'Largest', 'Bytes requested by the largest call', (t) => t.most),
  calls: col('count', 'Calls', 'Reads or writes of this kind', (t) => t.calls),
  bytes: col('bytes', 'Bytes', 'Bytes carried. Failed and short calls count as 0', (t) => t.bytes),
  dur: col(
    'us',
    'Time',
    "Sum of the durations of these calls. The file's own time also has its syncs, locks, and other calls",
    (t) => t.us,
  ),
  origin: col(
    'text',
    'Origin',
    'Origin that stores it; null if the recording has one origin',
    (t) => t.origin || null,
  ),
} satisfies Columns<TransferRow>;

const fileRows = rowsIn('fileRows', originFiles, (files) => files);
const transferRows = rowsIn('transferRows', transferKinds, (rows) => rows);
export const fileTables = [
  table('files', 'Files and stores, with sums over all threads', fileRows, fileColumns),
  table(
    'file_transfers',
    'Reads and writes of each file by what they are, such as change counters, pages, and journal headers',
    transferRows,
    transferColumns,
  ),
];
