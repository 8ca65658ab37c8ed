/**
 * `vfscope diff A B [--json | --markdown]`: what changed between two traces. Counts are compared
 * exactly, times only beyond their spread.
 */
import { countOf, formatCount } from '../text/numbers.ts';
import { Facts } from '../analysis/core/graph.ts';
import {
  cellText,
  tableOf,
  type Block,
  type Report,
  type ReportTable,
} from '../analysis/report/blocks.ts';
import { diffOf, movesWhole, type StatementDiff, type TraceDiff } from '../analysis/report/diff.ts';
import {
  findingDiffColumns,
  numberDiffColumns,
  shownStatements,
  statementDiffColumns,
  verdictLines,
} from '../analysis/report/diff-table.ts';
import { reportMarkdown } from '../analysis/report/report-markdown.ts';
import type { FindingDiff } from '../analysis/findings/finding-diff.ts';
import { Exit, openTrace } from '../terminal/open-file.ts';
import { jsonText, print } from '../terminal/stdout.ts';
import { reportText } from '../terminal/report-text.ts';

/** @returns the exit code: 0 even if the traces differ; 2 if a file can't be read */
export async function diffCommand({
  a,
  b,
  json,
  markdown = false,
}: {
  a: string;
  b: string;
  json: boolean;
  /** For a comment on a pull request. */
  markdown?: boolean;
}): Promise<number> {
  const first = await openTrace(a);
  const second = await openTrace(b);
  const diff = diffOf(new Facts(first.store), new Facts(second.store));
  const asText = markdown ? reportMarkdown : reportText;
  await print(json ? jsonText(diff) : asText(diffReport(diff, a, b)));
  return Exit.done;
}

/** Maximum characters of a cell, so that a line has at most 120. */
const [LONGEST_PATH, LONGEST_SQL] = [68, 110];
/**
 * Maximum number of statements that are listed, and of causes of the total change. The rest is
 * counted.
 */
const MOST = 40;

/**
 * What changed: all statements together, each statement, times, findings, counts. @param a @param b
 * names of the traces
 */
function diffReport(diff: TraceDiff, a: string, b: string): Report {
  const { numbers, findings, warnings } = diff;
  const counts = numbers.filter((r) => r.kind === 'count');
  const changed = counts.filter((r) => r.verdict !== 'same');
  // a file that one trace lacks has dozens of numbers, most of them 0
  const news = changed.filter((r) => !r.verdict.startsWith('only') || Boolean(r.a ?? r.b));
  const times = numbers.filter((r) => r.kind === 'time' && (r.a !== null || r.b !== null));
  const movedTimes = times.filter((r) => r.verdict !== 'same');
  const numberTable = (rows: typeof numbers): ReportTable =>
    tableOf(numberDiffColumns(diff), ['change', 'path', 'a', 'b', 'delta'], rows, LONGEST_PATH);
  const [headline, ...verdict] = verdictLines(diff);
  return {
    title: headline!,
    blocks: [
      {
        heading: 'Compared',
        facts: [
          ['A', a],
          ['B', b],
        ],
        lines: [...verdict, ...warnings.map((w) => `! ${w}`)],
      },
      statementBlock(diff),
      {
        heading: 'Times of each recording (one reading each: their spread is not known)',
        table: numberTable(movedTimes),
        lines:
          movedTimes.length < times.length
            ? [`${countOf(times.length - movedTimes.length, 'time is', 'times are')} equal.`]
            : [],
      },
      findingBlock(findings),
      {
        heading: `Counts: ${formatCount(changed.length)} of ${formatCount(counts.length)} differ`,
        table: numberTable(news),
        lines:
          news.length < changed.length
            ? [
                `... and ${formatCount(changed.length - news.length)} that one recording lacks and that are 0 in the other`,
              ]
            : [],
      },
    ],
  };
}

function statementBlock(diff: TraceDiff): Block {
  const rows = shownStatements(diff);
  const listed = rows.filter((row, i) => i < MOST || movesWhole(row));
  const hidden = diff.statements.filter((row) => !rows.includes(row));
  const same = hidden.filter(({ verdict }) => verdict === 'same').length;
  return {
    heading: `Statements: ${formatCount(rows.length)} to look at, ${formatCount(same)} the same, ${formatCount(hidden.length - same)} within noise`,
    table: statementTable(diff, listed),
    lines:
      listed.length < rows.length
        ? [`... and ${formatCount(rows.length - listed.length)} more: --json has all`]
        : [],
  };
}

/** A statement's text and its counts, on separate lines. */
function statementTable(diff: TraceDiff, rows: readonly StatementDiff[]): ReportTable {
  const narrow = [
    'change',
    'runs',
    'faster',
    'slower',
    'spread',
    'countsVerdict',
    'timeVerdict',
  ] as const;
  const table = tableOf(
    statementDiffColumns(diff),
    [...narrow, 'fingerprint', 'counts'],
    rows,
    LONGEST_SQL,
  );
  return {
    ...table,
    rows: table.rows.map((row) =>
      row.map((cell, i) => (i < narrow.length ? cell : { text: cellText(cell), wide: true })),
    ),
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
