/**
 * Whom every call serves: the innermost SQL call and the innermost VFS call above it (or the call itself). One pass: a parent comes
 * before its children.
 */
import { Op } from '../event.ts';
import type { ThreadStore } from '../store.ts';
import { parentRow } from './time-calls.ts';

export interface Owners {
  /** Row of the SQL call by row; -1 = none known. */
  sql: Int32Array;
  /** Row of the VFS call by row; -1 = none known, and for SQL calls. */
  vfs: Int32Array;
}

export function ownersOf({ events }: ThreadStore): Owners {
  const { count, op } = events;
  const sql = new Int32Array(count).fill(-1);
  const vfs = new Int32Array(count).fill(-1);
  let [lastSeq, lastRow] = [0, -1];
  for (let row = 0; row < count; row++) {
    const code = op[row]!;
    if (code >= Op.sqlOpen && code <= Op.sqlExec) {
      sql[row] = row;
      continue;
    }
    const seq = events.parent[row]!;
    if (seq !== lastSeq) {
      lastSeq = seq;
      lastRow = parentRow(events, row);
    }
    const parent = lastRow;
    const known = parent >= 0 && parent < row; // a forged trace may say anything
    if (known) sql[row] = sql[parent]!;
    if (code > 0 && code < 64) vfs[row] = row;
    else if (known) vfs[row] = vfs[parent]!;
  }
  return { sql, vfs };
}
