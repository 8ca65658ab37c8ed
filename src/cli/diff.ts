/** `vfscope diff A B [--json]`: what changed between two traces: counts to the last digit, times beyond their spread. */
import { Facts } from '../analysis/core/graph.ts';
import { tableOf, type Block, type Report, type ReportTable } from '../analysis/report/blocks.ts';
import { diffOf, type TraceDiff } from '../analysis/report/diff.ts';
import {
  differs,
  findingDiffColumns,
  numberDiffColumns,
  statementDiffColumns,
} from '../analysis/report/diff-table.ts';
import type { FindingDiff } from '../analysis/findings/finding-diff.ts';
import { Exit, openTrace } from '../terminal/open-file.ts';
import { jsonText, print } from '../terminal/stdout.ts';
import { reportText } from '../terminal/report-text.ts';

/** @returns the exit code: 0, also where the traces differ; 2 when a file cannot be read */
export async function diffCommand({
  a,
  b,
  json,
}: {
  a: string;
  b: string;
  json: boolean;
}): Promise<number> {
  const first = await openTrace(a);
  const second = await openTrace(b);
  const diff = diffOf(new Facts(first.store), new Facts(second.store));
  await print(json ? jsonText(diff) : reportText(diffReport(diff, a, b), LONGEST_PATH));
  return Exit.done;
}

/** Characters of a number's path, whose end says which number it is: a file's name may be of any length. */
const LONGEST_PATH = 120;
const LONGEST_SQL = 60;
/** All but the sums of times, and the verdict on both: counts and times have their own. */
const STATEMENT_COLUMNS = (
  Object.keys(statementDiffColumns) as (keyof typeof statementDiffColumns)[]
).filter((name) => name !== 'total' && name !== 'verdict');
/** Statements listed at most; the rest is counted. */
const MOST = 40;

/** What changed: counts, statements that moved, findings, times. @param a @param b what the traces are called */
function diffReport(
  { numbers, statements, findings, totals, warnings }: TraceDiff,
  a: string,
  b: string,
): Report {
  const counts = numbers.filter((r) => r.kind === 'count');
  const changed = counts.filter((r) => r.verdict !== 'same');
  // a file that one trace lacks has dozens of numbers, most of them 0
  const news = changed.filter((r) => !r.verdict.startsWith('only') || Boolean(r.a ?? r.b));
  const times = numbers.filter((r) => r.kind === 'time' && (r.a !== null || r.b !== null));
  const moved = statements.filter(differs);
  const numberTable = (rows: typeof numbers, more: readonly 'verdict'[]): ReportTable =>
    tableOf(numberDiffColumns, ['path', 'a', 'b', 'delta', ...more], rows, LONGEST_PATH);
  return {
    title: 'Two traces',
    blocks: [
      {
        heading: 'Compared',
        facts: [
          ['A', a],
          ['B', b],
        ],
        lines: warnings.map((w) => `! ${w}`),
      },
      {
        heading: `Counts: ${counts.length - changed.length} of ${counts.length} equal`,
        table: numberTable(news, ['verdict']),
        lines:
          news.length < changed.length
            ? [
                `... and ${changed.length - news.length} that one trace lacks and that are 0 in the other`,
              ]
            : [],
      },
      {
        heading: `Statements: ${totals.statements.same} the same, ${totals.statements.noise} differ by noise alone, ${moved.length} to look at`,
        table: tableOf(statementDiffColumns, STATEMENT_COLUMNS, moved.slice(0, MOST), LONGEST_SQL),
        lines: moved.length > MOST ? [`... and ${moved.length - MOST} more: --json has all`] : [],
      },
      findingBlock(findings),
      {
        heading: 'Times of the whole (single readings: their spread is not known)',
        table: numberTable(times, []),
      },
    ],
  };
}

function findingBlock(findings: readonly FindingDiff[]): Block {
  if (findings.length === 0) return { heading: 'Findings: none in either' };
  const count = (verdict: FindingDiff['verdict']): number =>
    findings.filter((f) => f.verdict === verdict).length;
  return {
    heading: `Findings: ${count('solved')} solved, ${count('new')} new, ${count('in both')} in both`,
    table: tableOf(findingDiffColumns, ['rule', 'title', 'a', 'b', 'verdict'], findings),
  };
}
