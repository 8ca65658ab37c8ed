/** For every row of a thread the row of the statement's call that it serves, found once as rows arrive. One row alone: `statementRow`. */
import { longer } from './typed-arrays.ts';
import { isStatementOp } from '../event/operations.ts';
import { RowCursor } from './row-cursor.ts';
import type { ThreadStore } from './store.ts';

export class StatementIndex {
  private calls: Int32Array = new Int32Array(1024);
  private readonly rows: RowCursor;

  constructor(private readonly thread: ThreadStore) {
    this.rows = new RowCursor(thread);
  }

  /** By row, for all rows that the thread has now: the innermost SQL call that it serves, itself included; -1 = none known. */
  update(): Int32Array {
    const { rows, thread } = this;
    const { op, parent, count } = thread.events;
    rows.restarted();
    const calls = (this.calls = longer(this.calls, count));
    let lastParent = 0;
    let lastCall = -1;
    for (; rows.next < count; rows.next++) {
      const row = rows.next;
      if (isStatementOp(op[row]!)) {
        calls[row] = row;
        continue;
      }
      if (parent[row] !== lastParent) {
        lastParent = parent[row]!;
        const at = thread.events.parentRow(row);
        lastCall = at < 0 ? -1 : calls[at]!;
      }
      calls[row] = lastCall;
    }
    return calls;
  }

  /** The same by the id of the statement's text; 0 = none known. */
  texts(): Uint32Array {
    const { object, count } = this.thread.events;
    const calls = this.update();
    const texts = new Uint32Array(count);
    for (let row = 0; row < count; row++) if (calls[row]! >= 0) texts[row] = object[calls[row]!]!;
    return texts;
  }
}
