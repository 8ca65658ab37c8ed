/** The table `reports`: one row for each page life, from a field report or a trace. */
import { col, type Columns } from '../analysis/core/table.ts';
import { browserName } from '../text/browser.ts';

/** Given when a trace or a report is added. */
export type Labels = Readonly<Record<string, string>>;

export interface Life {
  source: 'field' | 'trace';
  atMs: number;
  durationUs: number;
  /** How many page lives it represents. */
  weight: number;
  labels: Labels;
  origin: string | null;
  agent: string | null;
  engine: string | null;
  sqliteVersion: string | null;
  vfsClass: string | null;
  statements: number | null;
  failed: number | null;
  syncs: number | null;
  lockWaits: number | null;
  lockWaitUs: number | null;
  busy: number | null;
  /** Id of its trace. */
  example: string | null;
}

/** Labels for comparing reports. `labels` has all of them. */
const label = (name: string, title: string, what: string) =>
  col('text', title, `${what}: the label "${name}"`, ({ labels }: { labels: Labels }) =>
    Object.hasOwn(labels, name) ? labels[name]! : null,
  );

/** Columns of both `reports` and `traces`. */
export const labelColumns = {
  release: label('release', 'Release', 'Of the app'),
  device: label('device', 'Device', 'Class of the device'),
  labels: col('text', 'Labels', 'All labels, as a JSON object', ({ labels }) =>
    JSON.stringify(Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)))),
  ),
} satisfies Columns<{ labels: Labels }>;

export const VFS_CLASS =
  'What the VFS does to storage, whatever name the app gave it: the VFS of the Lab that stores data the same way, or "like" the nearest one; of a report, "stores in" and the APIs: opfs, idb, idb+opfs, or memory';

export const lifeColumns = {
  source: col('text', 'Source', 'field: a report; trace: a recording', (l) => l.source),
  at_ms: col('number', 'At', 'When it began, ms since the epoch', (l) => l.atMs),
  duration: col('us', 'Duration', 'How long it was observed', (l) => l.durationUs),
  weight: col(
    'number',
    'Weight',
    'Number of page lives that it represents: 1 / the sampling rate; 0: a trace whose report is here, too',
    (l) => l.weight,
  ),
  ...labelColumns,
  origin: col('text', 'Origin', 'Of the page', (l) => l.origin),
  user_agent: col('text', 'User agent', 'As the browser reports it', (l) => l.agent),
  browser: col('text', 'Browser', 'Name and major version, from the user agent', (l) =>
    l.agent === null ? null : browserName(l.agent),
  ),
  engine: col('text', 'Engine', 'SQLite build', (l) => l.engine),
  sqlite_version: col('text', 'SQLite', 'Its version', (l) => l.sqliteVersion),
  vfs_class: col('text', 'VFS class', VFS_CLASS, (l) => l.vfsClass),
  statements: col('count', 'Statements', 'Executions', (l) => l.statements),
  failed: col('count', 'Failed', 'Executions that ended with an error', (l) => l.failed),
  syncs: col(
    'count',
    'Syncs',
    'As in the summary; of a report, OPFS flushes and closed streams, and IndexedDB transactions that write',
    (l) => l.syncs,
  ),
  lock_waits: col(
    'count',
    'Lock waits',
    'Waits for locks of 10 ms or more; of a trace, also shorter ones where a recorded thread held the lock, or SQLite answered SQLITE_BUSY; of a report, for Web Locks alone',
    (l) => l.lockWaits,
  ),
  lock_wait: col('us', 'Lock wait', 'Sum of their durations', (l) => l.lockWaitUs),
  busy: col('count', 'Busy', 'Answers of SQLITE_BUSY that reached the app', (l) => l.busy),
  example: col('text', 'Example', 'Id of a trace that shows it', (l) => l.example),
} satisfies Columns<Life>;
