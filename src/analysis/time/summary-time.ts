/** Where the time went, over all threads that run SQLite. */
import { sqliteThreads } from '../core/main-threads.ts';
import { toNs } from '../../trace/lanes/sweep.ts';
import { fact } from '../core/graph.ts';
import { partition } from './thread-times.ts';
import { timeInSql, tracerInSql, type TimePartition } from './time-partition.ts';

/** Microseconds, summed over the threads that run SQLite. */
export interface SummaryTime {
  cpuUs: number;
  /** read, write, sync and idbTransaction */
  ioUs: number;
  /** Waiting inside lock calls, with no known holder in the way. */
  lockUs: number;
  lockWaitUs: number;
  /** The recording's own work while SQL ran. */
  tracerUs: number;
  otherUs: number;
  /** No SQL ran, and nothing else either. */
  idleUs: number;
  /** No SQL ran, and a storage call of the browser was open. */
  outsideUs: number;
  /** No SQL ran, and the recording itself was at work: its set-up. */
  tracerOutsideUs: number;
  /** On some thread the time of VFS calls counts as storage: see TimePartition. */
  vfsIsStorage: boolean;
}

/** Time while SQL runs, summed over the threads that run SQLite, microseconds; null where none does. */
export const totalTimeInSql = fact(
  'totalTimeInSql',
  'time while SQL runs',
  { partition, sqliteThreads },
  (_, { partition, sqliteThreads: threads }): number | null =>
    threads.length
      ? threads.reduce((ns, thread) => ns + toNs(timeInSql(partition.of(thread))), 0) / 1000
      : null,
);

/** What a summary says of the time; null when no thread has SQL or VFS events. */
export const summaryTime = fact(
  'summaryTime',
  'where the time went',
  { partition, sqliteThreads },
  (_, { partition, sqliteThreads: threads }): SummaryTime | null => {
    if (threads.length === 0) return null;
    const parts = threads.map((thread) => partition.of(thread));
    const sum = (us: (p: TimePartition) => number): number =>
      parts.reduce((ns, p) => ns + toNs(us(p)), 0) / 1000;
    return {
      cpuUs: sum((p) => p.cpuUs),
      ioUs: sum((p) => p.readUs + p.writeUs + p.syncUs + p.idbTransactionUs),
      lockUs: sum((p) => p.lockUs),
      lockWaitUs: sum((p) => p.lockWaitUs),
      tracerUs: sum(tracerInSql),
      otherUs: sum((p) => p.otherUs),
      idleUs: sum((p) => p.idleUs),
      outsideUs: sum((p) => p.outsideUs),
      tracerOutsideUs: sum((p) => p.tracerOutsideUs),
      vfsIsStorage: parts.some((p) => p.vfsIsStorage),
    };
  },
);
