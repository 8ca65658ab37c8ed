/**
 * Estimates reads and writes with another page size from the recorded page accesses. Adjacent pages
 * become one.
 *
 *   recorded, 4 KiB   read 5   read 6   read 90   read 7   read 90   read 8   read 5
 *   at 8 KiB, most    [5 6]             [89 90]   [7 8]    [89 90]   [7 8]    [5 6]     6: only what follows at once came along
 *   at 8 KiB, least   [5 6]             [89 90]   [7 8]    [89 90]            [5 6]     5: what came along stays until its page is read again
 *
 * The true number is about between the two, depending on how long the cache keeps what was read
 * along. It is only an estimate, because the tree's layout changes, and the page cache is assumed
 * to have as many bytes as before. Smaller pages: the minimum is one for each recorded page, and
 * the maximum all of its parts. Writes: a transaction writes each of its large pages once
 * (minimum), or once for each run without another page in between (maximum).
 */
import { firstPlace } from '../../trace/number-columns.ts';
import { grouped } from '../core/maps.ts';
import { plainPath } from '../../event/file-names.ts';
import type { Unit } from '../core/database-files.ts';
import { Access, type Accesses } from './accesses.ts';
import { fact } from '../core/graph.ts';
import { accesses } from './page-accesses.ts';
import { transactions } from '../transactions/transactions.ts';
import type { TransactionTable } from '../transactions/transaction-table.ts';

/** Page sizes that SQLite has, bytes. */
export const PAGE_SIZES: readonly number[] = [512, 1024, 2048, 4096, 8192, 16384, 32768, 65536];

export interface Between {
  readonly least: number;
  readonly most: number;
}
export interface PageSizeEstimate {
  /** Bytes of a page. */
  readonly pageSize: number;
  /** As recorded, not estimated. */
  readonly recorded: boolean;
  /** Pages. */
  readonly reads: Between;
  readonly writes: Between;
  readonly readBytes: Between;
  readonly writeBytes: Between;
}
export interface PageSizes {
  readonly path: string;
  readonly vfs: string;
  readonly pageSize: Unit;
  /** By page size, the smallest first. */
  readonly sizes: readonly PageSizeEstimate[];
}
export const PAGE_SIZES_NOTE =
  'An estimate: pages that adjoin become one. It assumes a page cache of as many bytes as before and a tree with the same layout. It is too low where such a cache holds fewer than 20 pages. ' +
  'Database and WAL pages, without frame headers, journals, and what checkpoints copy.';

/** Databases with read or written pages and a known page size. */
export const pageSizes = fact(
  'pageSizes',
  'other page sizes',
  { accesses, transactions },
  (_, { accesses, transactions }): PageSizes[] => {
    const batches = batchesOf(accesses, transactions.list);
    return accesses.objects.flatMap(({ path, vfs, unit }, object) => {
      const { bytes } = unit;
      if (bytes === null) return [];
      const sizes = PAGE_SIZES.map((size) => estimate(accesses, batches, object, bytes, size));
      return sizes.some(({ reads, writes }) => reads.most || writes.most)
        ? [{ path, vfs, pageSize: unit, sizes }]
        : [];
    });
  },
);

function estimate(
  accesses: Accesses,
  batches: Int32Array,
  object: number,
  from: number,
  to: number,
): PageSizeEstimate {
  const parts = Math.max(1, to / from);
  const [reads, writes] = [new Merged(parts), new Merged(parts)];
  for (let i = 0; i < accesses.count; i++) {
    const what = accesses.what[i]!;
    if (accesses.object[i] !== object || what & Access.checkpoint) continue;
    const side = what & Access.write ? writes : reads;
    // a connection has one cache, but a write is only merged within its transaction
    const group = what & Access.write ? batches[i]! : accesses.asker[i]!;
    for (let n = 0; n < accesses.span[i]!; n++) side.add(group, accesses.place[i]! - 1 + n);
  }
  const split = Math.max(1, from / to);
  const between = ({ least, most }: Merged): Between => ({ least, most: most * split });
  const bytes = ({ least, most }: Between): Between => ({ least: least * to, most: most * to });
  const [read, written] = [between(reads), between(writes)];
  return {
    pageSize: to,
    recorded: to === from,
    reads: read,
    writes: written,
    readBytes: bytes(read),
    writeBytes: bytes(written),
  };
}

/**
 * Connections or transactions that are distinguished at a time. If there are more, the oldest is
 * forgotten.
 */
const MOST_GROUPS = 256;

/** What one connection has read, or one transaction has written. */
interface Group {
  /** Pages used since their large page was loaded, by large page. */
  readonly came: Map<number, Set<number>>;
  /** The large page that was used last, and its pages used since. */
  last: number;
  run: Set<number>;
}

/** Counts large pages. If a page is used again, its large page had been dropped. */
class Merged {
  least = 0;
  most = 0;
  private readonly groups = new Map<number, Group>();

  /** @param parts pages that become one */
  constructor(private readonly parts: number) {}

  /** @param page from 0 */
  add(id: number, page: number): void {
    if (this.parts === 1) {
      this.least++;
      this.most++;
      return;
    }
    const group = this.group(id);
    const large = Math.floor(page / this.parts);
    if (group.last !== large || group.run.has(page)) {
      this.most++;
      group.last = large;
      group.run = new Set();
    }
    group.run.add(page);
    const came = group.came.get(large);
    if (came && !came.has(page)) came.add(page);
    else {
      this.least++;
      group.came.set(large, new Set([page]));
    }
  }

  private group(id: number): Group {
    let group = this.groups.get(id);
    if (group) return group;
    const [oldest] = this.groups.keys();
    if (this.groups.size === MOST_GROUPS && oldest !== undefined) this.groups.delete(oldest);
    group = { came: new Map(), last: -1, run: new Set() };
    this.groups.set(id, group);
    return group;
  }
}

/** By access: index of its transaction; below 0 outside of transactions, by asker. */
function batchesOf(accesses: Accesses, transactions: TransactionTable): Int32Array {
  const { beginRow, length } = transactions;
  const byDatabase = grouped(
    Array.from({ length }, (_, i) => i),
    (i) => `${transactions.thread[i]} ${plainPath(transactions.path(i))}`,
  );
  for (const list of byDatabase.values()) list.sort((a, b) => beginRow[a]! - beginRow[b]!);
  const paths = accesses.objects.map(({ path }) => plainPath(path));
  const batches = new Int32Array(accesses.count);
  for (let i = 0; i < accesses.count; i++) {
    const list = byDatabase.get(`${accesses.thread[i]} ${paths[accesses.object[i]!]}`) ?? [];
    batches[i] = around(list, transactions, accesses.row[i]!) ?? -1 - accesses.asker[i]!;
  }
  return batches;
}

/** Maximum connections of one thread that have a transaction on one database at once. */
const MOST_AT_ONCE = 8;

/**
 * @param list indices of transactions, by their first row
 * @returns the last of them that contains this row
 */
function around(
  list: readonly number[],
  { beginRow, endRow }: TransactionTable,
  row: number,
): number | undefined {
  const behind = firstPlace(0, list.length, (i) => beginRow[list[i]!]! > row);
  return list
    .slice(Math.max(0, behind - MOST_AT_ONCE), behind)
    .findLast((at) => endRow[at]! >= row);
}
