/**
 * The calls of each thread by operation, so that code that needs a few operations doesn't examine a
 * million events.
 */
import type { ThreadStore } from '../../trace/store.ts';
import { threadFact } from './graph.ts';

const NO_ROWS = new Uint32Array(0);

export class RowsByOperation {
  /**
   * @param rows of all operations, one after another @param at by operation: where its rows begin;
   * [256] = end
   */
  constructor(
    private readonly rows: Uint32Array,
    private readonly at: Uint32Array,
  ) {}

  count(op: number): number {
    return this.at[op + 1]! - this.at[op]!;
  }
  /** Rows of an operation, ascending. */
  of(op: number): Uint32Array {
    return this.count(op) ? this.rows.subarray(this.at[op], this.at[op + 1]) : NO_ROWS;
  }
  /**
   * Rows of several operations, ascending.
   * @param ops by operation: its rows are included if not 0
   */
  together(ops: Uint8Array): Uint32Array {
    let lists: Uint32Array[] = [];
    for (let op = 0; op < ops.length; op++) if (ops[op] && this.count(op)) lists.push(this.of(op));
    while (lists.length > 1) {
      const next: Uint32Array[] = [];
      for (let i = 0; i < lists.length; i += 2)
        next.push(i + 1 < lists.length ? merged(lists[i]!, lists[i + 1]!) : lists[i]!);
      lists = next;
    }
    return lists[0] ?? NO_ROWS;
  }
}

function merged(a: Uint32Array, b: Uint32Array): Uint32Array {
  const all = new Uint32Array(a.length + b.length);
  for (let i = 0, j = 0, n = 0; n < all.length; n++)
    all[n] = j === b.length || (i < a.length && a[i]! < b[j]!) ? a[i++]! : b[j++]!;
  return all;
}

export const rowsByOperation = threadFact(
  'rowsByOperation',
  'calls by operation',
  {},
  ({ events }: ThreadStore): RowsByOperation => {
    const { op, count } = events;
    const at = new Uint32Array(257);
    for (let row = 0; row < count; row++) at[op[row]! + 1]!++;
    for (let code = 0; code < 256; code++) at[code + 1]! += at[code]!;
    const next = at.slice();
    const rows = new Uint32Array(count);
    for (let row = 0; row < count; row++) rows[next[op[row]!]!++] = row;
    return new RowsByOperation(rows, at);
  },
);
