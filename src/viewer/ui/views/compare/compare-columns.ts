/** The columns of the Compare view's tables, and how two numbers compare in words. */
import type { NumberRow, StatementDiff, Verdict } from '../../../../analysis/report/diff.ts';
import type { FindingDiff } from '../../../../analysis/findings/finding-diff.ts';
import { plain } from '../../../../text/clean.ts';
import {
  formatDuration,
  formatExact,
  formatMeasured,
  formatNumber,
  formatShortCount,
} from '../../../../text/numbers.ts';
import type { Column } from '../../parts/columns.ts';
import type { Comparison } from '../../../session/queries/compare.ts';

const VERDICTS: Record<Verdict, string> = {
  same: 'Equal',
  changed: 'Different, by more than its own spread',
  noise: 'Different, within the spread of its own runs',
  unknown: 'Cannot be told: a single reading of a time, too few runs, or not known on one side',
  'only a': 'Only in A',
  'only b': 'Only in B',
};
const verdict = <Row extends { verdict: Verdict }>(): Column<Row> => ({
  key: 'verdict',
  title: 'Verdict',
  width: '76px',
  value: (r: Row) => r.verdict.replace(/ (a|b)$/, (s) => s.toUpperCase()),
  definition: Object.entries(VERDICTS)
    .map(([name, means]) => `${name}: ${means}`)
    .join('\n'),
});
/** B / A; null where A is 0 or one is not known. */
export const ratio = (a: number | null, b: number | null): number | null =>
  a === null || b === null || a === 0 ? null : b / a;
export const ratioText = (a: number | null, b: number | null): string => formatNumber(ratio(a, b));
const ofKind = (row: NumberRow, value: number | null): string =>
  row.kind === 'time' ? formatDuration(value) : formatExact(value);

export const NUMBERS: Column<NumberRow>[] = [
  {
    key: 'path',
    title: 'Number',
    width: '1fr',
    mono: true,
    definition: 'By its path in vfscope summary --json',
    value: (r) => r.path,
  },
  {
    key: 'a',
    title: 'A',
    numeric: true,
    width: '100px',
    value: (r) => r.a,
    text: (r) => ofKind(r, r.a),
  },
  {
    key: 'b',
    title: 'B',
    numeric: true,
    width: '100px',
    value: (r) => r.b,
    text: (r) => ofKind(r, r.b),
  },
  {
    key: 'ratio',
    title: 'B / A',
    numeric: true,
    width: '70px',
    definition: 'n/a where A is 0 or not known',
    value: (r: NumberRow) => ratio(r.a, r.b),
    text: (r: NumberRow) => ratioText(r.a, r.b),
  },
  verdict(),
];
/** A median below the clock's step reads so, not 0. */
const median = (us: number | null, stepUs: number | null | undefined): string =>
  formatMeasured(us, stepUs ?? null);
/** @param step of the clocks of both traces */
export const statementColumns = (
  step: Comparison['stepUs'] | undefined,
): Column<StatementDiff>[] => [
  { key: 'fingerprint', title: 'Statement', width: '1fr', mono: true, value: (r) => r.fingerprint },
  {
    key: 'runsA',
    title: 'Runs A',
    numeric: true,
    width: '64px',
    value: (r) => r.executionsA,
    text: (r) => formatShortCount(r.executionsA),
  },
  {
    key: 'runsB',
    title: 'Runs B',
    numeric: true,
    width: '64px',
    value: (r) => r.executionsB,
    text: (r) => formatShortCount(r.executionsB),
  },
  {
    key: 'a',
    title: 'Median A',
    numeric: true,
    width: '80px',
    value: (r) => r.time.a,
    text: (r) => median(r.time.a, step?.a),
  },
  {
    key: 'b',
    title: 'Median B',
    numeric: true,
    width: '80px',
    value: (r) => r.time.b,
    text: (r) => median(r.time.b, step?.b),
  },
  {
    key: 'spread',
    title: '±',
    numeric: true,
    width: '64px',
    definition:
      'Differences of the medians up to this are noise: from the spread of its own runs and the clock’s step. n/a with fewer than 3 runs.',
    value: (r: StatementDiff) => r.time.spreadUs,
    text: (r: StatementDiff) => formatDuration(r.time.spreadUs),
  },
  {
    key: 'total',
    title: 'B - A',
    numeric: true,
    width: '80px',
    definition: 'Difference of the sums over all runs',
    value: (r) => r.time.totalB - r.time.totalA,
    text: (r) =>
      `${r.time.totalB < r.time.totalA ? '-' : '+'}${formatDuration(Math.abs(r.time.totalB - r.time.totalA))}`,
  },
  verdict(),
];
const saving = (sentences: readonly string[], us: number | null): string =>
  sentences.length === 0 ? '–' : us === null ? 'saving n/a' : formatDuration(us);
export const FINDINGS: Column<FindingDiff>[] = [
  { key: 'rule', title: 'Rule', width: '48px', value: (r) => r.rule },
  {
    key: 'title',
    title: 'Finding',
    width: '1fr',
    definition: 'As the trace that has it says it; B where both have it',
    value: (r) => r.title,
    text: (r) => plain((r.b.length ? r.b : r.a).join(' · ')),
  },
  {
    key: 'a',
    title: 'Saves A',
    numeric: true,
    width: '88px',
    definition: 'Estimate of what mending it saves in A; –: A does not have it',
    value: (r: FindingDiff) => r.savingUsA,
    text: (r: FindingDiff) => saving(r.a, r.savingUsA),
  },
  {
    key: 'b',
    title: 'Saves B',
    numeric: true,
    width: '88px',
    definition: 'The same in B',
    value: (r: FindingDiff) => r.savingUsB,
    text: (r: FindingDiff) => saving(r.b, r.savingUsB),
  },
  {
    key: 'verdict',
    title: 'Verdict',
    width: '76px',
    value: (r: FindingDiff) => r.verdict,
    definition: 'solved: A has it, B has not\nnew: B has it, A has not',
  },
];

/** Worth a look: neither equal nor noise. */
export const differs = ({ verdict: v }: { verdict: Verdict }): boolean =>
  v !== 'same' && v !== 'noise';
