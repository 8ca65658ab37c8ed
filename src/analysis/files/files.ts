/**
 * Calls, bytes, and time by file, over all threads: SQLite's files by path and kind, OPFS files,
 * and IndexedDB stores.
 */
import { getOrMake } from '../core/maps.ts';
import { bytesCarried } from '../../trace/bytes-moved.ts';
import { isVfsOp, isWebOp, opTable } from '../../event/operations.ts';
import type { Definition, FileKind } from '../../event/definitions.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { threadEndUs } from '../../trace/thread-end.ts';
import { definedAs, isInMemory, targetOf } from '../../trace/in-memory.ts';
import { ById } from '../core/by-id.ts';
import type { TimeRange } from '../core/time-range.ts';

/** One row of the files table. */
export interface FileRow {
  path: string;
  kind: FileKind | 'opfs' | 'idb-store' | 'storage';
  vfs: string;
  /** The database of an IndexedDB store, which `path` begins with: names may contain slashes. */
  idb?: string;
  reads: number;
  readBytes: number;
  writes: number;
  writeBytes: number;
  syncs: number;
  locks: number;
  opens: number;
  /**
   * Sum of the durations of all its calls, microseconds. A call without an end lasts until its
   * thread's end.
   */
  timeUs: number;
}

/** Path, kind, VFS, and IndexedDB database of a definition; null if it holds no data. */
export function fileOf(
  definition: Definition | undefined,
): Pick<FileRow, 'path' | 'kind' | 'vfs' | 'idb'> | null {
  switch (definition?.kind) {
    case 'file':
      return { path: definition.path, kind: definition.fileKind, vfs: definition.vfs };
    case 'opfs-file':
      return { path: definition.path, kind: 'opfs', vfs: '' };
    case 'idb-store':
      return {
        path: `${definition.db}/${definition.store}`,
        kind: 'idb-store',
        vfs: '',
        idb: definition.db,
      };
    case 'storage-key':
      return LOCAL_STORAGE;
    default:
      return null;
  }
}

/** All keys together: an app's settings there have a key each. */
const LOCAL_STORAGE = { path: 'localStorage', kind: 'storage', vfs: '' } as const;

/**
 * For VFS calls whose file's definition is lost, and the calls that count for it: some aren't on a
 * file.
 */
export const UNKNOWN_FILE = { path: '(unknown file)', kind: 'other', vfs: '' } as const;
export const IS_NAMELESS = opTable(({ layer, counts }) => layer === 'vfs' && counts !== null);

/** The sums of a row. */
export const SUMS = [
  'reads',
  'readBytes',
  'writes',
  'writeBytes',
  'syncs',
  'locks',
  'opens',
  'timeUs',
] as const;
type Sum = (typeof SUMS)[number];
const TIME = SUMS.indexOf('timeUs');
/**
 * By operation: index of the count that a call adds to, twice, plus 1 if the bytes after it count,
 * too; 0 = none.
 */
const COUNTED = opTable(({ counts }) =>
  counts === null
    ? 0
    : 2 * (1 + SUMS.indexOf(`${counts}s`)) + (counts === 'read' || counts === 'write' ? 1 : 0),
);

/**
 * Rows by path and kind, the most time first.
 * @param threads those whose calls count @param range in which they begin
 */
export function filesOf(
  store: TraceStore,
  threads = store.threads,
  range: TimeRange = {},
): FileRow[] {
  const rows = new Map<string, { file: Omit<FileRow, Sum>; sums: Float64Array }>();
  const unknown = new Float64Array(SUMS.length);
  const inMemory = new Float64Array(SUMS.length);
  const [, traceEndUs] = store.extent();
  for (const thread of threads) {
    addCalls(thread, range, threadEndUs(thread, traceEndUs), { unknown, inMemory }, (id) => {
      const definition = definedAs(thread.definitions, id);
      if (!definition) return unknown;
      const file = fileOf(definition);
      if (!file) return null;
      const key = `${file.kind}\0${file.path}`;
      const known = getOrMake(rows, key, () => ({ file, sums: new Float64Array(SUMS.length) }));
      known.file.vfs ||= file.vfs;
      return known.sums;
    });
  }
  if (unknown.some((n) => n > 0)) rows.set('', { file: UNKNOWN_FILE, sums: unknown });
  if (inMemory.some((n) => n > 0))
    rows.set('memory', { file: { ...UNKNOWN_FILE, kind: 'memory-journal' }, sums: inMemory });
  return [...rows.values()]
    .map(({ file, sums }): FileRow => {
      const sum = Object.fromEntries(SUMS.map((name, i) => [name, sums[i]!]));
      return { ...file, ...(sum as Record<Sum, number>) };
    })
    .sort((a, b) => b.timeUs - a.timeUs || (a.path < b.path ? -1 : 1));
}

/**
 * @param untilUs how long calls without an end last @param lost include VFS calls with an unknown
 * file @param sumsOf a file, by `targetOf`; null if it holds no data
 */
function addCalls(
  thread: ThreadStore,
  { fromUs, toUs }: TimeRange,
  untilUs: number,
  { unknown, inMemory }: Record<'unknown' | 'inMemory', Float64Array>,
  sumsOf: (id: number) => Float64Array | null,
): void {
  const { events } = thread;
  const { op, t0, dur, endSeq, count } = events;
  const byId = new ById<Float64Array | null>();
  const first = fromUs === undefined ? 0 : events.lowerBound(fromUs);
  const end = toUs === undefined ? count : events.lowerBound(toUs);
  for (let i = first; i < end; i++) {
    const code = op[i]!;
    const id = targetOf(events, i);
    if (!(isVfsOp(code) || isWebOp(code))) continue;
    let sums = byId.get(id);
    if (sums === undefined) sums = byId.set(id, sumsOf(id));
    const counted = COUNTED[code]!;
    if (sums === null || (sums === unknown && !IS_NAMELESS[code])) continue;
    if (sums === unknown && isInMemory(events, i)) sums = inMemory;
    sums[TIME]! += endSeq[i] === 0 ? Math.max(0, untilUs - t0[i]!) : dur[i]!;
    if (counted === 0) continue;
    const place = (counted >>> 1) - 1;
    sums[place]!++;
    if (counted & 1) sums[place + 1]! += bytesCarried(events, i);
  }
}
