/** Bytes that a call moved between SQLite, its VFS and the browser's storage. */
import type { EventColumns } from './columns.ts';
import { Flag, OPS, Op } from './event.ts';

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

/** Bytes of a row; an OPFS access handle says what it moved, the others what they were asked for. SQLite's in-memory journal moves none. */
export function bytesMoved({ op, flags, length, result }: EventColumns, row: number): number {
  const code = op[row]!;
  if (MOVES[code] === 0 || flags[row]! & Flag.memoryJournal) return 0;
  return code === Op.opfsRead || code === Op.opfsWrite ? Math.max(0, result[row]!) : length[row]!;
}
