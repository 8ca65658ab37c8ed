/** Calls that failed in a way that rules need: few, found in one pass for all rules. */
import type { ThreadStore } from '../../trace/store.ts';
import { Op } from '../../event/event.ts';
import { isWebOp } from '../../event/operations.ts';
import { threadFact } from '../core/graph.ts';
import { Rc } from '../../sqlite/constants.ts';

const FAILURES: ReadonlySet<number> = new Set([Rc.busy, Rc.corrupt, Rc.full, Rc.notADb, Rc.ioErr]);

/**
 * Rows of VFS and SQL calls, ascending. Results of xSectorSize and xDeviceCharacteristics aren't
 * result codes.
 */
export const failures = threadFact('failures', 'calls that failed', {}, failuresOf);

function failuresOf({ events }: ThreadStore): readonly number[] {
  const { op, result, count } = events;
  const found: number[] = [];
  for (let row = 0; row < count; row++) {
    const rc = result[row]!;
    if (rc === 0 || rc === Rc.shortRead || !FAILURES.has(rc & 255)) continue;
    const code = op[row]!;
    if (code !== Op.xSectorSize && code !== Op.xDeviceCharacteristics && !isWebOp(code))
      found.push(row);
  }
  return found;
}
