/** `vfscope diff A B [--json]`: what changed between two traces: counts to the last digit, times beyond their spread. */
import { Facts } from '../analysis/core/graph.ts';
import {
  diffOf,
  type NumberRow,
  type StatementDiff,
  type TraceDiff,
} from '../analysis/report/diff.ts';
import type { FindingDiff } from '../analysis/findings/finding-diff.ts';
import { cut, plain, shown, UNKNOWN_SQL } from '../text/clean.ts';
import { Exit, openTrace } from '../terminal/open-file.ts';
import { jsonText, print } from '../terminal/stdout.ts';
import { table } from '../terminal/report-text.ts';
import { formatDuration, formatExact } from '../text/numbers.ts';

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
  await print(json ? jsonText(diff) : diffText(diff, a, b));
  return Exit.done;
}

/** Characters of a number's path, whose end says which number it is: a file's name may be of any length. */
const LONGEST_PATH = 120;
/** Statements listed at most; the rest is counted. */
const MOST = 40;
const signed = (n: number | null): string =>
  n === null ? '' : `${n > 0 ? '+' : ''}${formatExact(n)}`;

/** What changed as text: counts, statements that moved, times. @param a @param b what the traces are called */
function diffText(diff: TraceDiff, a: string, b: string): string {
  const counts = diff.numbers.filter((r) => r.kind === 'count');
  const times = diff.numbers.filter((r) => r.kind === 'time');
  const changed = counts.filter((r) => r.verdict !== 'same');
  // a file that one trace lacks has dozens of numbers, most of them 0
  const news = changed.filter((r) => !r.verdict.startsWith('only') || Boolean(r.a ?? r.b));
  const moved = diff.statements.filter((s) => s.verdict !== 'same' && s.verdict !== 'noise');
  const lines = [
    `A  ${shown(a)}`,
    `B  ${shown(b)}`,
    ...diff.warnings.map((w) => `  ! ${shown(w)}`),
    '',
    `Counts: ${counts.length - changed.length} of ${counts.length} equal`,
    ...(news.length ? table(['number', 'A', 'B', 'B - A', ''], news.map(numberRow)) : []),
    ...(news.length < changed.length
      ? [
          `  ... and ${changed.length - news.length} that one trace lacks and that are 0 in the other`,
        ]
      : []),
    '',
    `Statements: ${diff.totals.statements.same} the same, ${diff.totals.statements.noise} differ by noise alone, ${moved.length} to look at`,
    ...(moved.length
      ? table(
          [
            'statement',
            'runs',
            'VFS calls',
            'syncs',
            'bytes written',
            'median',
            'spread',
            'counts',
            'time',
          ],
          moved.slice(0, MOST).map(statementRow),
        )
      : []),
    ...(moved.length > MOST ? [`  ... and ${moved.length - MOST} more: --json has all`] : []),
    '',
    ...findingLines(diff.findings),
    '',
    'Times of the whole (single readings: their spread is not known)',
    ...table(
      ['time', 'A', 'B', 'B - A', ''],
      times.filter((r) => r.a !== null || r.b !== null).map(numberRow),
    ),
  ];
  return `${lines.join('\n')}\n`;
}

function findingLines(findings: readonly FindingDiff[]): string[] {
  if (findings.length === 0) return ['Findings: none in either'];
  const count = (verdict: FindingDiff['verdict']): number =>
    findings.filter((f) => f.verdict === verdict).length;
  return [
    `Findings: ${count('solved')} solved, ${count('new')} new, ${count('in both')} in both`,
    ...table(
      ['rule', 'finding', 'saves A', 'saves B', ''],
      findings.map(({ rule, title, a, b, savingUsA, savingUsB, verdict }) => [
        rule,
        shown(title),
        a.length ? formatDuration(savingUsA) : '',
        b.length ? formatDuration(savingUsB) : '',
        verdict,
      ]),
      [0, 1, 4],
    ),
  ];
}

function numberRow({ path, kind, a, b, delta, verdict }: NumberRow): string[] {
  const text = (n: number | null): string => (kind === 'time' ? formatDuration(n) : formatExact(n));
  const change =
    kind === 'time' && delta !== null
      ? `${delta < 0 ? '-' : '+'}${formatDuration(Math.abs(delta))}`
      : signed(delta);
  return [
    cut(plain(path), LONGEST_PATH, 'end'),
    text(a),
    text(b),
    change,
    verdict === 'changed' || kind === 'time' ? '' : verdict,
  ];
}

function statementRow({
  fingerprint,
  executionsA,
  executionsB,
  counts,
  countsVerdict,
  time,
}: StatementDiff): string[] {
  const pair = (x: number, y: number): string =>
    x === y ? formatExact(x) : `${formatExact(x)} > ${formatExact(y)}`;
  const text = plain(fingerprint) || UNKNOWN_SQL;
  return [
    text.length > 60 ? `${text.slice(0, 59)}…` : text,
    pair(executionsA, executionsB),
    pair(counts.vfs.a, counts.vfs.b),
    pair(counts.syncs.a, counts.syncs.b),
    pair(counts.writeBytes.a, counts.writeBytes.b),
    `${formatDuration(time.a)} > ${formatDuration(time.b)}`,
    formatDuration(time.spreadUs),
    countsVerdict,
    time.verdict,
  ];
}
