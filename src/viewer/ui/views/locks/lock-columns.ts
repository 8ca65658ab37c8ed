/** The Locks view's words: kinds of locks, columns of its tables, and what a span says of itself. */
import { STUCK_US } from '../../../../analysis/locks/wait-graph.ts';
import { modeText, type ResourceKind } from '../../../../analysis/locks/lock-columns.ts';
import type { WaitArrow } from '../../../../analysis/contention/wait-arrows.ts';
import {
  busyColumns,
  deadlockColumns,
  leftColumns,
  LOCK_HELP,
  waitColumns,
} from '../../../../analysis/contention/table.ts';
import { col } from '../../../../analysis/core/table.ts';
import { viewColumns, type Column } from '../../parts/columns.ts';
import { formatCount, formatDuration, formatMoment } from '../../../../text/numbers.ts';
import type { LockLane, LockTrack } from '../../../../protocol/answers/lock-lanes.ts';

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
interface LockTable {
  id: TableId;
  title: string;
  help: string;
  /** Why it has no rows. */
  empty: string;
}
export const TABLES: readonly LockTable[] = [
  {
    id: 'graph',
    title: 'Waits by thread',
    help: 'All waits of one thread for another together',
    empty: 'No thread waited for another. Record all tabs of the origin to see waits between tabs.',
  },
  {
    id: 'waits',
    title: 'Waits',
    help: LOCK_HELP.waits,
    empty:
      'No waits: no request met a lock that a recorded thread held. Record all tabs of the origin to see waits between tabs.',
  },
  {
    id: 'busy',
    title: 'SQLITE_BUSY',
    help: LOCK_HELP.busy,
    empty: 'No SQLITE_BUSY: every lock that a connection asked for was granted at once.',
  },
  {
    id: 'left',
    title: 'Not released',
    help: LOCK_HELP.left,
    empty: 'Every thread that ended had released its locks.',
  },
  {
    id: 'deadlocks',
    title: 'Possible deadlocks',
    help: LOCK_HELP.deadlocks,
    empty: `No threads waited for each other, and no wait took ${formatDuration(STUCK_US)} or more.`,
  },
];

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

const kind = { value: (row: { kind: ResourceKind }) => KINDS[row.kind].title, width: '96px' };
const name = { none: 'unnamed', width: '1fr' };
const title = { value: (row: { threadTitle: string }) => row.threadTitle, width: '190px' };

export const WAIT_COLUMNS = viewColumns(waitColumns, {
  ts: '104px',
  dur: '84px',
  sql_dur: '84px',
  thread: { value: (w) => w.waiterTitle, width: '170px' },
  holder: { value: (w) => w.holderTitle, width: '170px' },
  kind,
  name,
  asked: '88px',
  held: '88px',
  held_dur: '84px',
  holds: '62px',
  outcome: '92px',
});
export const arrowKey = ({ waiter, holder }: Pick<WaitArrow, 'waiter' | 'holder'>): string =>
  `${waiter}:${holder ?? ''}`;
export const holderTitle = (
  titles: readonly string[],
  { holder }: Pick<WaitArrow, 'holder'>,
): string => (holder === null ? 'Holder not recorded' : titles[holder]!);
const arrow = col<WaitArrow>;
export const arrowColumns = (titles: readonly string[]): readonly Column<WaitArrow>[] =>
  viewColumns(
    {
      waiter: arrow('text', 'Who waited', 'Thread that waited', (a) => titles[a.waiter]!),
      holder: arrow('text', 'For whom', 'Thread that held it', (a) => holderTitle(titles, a)),
      waits: arrow('count', 'Waits', 'Waits in which this holder was in the way', (a) => a.waits),
      waitedUs: arrow(
        'us',
        'Waited',
        'Sum of all of them; waits at the same time count each',
        (a) => a.waitedUs,
      ),
      longestUs: arrow('us', 'Longest', 'The longest of them', (a) => a.longestUs),
      names: arrow('code', 'For', 'What was waited for, the longest waits first', (a) =>
        a.names.join(', '),
      ),
    },
    {
      waiter: '1fr',
      holder: '1fr',
      waits: '72px',
      waitedUs: '84px',
      longestUs: '84px',
      names: '1fr',
    },
  );
export const BUSY_COLUMNS = viewColumns(busyColumns, {
  ts: '104px',
  dur: '84px',
  thread: title,
  path: '1fr',
  level: '92px',
  refusals: '72px',
  steps: '62px',
  codes: '150px',
  outcome: '80px',
});
export const LEFT_COLUMNS = viewColumns(leftColumns, {
  ts: '104px',
  end_ts: '104px',
  thread: title,
  kind,
  name,
  mode: '88px',
  reason: '110px',
  later_waits: '88px',
});
export const DEADLOCK_COLUMNS = viewColumns(deadlockColumns, {
  ts: '104px',
  dur: '84px',
  what: '84px',
  threads: '1fr',
  names: '1fr',
  holder_calls: '104px',
  holder_idle_dur: '84px',
});
