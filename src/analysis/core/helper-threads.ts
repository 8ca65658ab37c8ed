/**
 * Workers that do storage for a thread that runs SQLite, which waits for them in Atomics.wait
 * during its VFS calls: sqlite.org's asynchronous OPFS proxy, and absurd-sql's IndexedDB worker.
 */
import { Op } from '../../event/event.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { fact } from './graph.ts';
import { sqliteThreads } from './main-threads.ts';
import { owners } from './owners.ts';
import { rowsByOperation } from './rows-by-operation.ts';
import { rootOf } from './thread-origin.ts';

/**
 * By index in TraceStore.threads: the thread of SQLite that this one works for, or null. It is the
 * thread that created it, or the only thread of the same page that waits this way.
 */
export const servedThreads = fact(
  'servedThreads',
  'which thread a worker does storage for',
  { sqliteThreads, owners, rowsByOperation },
  (store, { sqliteThreads, owners, rowsByOperation }): readonly (ThreadStore | null)[] => {
    const waiting = sqliteThreads.filter((thread) =>
      rowsByOperation
        .of(thread)
        .of(Op.atomicsWait)
        .some((row) => owners.of(thread).vfs(row) >= 0),
    );
    return store.threads.map((thread) => {
      if (!waiting.length || sqliteThreads.includes(thread)) return null;
      const maker = waiting.find(({ info }) => info.id === thread.info.parent);
      const root = rootOf(store, thread.index);
      if (maker || thread.index === root) return maker ?? null;
      const under = waiting.filter(({ index }) => rootOf(store, index) === root);
      return under.length === 1 ? under[0]! : null;
    });
  },
);
