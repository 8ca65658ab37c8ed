/** `lab run --count --statements`, `--functions`: instructions by statement and between VFS calls, or by function; one result or two with the exact difference. */
import { functionRows, gapRows, statementRows } from '../experiments/cpu-detail.ts';
import type { RunResult } from '../experiments/types.ts';
import { table } from '../../cli/summary-text.ts';
import { plain } from '../../analysis/report/report-words.ts';

const MOST_ROWS = 60;
const MOST_TEXT = 72;
const number = (n: number | undefined): string =>
  n === undefined ? '' : n.toLocaleString('en-US');
/** What is not there took none. */
const signed = (a = 0, b = 0): string => `${b > a ? '+' : ''}${number(b - a)}`;
const oneLine = (sql: string): string => {
  const text = plain(sql.replace(/\s+/g, ' ')) || '(no statement: the script itself)';
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT - 1)}…` : text;
};

/** @param results one, or two to compare; counted */
export function detailText(results: readonly RunResult[]): string {
  const two = results.length > 1;
  const head = (first: string, count: string): string[] =>
    two
      ? [first, `${count} A`, `${count} B`, 'instructions A', 'instructions B', 'B - A']
      : [first, count, 'instructions', 'each'];
  const row = (
    name: string,
    cells: readonly ({ n: number; instructions: number } | null)[],
  ): string[] => {
    const [a, b] = cells;
    if (two)
      return [
        name,
        number(a?.n),
        number(b?.n),
        number(a?.instructions),
        number(b?.instructions),
        signed(a?.instructions, b?.instructions),
      ];
    return [
      name,
      number(a?.n),
      number(a?.instructions),
      a && a.n > 0 ? number(Math.round(a.instructions / a.n)) : '',
    ];
  };
  const statements = statementRows(results, 'total');
  const gaps = gapRows(results, 'total');
  const more =
    statements.length > MOST_ROWS
      ? [`  and ${statements.length - MOST_ROWS} more statements (--json has them)`]
      : [];
  return `${[
    '',
    ...table(
      head('statement (literals folded)', 'runs'),
      statements.slice(0, MOST_ROWS).map(({ sql, cells }) =>
        row(
          oneLine(sql),
          cells.map((c) => c && { n: c.runs, instructions: c.instructions }),
        ),
      ),
    ),
    ...more,
    '',
    ...(gaps.length
      ? table(
          head('between VFS calls: up to', 'calls'),
          gaps.map(({ kind, method, cells }) =>
            row(
              `${method} ${kind}`,
              cells.map((c) => c && { n: c.calls, instructions: c.instructions }),
            ),
          ),
        )
      : ['  between VFS calls: n/a, there was no VFS call']),
  ].join('\n')}\n`;
}

/** @param results one, or two to compare; counted with functions apart */
export function functionsText(results: readonly RunResult[]): string {
  const rows = functionRows(results, 'total');
  const [head, cells] =
    results.length > 1
      ? [
          ['function', 'instructions A', 'instructions B', 'B - A'],
          ([a, b]: readonly (number | null)[]) => [
            number(a ?? undefined),
            number(b ?? undefined),
            signed(a ?? undefined, b ?? undefined),
          ],
        ]
      : [
          ['function', 'instructions'],
          ([a]: readonly (number | null)[]) => [number(a ?? undefined)],
        ];
  const more =
    rows.length > MOST_ROWS ? [`  and ${rows.length - MOST_ROWS} more (--json has them)`] : [];
  return `${[
    '',
    ...table(
      head,
      rows
        .slice(0, MOST_ROWS)
        .map(({ name, cells: own }) => [plain(name) || '(all others)', ...cells(own)]),
    ),
    ...more,
  ].join('\n')}\n`;
}
