/** Bytes that a call moved between SQLite, its VFS and the browser's storage. */
import type { EventColumns } from './columns.ts';
import { Flag } from '../event/event.ts';
import { isInMemory } from './in-memory.ts';
import { IN_BYTES, MOVES, saysMoved } from '../event/operations.ts';

/** Whether a call that moves bytes moved some: it has ended and didn't fail. */
export function hasMoved({ op, flags, result, endSeq }: EventColumns, row: number): boolean {
  const code = op[row]!;
  if (MOVES[code] === 0 || endSeq[row] === 0 || flags[row]! & Flag.threw) return false;
  return saysMoved(code, result[row]!);
}

/**
 * Bytes that a call carried, of a file or of SQLite's in-memory journal. An OPFS access handle
 * reports how many; other calls carry what was requested, or nothing if they failed, came short (as
 * vfsstat.c counts), or haven't ended.
 */
export function bytesCarried(events: EventColumns, row: number): number {
  if (!hasMoved(events, row)) return 0;
  return IN_BYTES[events.op[row]!] ? events.result[row]! : events.length[row]!;
}

/** The same for storage only: SQLite's in-memory journal moves nothing. */
export const bytesMoved = (events: EventColumns, row: number): number =>
  isInMemory(events, row) ? 0 : bytesCarried(events, row);
