/** The Locks view's words: kinds of locks, columns of its tables, and what a span says of itself. */
import { modeText, type ResourceKind } from '../../../../analysis/locks/lock-columns.ts';
import type { WaitArrow } from '../../../../analysis/locks/wait-arrows.ts';
import type { Column } from '../../parts/columns.ts';
import { formatCount, formatDuration, formatMoment } from '../../../../text/numbers.ts';
import type { BusyLine, DeadlockLine, LeftLine, WaitLine } from '../../../session/queries/locks.ts';
import type { LockLane, LockTrack } from '../../../session/queries/lock-lanes.ts';

export const KINDS: Readonly<Record<ResourceKind, { title: string; meaning: string }>> = {
  sqlite: {
    title: 'SQLite',
    meaning: 'xLock and xUnlock of a database file: SHARED, RESERVED, PENDING, EXCLUSIVE',
  },
  'web-lock': { title: 'Web Lock', meaning: 'navigator.locks.request' },
  'access-handle': {
    title: 'Access handle',
    meaning: 'An OPFS file open for synchronous access: one at a time in mode readwrite',
  },
  idb: {
    title: 'IndexedDB',
    meaning: 'A transaction holds its stores from its call to its completion',
  },
};
const OUTCOME_WORDS = [
  ['given back', 'granted'],
  ['given back', 'refused'],
  ['still held', 'still waiting'],
] as const;

export type TableId = 'waits' | 'graph' | 'busy' | 'left' | 'deadlocks';
export const TABLES: readonly { id: TableId; title: string; help: string }[] = [
  { id: 'waits', title: 'Waits', help: 'Who waited for whom, wait by wait' },
  {
    id: 'graph',
    title: 'Who waits for whom',
    help: 'All waits between two threads together, as a graph',
  },
  {
    id: 'busy',
    title: 'SQLITE_BUSY',
    help: 'Refusals of one connection, tried again until granted or given up',
  },
  { id: 'left', title: 'Left behind', help: 'Locks that a thread never gave back before it ended' },
  {
    id: 'deadlocks',
    title: 'Deadlock-like',
    help: 'Cycles of threads that wait for one another, and long waits',
  },
];

/** Why a table has no rows. */
export const EMPTY: Readonly<Record<TableId, string>> = {
  waits:
    'Nobody waited: no request met a lock that a recorded thread held. Record all tabs of the origin to see waits between tabs.',
  graph: 'No thread waited for another. Record all tabs of the origin to see waits between tabs.',
  busy: 'No SQLITE_BUSY: every lock that a connection asked for was granted at once.',
  left: 'Nothing was left behind: every thread that ended had given its locks back.',
  deadlocks: 'No threads that wait for one another, and no wait of two seconds or more.',
};

/** What a span is, for its tooltip. */
export function spanText({ kind }: Pick<LockLane, 'kind'>, track: LockTrack, i: number): string {
  const wait = track.wait[i] === 1;
  const count = track.count[i]!;
  const [from, to] = [track.from[i]!, track.to[i]!];
  const mode = modeText(kind, track.mode[i]!);
  const times = `${formatDuration(to - from)} from ${formatMoment(from)}`;
  if (count > 1)
    return `${formatCount(count)} ${wait ? 'waits' : 'holds'}, up to ${mode}, ${formatDuration(track.covered[i]!)} in ${times}`;
  return `${wait ? 'waits for' : 'holds'} ${mode}, ${times}, ${OUTCOME_WORDS[track.outcome[i]!]?.[wait ? 1 : 0] ?? ''}`;
}

const text = <Row>(
  key: string,
  title: string,
  width: string,
  value: (row: Row) => string | null,
  more: Partial<Column<Row>> = {},
): Column<Row> => ({
  key,
  title,
  width,
  value,
  ...more,
});
const moment = <Row>(key: string, title: string, us: (row: Row) => number): Column<Row> => ({
  key,
  title,
  numeric: true,
  width: '104px',
  value: us,
  text: (row) => formatMoment(us(row)),
});
const duration = <Row>(
  key: string,
  title: string,
  us: (row: Row) => number | null,
  definition: string,
): Column<Row> => ({
  key,
  title,
  definition,
  numeric: true,
  width: '84px',
  value: us,
  text: (row) => {
    const value = us(row);
    return formatDuration(value);
  },
});
const count = <Row>(
  key: string,
  title: string,
  n: (row: Row) => number | null,
  definition: string,
  width = '72px',
): Column<Row> => ({
  key,
  title,
  definition,
  numeric: true,
  width,
  value: n,
  text: (row) => {
    const value = n(row);
    return formatCount(value);
  },
});
const kind = <Row extends { kind: ResourceKind }>(): Column<Row> =>
  text('kind', 'Kind', '96px', (row) => KINDS[row.kind].title);
