/** The tables of a diff, for the Compare view and `vfscope diff`. */
import { col, type Column, type Columns } from '../core/table.ts';
import {
  countOf,
  formatCount,
  formatDuration,
  formatExact,
  formatMeasured,
  formatNumber,
  formatShare,
  formatSigned,
  UNKNOWN,
} from '../../text/numbers.ts';
import { numberName } from './number-names.ts';
import type { FindingDiff } from '../findings/finding-diff.ts';
import {
  differs,
  isShare,
  movesWhole,
  totalDelta,
  type NumberRow,
  type StatementDiff,
  type TraceDiff,
  type Verdict,
} from './diff.ts';

const VERDICTS: Record<Verdict, string> = {
  same: 'Equal',
  changed:
    'Counts differ, or the total time by more than the spread of its runs, or most runs moved the same way',
  noise: 'The total time differs, within the spread of its runs',
  unknown:
    'Not comparable: a single reading of a time, fewer than 3 runs, n/a on one side, or recorded in different ways',
  'only a': 'Only in A',
  'only b': 'Only in B',
};
const VERDICT_HELP = `${Object.entries(VERDICTS)
  .map(([name, means]) => `${name}: ${means}`)
  .join('\n')}\nEach side is one recording: the spread doesn't cover a machine that was busier.`;
const sided = (verdict: Verdict): string => verdict.replace(/ (a|b)$/, (s) => s.toUpperCase());
const verdict = <Row>(title: string, of: (row: Row) => Verdict): Column<Row> =>
  col('text', title, VERDICT_HELP, (r) => sided(of(r)));

type Directions = readonly [down: string, up: string, equal: string];
const AMOUNT: Directions = ['less', 'more', 'equal'];
const TIME: Directions = ['faster', 'slower', 'as fast'];

/**
 * Direction and size from A to B: `3.19× faster`, `4.2 % more`, `equal`; without a size if one is
 * 0.
 */
export function changeText(a: number | null, b: number | null, words: Directions = AMOUNT): string {
  if (a === null || b === null) return UNKNOWN;
  if (a === b) return words[2];
  const word = words[b < a ? 0 : 1];
  const factor = Math.max(a, b) / Math.min(a, b);
  if (!Number.isFinite(factor)) return word;
  return factor < 1.1
    ? `${formatShare(Math.abs(b - a) / a)} ${word}`
    : `${formatNumber(factor)}× ${word}`;
}
/**
 * The same for shares from 0 to 1, in percentage points, because a percentage of percentages
 * misleads.
 */
export function changeOfShares(a: number | null, b: number | null): string {
  if (a === null || b === null || a === b) return changeText(a, b);
  const points = +(100 * Math.abs(b - a)).toFixed(1);
  const amount = points === 0 ? '<0.1 points' : `${points} ${points === 1 ? 'point' : 'points'}`;
  return `${amount} ${AMOUNT[b < a ? 0 : 1]}`;
}
const fromTo = (a: string, b: string): string => (a === b ? a : `${a} → ${b}`);
/** Without direction and size if that can't be told: other conditions (`unlike`), too few runs. */
function timeChange(
  { totalA, totalB, verdict }: StatementDiff['time'],
  stepUs: TraceDiff['stepUs'],
): string {
  const fromToText = fromTo(formatMeasured(totalA, stepUs.a), formatMeasured(totalB, stepUs.b));
  return verdict === 'unknown' ? fromToText : `${timeWord(totalA, totalB)}: ${fromToText}`;
}
/** `3.19× faster`. Sums in another order differ in the last digit. */
function timeWord(a: number, b: number): string {
  const wholeNs = (us: number): number => Math.round(us * 1e3);
  return changeText(wholeNs(a), wholeNs(b), TIME);
}

const WHOLE: Record<TraceDiff['whole']['verdict'], string> = {
  same: 'Their total is the same.',
  changed: 'The runs of a statement vary by less than this.',
  noise: 'The runs of a statement vary by more than this: noise.',
  unknown: 'Too few runs to tell this from noise.',
};
/** Minimum share of a trace's time in statements of both: below it, a factor would mean little. */
const COMPARABLE = 0.5;
/** `1.01 s → 107 ms (9.44× faster)`, or `10 ms in both` */
function amountChange(a: number, b: number): string {
  const word = timeWord(a, b);
  const [from, to] = [formatDuration(a), formatDuration(b)];
  return word === TIME[2] ? `${from} in both` : `${fromTo(from, to)} (${word})`;
}
/** null if one isn't known. */
const inSqlLine = ({ inSqlUs: { a, b } }: TraceDiff): string | null =>
  a === null || b === null ? null : `Time in SQL: ${amountChange(a, b)}`;
