/** The table of findings. */
import { col, rowsIn, table, type Columns } from '../core/table.ts';
import type { Finding } from '../rules/types.ts';
import { findings } from './index.ts';

const findingRows = rowsIn('findingRows', findings, (all) => all);

export const findingColumns = {
  rule: col('text', 'Rule', 'Its rule, such as F01', (f) => f.rule),
  title: col('text', 'Finding', 'One sentence with the numbers', (f) => f.title),
  confidence: col('text', 'Confidence', 'certain, likely, or possible', (f) => f.confidence),
  count: col(
    'count',
    'Count',
    'How often it was seen: calls, transactions, or chains, as the sentence says',
    (f) => f.evidence.count,
  ),
  bytes: col(
    'bytes',
    'Bytes',
    'That those calls moved; null where they move none',
    (f) => f.evidence.bytes,
  ),
  time_share: col(
    'share',
    '% of time',
    'Time of those calls / length of the recording',
    (f) => f.evidence.timeShare,
  ),
  saving: col(
    'us',
    'Saving',
    "Estimate of the time that following the advice saves. Savings overlap: don't add them up. null: cannot be computed",
    (f) => f.savingUs,
  ),
  ts: col('moment', 'Begin', 'Of the first of those calls', (f) => moment(f.evidence.fromUs)),
  end_ts: col('moment', 'End', 'Of the last of those calls', (f) => moment(f.evidence.toUs)),
  advice: col('text', 'Advice', 'What to do, one sentence', (f) => f.advice),
  fingerprint: col(
    'code',
    'Statement',
    'The statement whose query plan shows why; null where none does',
    (f) => f.statement ?? null,
  ),
} satisfies Columns<Finding>;

/** A finding without calls has no time. */
const moment = (us: number): number | null => (Number.isFinite(us) ? us : null);

export const findingTables = [
  table('findings', 'What to change, the largest saving first', findingRows, findingColumns),
];
