/**
 * The numbers that say most of a trace, with what each means and why it is unknown where it is: the Overview, and a comparison of two
 * traces side by side.
 */
import { leavesOut } from '../core/layers-left-out.ts';
import { fact, type Known } from '../graph.ts';
import { writeAmplification } from '../pages/block-writes.ts';
import { checkpoints } from '../wal/checkpoints.ts';
import { vfsTotal } from '../files/file-counts.ts';
import { NO_READINGS } from '../cache/page-cache.ts';
import { pages } from '../pages/pages.ts';
import { summary } from './summary.ts';
import { totalTimeInSql } from '../time/summary-time.ts';
import { transactionHeadline } from '../transactions/transaction-headline.ts';
import { anatomies } from '../transactions/transaction-anatomy.ts';
import { wals } from '../wal/wal.ts';

export interface HeadlineNumber {
  id: string;
  title: string;
  /** What it means and how it is counted. */
  definition: string;
  value: number | null;
  /** `us` microseconds, `bytes`, `share` 0..1, `ratio` a number with fractions. */
  unit: 'count' | 'ratio' | 'share' | 'us' | 'bytes';
  /** Why it is not known; null where it is. */
  cause: string | null;
  /** The call that the number is about: place of its thread, row in its columns. */
  event: { thread: number; row: number } | null;
}

type Words = Pick<HeadlineNumber, 'id' | 'title' | 'definition' | 'unit'>;

const NEEDS = {
  summary,
  transactionHeadline,
  totalTimeInSql,
  anatomies,
  wals,
  checkpoints,
  writeAmplification,
  pages,
};

export const headlineNumbers = fact(
  'headlineNumbers',
  'headline numbers',
  NEEDS,
  (store, known): HeadlineNumber[] => {
    const { summary, transactionHeadline: headline, totalTimeInSql: inSql } = known;
    const { time, pageCache, statements, transactions } = summary;
    const vfs = summary.threads.some((t) => t.layers.includes('vfs'));
    const noVfs = vfs ? 'no call shows it' : 'no VFS call is recorded';
    const noSql = 'no SQL call is recorded';
    const noWeb = leavesOut(store, 'web');
    const noWebCause = 'the recording leaves storage calls out';
    const hold = headline.longestReserved;
    const share = (us: number | null): number | null => (us === null || !inSql ? null : us / inSql);
    const { commits: timed, spanUs: commitUs, time: commitTime } = known.anatomies.commitTotals();
    return [
      number(
        {
          id: 'duration',
          title: 'Recorded',
          unit: 'us',
          definition: 'From the first event’s begin to the last one’s end.',
        },
        summary.durationUs,
      ),
      number(
        {
          id: 'statements',
          title: 'Statements',
          unit: 'count',
          definition:
            'Executions of SQL statements: first sqlite3_step after a prepare or reset, or sqlite3_exec.',
        },
        statements.count,
        noSql,
      ),
      number(
        {
          id: 'sqlTime',
          title: 'Time in SQL',
          unit: 'us',
          definition:
            'Time with SQL in flight, summed over the threads that run SQLite. The tracer’s own work outside of SQL is no part of it.',
        },
        inSql,
        'neither SQL nor VFS calls are recorded',
      ),
      number(
        {
          id: 'ioShare',
          title: 'I/O share',
          unit: 'share',
          definition:
            'Storage I/O (read, write, sync, IndexedDB transactions) / time with SQL in flight.',
        },
        noWeb ? null : share(time.ioUs),
        noWeb ? noWebCause : 'neither SQL nor VFS calls are recorded',
      ),
      number(
        {
          id: 'lockShare',
          title: 'Lock wait',
          unit: 'share',
          definition:
            'Waiting for a lock that another connection, thread or tab holds / time with SQL in flight.',
        },
        share(time.lockUs),
        'neither SQL nor VFS calls are recorded',
      ),
      number(
        {
          id: 'commits',
          title: 'Commits',
          unit: 'count',
          definition:
            'What made a transaction durable: the journal deleted, truncated or its header zeroed, a WAL commit frame, COMMIT_ATOMIC_WRITE, or with no journal the last database write before the unlock.',
        },
        headline.commits,
        noVfs,
      ),
      number(
        {
          id: 'commitShare',
          title: 'Commit share',
          unit: 'share',
          definition:
            'Time of all commits (from COMMIT, or in autocommit the first call that only a commit makes, to the last unlock; idle time left out) / time with SQL in flight. Where the page cache spills within an autocommitted statement, the rest of the statement counts. The Transactions view splits it.',
        },
        timed ? share(commitUs - commitTime.idleUs) : null,
        headline.commits === 0 ? 'no commit was seen' : noVfs,
      ),
      number(
        {
          id: 'syncShare',
          title: 'Sync share',
          unit: 'share',
          definition:
            'Within commits, waiting until writes are durable (xSync, the completion of IndexedDB transactions) / time with SQL in flight.',
        },
        timed ? share(commitTime.syncUs + commitTime.idbCompleteUs) : null,
        headline.commits === 0 ? 'no commit was seen' : noVfs,
      ),
      number(
        {
          id: 'syncsPerCommit',
          title: 'Syncs per commit',
          unit: 'ratio',
          definition:
            'xSync calls on databases, journals and WALs (OPFS flushes where no VFS call is recorded) / commits.',
        },
        headline.syncsPerCommit,
        headline.commits === 0 ? 'no commit was seen' : noVfs,
      ),
      number(
        {
          id: 'vfsPerStatement',
          title: 'VFS calls per statement',
          unit: 'ratio',
          definition: 'Calls on files, the in-memory journal left out / executions of statements.',
        },
        headline.vfsCallsPerStatement,
        vfs ? noSql : noVfs,
      ),
      ...checkpointNumbers(known, share),
      number(
        {
          id: 'rolledBack',
          title: 'Rolled back',
          unit: 'count',
          definition: 'Write transactions that ended without a commit.',
        },
        transactions.rolledBack,
        noVfs,
      ),
      number(
        {
          id: 'longestReserved',
          title: 'Longest write lock',
          unit: 'us',
          definition:
            'Longest time for which a database was held at RESERVED or above: no other connection could write.',
        },
        hold && hold.toUs - hold.fromUs,
        vfs ? 'no lock of that level was seen' : noVfs,
        hold && { thread: hold.thread, row: hold.row },
      ),
      amplification(known, noVfs),
      rereads(known, noVfs),
      number(
        {
          id: 'hitRate',
          title: 'Page cache hits',
          unit: 'share',
          definition:
            'Page requests that SQLite’s page cache answered without a VFS call, from the engine’s own counters.',
        },
        pageCache.hitRate,
        leavesOut(store, 'sql')
          ? 'the recording leaves statements out, and the counters that are read after them'
          : summary.engines.some((e) => e.layers.counters)
            ? NO_READINGS
            : 'no engine here exports sqlite3_db_status',
      ),
      number(
        {
          id: 'readBytes',
          title: 'Read by SQLite',
          unit: 'bytes',
          definition: 'Bytes of successful xRead calls, on all files except the in-memory journal.',
        },
        vfsTotal(summary.files, 'xReadBytes'),
        noVfs,
      ),
      number(
        {
          id: 'writtenBytes',
          title: 'Written by SQLite',
          unit: 'bytes',
          definition:
            'Bytes of successful xWrite calls, on all files except the in-memory journal.',
        },
        vfsTotal(summary.files, 'xWriteBytes'),
        noVfs,
      ),
      number(
        {
          id: 'idbTransactions',
          title: 'IDB transactions',
          unit: 'count',
          definition: 'IndexedDB transactions, whoever made them.',
        },
        summary.web.idb.transactions,
        noWebCause,
      ),
    ];
  },
);

