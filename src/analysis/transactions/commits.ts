/**
 * Commits, and how many syncs one costs. A commit is what made a transaction durable by its journal mode (transactions.ts). Where no
 * VFS calls were seen (Turso), commit frames of the WALs in OPFS tell them.
 */
import { AUX_WAL_HEADER, Op } from '../../event/event.ts';
import type { TraceStore } from '../../trace/store.ts';
import { fact } from '../graph.ts';
import { hasVfs, transactions } from './transactions.ts';

interface Commits {
  count: number | null;
  /** xSync calls on databases, journals and WALs, temporary files left out; OPFS flushes where no VFS calls were seen. */
  syncs: number;
  /** null without a commit. */
  syncsPerCommit: number | null;
}

export const commits = fact(
  'commits',
  'commits',
  { transactions },
  (store, { transactions }): Commits => {
    let syncs = 0;
    for (const { events, definitions } of store.threads)
      for (let i = 0; i < events.count; i++) {
        if (events.op[i] !== Op.xSync) continue;
        const file = definitions.get(events.object[i]!);
        if (
          file?.kind !== 'file' ||
          (file.fileKind !== 'temp' && file.fileKind !== 'memory-journal')
        )
          syncs++;
      }
    if (!store.threads.some(hasVfs)) return commitsInOpfs(store);
    const count = transactions.commits;
    return { count, syncs, syncsPerCommit: count ? syncs / count : null };
  },
);

/** By the commit frames of WALs; null where no frame was written. */
function commitsInOpfs(store: TraceStore): Commits {
  let [frames, commits, syncs] = [0, 0, 0];
  for (const { events } of store.threads)
    for (let i = 0; i < events.count; i++) {
      if (events.op[i] === Op.opfsFlush) syncs++;
      const page = events.op[i] === Op.opfsWrite ? events.aux[i]! : 0;
      if (page === 0 || page === AUX_WAL_HEADER) continue;
      frames++;
      if (events.aux2.length && events.aux2[i] !== 0) commits++;
    }
  return {
    count: frames ? commits : null,
    syncs,
    syncsPerCommit: commits ? syncs / commits : null,
  };
}
