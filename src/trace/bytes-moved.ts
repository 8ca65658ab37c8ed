/** Bytes that a call moved between SQLite, its VFS and the browser's storage. */
import type { EventColumns } from './columns.ts';
import { Flag } from '../event/event.ts';
import { IN_BYTES, MOVES } from '../event/operations.ts';

/**
 * Bytes that a call carried, of a file or of SQLite's in-memory journal: an OPFS access handle answers how many; the others carry what
 * they were asked for, or nothing where they failed, came short (as vfsstat.c counts) or have not ended.
 */
export function bytesCarried(events: EventColumns, row: number): number {
  const { op, flags, length, result, endSeq } = events;
  const code = op[row]!;
  if (MOVES[code] === 0 || endSeq[row] === 0 || flags[row]! & Flag.threw) return 0;
  if (IN_BYTES[code]) return Math.max(0, result[row]!);
  return result[row] === 0 ? length[row]! : 0;
}

/** The same, of storage alone: SQLite's in-memory journal moves nothing. */
export const bytesMoved = (events: EventColumns, row: number): number =>
  events.flags[row]! & Flag.memoryJournal ? 0 : bytesCarried(events, row);
