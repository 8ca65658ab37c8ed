/** For every row of a thread the text id of the statement that it serves, found once as rows arrive: filters ask it per row. */
import { isStatementOp } from '../../../event/operations.ts';
import type { ThreadStore } from '../../../trace/store.ts';

export class StatementIndex {
  private ids = new Uint32Array(1024);
  private count = 0;
  private forgotten = 0;

  constructor(private readonly thread: ThreadStore) {}

  /** Object ids by row (0 = no statement known), for all rows that the thread has now. */
  update(): Uint32Array {
    const { events, forgotten } = this.thread;
    if (forgotten !== this.forgotten) this.count = 0; // rows have other places now
    this.forgotten = forgotten;
    if (events.count > this.ids.length) {
      const grown = new Uint32Array(Math.max(events.count, this.ids.length * 2));
      grown.set(this.ids.subarray(0, this.count));
      this.ids = grown;
    }
    let lastParent = 0;
    let lastId = 0;
    for (; this.count < events.count; this.count++) {
      const row = this.count;
      const op = events.op[row]!;
      if (isStatementOp(op)) {
        this.ids[row] = events.object[row]!;
        continue;
      }
      const parent = events.parent[row]!;
      if (parent !== lastParent) {
        lastParent = parent;
        const at = parent && parent < events.seq[row]! ? events.rowOfSeq(parent) : -1;
        lastId = at >= 0 && at < row ? this.ids[at]! : 0;
      }
      this.ids[row] = lastId;
    }
    return this.ids;
  }
}
