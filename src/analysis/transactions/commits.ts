/**
 * Commits, and how many syncs one costs. A commit is what made a transaction durable by its journal mode (transactions.ts). Where no
 * VFS calls were seen (Turso), commit frames of the WALs in OPFS tell them.
 */
import { AUX_WAL_HEADER, Op } from '../../event/event.ts';
import type { TraceStore } from '../../trace/store.ts';
import { fact } from '../graph.ts';
import { callCounts } from '../files/call-counts.ts';
import { transactions } from './transactions.ts';

export interface Commits {
  count: number | null;
  /** As CallCounts has them; null where they are not known. */
  syncs: number | null;
  /** null without a commit. */
  syncsPerCommit: number | null;
}

export const commits = fact(
  'commits',
  'commits',
  { transactions, callCounts },
  (store, { transactions, callCounts }): Commits => {
    const count = callCounts.seesVfs ? transactions.commits : commitsInOpfs(store);
    const syncs = callCounts.of('sync');
    return { count, syncs, syncsPerCommit: count && syncs !== null ? syncs / count : null };
  },
);

/** By the commit frames of WALs; null where no frame was written. */
function commitsInOpfs(store: TraceStore): number | null {
  let [frames, commits] = [0, 0];
  for (const { events } of store.threads)
    for (let i = 0; i < events.count; i++) {
      const page = events.op[i] === Op.opfsWrite ? events.aux[i]! : 0;
      if (page === 0 || page === AUX_WAL_HEADER) continue;
      frames++;
      if (events.aux2[i] !== 0) commits++;
    }
  return frames ? commits : null;
}
