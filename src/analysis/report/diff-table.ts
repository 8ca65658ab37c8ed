/** The tables of a diff: the Compare view and `vfscope diff` draw them. */
import { col, type Column, type Columns } from '../core/table.ts';
import { formatDuration, formatExact, formatSigned } from '../../text/numbers.ts';
import type { FindingDiff } from '../findings/finding-diff.ts';
import type { NumberRow, StatementDiff, Verdict } from './diff.ts';

const VERDICTS: Record<Verdict, string> = {
  same: 'Equal',
  changed: 'Different, by more than its own spread',
  noise: 'Different, within the spread of its own runs',
  unknown: 'Not comparable: a single reading of a time, too few runs, or not known on one side',
  'only a': 'Only in A',
  'only b': 'Only in B',
};
const VERDICT_HELP = Object.entries(VERDICTS)
  .map(([name, means]) => `${name}: ${means}`)
  .join('\n');
const verdict = <Row>(title: string, of: (row: Row) => Verdict): Column<Row> =>
  col('text', title, VERDICT_HELP, (r) => of(r).replace(/ (a|b)$/, (s) => s.toUpperCase()));
/** Worth a look: neither equal nor noise. */
export const differs = ({ verdict: v }: { verdict: Verdict }): boolean =>
  v !== 'same' && v !== 'noise';

/** B / A; null where A is 0 or one is not known. */
export const ratio = (a: number | null, b: number | null): number | null =>
  a === null || b === null || a === 0 ? null : b / a;

const ofKind = ({ kind }: NumberRow): ((n: number | null) => string) =>
  kind === 'time' ? formatDuration : formatExact;

export const numberDiffColumns = {
  path: col('code', 'Number', 'By its path in vfscope summary --json', (r) => r.path),
  a: { ...col('number', 'A', '', (r) => r.a), text: (r) => ofKind(r)(r.a) },
  b: { ...col('number', 'B', '', (r) => r.b), text: (r) => ofKind(r)(r.b) },
  ratio: col('number', 'B / A', 'n/a where A is 0 or not known', (r) => ratio(r.a, r.b)),
  delta: {
    ...col('number', 'B - A', 'n/a where one is not known', (r) => r.delta),
    text: (r) => formatSigned(r.delta, ofKind(r)),
  },
  verdict: verdict('Verdict', (r) => r.verdict),
} satisfies Columns<NumberRow>;

const SPREAD =
  "Differences of the medians up to this are noise: from the spread of its own runs and the clock's step. n/a with fewer than 3 runs.";
type Counted = keyof StatementDiff['counts'];
const counts = (title: string, name: Counted): Column<StatementDiff> =>
  col('text', title, 'Sums over all runs: A > B, or one number where they are equal', (r) => {
    const { a, b } = r.counts[name];
    return a === b ? formatExact(a) : `${formatExact(a)} > ${formatExact(b)}`;
  });

export const statementDiffColumns = {
  fingerprint: col('code', 'Statement', '', (r) => r.fingerprint || null),
  runsA: col('count', 'Runs A', '', (r) => r.executionsA),
  runsB: col('count', 'Runs B', '', (r) => r.executionsB),
  vfs: counts('VFS calls', 'vfs'),
  syncs: counts('Syncs', 'syncs'),
  writeBytes: counts('Bytes written', 'writeBytes'),
  a: col('us', 'Median A', '', (r) => r.time.a),
  b: col('us', 'Median B', '', (r) => r.time.b),
  spread: col('us', 'Spread', SPREAD, (r) => r.time.spreadUs),
  total: {
    ...col('us', 'B - A', 'Difference of the sums over all runs', (r) => totalDelta(r)),
    text: (r) => formatSigned(totalDelta(r), formatDuration),
  },
  countsVerdict: verdict('Counts', (r) => r.countsVerdict),
  timeVerdict: verdict('Time', (r) => r.time.verdict),
  verdict: verdict('Verdict', (r) => r.verdict),
} satisfies Columns<StatementDiff>;
const totalDelta = ({ time }: StatementDiff): number => time.totalB - time.totalA;

const saved = (title: string, side: 'a' | 'b', key: 'savingUsA' | 'savingUsB') => ({
  ...col<FindingDiff>(
    'us',
    title,
    `Estimate of what fixing it saves in ${side.toUpperCase()}; –: this trace doesn't have it`,
    (r) => r[key],
  ),
  text: (r: FindingDiff) => (r[side].length === 0 ? '–' : formatDuration(r[key])),
});
export const findingDiffColumns = {
  rule: col('text', 'Rule', '', (r) => r.rule),
  title: col('text', 'Finding', '', (r) => r.title),
  a: saved('Saves A', 'a', 'savingUsA'),
  b: saved('Saves B', 'b', 'savingUsB'),
  verdict: col('text', 'Verdict', 'solved: only A has it\nnew: only B has it', (r) => r.verdict),
} satisfies Columns<FindingDiff>;
