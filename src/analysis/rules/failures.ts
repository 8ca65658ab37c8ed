/** Calls that failed in a way that rules ask for: few, found in one pass for all of them. */
import { Op } from '../../event/event.ts';
import { isWebOp } from '../../event/operations.ts';
import type { ThreadStore } from '../../trace/store.ts';

/** SQLITE_IOERR_LOCK */
export const IOERR_LOCK = 10 | (15 << 8);
/** With SQLITE_BUSY, CORRUPT, FULL, NOTADB. */
const FAILURES: ReadonlySet<number> = new Set([5, 11, 13, 26, IOERR_LOCK]);

/** Rows of VFS and SQL calls, ascending. Result codes of xSectorSize and xDeviceCharacteristics are numbers of another kind. */
export function failedRows({ events }: ThreadStore): number[] {
  const { op, result, count } = events;
  const found: number[] = [];
  for (let row = 0; row < count; row++) {
    const rc = result[row]!;
    if (rc === 0 || !FAILURES.has(rc === IOERR_LOCK ? rc : rc & 255)) continue;
    const code = op[row]!;
    if (code !== Op.xSectorSize && code !== Op.xDeviceCharacteristics && !isWebOp(code))
      found.push(row);
  }
  return found;
}
