/**
 * The tables of locks: waits for them, SQLITE_BUSY chains, locks that weren't released, possible
 * deadlocks.
 */
import { STUCK_US } from '../locks/wait-graph.ts';
import { formatDuration } from '../../text/numbers.ts';
import { THREAD } from '../events/table.ts';
import { col, rowsIn, table, type Columns } from '../core/table.ts';
import { lockLines, type BusyLine, type DeadlockLine, type LeftLine } from './lock-lines.ts';
import { waitLines, type WaitLine } from './wait-lines.ts';

/** What the tables show, for views, too. */
export const LOCK_HELP = {
  waits:
    'Waits for locks, one row for each holder: Web Locks, access handles, IndexedDB transactions, SQLITE_BUSY',
  busy: 'SQLITE_BUSY: refusals of one connection, tried again until granted or given up',
  left: 'Locks that a thread did not release before it ended',
  deadlocks: `Threads that wait for each other, and waits of ${formatDuration(STUCK_US)} or more`,
};

const KIND = 'web-lock, access-handle, idb, or sqlite';
const NAME = 'Name of the lock, file, or database';

const waitRows = rowsIn('waitRows', waitLines, (lines) => lines);
const busyRows = rowsIn('busyRows', lockLines, (lines) => lines.busy());
const leftRows = rowsIn('leftRows', lockLines, (lines) => lines.left());
const deadlockRows = rowsIn('deadlockRows', lockLines, (lines) => lines.deadlocks());

export const waitColumns = {
  thread: col('int', 'Who waited', 'Thread that waited', (w) => w.waiter),
  seq: col('id', 'Event', 'The call that asked', (w) => w.event.seq),
  ts: col('moment', 'Begin', 'When it began to wait for this holder', (w) => w.fromUs),
  dur: col(
    'us',
    'Waited',
    'While this holder blocked it; a refused request is one moment',
    (w) => w.toUs - w.fromUs,
  ),
  kind: col('text', 'Kind', KIND, (w) => w.kind),
  name: col('code', 'Lock', NAME, (w) => w.name || null),
  outcome: col('text', 'Outcome', 'granted, refused, or still waiting', (w) => w.outcome),
  holder: col(
    'int',
    'For whom',
    'Thread that held it; n/a: no recorded thread did, another tab or browser process may have',
    (w) => w.holder,
  ),
  asked: col('text', 'Asked for', 'Mode that it asked for', (w) => w.asked),
  held: col('text', 'Held', "The holder's strongest mode during the wait", (w) => w.held),
  held_dur: col('us', 'Held for', 'How much of the wait the holder held it', (w) => w.heldUs),
  holds: col('count', 'Holds', 'How often the holder took it during the wait', (w) => w.holds),
  sqlite_thread: col(
    'int',
    'SQLite thread',
    'Thread of SQLite that waited: its VFS or its storage worker asked. n/a: the app itself asked',
    (w) => w.sqlite,
  ),
  is_held: col(
    'int',
    'Is held',
    '1: a recorded thread held the lock, or SQLITE_BUSY was answered; 0: it took long, and no recorded thread held it',
    (w) => Number(w.isHeld),
  ),
  sql_dur: col(
    'us',
    'Lock wait',
    'How much of the time while SQL ran is this wait. All rows add up to the Lock wait of the Answer',
    (w) => w.whileSqlUs,
  ),
} satisfies Columns<WaitLine>;
const waitTable = table('locks', LOCK_HELP.waits, waitRows, waitColumns);

export const busyColumns = {
  thread: col('int', 'Thread', THREAD, (b) => b.thread),
  seq: col('id', 'Event', 'The first refusal', (b) => b.first.seq),
  ts: col('moment', 'Begin', 'Of the first refusal', (b) => b.fromUs),
  dur: col(
    'us',
    'Lasted',
    'From the first refusal to the grant or the last refusal',
    (b) => b.toUs - b.fromUs,
  ),
  path: col('code', 'Database', 'Path of the database', (b) => b.path || null),
  level: col(
    'text',
    'Asked for',
    "Lock level; n/a: only the statement's answer was seen",
    (b) => b.level,
  ),
  refusals: col('count', 'Refusals', 'xLock calls that were refused', (b) => b.refusals),
  steps: col('count', 'Steps', 'Answers of SQLITE_BUSY that reached the app', (b) => b.steps),
  codes: col('text', 'Codes', 'Result codes as they came, extended ones included', (b) =>
    b.codes.join(', '),
  ),
  outcome: col('text', 'Outcome', 'granted or given up', (b) =>
    b.granted ? 'granted' : 'given up',
  ),
} satisfies Columns<BusyLine>;
const busyTable = table('busy', LOCK_HELP.busy, busyRows, busyColumns);

export const leftColumns = {
  thread: col('int', 'Thread', THREAD, (l) => l.thread),
  seq: col('id', 'Event', 'The call that took it', (l) => l.event.seq),
  ts: col('moment', 'Held since', 'When the lock was taken', (l) => l.sinceUs),
  end_ts: col('moment', 'Thread ended', 'When its thread ended', (l) => l.endUs),
  kind: col('text', 'Kind', KIND, (l) => l.kind),
  name: col('code', 'Lock', NAME, (l) => l.name || null),
  mode: col('text', 'Mode', 'How it was held', (l) => l.mode),
  reason: col('text', 'Why it ended', 'Why the thread ended', (l) => l.reason),
  later_waits: col(
    'count',
    'Later waits',
    'Waits of others for it that went on after the thread had ended',
    (l) => l.laterWaits,
  ),
} satisfies Columns<LeftLine>;
const leftTable = table('left_locks', LOCK_HELP.left, leftRows, leftColumns);

export const deadlockColumns = {
  ts: col('moment', 'Begin', 'When all of them waited', (d) => d.fromUs),
  dur: col('us', 'Lasted', 'While all of them waited', (d) => d.toUs - d.fromUs),
  what: col(
    'text',
    'What',
    `A cycle: each waits for the next. A long wait: ${formatDuration(STUCK_US)} or more`,
    (d) => d.what,
  ),
  threads: col('text', 'Threads', 'The threads that wait for each other', (d) =>
    [...d.threads, ...(d.what === 'cycle' ? d.threads.slice(0, 1) : [])].join(' → '),
  ),
  names: col('code', 'Locks', 'What they wait for', (d) => d.names.join(', ')),
  holder_calls: col(
    'count',
    "Holder's calls",
    "SQL, VFS, and storage calls that the holder's page and its workers began during the wait",
    (d) => d.holderCalls,
  ),
  holder_idle_dur: col(
    'us',
    'Holder idle',
    'From the end of the last such call to the end of the wait',
    (d) => d.holderIdleUs,
  ),
} satisfies Columns<DeadlockLine>;
const deadlockTable = table('deadlocks', LOCK_HELP.deadlocks, deadlockRows, deadlockColumns);

export const contentionTables = [waitTable, busyTable, leftTable, deadlockTable];
