/** The columns of the Compare view's tables, and how two numbers compare in words. */
import type { NumberRow, StatementDiff, Verdict } from '../../../../analysis/report/diff.ts';
import type { FindingDiff } from '../../../../analysis/findings/finding-diff.ts';
import { plain } from '../../../../text/clean.ts';
import {
  formatDuration,
  formatExact,
  formatNumber,
  formatShortCount,
} from '../../../../text/numbers.ts';
import { col, type Columns } from '../../../../analysis/core/table.ts';
import { viewColumns, type Column } from '../../parts/columns.ts';
import type { Comparison } from '../../../session/queries/compare.ts';

const VERDICTS: Record<Verdict, string> = {
  same: 'Equal',
  changed: 'Different, by more than its own spread',
  noise: 'Different, within the spread of its own runs',
  unknown: 'Cannot be told: a single reading of a time, too few runs, or not known on one side',
  'only a': 'Only in A',
  'only b': 'Only in B',
};
const verdict = <Row extends { verdict: Verdict }>() =>
  col<Row>(
    'text',
    'Verdict',
    Object.entries(VERDICTS)
      .map(([name, means]) => `${name}: ${means}`)
      .join('\n'),
    (r) => r.verdict.replace(/ (a|b)$/, (s) => s.toUpperCase()),
  );
/** B / A; null where A is 0 or one is not known. */
export const ratio = (a: number | null, b: number | null): number | null =>
  a === null || b === null || a === 0 ? null : b / a;
export const ratioText = (a: number | null, b: number | null): string => formatNumber(ratio(a, b));
const ofKind = (row: NumberRow, value: number | null): string =>
  row.kind === 'time' ? formatDuration(value) : formatExact(value);

export const NUMBERS = viewColumns(
  {
    path: col('code', 'Number', 'By its path in vfscope summary --json', (r) => r.path),
    a: col('number', 'A', '', (r) => r.a),
    b: col('number', 'B', '', (r) => r.b),
    ratio: col('number', 'B / A', 'n/a where A is 0 or not known', (r) => ratio(r.a, r.b)),
    verdict: verdict(),
  } satisfies Columns<NumberRow>,
  {
    path: '1fr',
    a: { text: (r) => ofKind(r, r.a), width: '100px' },
    b: { text: (r) => ofKind(r, r.b), width: '100px' },
    ratio: '70px',
    verdict: '76px',
  },
);
const spread =
  "Differences of the medians up to this are noise: from the spread of its own runs and the clock's step. n/a with fewer than 3 runs.";
const STATEMENTS = {
  fingerprint: col('code', 'Statement', '', (r) => r.fingerprint),
  runsA: col('count', 'Runs A', '', (r) => r.executionsA),
  runsB: col('count', 'Runs B', '', (r) => r.executionsB),
  a: col('us', 'Median A', '', (r) => r.time.a),
  b: col('us', 'Median B', '', (r) => r.time.b),
  spread: col('us', 'Spread', spread, (r) => r.time.spreadUs),
  total: col(
    'us',
    'B - A',
    'Difference of the sums over all runs',
    (r) => r.time.totalB - r.time.totalA,
  ),
  verdict: verdict(),
} satisfies Columns<StatementDiff>;
const signed = (us: number): string => `${us < 0 ? '-' : '+'}${formatDuration(Math.abs(us))}`;
/** @param step of the clocks of both traces */
export const statementColumns = (step: Comparison['stepUs'] | undefined): Column<StatementDiff>[] =>
  viewColumns(STATEMENTS, {
    fingerprint: '1fr',
    runsA: { text: (r) => formatShortCount(r.executionsA), width: '64px' },
    runsB: { text: (r) => formatShortCount(r.executionsB), width: '64px' },
    a: { stepUs: () => step?.a ?? null, width: '80px' },
    b: { stepUs: () => step?.b ?? null, width: '80px' },
    spread: '64px',
    total: { text: (r) => signed(r.time.totalB - r.time.totalA), width: '80px' },
    verdict: '76px',
  });
const saving = (sentences: readonly string[], us: number | null): string =>
  sentences.length === 0 ? '–' : us === null ? 'saving n/a' : formatDuration(us);
const fixing = "Estimate of what fixing it saves in A; –: A doesn't have it";
export const FINDINGS = viewColumns(
  {
    rule: col('text', 'Rule', '', (r) => r.rule),
    title: col(
      'text',
      'Finding',
      'As the trace that has it says it; B where both have it',
      (r) => r.title,
    ),
    a: col('us', 'Saves A', fixing, (r) => r.savingUsA),
    b: col('us', 'Saves B', 'The same in B', (r) => r.savingUsB),
    verdict: col(
      'text',
      'Verdict',
      'solved: A has it, B has not\nnew: B has it, A has not',
      (r) => r.verdict,
    ),
  } satisfies Columns<FindingDiff>,
  {
    rule: '48px',
    title: { text: (r) => plain((r.b.length ? r.b : r.a).join(' · ')), width: '1fr' },
    a: { text: (r) => saving(r.a, r.savingUsA), width: '88px' },
    b: { text: (r) => saving(r.b, r.savingUsB), width: '88px' },
    verdict: '76px',
  },
);

/** Worth a look: neither equal nor noise. */
export const differs = ({ verdict: v }: { verdict: Verdict }): boolean =>
  v !== 'same' && v !== 'noise';
