/** The live strip: each number's name, its definition (shown on hover), and why it is unknown where it is. */
import type { LiveStats, ThreadRow } from '../../protocol/session.ts';
import { formatCount, formatShare, formatShortCount } from '../../text/numbers.ts';

interface Metric {
  /** `live-<id>` is the element's test id. */
  id: string;
  label: string;
  definition: string;
  value: string;
  /** Unknown: the cause, shown with the definition. */
  unknown: string | null;
  /** Something is wrong when this is not zero. */
  alert: boolean;
}

const noRecording = 'nothing is recorded yet';

function known(
  value: number | null,
  format: (n: number) => string,
  cause: string,
): Pick<Metric, 'value' | 'unknown'> {
  return value === null
    ? { value: 'n/a', unknown: cause }
    : { value: format(value), unknown: null };
}

/** A flight recorder's total since the beginning; every other number is of what is kept. */
function seenMetric({ seen }: LiveStats): Metric {
  return {
    id: 'seen',
    label: 'Seen',
    alert: false,
    value: formatShortCount(seen),
    unknown: null,
    definition: `Calls recorded since the beginning: ${formatCount(seen)}. The older ones are forgotten; the other numbers are of what is kept.`,
  };
}

/** @param stats null before the session has spoken */
export function metricsOf(stats: LiveStats | null, threads: readonly ThreadRow[]): Metric[] {
  const empty = !stats || stats.threads === 0;
  const engines = threads.flatMap((t) => t.engines);
  const count = (n: number | null | undefined): Pick<Metric, 'value' | 'unknown'> =>
    known(empty ? null : (n ?? null), formatShortCount, noRecording);
  // not unknown, only not yet: shown as an ellipsis
  const computing = (
    metric: Pick<Metric, 'value' | 'unknown'>,
  ): Pick<Metric, 'value' | 'unknown'> =>
    !empty && stats.computing ? { value: '…', unknown: null } : metric;
  const noSql = empty ? noRecording : 'no SQL and no VFS call has been seen';
  const noVfs = empty ? noRecording : 'no VFS call is recorded, and a commit is told by VFS calls';
  const noCounters = empty
    ? noRecording
    : engines.some((e) => e.layers.counters)
      ? 'no statement has ended yet, or but one of each connection that was opened before the recording'
      : engines.length
        ? engines.every((e) => e.layers.sql)
          ? `${engines[0]!.name} does not export sqlite3_db_status`
          : 'they are read after statements, which are not recorded'
        : 'no SQLite engine has been seen';
  return [
    {
      id: 'events',
      label: stats?.recording ? 'Events/s' : 'Events',
      alert: false,
      definition: `Calls recorded${stats ? `: ${formatCount(stats.events)} ${stats.flight ? 'kept' : 'so far'}` : ''}, on all threads and layers. While recording: over the last second.`,
      ...count(stats?.recording ? stats.eventsPerSecond : stats?.events),
    },
    ...(stats?.flight ? [seenMetric(stats)] : []),
    {
      id: 'reads',
      label: 'Reads',
      alert: false,
      definition:
        'xRead calls of SQLite on files. On threads whose VFS is not recorded: reads of IndexedDB, OPFS and localStorage.',
      ...count(stats?.reads),
    },
    {
      id: 'writes',
      label: 'Writes',
      alert: false,
      definition:
        'xWrite calls of SQLite on files. On threads whose VFS is not recorded: writes to IndexedDB, OPFS and localStorage.',
      ...count(stats?.writes),
    },
    {
      id: 'syncs',
      label: 'Syncs',
      alert: false,
      definition:
        'xSync calls of SQLite. On threads whose VFS is not recorded: OPFS flushes and writable streams closed.',
      ...count(stats?.syncs),
    },
    {
      id: 'commits',
      label: 'Commits',
      alert: false,
      definition:
        'What made a transaction durable: the journal deleted, truncated or its header zeroed, a WAL commit frame, COMMIT_ATOMIC_WRITE, or with no journal the last database write before the unlock.',
      ...computing(known(empty ? null : stats.commits, formatShortCount, noVfs)),
    },
    {
      id: 'lock-waits',
      label: 'Lock waits',
      alert: false,
      definition:
        'xLock calls answered SQLITE_BUSY, and Web Locks granted more than 1 ms after they were asked for.',
      ...computing(count(stats?.lockWaits)),
    },
    {
      id: 'io-share',
      label: 'I/O share',
      alert: false,
      definition:
        'Share of the time with SQL in flight in which a call of the browser’s storage (IndexedDB, OPFS, localStorage) was under way. A VFS’s own code counts as CPU.',
      ...computing(
        known(
          empty ? null : stats.ioShare,
          formatShare,
          empty ? noSql : `${noSql}, or the recording leaves storage calls out`,
        ),
      ),
    },
    {
      id: 'cache-hit',
      label: 'Cache hits',
      alert: false,
      definition:
        'Page requests that SQLite’s page cache answered without a VFS call, from the engine’s own counters.',
      ...known(empty ? null : stats.cacheHitRate, formatShare, noCounters),
    },
    {
      id: 'dropped',
      label: 'Dropped',
      alert: (stats?.dropped ?? 0) > 0,
      definition: `Records that found no room in a thread’s buffer or got lost on the way here${stats ? `: ${formatCount(stats.dropped)}` : ''}. Their calls ran as usual.`,
      ...count(stats?.dropped),
    },
    {
      id: 'cost',
      label: 'Tracer',
      alert: false,
      definition:
        'The tracer’s own time per recorded call, measured on each thread when its recording began.',
      ...known(
        empty ? null : stats.costNsPerEvent,
        (ns) => `${formatCount(ns)} ns/event`,
        empty ? noRecording : 'no thread has measured it yet',
      ),
    },
  ];
}
