/**
 * Whom every call serves: the innermost SQL call and the innermost VFS call above it (or the call itself). One pass, for a parent comes
 * before its children, and one number a row:
 *
 *   sqlite3_step   xRead            opfs.read     ->  of xRead the step, of opfs.read the xRead, whose own is the step
 */
import type { ThreadStore } from '../../trace/store.ts';
import { isSqlOp, isVfsOp } from '../../event/operations.ts';
import { threadFact } from './graph.ts';

export class Owners {
  /** @param up of a VFS call the row of its SQL call, of others that of their VFS call, else of their SQL call; -1 = none known */
  constructor(
    private readonly op: Uint8Array,
    private readonly up: Int32Array,
  ) {}

  /** Row of the SQL call; -1 = none known. */
  sql(row: number): number {
    if (isSqlOp(this.op[row]!)) return row;
    const owner = this.up[row]!;
    return owner >= 0 && isVfsOp(this.op[owner]!) ? this.up[owner]! : owner;
  }
  /** Row of the VFS call; -1 = none known, and for SQL calls. */
  vfs(row: number): number {
    const code = this.op[row]!;
    if (isVfsOp(code)) return row;
    const owner = isSqlOp(code) ? -1 : this.up[row]!;
    return owner >= 0 && isVfsOp(this.op[owner]!) ? owner : -1;
  }
}

/** Of every call of a thread. */
export const owners = threadFact('owners', 'which statement each call serves', {}, ownersOf);

function ownersOf({ events }: ThreadStore): Owners {
  const { count, op, parent } = events;
  const up = new Int32Array(count);
  const owners = new Owners(op, up);
  let [lastSeq, lastRow] = [0, -1];
  for (let row = 0; row < count; row++) {
    const code = op[row]!;
    if (isSqlOp(code)) {
      up[row] = -1;
      continue;
    }
    const seq = parent[row]!;
    if (seq !== lastSeq || lastRow < 0) {
      lastSeq = seq; // calls under one call follow each other
      lastRow = events.parentRow(row);
    }
    if (lastRow < 0 || lastRow >= row)
      up[row] = -1; // a forged trace may say anything
    else if (isVfsOp(code)) up[row] = owners.sql(lastRow);
    else up[row] = isVfsOp(op[lastRow]!) || isSqlOp(op[lastRow]!) ? lastRow : up[lastRow]!;
  }
  return owners;
}
