/**
 * Transactions of each database file on each thread, from VFS calls alone:
 *
 *   xLock SHARED .. xLock RESERVED .. journal, WAL, database writes .. commit point .. xFileControl COMMIT_PHASETWO .. xUnlock
 *
 * SQLite ends a committed write transaction with COMMIT_PHASETWO and a rolled-back one without. If
 * a trace has no xFileControl calls, a rollback is detected from its playback: page images read
 * from the journal. In a WAL, the commit point is the commit frame, if frame headers were decoded
 * (AUX in event.ts).
 */
import { hasVfs } from '../core/layers.ts';
import type { TraceStore } from '../../trace/store.ts';
import { fact } from '../core/graph.ts';
import { TransactionScanner } from './transaction-scan.ts';
import { TransactionTable } from './transaction-table.ts';

export type { CommitPoint, Transaction } from './transaction-table.ts';

/** What is known about a trace's transactions; a count that could be too low is null. */
export interface Transactions {
  list: TransactionTable;
  read: number | null;
  write: number | null;
  rolledBack: number | null;
  commits: number | null;
}

/** @returns null counts if no VFS call was recorded, or if the trace can't show them */
export const transactions = fact('transactions', 'transactions', {}, transactionsOf);

function transactionsOf(store: TraceStore): Transactions {
  const list = new TransactionTable();
  const scanners = store.threads.map((thread) => new TransactionScanner(thread, list));
  for (const scanner of scanners) scanner.advance();
  const seen = store.threads.some((t) => hasVfs(t));
  const unknown = scanners.some((s) => s.commitsUnknown);
  let writes = 0;
  const outcomes = { committed: 0, 'rolled back': 0, 'nothing written': 0 };
  for (let i = 0; i < list.length; i++) {
    if (list.isWrite(i)) writes++;
    outcomes[list.outcome(i)]++;
  }
  return {
    list,
    read: !seen || scanners.some((s) => s.readsUnknown || s.walSeen) ? null : list.length - writes,
    write: !seen || unknown ? null : writes,
    rolledBack:
      !seen || unknown || scanners.some((s) => s.walSeen) ? null : outcomes['rolled back'],
    commits: !seen || unknown ? null : outcomes.committed,
  };
}
