/**
 * Which connections found their page cache stale. Before SQLite uses its cache, it reads 16 bytes
 * at offset 24 of the database, and drops the cache if they have changed. With the file change
 * counter, which goes up with each commit:
 *
 *   connection 1   page 1: 7   ...   compares 7: keeps   ...   compares 9: drops, reads again
 *   connection 2                                   page 1: 7   writes 8   writes 9
 *
 * In WAL mode, and while a connection keeps its locks, SQLite doesn't compare.
 */
import { SMALLEST_PAGE, VERSION_AT, VERSION_BYTES } from '../../sqlite/page-size.ts';
import { Op } from '../../event/event.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { databaseFiles, type DatabaseFiles } from '../core/database-files.ts';
import { fact } from '../core/graph.ts';

/** A connection and one of its databases. */
export interface StaleCache {
  /** Place in TraceStore.threads, and connection id there. */
  thread: number;
  connection: number;
  /** Place in DatabaseFiles.list. */
  database: number;
  /** Comparisons with a counter that was seen before. */
  compared: number;
  /** Those that found another counter. */
  stale: number;
  /** Commits of others that these found, according to the counter. */
  commits: number;
  /** The reads that found the cache stale: rows of the thread. */
  rows: number[];
}

/**
 * Connections that compared at least once; empty without an SQL layer, because connections can't be
 * distinguished then.
 */
export const staleCaches = fact(
  'staleCaches',
  'stale caches',
  { databaseFiles },
  (store, { databaseFiles: files }): StaleCache[] => {
    const found: StaleCache[] = [];
    store.threads.forEach((thread, t) => {
      const parts = files.parts[t]!;
      if (parts.size) found.push(...ofThread(thread, parts));
    });
    return found.filter(({ compared }) => compared > 0);
  },
);

function ofThread(
  { events, index }: ThreadStore,
  parts: DatabaseFiles['parts'][number],
): StaleCache[] {
  interface Known extends StaleCache {
    counter: number;
  }
  const byKey = new Map<string, Known>();
  for (let row = 0; row < events.count; row++) {
    const op = events.op[row]!;
    if (
      (op !== Op.xRead && op !== Op.xWrite) ||
      events.offset[row]! > VERSION_AT ||
      events.result[row] !== 0
    )
      continue;
    const connection = events.context[row]!;
    const part = parts.get(events.object[row]!);
    if (!part || part.wal || connection === 0) continue;
    const counter = events.aux[row]!;
    const compares =
      op === Op.xRead && events.offset[row] === VERSION_AT && events.length[row] === VERSION_BYTES;
    // a first page without a b-tree type is encrypted, so its counter means nothing
    const says =
      events.offset[row] === 0 && events.length[row]! >= SMALLEST_PAGE && Boolean(events.aux2[row]);
    // 0: an empty database, or a recording without counters
    if (counter === 0 || (!compares && !says)) continue;
    const key = `${connection} ${part.database}`;
    const known = byKey.get(key);
    if (!known) {
      // what was cached before the recording isn't known
      if (says)
        byKey.set(key, {
          thread: index,
          connection,
          database: part.database,
          compared: 0,
          stale: 0,
          commits: 0,
          rows: [],
          counter,
        });
      continue;
    }
    if (compares) {
      known.compared++;
      if (counter !== known.counter) {
        known.stale++;
        known.commits += (counter - known.counter) >>> 0;
        known.rows.push(row);
      }
    }
    known.counter = counter;
  }
  return [...byKey.values()].map(({ counter: _counter, ...rest }) => rest);
}
