/**
 * The headers of databases over time, from all threads: size, freelist, page size. It also shows
 * what became of free space: pages that left the freelist while the file didn't shrink were reused,
 * and the others made the file grow.
 *
 *   pages of the file   100   100   100   130        freed 40, used again 25, appended 30
 *   pages of freelist     0    40    15    15
 *
 * Two headers only show a difference, so pages that a transaction frees and reuses itself aren't in
 * the sums.
 */
import type { DatabaseHeaderDefinition } from '../../event/database-headers.ts';
import { fact } from '../core/graph.ts';
import { timeOf } from '../core/time-calls.ts';
import { databaseFiles } from '../core/database-files.ts';
import { originOfThread } from '../core/thread-origin.ts';

/** Of one database. */
export interface DatabaseHeaders {
  /** Columns by header, each different from the one before. */
  count: number;
  /** Microseconds; -Infinity = before the first event. */
  us: Float64Array;
  /** Of the file; 0 = not known. */
  pages: Uint32Array;
  /** Of the freelist. */
  free: Uint32Array;
  /** Bytes, from the last header; null without one. */
  pageSize: number | null;
  /** auto_vacuum of the last header: 0 none, 1 full, 2 incremental. */
  vacuum: number;
  /**
   * Pages that were added to the freelist, that were reused from it, and by which the file grew and
   * shrank.
   */
  freed: number;
  reused: number;
  appended: number;
  cut: number;
  /** Threads of several origins have a database of this name, so their headers aren't combined. */
  severalOrigins: boolean;
}

type Said = { us: number; d: DatabaseHeaderDefinition };

/** In the order of `databaseFiles.list`. */
export const databaseHeaders = fact(
  'databaseHeaders',
  'database headers',
  { databaseFiles },
  (store, { databaseFiles: files }): DatabaseHeaders[] => {
    const said = files.list.map((): Said[] => []);
    const origins = files.list.map(() => new Set<string>());
    store.threads.forEach((thread, t) => {
      for (const d of thread.said) {
        const part = d.kind === 'database-header' ? files.parts[t]!.get(d.file) : undefined;
        if (d.kind !== 'database-header' || !part || part.wal) continue;
        said[part.database]!.push({ us: timeOf(thread, d.at), d });
        origins[part.database]!.add(originOfThread(thread));
      }
    });
    return said.map((list, i) => foldOf(origins[i]!.size > 1 ? [] : list, origins[i]!.size > 1));
  },
);

function foldOf(said: Said[], severalOrigins: boolean): DatabaseHeaders {
  said.sort((a, b) => a.us - b.us); // stable: at the same moment, in the order of arrival
  const kept: Said[] = [];
  const sums = { freed: 0, reused: 0, appended: 0, cut: 0 };
  for (const next of said) {
    const before = kept.at(-1)?.d;
    if (
      before &&
      before.pages === next.d.pages &&
      before.free === next.d.free &&
      before.pageSize === next.d.pageSize
    )
      continue;
    kept.push(next);
    // numbers of pages of another size can't be compared
    if (!before || !before.pages || !next.d.pages || before.pageSize !== next.d.pageSize) continue;
    const [grown, freed] = [next.d.pages - before.pages, next.d.free - before.free];
    const cut = Math.max(0, -grown);
    sums.appended += Math.max(0, grown);
    sums.cut += cut;
    sums.freed += Math.max(0, freed);
    sums.reused += Math.max(0, -freed - cut);
  }
  const last = said.at(-1)?.d;
  return {
    count: kept.length,
    us: Float64Array.from(kept, ({ us }) => us),
    pages: Uint32Array.from(kept, ({ d }) => d.pages),
    free: Uint32Array.from(kept, ({ d }) => d.free),
    pageSize: last?.pageSize ?? null,
    vacuum: last?.vacuum ?? 0,
    ...sums,
    severalOrigins,
  };
}
