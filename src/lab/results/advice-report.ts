/**
 * The index advisor's answer as files for people and tools: one HTML page with charts, the charts
 * as SVG, all counts as CSV.
 */
import type { Block } from '../../analysis/report/blocks.ts';
import { csvCell } from '../../formats/csv.ts';
import { blockHtml, chartsHtml, htmlPage } from '../../formats/html-page.ts';
import { barChart, chartsFile, type Chart } from '../../formats/svg-bars.ts';
import { oneLine } from '../../text/clean.ts';
import { countOf, UNKNOWN } from '../../text/numbers.ts';
import type { Advice, RunCounts } from '../advisor/advice.ts';
import { factPairs } from '../experiments/model/environment.ts';
import {
  adviceFacts,
  adviceNotes,
  answerWords,
  effectTable,
  indexFacts,
  planLines,
  statementLines,
} from './advice.ts';
import { reportTable } from './report.ts';
import { number } from './table.ts';

/** An answer, and the name of the database that it is of. */
export interface AdviceOf {
  readonly advice: Advice;
  readonly database: string;
}

const titleOf = ({ database }: AdviceOf): string => `Index advice for ${database}`;
const noteOf = ({ advice }: AdviceOf): string =>
  `Counted by vfscope in ${advice.environment.runtime ?? UNKNOWN}: ${countOf(advice.statements.length, 'statement')} on a copy.`;

const MOST_BARS = 20;
/**
 * For each index, the cost of a run of its statements without it and with it; for statements, their
 * current cost.
 */
function chartsOf({ advice: { indexes, statements } }: AdviceOf): Chart[] {
  const both = indexes.flatMap(({ name, effects }) => {
    const shown = effects.slice(0, MOST_BARS);
    const chart = (title: string, of: (counts: Effects['before']) => number): Chart =>
      barChart(
        `${name}: ${title}`,
        shown.flatMap(({ fingerprint, before, after }) => {
          const words = oneLine(fingerprint);
          return [
            { label: `without, ${words}`, value: of(before), text: number(of(before)) },
            { label: `with, ${words}`, value: of(after), text: number(of(after)) },
          ];
        }),
      );
    return shown.length
      ? [
          chart('instructions of one run', ({ instructions }) => instructions),
          chart('pages that one run reads', ({ pagesRead }) => pagesRead),
        ]
      : [];
  });
  const most = [...statements]
    .sort((a, b) => b.runs * b.counts.pagesRead - a.runs * a.counts.pagesRead)
    .slice(0, MOST_BARS);
  const now = barChart(
    'Without a new index: pages that one run reads',
    most.map(({ fingerprint, counts: { pagesRead } }) => ({
      label: oneLine(fingerprint),
      value: pagesRead,
      text: number(pagesRead),
    })),
  );
  return [...both, ...(most.length ? [now] : [])];
}
type Effects = Advice['indexes'][number]['effects'][number];

/** One self-contained file. */
export function adviceHtml(of: AdviceOf): string {
  const { advice } = of;
  const blocks: Block[] = advice.indexes.flatMap((index) => [
    { heading: index.sql, facts: indexFacts(index), table: reportTable(effectTable(index)) },
    {
      heading: `Query plans with ${index.name}`,
      lines: index.effects.flatMap((effect) => [oneLine(effect.sql), ...planLines(effect)]),
    },
  ]);
  const statements = advice.statements.map((one) => [
    { text: oneLine(one.sql), wide: true as const },
    { text: statementLines(one).join('; '), wide: true as const },
  ]);
  return htmlPage({
    title: titleOf(of),
    note: noteOf(of),
    body: [
      blockHtml({ heading: 'Answer', lines: [answerWords(advice), ...adviceNotes(advice)] }),
      ...chartsHtml('Charts', chartsOf(of)),
      ...blocks.map(blockHtml),
      ...(statements.length
        ? [
            blockHtml({
              heading: 'Statements without a new index',
              table: { head: ['statement', 'one run'], rows: statements, texts: [0, 1], code: [0] },
            }),
          ]
        : []),
      blockHtml({ heading: 'Environment', facts: factPairs(adviceFacts(advice)) }),
    ],
  });
}

/** Only the charts. */
export const adviceSvg = (of: AdviceOf): string =>
  chartsFile(titleOf(of), noteOf(of), chartsOf(of));

/** One line per count of a statement. Without an index, `index` and `with` are empty. */
export function adviceCsv({ advice: { indexes, statements } }: AdviceOf): string {
  const lines = ['index,statement,recorded_runs,count,without,with'];
  const add = (
    index: string | null,
    { fingerprint, runs }: { readonly fingerprint: string; readonly runs: number },
    before: RunCounts,
    after: RunCounts | null,
  ): void => {
    for (const name of Object.keys(before) as (keyof RunCounts)[])
      lines.push(
        [index, fingerprint, runs, name, before[name], after?.[name] ?? null]
          .map(csvCell)
          .join(','),
      );
  };
  for (const { name, effects } of indexes)
    for (const effect of effects) add(name, effect, effect.before, effect.after);
  for (const one of statements) add(null, one, one.counts, null);
  return `${lines.join('\n')}\n`;
}
