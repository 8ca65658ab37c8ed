/** Pages that write transactions made dirty: distinct ones in each transaction, by database. Checkpoints dirty nothing. */
import type { TraceStore } from '../store.ts';
import { Access, Slots, type Accesses } from './accesses.ts';
import { transactionsOf, type Transaction } from './transactions.ts';

export interface DirtyPages {
  /** Distinct pages written, over everything. */
  distinct: number;
  /** Distinct pages of each write transaction, added up: what had to be written at least. */
  perTransaction: number;
  /** Of the transaction that wrote most. */
  most: number;
}

/**
 * By place in accesses.objects. Where the trace shows no transaction ends, all writes of a thread count as one transaction.
 * @param fromUs, toUs writes that begin in it
 */
export function dirtyPagesOf(
  store: TraceStore,
  accesses: Accesses,
  list: readonly Transaction[] = transactionsOf(store).list,
  fromUs = -Infinity,
  toUs = Infinity,
): DirtyPages[] {
  const { objects } = accesses;
  /** Last rows of the write transactions by thread and database, ascending. */
  const ends = new Map<string, number[]>();
  for (const t of list) {
    if (t.kind !== 'write') continue;
    const key = `${t.thread}\0${t.path}`;
    const rows = ends.get(key);
    if (rows) rows.push(t.endRow);
    else ends.set(key, [t.endRow]);
  }
  for (const rows of ends.values()) rows.sort((a, b) => a - b);
  let spans = 0;
  for (let i = 0; i < accesses.count; i++) spans += accesses.span[i]!;
  return objects.map((object, index) => {
    const slots = new Slots(object.highest, spans);
    const cursors = store.threads.map((_, t) => ({ rows: ends.get(`${t}\0${object.path}`) ?? [], at: 0, ordinal: 0, pages: 0 }));
    /** Ordinal of the transaction that wrote the page last, by slot; 0 = none. */
    let stamps = new Uint32Array(256);
    const out: DirtyPages = { distinct: 0, perTransaction: 0, most: 0 };
    let ordinals = 0;
    for (let i = accesses.lowerBound(fromUs), to = accesses.lowerBound(toUs); i < to; i++) {
      const what = accesses.what[i]!;
      if (accesses.object[i] !== index || !(what & Access.write) || what & Access.checkpoint) continue;
      const cursor = cursors[accesses.thread[i]!]!;
      const row = accesses.row[i]!;
      const before = cursor.at;
      while (cursor.at < cursor.rows.length && cursor.rows[cursor.at]! < row) cursor.at++;
      if (cursor.at !== before || cursor.ordinal === 0) {
        cursor.ordinal = ++ordinals;
        cursor.pages = 0;
      }
      for (let n = 0; n < accesses.span[i]!; n++) {
        const slot = slots.slot(accesses.place[i]! + n);
        if (slot >= stamps.length) {
          const more = new Uint32Array(stamps.length * 2);
          more.set(stamps);
          stamps = more;
        }
        if (stamps[slot] === cursor.ordinal) continue;
        stamps[slot] = cursor.ordinal;
        cursor.pages++;
        out.perTransaction++;
      }
      out.most = Math.max(out.most, cursor.pages);
    }
    out.distinct = slots.count;
    return out;
  });
}