const name = <Row extends { name: string }>(title = 'Lock'): Column<Row> =>
  text('name', title, '1fr', (row) => row.name || 'unnamed', { mono: true });

export const WAIT_COLUMNS: readonly Column<WaitLine>[] = [
  moment('fromUs', 'Begin', (w) => w.fromUs),
  duration(
    'duration',
    'Waited',
    (w) => w.toUs - w.fromUs,
    'While this holder was in its way; a refused request is one moment',
  ),
  text('waiterTitle', 'Who waited', '170px', (w) => w.waiterTitle),
  text('holderTitle', 'For whom', '170px', (w) => w.holderTitle, {
    definition:
      'Thread that held it; n/a: nobody recorded did, another tab or browser process may have',
  }),
  kind(),
  name(),
  text('asked', 'Asked for', '88px', (w) => w.asked),
  text('held', 'Held', '88px', (w) => w.held, {
    definition: 'The holder’s strongest mode meanwhile',
  }),
  duration('heldUs', 'Held for', (w) => w.heldUs, 'How much of the wait the holder held it'),
  count('holds', 'Holds', (w) => w.holds, 'How often the holder took it meanwhile', '62px'),
  text('outcome', 'Outcome', '92px', (w) => w.outcome),
];
export const arrowColumns = (titles: readonly string[]): readonly Column<WaitArrow>[] => [
  text('waiter', 'Who waited', '1fr', (a) => titles[a.waiter] ?? ''),
  text('holder', 'For whom', '1fr', (a) => titles[a.holder] ?? ''),
  count('waits', 'Waits', (a) => a.waits, 'Waits in which this holder was in the way'),
  duration(
    'waitedUs',
    'Waited',
    (a) => a.waitedUs,
    'Sum of all of them; waits at the same time count each',
  ),
  duration('longestUs', 'Longest', (a) => a.longestUs, 'The longest of them'),
  text('names', 'For', '1fr', (a) => a.names.join(', '), {
    mono: true,
    definition: 'What was waited for, the longest waits first',
  }),
];
export const BUSY_COLUMNS: readonly Column<BusyLine>[] = [
  moment('fromUs', 'Begin', (b) => b.fromUs),
  duration(
    'duration',
    'Lasted',
    (b) => b.toUs - b.fromUs,
    'From the first refusal to the grant or the last refusal',
  ),
  text('threadTitle', 'Thread', '190px', (b) => b.threadTitle),
  text('path', 'Database', '1fr', (b) => b.path || null, { mono: true }),
  text('level', 'Asked for', '92px', (b) => b.level, {
    definition: 'Lock level; n/a: only the statement’s answer was seen',
  }),
  count('refusals', 'Refusals', (b) => b.refusals, 'xLock calls that were refused'),
  count('steps', 'Steps', (b) => b.steps, 'Answers of SQLITE_BUSY that reached the app', '62px'),
  text('codes', 'Codes', '150px', (b) => b.codes.join(', '), {
    definition: 'Result codes as they came, extended ones included',
  }),
  text('granted', 'Outcome', '80px', (b) => (b.granted ? 'granted' : 'given up')),
];
export const LEFT_COLUMNS: readonly Column<LeftLine>[] = [
  moment('sinceUs', 'Held since', (l) => l.sinceUs),
  moment('endUs', 'Thread ended', (l) => l.endUs),
  text('threadTitle', 'Thread', '190px', (l) => l.threadTitle),
  kind(),
  name(),
  text('mode', 'Mode', '88px', (l) => l.mode),
  text('reason', 'Why it ended', '110px', (l) => l.reason),
  count(
    'laterWaits',
    'Later waits',
    (l) => l.laterWaits,
    'Waits of others for it that went on after the thread had ended',
    '88px',
  ),
];
export const DEADLOCK_COLUMNS: readonly Column<DeadlockLine>[] = [
  moment('fromUs', 'Begin', (d) => d.fromUs),
  duration('duration', 'Lasted', (d) => d.toUs - d.fromUs, 'While all of them waited'),
  text('what', 'What', '84px', (d) => d.what, {
    definition: 'A cycle: each waits for the next. A long wait: two seconds or more',
  }),
  text('threads', 'Threads', '1fr', (d) =>
    [...d.threads, ...(d.what === 'cycle' ? d.threads.slice(0, 1) : [])].join(' → '),
  ),
  text('names', 'Locks', '1fr', (d) => d.names.join(', '), { mono: true }),
  count(
    'holderCalls',
    'Holder’s calls',
    (d) => d.holderCalls,
    'SQL, VFS and storage calls that the holder began meanwhile',
    '104px',
  ),
  duration(
    'holderIdleUs',
    'Holder idle',
    (d) => d.holderIdleUs,
    'From the end of the holder’s last call to the end of the wait',
  ),
];
