/** The columns and texts of the table of checkpoints. */
import { checkpointColumns, type CheckpointLine } from '../../../../analysis/wal/table.ts';
import { viewColumns, type Column } from '../../parts/columns.ts';
import { partWords, type Segment } from '../../parts/segments.ts';
import { countOf, formatCount } from '../../../../text/numbers.ts';

export const checkpointKey = ({ thread, seq }: CheckpointLine): string => `${thread}:${seq}`;
export const checkpointSegments = ({ time }: CheckpointLine): Segment[] => [
  { ...partWords('Read', '--activity-read', 'reading frames of the log'), us: time.readUs },
  { ...partWords('Write', '--activity-write', 'writing pages of the database'), us: time.writeUs },
  {
    ...partWords('Sync', '--activity-sync', 'waiting until log and database are durable'),
    us: time.syncUs,
  },
  { ...partWords('Other', '--activity-cpu', 'CPU and other calls'), us: time.otherUs },
];

/** Why it isn't known which pages are in the log; '' if it is. */
function whyNot({ framesInLog, pagesInLog }: LogNumbers): string {
  if (framesInLog === null) return ' (frame headers were not decoded)';
  return pagesInLog === null ? ' (the log holds frames from before the recording)' : '';
}
type LogNumbers = Pick<
  CheckpointLine,
  'framesInLog' | 'pagesInLog' | 'supersededFrames' | 'pagesLeft'
>;

/** What was in the log when a checkpoint started. */
export const inLogText = (c: LogNumbers): string =>
  `${countOf(c.framesInLog, 'frame')} of ${countOf(c.pagesInLog, 'page')}, ${formatCount(c.supersededFrames)} superseded${whyNot(c)}`;
/** What a checkpoint left in the log. */
export const pagesLeftText = (c: LogNumbers): string =>
  `${countOf(c.pagesLeft, 'page')}${c.pagesLeft === null ? whyNot(c) : ''}`;

const BAR: Column<CheckpointLine> = {
  key: 'time',
  title: 'Where it went',
  definition: 'Read, write, sync, other',
  value: (c) => c.toUs - c.fromUs,
  width: '120px',
};
export const COLUMNS: readonly Column<CheckpointLine>[] = [
  ...viewColumns(checkpointColumns, {
    ts: {},
    trigger: {},
    mode: {},
    dur: {},
  }),
  BAR,
  ...viewColumns(checkpointColumns, {
    frames: {},
    pages: {},
    runs: {},
    wal_reads: {},
    writes: {},
    write_bytes: {},
    syncs: { text: (c) => `${c.walSyncs} + ${c.dbSyncs}` },
    hot_reads: {},
    pages_left: {},
    busy: {},
    statement: 'minmax(110px, 1fr)',
  }),
];
