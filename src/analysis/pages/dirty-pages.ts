/**
 * Pages that write transactions changed: distinct ones in each transaction, by database.
 * Checkpoints don't count.
 */
import { getOrMake } from '../core/maps.ts';
import { longer } from '../../trace/typed-arrays.ts';
import type { TraceStore } from '../../trace/store.ts';
import { Access, type Accesses } from './accesses.ts';
import { fact } from '../core/graph.ts';
import { Slots } from '../core/slots.ts';
import { accesses } from './page-accesses.ts';
import { transactions } from '../transactions/transactions.ts';
import type { TransactionTable } from '../transactions/transaction-table.ts';

export interface DirtyPages {
  /** Distinct pages written, in all. */
  distinct: number;
  /** Distinct pages of each write transaction, summed: the minimum that had to be written. */
  perTransaction: number;
  /** In the transaction that wrote most. */
  most: number;
}

/**
 * By index in accesses.objects. If the trace doesn't show ends of transactions, all writes of a
 * thread count as one transaction.
 */
export const dirtyPages = fact(
  'dirtyPages',
  'pages that change together',
  { accesses, transactions },
  (store, known) => dirtyPagesOf(store, known.accesses, known.transactions.list),
);

function dirtyPagesOf(store: TraceStore, accesses: Accesses, list: TransactionTable): DirtyPages[] {
  const { objects } = accesses;
  /** Last rows of the write transactions by thread and database, ascending. */
  const ends = new Map<number, number[]>();
  const keyOf = (thread: number, path: number): number => path * store.threads.length + thread;
  for (let i = 0; i < list.length; i++) {
    if (!list.isWrite(i)) continue;
    const key = keyOf(list.thread[i]!, list.pathOf[i]!);
    getOrMake(ends, key, (): number[] => []).push(list.endRow[i]!);
  }
  for (const rows of ends.values()) rows.sort((a, b) => a - b);
  const cursorsOf = (path: number): Cursor[] =>
    store.threads.map((_, t) => ({
      rows: ends.get(keyOf(t, path)) ?? [],
      at: 0,
      ordinal: 0,
      pages: 0,
    }));
  const { what, object } = accesses;
  const counts = objects.map(({ path }) => new DirtyCount(cursorsOf(list.paths.indexOf(path))));
  for (let i = 0; i < accesses.count; i++)
    if ((what[i]! & (Access.write | Access.checkpoint)) === Access.write)
      counts[object[i]!]!.take(accesses, i);
  return counts.map(({ out, slots }) => ({ ...out, distinct: slots.count }));
}

/**
 * The position in a thread's transactions on a database: the ends of all, the next one, its number,
 * its written pages.
 */
interface Cursor {
  rows: readonly number[];
  at: number;
  ordinal: number;
  pages: number;
}

class DirtyCount {
  readonly out: DirtyPages = { distinct: 0, perTransaction: 0, most: 0 };
  /** Ordinal of the transaction that wrote the page last, by slot; 0 = none. */
  private stamps: Uint32Array = new Uint32Array(256);
  private ordinals = 0;
  readonly slots = new Slots();

  constructor(private readonly cursors: readonly Cursor[]) {}

  /** A write, in order of time. */
  take(accesses: Accesses, i: number): void {
    const { out, slots } = this;
    const cursor = this.cursors[accesses.thread[i]!]!;
    const { rows } = cursor;
    const row = accesses.row[i]!;
    const before = cursor.at;
    while (cursor.at < rows.length && rows[cursor.at]! < row) cursor.at++;
    if (cursor.at !== before || cursor.ordinal === 0) {
      cursor.ordinal = ++this.ordinals;
      cursor.pages = 0;
    }
    for (let n = 0; n < accesses.span[i]!; n++) {
      const slot = slots.slot(accesses.place[i]! + n);
      this.stamps = longer(this.stamps, slot + 1);
      if (this.stamps[slot] === cursor.ordinal) continue;
      this.stamps[slot] = cursor.ordinal;
      cursor.pages++;
      out.perTransaction++;
    }
    out.most = Math.max(out.most, cursor.pages);
  }
}
