/** Bytes that a call moved between SQLite, its VFS and the browser's storage. */
import type { EventColumns } from './columns.ts';
import { Flag, Op } from '../event/event.ts';
import { OPS } from '../event/operations.ts';

const TRUNCATES: readonly number[] = [
  Op.xTruncate,
  Op.opfsTruncate,
  Op.opfsStreamTruncate,
  Op.xDelete,
  Op.opfsRemoveEntry,
];

/** By operation code: 0 = moves no bytes, 1 reads and 2 writes of a VFS, 3 reads and 4 writes of storage. */
export const MOVES = Uint8Array.from(OPS, (info) => {
  if (!info || (info.layer !== 'vfs' && info.layer !== 'web') || TRUNCATES.includes(info.code))
    return 0;
  const way = info.activity === 'read' ? 1 : info.activity === 'write' ? 2 : 0;
  return way === 0 ? 0 : way + (info.layer === 'web' ? 2 : 0);
});

/**
 * Bytes that a call carried, of a file or of SQLite's in-memory journal: an OPFS access handle answers how many; the others carry what
 * they were asked for, or nothing where they failed, came short (as vfsstat.c counts) or have not ended.
 */
export function bytesCarried(events: EventColumns, row: number): number {
  const { op, flags, length, result, endSeq } = events;
  const code = op[row]!;
  if (MOVES[code] === 0 || endSeq[row] === 0 || flags[row]! & Flag.threw) return 0;
  if (code === Op.opfsRead || code === Op.opfsWrite) return Math.max(0, result[row]!);
  return result[row] === 0 ? length[row]! : 0;
}

/** The same, of storage alone: SQLite's in-memory journal moves nothing. */
export const bytesMoved = (events: EventColumns, row: number): number =>
  events.flags[row]! & Flag.memoryJournal ? 0 : bytesCarried(events, row);
