/** Texts of the Locks view: kinds of locks, columns of its tables, and tooltips of spans. */
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
  ['released', 'granted'],
  ['released', 'refused'],
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

/** A span's tooltip. */
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

const kind = { value: (row: { kind: ResourceKind }) => KINDS[row.kind].title };
const name = { none: 'unnamed', width: 'minmax(90px, 1fr)' };
/** For threads: uses the available width, with a minimum that keeps names distinguishable. */
const THREAD = 'minmax(96px, 180px)';
const title = { value: (row: { threadTitle: string }) => row.threadTitle, width: THREAD };

export const WAIT_COLUMNS = viewColumns(waitColumns, {
  ts: {},
  dur: {},
  thread: { value: (w) => w.waiterTitle, width: THREAD },
  holder: { value: (w) => w.holderTitle, width: THREAD },
  name,
  sql_dur: {},
  kind,
  asked: {},
  held: {},
  held_dur: {},
  holds: {},
  outcome: {},
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
      waiter: 'minmax(96px, 1fr)',
      holder: 'minmax(96px, 1fr)',
      waits: {},
      waitedUs: {},
      longestUs: {},
      names: 'minmax(96px, 1fr)',
    },
  );
export const BUSY_COLUMNS = viewColumns(busyColumns, {
  ts: {},
  dur: {},
  thread: title,
  path: 'minmax(90px, 1fr)',
  level: {},
  refusals: {},
  steps: {},
  codes: {},
  outcome: {},
});
export const LEFT_COLUMNS = viewColumns(leftColumns, {
  ts: {},
  end_ts: {},
  thread: title,
  kind,
  name,
  mode: {},
  reason: {},
  later_waits: {},
});
export const DEADLOCK_COLUMNS = viewColumns(deadlockColumns, {
  ts: {},
  dur: {},
  what: {},
  threads: 'minmax(110px, 1fr)',
  names: 'minmax(110px, 1fr)',
  holder_calls: {},
  holder_idle_dur: {},
});
