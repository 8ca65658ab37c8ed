/** Where the time went, over all threads that run SQLite. */
import { sqliteThreads } from '../core/main-threads.ts';
import { toNs } from '../../trace/lanes/sweep.ts';
import { fact } from '../core/graph.ts';
import { partition } from './thread-times.ts';
import { ioTime, PARTS, partTimes, type PartTimes } from '../core/time-parts.ts';
import { timeInSql, tracerInSql, type TimePartition } from './time-partition.ts';

/** Microseconds, summed over the threads that run SQLite. */
export interface SummaryTime {
  cpuUs: number;
  /** read, write, sync and idbTransaction */
  ioUs: number;
  /** Waiting inside lock calls, without a known holder. */
  lockUs: number;
  lockWaitUs: number;
  /** The recording's own work while SQL ran. */
  tracerUs: number;
  otherUs: number;
  /** No SQL ran, and nothing else either. */
  idleUs: number;
  /** No SQL ran, and a storage call of the browser was open. */
  outsideUs: number;
  /** No SQL ran, but the recording itself worked: its set-up. */
  tracerOutsideUs: number;
  /** On some thread, the time of VFS calls counts as storage: see TimePartition. */
  vfsIsStorage: boolean;
}

/** Summed as whole nanoseconds, so that sums are exact. */
const sumOf = (us: readonly number[]): number => us.reduce((ns, one) => ns + toNs(one), 0) / 1000;

/**
 * Time while SQL runs, summed over the threads that run SQLite, microseconds; null if there are
 * none.
 */
export const totalTimeInSql = fact(
  'totalTimeInSql',
  'time while SQL runs',
  { partition, sqliteThreads },
  (_, { partition, sqliteThreads: threads }): number | null =>
    threads.length ? sumOf(threads.map((thread) => timeInSql(partition.of(thread)))) : null,
);

/**
 * The parts of `totalTimeInSql`, microseconds; null if no thread runs SQLite. `outside` and `idle`
 * are those of the same threads.
 */
export const timesInSql = fact(
  'timesInSql',
  'where the time went',
  { partition, sqliteThreads },
  (_, { partition, sqliteThreads: threads }): PartTimes | null => {
    return threads.length ? timesInSqlOf(threads.map((thread) => partition.of(thread))) : null;
  },
);

/** The same for some threads. */
export function timesInSqlOf(all: readonly TimePartition[]): PartTimes {
  const sum = (us: (p: TimePartition) => number): number => sumOf(all.map(us));
  return {
    ...partTimes((part) => sum((p) => p[`${PARTS[part]!}Us`])),
    tracerUs: sum(tracerInSql),
  };
}

/** The times of a summary; null if no thread has SQL or VFS events. */
export const summaryTime = fact(
  'summaryTime',
  'where the time went',
  { partition, sqliteThreads, timesInSql },
  (_, { partition, sqliteThreads: threads, timesInSql: times }): SummaryTime | null => {
    if (!times) return null;
    const parts = threads.map((thread) => partition.of(thread));
    return {
      cpuUs: times.cpuUs,
      ioUs: ioTime(times),
      lockUs: times.lockUs,
      lockWaitUs: times.lockWaitUs,
      tracerUs: times.tracerUs,
      otherUs: times.otherUs,
      idleUs: times.idleUs,
      outsideUs: times.outsideUs,
      tracerOutsideUs: sumOf(parts.map((p) => p.tracerOutsideUs)),
      vfsIsStorage: parts.some((p) => p.vfsIsStorage),
    };
  },
);
