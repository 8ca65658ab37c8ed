/**
 * Commits, and syncs per commit. A commit makes a transaction durable according to its journal mode
 * (transactions.ts). If no VFS calls were seen (Turso), commits are the commit frames of the WALs
 * in OPFS.
 */
import { fact } from '../core/graph.ts';
import { callCounts } from '../files/call-counts.ts';
import { walHistories, type WalHistory } from '../wal/wal.ts';
import { transactions } from './transactions.ts';

export interface Commits {
  count: number | null;
  /** As in CallCounts; null if not known. */
  syncs: number | null;
  /** null without a commit. */
  syncsPerCommit: number | null;
}

function inLogs(logs: readonly WalHistory[]): number | null {
  const logged = logs.flatMap(({ commits }) => commits ?? []);
  return logged.length ? logged.reduce((sum, n) => sum + n, 0) : null;
}

export const commits = fact(
  'commits',
  'commits',
  { transactions, callCounts },
  (_, { transactions, callCounts }, facts): Commits => {
    const count = callCounts.seesVfs ? transactions.commits : inLogs(facts.get(walHistories));
    const syncs = callCounts.of('sync');
    return { count, syncs, syncsPerCommit: count && syncs !== null ? syncs / count : null };
  },
);
