/**
 * Durations of statements, syncs, and lock waits in a trace, in the same buckets as field reports,
 * so that both add up.
 */
import { executionGroups } from '../analysis/statements/statement-runs.ts';
import { fact } from '../analysis/core/graph.ts';
import { getOrMake } from '../analysis/core/maps.ts';
import { col, listed, type Columns } from '../analysis/core/table.ts';
import { rowsByOperation } from '../analysis/core/rows-by-operation.ts';
import { lockWaits } from '../analysis/locks/lock-waits.ts';
import { locks } from '../analysis/locks/locks.ts';
import { Op } from '../event/event.ts';
import { isInMemory } from '../trace/in-memory.ts';
import { bucketBegin, HistogramCounter, type Histogram } from '../field/buckets.ts';
import type { FieldReport } from '../field/report.ts';

/** One bucket of a histogram. */
interface Bucket {
  what: 'statement' | 'sync' | 'lock';
  fingerprint: string | null;
  bucket: number;
  count: number;
}

export const histogramColumns = {
  what: col('text', 'What', 'statement, sync, or lock', (b) => b.what),
  fingerprint: col(
    'code',
    'Statement',
    'Of a statement: its text, literals folded',
    (b) => b.fingerprint,
  ),
  from: col('us', 'From', 'Shortest duration of the bucket', (b) => bucketBegin(b.bucket)),
  to: col('us', 'To', 'Its end: durations are shorter', (b) => bucketBegin(b.bucket + 1)),
  count: col(
    'count',
    'Count',
    'Runs of the statement, syncs, or waits for locks of that duration',
    (b) => b.count,
  ),
} satisfies Columns<Bucket>;

const buckets = (
  what: Bucket['what'],
  fingerprint: string | null,
  histogram: Histogram,
): Bucket[] => {
  const found: Bucket[] = [];
  for (let i = 0; i + 1 < histogram.length; i += 2)
    found.push({ what, fingerprint, bucket: histogram[i]!, count: histogram[i + 1]! });
  return found;
};

/**
 * Syncs as the summary counts them: xSync, or OPFS flushes and closed streams where no VFS call is
 * recorded.
 */
const STORAGE_SYNCS = [Op.opfsFlush, Op.opfsStreamClose] as const;

export const histogramRows = fact(
  'histogramRows',
  'histograms',
  { executionGroups, rowsByOperation, lockWaits, locks },
  ({ threads }, { executionGroups, rowsByOperation, lockWaits, locks }) => {
    const rows: Bucket[] = [];
    for (const { fingerprint, timeUs } of executionGroups.values()) {
      const runs = new HistogramCounter();
      for (const us of timeUs) if (!Number.isNaN(us)) runs.add(us);
      rows.push(...buckets('statement', fingerprint, runs.histogram()));
    }
    const byOp = (ops: readonly number[]): HistogramCounter => {
      const found = new HistogramCounter();
      for (const thread of threads) {
        const { events } = thread;
        for (const op of ops)
          for (const row of rowsByOperation.of(thread).of(op))
            if (events.endSeq[row] && !isInMemory(events, row)) found.add(events.dur[row]!);
      }
      return found;
    };
    const synced = byOp([Op.xSync]);
    rows.push(...buckets('sync', null, (synced.count ? synced : byOp(STORAGE_SYNCS)).histogram()));
    const waited = new HistogramCounter();
    const { waits } = locks;
    for (const { wait } of lockWaits) waited.add(waits.to[wait]! - waits.from[wait]!);
    rows.push(...buckets('lock', null, waited.histogram()));
    return listed(rows);
  },
);

/**
 * The same for a report. Statements that differ only in spaces or keyword case share a fingerprint.
 * Their buckets are summed, so no two rows are equal, and a duplicate row means that the report was
 * sent twice.
 * @param textOf returns the text that stands for a statement
 */
export function reportHistograms(
  report: FieldReport,
  textOf: (statement: FieldReport['statements'][number]) => string,
): Bucket[] {
  const statements = new Map<string, HistogramCounter>();
  for (const statement of report.statements)
    getOrMake(statements, textOf(statement), () => new HistogramCounter()).addAll(
      statement.histogram,
    );
  return [
    ...[...statements].flatMap(([text, runs]) => buckets('statement', text, runs.histogram())),
    ...buckets('sync', null, report.syncs),
    ...buckets('lock', null, report.locks),
  ];
}