function number(
  words: Words,
  value: number | null,
  cause = '',
  event: HeadlineNumber['event'] = null,
): HeadlineNumber {
  return { ...words, value, cause: value === null ? cause : null, event };
}

/** @param share of the time with SQL in flight; null = not known */
function checkpointNumbers(
  { wals, checkpoints: list }: Known<typeof NEEDS>,
  share: (us: number) => number | null,
): HeadlineNumber[] {
  const log = wals.length > 0;
  const noLog = 'no write-ahead log was used';
  return [
    number(
      {
        id: 'checkpoints',
        title: 'Checkpoints',
        unit: 'count',
        definition: 'Times that frames of a write-ahead log were copied into its database.',
      },
      log ? list.length : null,
      noLog,
    ),
    number(
      {
        id: 'checkpointShare',
        title: 'Checkpoint share',
        unit: 'share',
        definition:
          'Time of all checkpoints / time with SQL in flight. The WAL view has each of them.',
      },
      log ? share(list.reduce((us, c) => us + c.toUs - c.fromUs, 0)) : null,
      log ? 'neither SQL nor VFS calls are recorded' : noLog,
    ),
  ];
}

/** All databases together: bytes that reached the storage, or where that is not known the VFS, for each byte of changed pages. */
function amplification({ writeAmplification }: Known<typeof NEEDS>, noVfs: string): HeadlineNumber {
  const list = writeAmplification.filter(
    (a) => a.pageBytes !== null && a.dirtyPagesByTransaction > 0,
  );
  const least = list.reduce((n, a) => n + a.dirtyPagesByTransaction * a.pageBytes!, 0);
  const storage = list.length > 0 && list.every((a) => a.storageBytes !== null);
  const bytes = list.reduce((n, a) => n + (storage ? a.storageBytes! : a.vfsBytes), 0);
  const definition = `Bytes ${storage ? 'that storage calls wrote' : 'that xWrite calls wrote (storage calls beneath them are not recorded)'} for databases, journals and WALs / bytes of the pages that transactions changed.`;
  return number(
    { id: 'amplification', title: 'Write amplification', unit: 'ratio', definition },
    least ? bytes / least : null,
    list.length ? noVfs : 'no page was written, or the page size is not known',
  );
}

function rereads({ pages: list }: Known<typeof NEEDS>, noVfs: string): HeadlineNumber {
  const [reads, distinct] = [
    list.reduce((n, r) => n + r.reads, 0),
    list.reduce((n, r) => n + r.placesRead, 0),
  ];
  return number(
    {
      id: 'rereads',
      title: 'Reads per page',
      unit: 'ratio',
      definition:
        'Page reads from databases and WALs, checkpoints left out / distinct pages read. 1 = nothing was read twice.',
    },
    distinct ? reads / distinct : null,
    list.length ? 'no page was read' : noVfs,
  );
}
