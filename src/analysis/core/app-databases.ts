/**
 * The app's own IndexedDB databases, on threads where SQLite's files are in others. The app's calls
 * on them aren't part of a statement or commit, even while SQLite works. A database is a VFS's if
 * at least half of its transactions are begun by VFS or SQL calls: a VFS begins some when it
 * starts, and while it waits, the app's own calls look as if it made them.
 */
import type { Definition } from '../../event/definitions.ts';
import { Op } from '../../event/event.ts';
import { threadFact } from './graph.ts';
import { getOrMake } from './maps.ts';
import { owners } from './owners.ts';
import { rowsByOperation } from './rows-by-operation.ts';

/** Name of the IndexedDB database that a definition is or belongs to; null for others. */
export const idbDatabase = (d: Definition | undefined): string | null =>
  d?.kind === 'idb-database' || d?.kind === 'idb-store' ? d.db : null;

/** Ids of the app's databases and their object stores, by thread. */
export const appDatabases = threadFact(
  'appDatabases',
  "which IndexedDB databases are the app's own",
  { owners, rowsByOperation },
  (thread, { owners, rowsByOperation }): ReadonlySet<number> => {
    const { events, definitions } = thread;
    const whose = owners.of(thread);
    const nameOf = (id: number): string | null => idbDatabase(definitions.get(id));
    const begun = new Map<string, { all: number; served: number }>();
    for (const row of rowsByOperation.of(thread).of(Op.idbTransaction)) {
      const name = nameOf(events.object[row]!);
      if (name === null) continue;
      const of = getOrMake(begun, name, () => ({ all: 0, served: 0 }));
      of.all++;
      if (whose.answering(row) >= 0) of.served++;
    }
    const own = new Set<number>();
    for (const { id } of definitions.values()) {
      const { all = 0, served = 0 } = begun.get(nameOf(id) ?? '') ?? {};
      if (served * 2 < all) own.add(id);
    }
    return own;
  },
);
