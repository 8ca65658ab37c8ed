/** Bytes that a call moved between SQLite, its VFS and the browser's storage. */
import type { EventColumns } from './columns.ts';
import { Flag } from '../event/event.ts';
import { isInMemory } from './in-memory.ts';
import { IN_BYTES, MOVES, saysMoved } from '../event/operations.ts';

/** Whether a call that moves bytes did: it has ended, and did not fail. */
export function hasMoved({ op, flags, result, endSeq }: EventColumns, row: number): boolean {
  const code = op[row]!;
  if (MOVES[code] === 0 || endSeq[row] === 0 || flags[row]! & Flag.threw) return false;
  return saysMoved(code, result[row]!);
}

/**
 * Bytes that a call carried, of a file or of SQLite's in-memory journal: an OPFS access handle answers how many; the others carry what
 * they were asked for, or nothing where they failed, came short (as vfsstat.c counts) or have not ended.
 */
export function bytesCarried(events: EventColumns, row: number): number {
  if (!hasMoved(events, row)) return 0;
  return IN_BYTES[events.op[row]!] ? events.result[row]! : events.length[row]!;
}

/** The same, of storage alone: SQLite's in-memory journal moves nothing. */
export const bytesMoved = (events: EventColumns, row: number): number =>
  isInMemory(events, row) ? 0 : bytesCarried(events, row);
