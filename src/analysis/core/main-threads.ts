/**
 * The threads that a trace is about. They determine its clock and its isolation, which may differ
 * on a service worker.
 */
import { isSqlOp, isVfsOp, isWebOp } from '../../event/operations.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { fact } from './graph.ts';
import { hasCall } from './layers.ts';

/**
 * The threads that run SQLite: those with SQL or VFS calls. The timeline finds the same ones as
 * rows arrive (TimelineLanes.runsSql).
 */
export const sqliteThreads = fact(
  'sqliteThreads',
  'threads that run SQLite',
  {},
  ({ threads }): readonly ThreadStore[] =>
    threads.filter((thread) => hasCall(thread, (code) => isSqlOp(code) || isVfsOp(code))),
);

/** The same; if there are none, those with storage calls; else all. */
export const mainThreads = fact(
  'mainThreads',
  'threads that the trace is about',
  { sqliteThreads },
  ({ threads }, { sqliteThreads }): readonly ThreadStore[] => {
    if (sqliteThreads.length) return sqliteThreads;
    const storage = threads.filter((thread) => hasCall(thread, isWebOp));
    return storage.length ? storage : threads;
  },
);
