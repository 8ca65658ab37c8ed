/** The columns of the table of checkpoints, and its words. */
import type { Column } from '../../parts/columns.ts';
import type { Segment } from '../../parts/segments.ts';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatMoment,
} from '../../../../text/numbers.ts';
import type { CheckpointLine } from '../../../session/queries/wal.ts';

const NOT_DECODED = 'n/a: frame headers were not decoded';

export const checkpointKey = ({ thread, seq }: CheckpointLine): string => `${thread}:${seq}`;
export const checkpointSegments = ({ time }: CheckpointLine): Segment[] => [
  {
    title: 'Read',
    us: time.readUs,
    color: '--activity-read',
    meaning: 'reading frames of the log',
  },
  {
    title: 'Write',
    us: time.writeUs,
    color: '--activity-write',
    meaning: 'writing pages of the database',
  },
  {
    title: 'Sync',
    us: time.syncUs,
    color: '--activity-sync',
    meaning: 'waiting until log and database are durable',
  },
  { title: 'Other', us: time.otherUs, color: '--activity-cpu', meaning: 'CPU and other calls' },
];

/** Why it is not known which pages are in the log; '' where it is. */
function whyNot({ framesInLog, pagesInLog }: LogNumbers): string {
  if (framesInLog === null) return ' (frame headers were not decoded)';
  return pagesInLog === null ? ' (the log holds frames from before the recording)' : '';
}
type LogNumbers = Pick<
  CheckpointLine,
  'framesInLog' | 'pagesInLog' | 'supersededFrames' | 'pagesLeft'
>;

/** What was in the log when a checkpoint began. */
export const inLogText = (c: LogNumbers): string =>
  `${formatCount(c.framesInLog)} frames of ${formatCount(c.pagesInLog)} pages, ${formatCount(c.supersededFrames)} superseded${whyNot(c)}`;
/** What a checkpoint left in the log. */
export const pagesLeftText = (c: LogNumbers): string =>
  `${formatCount(c.pagesLeft)} pages${c.pagesLeft === null ? whyNot(c) : ''}`;

export const COLUMNS: readonly Column<CheckpointLine>[] = [
  {
    key: 'fromUs',
    title: 'Begin',
    numeric: true,
    value: (c) => c.fromUs,
    text: (c) => formatMoment(c.fromUs),
    width: '104px',
  },
  {
    key: 'trigger',
    title: 'Trigger',
    definition: 'Why it ran: a commit over the limit, a PRAGMA, closing, leaving WAL mode',
    value: (c) => c.trigger,
    width: '122px',
  },
  {
    key: 'mode',
    title: 'Mode',
    definition: 'n/a: the PRAGMA’s argument was a literal, or no text was recorded',
    value: (c) => c.mode,
    width: '80px',
  },
  {
    key: 'duration',
    title: 'Duration',
    numeric: true,
    value: (c) => c.toUs - c.fromUs,
    text: (c) => formatDuration(c.toUs - c.fromUs),
    width: '80px',
  },
  {
    key: 'time',
    title: 'Where it went',
    definition: 'Read, write, sync, other',
    value: (c) => c.toUs - c.fromUs,
    width: '120px',
  },
  {
    key: 'framesInLog',
    title: 'Frames',
    definition: `In the log when it began. ${NOT_DECODED}`,
    numeric: true,
    value: (c) => c.framesInLog,
    text: (c) => formatCount(c.framesInLog),
    width: '66px',
  },
  {
    key: 'pages',
    title: 'Pages',
    definition: 'Distinct pages written to the database',
    numeric: true,
    value: (c) => c.pages,
    text: (c) => formatCount(c.pages),
    width: '62px',
  },
  {
    key: 'runs',
    title: 'Runs',
    definition: 'Writes to places right behind one another: as many writes as it could have been',
    numeric: true,
    value: (c) => c.runs,
    text: (c) => formatCount(c.runs),
    width: '56px',
  },
  {
    key: 'walReads',
    title: 'Log reads',
    numeric: true,
    definition: 'Reads of the log',
    value: (c) => c.walReads,
    text: (c) => formatCount(c.walReads),
    width: '84px',
  },
  {
    key: 'dbWrites',
    title: 'Writes',
    numeric: true,
    definition: 'Writes to the database',
    value: (c) => c.dbWrites,
    text: (c) => formatCount(c.dbWrites),
    width: '62px',
  },
  {
    key: 'dbBytes',
    title: 'Bytes',
    numeric: true,
    definition: 'Written to the database',
    value: (c) => c.dbBytes,
    text: (c) => formatBytes(c.dbBytes),
    width: '78px',
  },
  {
    key: 'syncs',
    title: 'Syncs',
    numeric: true,
    definition: 'Of the log and of the database',
    value: (c) => c.walSyncs + c.dbSyncs,
    text: (c) => `${c.walSyncs} + ${c.dbSyncs}`,
    width: '60px',
  },
  {
    key: 'hotReads',
    title: 'Hot reads',
    numeric: true,
    definition: `Pages read from the log less than 100 ms after they were written: likely in SQLite's page cache still. ${NOT_DECODED}`,
    value: (c) => c.hotReads,
    text: (c) => formatCount(c.hotReads),
    width: '78px',
  },
  {
    key: 'pagesLeft',
    title: 'Left',
    numeric: true,
    definition: `Pages in the log that are in the database yet in no checkpoint. ${NOT_DECODED}, or the log holds frames from before the recording`,
    value: (c) => c.pagesLeft,
    text: (c) => formatCount(c.pagesLeft),
    width: '60px',
  },
  {
    key: 'busy',
    title: 'Busy',
    numeric: true,
    definition: 'SQLITE_BUSY answers meanwhile',
    value: (c) => c.busy,
    text: (c) => formatCount(c.busy),
    width: '54px',
  },
  {
    key: 'statement',
    title: 'Paid by',
    definition: 'The statement that it ran in',
    value: (c) => c.statement,
    text: (c) => c.statement || 'n/a',
    mono: true,
    width: '1fr',
  },
];
