/** The threads that a trace is about. Its clock and its isolation are theirs: a service worker beside them has others. */
import { isWebOp } from '../../event/operations.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { fact } from '../graph.ts';
import { hasCall, hasSql, hasVfs } from './layers.ts';

/** Those with SQL or VFS calls; where there is none, those with storage calls; else all. */
export const mainThreads = fact(
  'mainThreads',
  'threads that run SQLite',
  {},
  ({ threads }): readonly ThreadStore[] => {
    const sqlite = threads.filter((thread) => hasSql(thread) || hasVfs(thread));
    if (sqlite.length) return sqlite;
    const storage = threads.filter((thread) => hasCall(thread, isWebOp));
    return storage.length ? storage : threads;
  },
);
