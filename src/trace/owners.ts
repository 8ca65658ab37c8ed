/**
 * What every call serves: the innermost SQL call and the innermost VFS call above it (or the call
 * itself), and the statement. A parent comes before its children, so this takes one pass, which
 * continues as rows arrive, and one number a row:
 *
 *   sqlite3_step   xRead            opfs.read     ->  of xRead the step, of opfs.read the xRead, whose own is the step
 */
import { isSqlOp, isStatementOp, isVfsOp } from '../event/operations.ts';
import type { EventColumns } from './columns.ts';
import { RowCursor, type Growing } from './row-cursor.ts';
import { longer } from './typed-arrays.ts';

/** The part of a thread that this needs. */
interface WithCalls extends Growing {
  readonly events: EventColumns;
}

export class Owners {
  /**
   * For a VFS call and an SQL call, the row of the SQL call above; for others, that of their VFS
   * call, else of their SQL call; -1 = not known.
   */
  private up: Int32Array = new Int32Array(1024);
  private op: Uint8Array;
  private readonly rows: RowCursor;

  constructor(private readonly thread: WithCalls) {
    this.op = thread.events.op;
    this.rows = new RowCursor(thread);
  }

  /** Take in the rows that have arrived since. */
  update(): this {
    const { rows, thread } = this;
    const { events } = thread;
    const { count, op, parent } = events;
    rows.restarted();
    this.op = op;
    const up = (this.up = longer(this.up, count));
    let [lastSeq, lastRow] = [0, -1];
    for (; rows.next < count; rows.next++) {
      const row = rows.next;
      if (parent[row] !== lastSeq) {
        lastSeq = parent[row]!; // calls made by one call follow each other
        lastRow = events.parentRow(row);
      }
      if (lastRow < 0) up[row] = -1;
      else if (isVfsOp(op[row]!) || isSqlOp(op[row]!)) up[row] = this.sql(lastRow);
      else up[row] = isVfsOp(op[lastRow]!) || isSqlOp(op[lastRow]!) ? lastRow : up[lastRow]!;
    }
    return this;
  }

  /** Row of the SQL call; -1 = not known. */
  sql(row: number): number {
    if (isSqlOp(this.op[row]!)) return row;
    const owner = this.up[row]!;
    return owner >= 0 && isVfsOp(this.op[owner]!) ? this.up[owner]! : owner;
  }
  /** Row of the VFS call; -1 = not known, and for SQL calls. */
  vfs(row: number): number {
    const code = this.op[row]!;
    if (isVfsOp(code)) return row;
    const owner = isSqlOp(code) ? -1 : this.up[row]!;
    return owner >= 0 && isVfsOp(this.op[owner]!) ? owner : -1;
  }
  /**
   * Row of the innermost SQL or VFS call, itself included, which has the connection; -1 = not
   * known.
   */
  engine(row: number): number {
    const vfs = this.vfs(row);
    return vfs < 0 ? this.sql(row) : vfs;
  }
  /**
   * Row of the SQL call that a call was made for, or of the outermost VFS call if SQL isn't
   * recorded: its answer is what the caller gets; -1 = none.
   */
  answering(row: number): number {
    const sql = this.sql(row);
    if (sql >= 0) return sql;
    let vfs = this.vfs(row);
    for (let outer = vfs; outer >= 0;) {
      vfs = outer;
      const above = this.thread.events.parentRow(outer);
      outer = above < 0 ? -1 : this.vfs(above);
    }
    return vfs;
  }
  /** Row of the SQL call that belongs to a statement; -1 = not known. */
  statement(row: number): number {
    let call = this.sql(row);
    while (call >= 0 && !isStatementOp(this.op[call]!)) call = this.up[call]!;
    return call;
  }

  /** By row: id of the text of the statement that it serves; 0 = not known. */
  texts(): Uint32Array {
    const { object, count } = this.thread.events;
    const texts = new Uint32Array(count);
    for (let row = 0; row < count; row++) {
      const call = this.statement(row);
      if (call >= 0) texts[row] = object[call]!;
    }
    return texts;
  }
}

const known = new WeakMap<WithCalls, Owners>();

/** For all calls that a thread has at this moment, shared by all callers. */
export function ownersOf(thread: WithCalls): Owners {
  let owners = known.get(thread);
  if (!owners) known.set(thread, (owners = new Owners(thread)));
  return owners.update();
}