/** The result of a comparison. Its first line gives direction and size. */
export function verdictLines(diff: TraceDiff): string[] {
  const { whole, statements, unlike } = diff;
  if (statements.length === 0) return ['No statement is recorded in A or B.'];
  const { totalA, totalB, onlyA, onlyB } = whole;
  const of = (us: number): string => formatDuration(us);
  const isOnly = (side: 'A' | 'B'): boolean =>
    statements.every((row) => sided(row.verdict) === `only ${side}`);
  if (isOnly('A')) return [`Only A has statements: ${of(onlyA)}`];
  if (isOnly('B')) return [`Only B has statements: ${of(onlyB)}`];
  if (unlike !== null)
    return [unlike, `A spent ${of(totalA + onlyA)} in all statements, B ${of(totalB + onlyB)}.`];
  const inSql = inSqlLine(diff);
  const isOwn = onlyA + onlyB > 0;
  const ownLines = isOwn
    ? [`Statements only in A: ${of(onlyA)}. Statements only in B: ${of(onlyB)}.`]
    : [];
  if (statements.every((row) => row.verdict.startsWith('only')))
    return ['A and B have no statement in common', ...ownLines];
  if (totalA < COMPARABLE * (totalA + onlyA) || totalB < COMPARABLE * (totalB + onlyB))
    return [
      'A and B spent most of their time in different statements',
      ...(inSql === null ? [] : [`${inSql}.`]),
      ...ownLines,
      `In statements of both, A spent ${of(totalA)} and B ${of(totalB)}.`,
    ];
  const runs = `${isOwn ? 'Statements of both' : 'All statements'}, without preparing them: ${amountChange(totalA, totalB)}`;
  const changed = statements.filter(({ time }) => time.verdict === 'changed');
  const slower = changed.filter(({ time }) => time.slower).length;
  return [
    ...(inSql === null ? [runs] : [inSql, `${runs}.`]),
    ...ownLines,
    WHOLE[whole.verdict],
    changed.length
      ? `Beyond noise, ${countOf(changed.length - slower, 'statement is', 'statements are')} faster and ${formatCount(slower)} slower.`
      : 'No statement moved beyond noise.',
  ];
}

/**
 * Statements worth a look: those that differ, and those that changed the total, even within noise.
 */
export const shownStatements = ({ statements }: TraceDiff): StatementDiff[] =>
  statements.filter((row) => differs(row) || movesWhole(row));

const ofKind = ({ kind }: NumberRow): ((n: number | null) => string) =>
  kind === 'time' ? formatDuration : formatExact;

export const numberDiffColumns = ({ unlike }: Pick<TraceDiff, 'unlike'>) =>
  ({
    change: col('text', 'Change', "From A to B; n/a for times that aren't compared", (r) =>
      r.verdict.startsWith('only')
        ? sided(r.verdict)
        : unlike !== null && r.kind === 'time'
          ? UNKNOWN
          : (isShare(r.path) ? changeOfShares : changeText)(r.a, r.b),
    ),
    path: col('code', 'Number', 'vfscope diff --json has it by its path', (r) =>
      numberName(r.path),
    ),
    a: { ...col('number', 'A', '', (r) => r.a), text: (r) => ofKind(r)(r.a) },
    b: { ...col('number', 'B', '', (r) => r.b), text: (r) => ofKind(r)(r.b) },
    delta: {
      ...col('number', 'B - A', 'n/a where one is not known', (r) => r.delta),
      text: (r) => formatSigned(r.delta, ofKind(r)),
    },
    verdict: verdict('Verdict', (r) => r.verdict),
  }) satisfies Columns<NumberRow>;

const SPREAD =
  "Differences of the totals up to this are noise, unless most runs moved the same way: from the runs, in pairs where both recordings have equally many, and the clock's step. n/a with fewer than 3 runs.";
const PAIRED =
  "Run k of B against run k of A, by more than the clock's step. n/a where the numbers of runs differ.";
const COUNTED = { vfs: 'VFS calls', syncs: 'syncs', writeBytes: 'bytes written' } as const;
const exactly = (a: number, b: number): string => fromTo(formatExact(a), formatExact(b));

export const statementDiffColumns = ({ stepUs }: Pick<TraceDiff, 'stepUs'>) =>
  ({
    change: col(
      'text',
      'Run time',
      "Of all runs, each from its first call to its last with vfscope's own work, from A to B. Without a factor where too few runs, or other conditions, can't show one",
      ({ verdict, time }) =>
        verdict.startsWith('only')
          ? `${sided(verdict)}: ${formatDuration(time.totalA + time.totalB)}`
          : timeChange(time, stepUs),
    ),
    fingerprint: col('code', 'Statement', '', (r) => r.fingerprint || null),
    runs: col('text', 'Runs', 'A → B, or one number where they are equal', (r) =>
      exactly(r.executionsA, r.executionsB),
    ),
    faster: col('count', 'Faster', PAIRED, ({ time }) => time.pairs?.faster ?? null),
    slower: col('count', 'Slower', PAIRED, ({ time }) => time.pairs?.slower ?? null),
    spread: col('us', 'Spread', SPREAD, (r) => r.time.spreadUs),
    total: {
      ...col('us', 'B - A', 'Difference of the totals', (r) => totalDelta(r.time)),
      text: (r) => formatSigned(totalDelta(r.time), formatDuration),
    },
    counts: col('text', 'Changed counts', 'Sums over all runs that differ', ({ counts }) =>
      Object.entries(COUNTED)
        .map(([name, title]) => ({ ...counts[name as keyof typeof COUNTED], title }))
        .filter(({ a, b }) => a !== b)
        .map(({ a, b, title }) => `${title} ${exactly(a, b)}`)
        .join(', '),
    ),
    countsVerdict: verdict('Counts', (r) => r.countsVerdict),
    timeVerdict: verdict('Time', (r) => r.time.verdict),
    verdict: verdict('Verdict', (r) => r.verdict),
  }) satisfies Columns<StatementDiff>;

const saved = (title: string, side: 'a' | 'b', key: 'savingUsA' | 'savingUsB') => ({
  ...col<FindingDiff>(
    'us',
    title,
    `Estimate of what fixing it saves in ${side.toUpperCase()}; –: this recording doesn't have it`,
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
