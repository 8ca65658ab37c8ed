/**
 * What if the database had pages of another size: an estimate from the recorded page accesses. Pages that adjoin become one.
 *
 *   recorded, 4 KiB   read 5   read 6   read 90   read 7   read 90   read 8   read 5
 *   at 8 KiB, most    [5 6]             [89 90]   [7 8]    [89 90]   [7 8]    [5 6]     6: only what follows at once came along
 *   at 8 KiB, least   [5 6]             [89 90]   [7 8]    [89 90]            [5 6]     5: what came along stays until its page is read again
 *
 * The truth lies between, by how long the cache keeps what came along, and only about: the tree is laid out again, and it is assumed that
 * the page cache has as many bytes as before. Smaller pages: at the least one for each recorded page, at the most all of its parts.
 * Writes: a transaction writes each of its large pages once (least), or once for each stretch without another page between (most).
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
  /** As recorded: nothing is estimated. */
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

/** Databases whose pages were read or written, and whose page size is known. */
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
    // a cache is a connection's; a write is merged within its transaction alone
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

/** Connections or transactions that are distinguished at a time: of more, the one that came first is forgotten. */
const MOST_GROUPS = 256;

/** What one connection has read, or one transaction has written. */
interface Group {
  /** Pages used since their large page came, by large page. */
  readonly came: Map<number, Set<number>>;
  /** The large page that was used last, and pages of it used without another between. */
  last: number;
  run: Set<number>;
}

/** Counts large pages; a page that is used again is a page that had gone. */
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

/** By access: place of the transaction that it belongs to; below 0 outside of any, by who asks. */
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

/** Connections of one thread to one database that may have a transaction at once. */
const MOST_AT_ONCE = 8;

/** @param list places of transactions, by their first row @returns the last of them that has this row */
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
