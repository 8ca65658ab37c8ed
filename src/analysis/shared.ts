/**
 * What several analyses need of one trace, each computed once and when it is first asked for: summary, headline numbers, findings and
 * the views' tables hand one of these around. Holds for the trace as it was: make a new one when the trace has grown.
 */
import { timePieces, type TimePieces } from './time/time-pieces.ts';
import type { ThreadStore, TraceStore } from '../trace/store.ts';
import type { Accesses } from './pages/accesses.ts';
import type { AnatomyTable } from './transactions/anatomy-table.ts';
import { commitsOf, type Commits } from './transactions/commits.ts';
import { databaseFilesOf, type DatabaseFiles } from './pages/database-files.ts';
import { databaseHeadersOf, type DatabaseHeaders } from './pages/database-headers.ts';
import { dirtyPagesOf, type DirtyPages } from './pages/dirty-pages.ts';
import { executionsOf, type Executions } from './core/executions.ts';
import { ownersOf, type Owners } from './core/owners.ts';
import { pageAccessesOf, pageAccessParts } from './pages/page-accesses.ts';
import { statementsOf, type Statements } from './statements/statements.ts';
import {
  partitionThread,
  timesOfThread,
  type ThreadTimes,
  type TimePartition,
} from './time/time-partition.ts';
import { anatomyParts, anatomyTable } from './transactions/transaction-anatomy.ts';
import { transactionsOf, type Transactions } from './transactions/transactions.ts';

export class Analyses {
  private readonly kept = new Map<unknown, unknown>();

  constructor(readonly store: TraceStore) {}

  /** The result of `make` under this key, computed once. */
  once<T>(key: unknown, make: () => T): T {
    if (!this.kept.has(key)) this.kept.set(key, make());
    return this.kept.get(key) as T;
  }
  /** What is made with pauses: kept once it is whole; where it is given up before, whoever asks makes it anew. */
  private *inParts<T>(key: string, make: () => Generator<void, T>): Generator<void> {
    if (this.kept.has(key)) return;
    const made = yield* make();
    this.once(key, () => made); // somebody may have been faster
  }
  /** The same by thread; `what` names it. */
  private byThread<T>(what: string, thread: ThreadStore, make: () => T): T {
    return this.once(`${what} ${thread.index}`, make);
  }

  get extent(): [number, number] {
    return this.once('extent', () => this.store.extent());
  }
  get transactions(): Transactions {
    return this.once('transactions', () => transactionsOf(this.store));
  }
  get commits(): Commits {
    return this.once('commits', () => commitsOf(this.store, this.transactions));
  }
  get anatomies(): AnatomyTable {
    return this.once('anatomies', () => anatomyTable(this.store, this.transactions.list, this));
  }
  get statements(): Statements {
    return this.once('statements', () => statementsOf(this.store));
  }
  get databaseFiles(): DatabaseFiles {
    return this.once('database files', () => databaseFilesOf(this.store));
  }
  get databaseHeaders(): DatabaseHeaders[] {
    return this.once('database headers', () => databaseHeadersOf(this.store, this.databaseFiles));
  }
  get accesses(): Accesses {
    return this.once('accesses', () =>
      pageAccessesOf(this.store, this.databaseFiles, this.databaseHeaders),
    );
  }
  /** `anatomies`, with pauses. */
  anatomiesInParts(): Generator<void> {
    return this.inParts('anatomies', () => anatomyParts(this.store, this.transactions.list, this));
  }
  /** `accesses`, with pauses. */
  accessesInParts(): Generator<void> {
    return this.inParts('accesses', () =>
      pageAccessParts(this.store, this.databaseFiles, this.databaseHeaders),
    );
  }
  get dirtyPages(): DirtyPages[] {
    return this.once('dirty pages', () =>
      dirtyPagesOf(this.store, this.accesses, this.transactions.list),
    );
  }
  owners(thread: ThreadStore): Owners {
    return this.byThread('owners', thread, () => ownersOf(thread));
  }
  executions(thread: ThreadStore): Executions {
    return this.byThread('executions', thread, () => executionsOf(thread));
  }
  /** Over the thread's whole life. */
  partition(thread: ThreadStore): TimePartition {
    return (
      this.swept(thread)?.partition ??
      this.byThread('partition', thread, () => partitionThread(thread))
    );
  }
  /** The time with SQL in flight by statement, over the thread's whole life. */
  byStatement(thread: ThreadStore): ReadonlyMap<number, TimePartition> {
    const times =
      this.swept(thread) ??
      this.byThread('times', thread, () => timesOfThread(thread, {}, this.owners(thread)));
    return times.byStatement;
  }
  /** The same moment by moment, as the timeline draws it. */
  pieces(thread: ThreadStore): TimePieces {
    return this.byThread('pieces', thread, () => timePieces(thread, this.owners(thread)));
  }
  /** What a sweep that made more than the partition said of it too. */
  private swept({ index }: ThreadStore): ThreadTimes | undefined {
    return (this.kept.get(`pieces ${index}`) ?? this.kept.get(`times ${index}`)) as
      ThreadTimes | undefined;
  }
}
