/**
 * Two results side by side as files for people and tools: one HTML page with charts, the charts as
 * SVG, all numbers as CSV.
 */
import type { Block } from '../../analysis/report/blocks.ts';
import { csvCell } from '../../formats/csv.ts';
import { blockHtml, chartsHtml, htmlPage } from '../../formats/html-page.ts';
import { barChart, chartsFile, type Bar, type Chart } from '../../formats/svg-bars.ts';
import { countOf, UNKNOWN } from '../../text/numbers.ts';
import { isTime } from '../experiments/model/aggregate.ts';
import { counterValue } from '../experiments/model/counter-words.ts';
import { factPairs } from '../experiments/model/environment.ts';
import type { Placed } from '../experiments/model/result-types.ts';
import { headingOf, MOST_CHARTS, reportTable } from './report.ts';
import type { DiffNumber, ResultDiff } from './result-diff.ts';
import type { ResultTable } from './table.ts';

/** The compared runs. */
export interface ComparedResults {
  /** The order of both. */
  readonly title: string;
  /** Names of the two results, such as those of their files. */
  readonly a: string;
  readonly b: string;
  readonly diff: ResultDiff;
}

const titleOf = ({ title }: ComparedResults): string => `${title}: two results compared`;
const noteOf = ({ a, b }: ComparedResults): string => `A: ${a}. B: ${b}. Compared by vfscope.`;

/** How many counts are equal, and how many differ. */
export const equalWords = ({ equal, counts }: ResultDiff): string =>
  `${countOf(equal, 'count is', 'counts are')} equal. ${countOf(counts.rows.length, 'count differs', 'counts differ')}.`;

/** For one of several runs its sum, for a single run each step. */
function chartRows(numbers: readonly DiffNumber[]): {
  rows: readonly DiffNumber[];
  label: (row: DiffNumber) => string;
} {
  const several = new Set(numbers.map(({ run }) => run)).size > 1;
  const summed = new Set(numbers.flatMap(({ run, step }) => (step === 'total' ? [run] : [])));
  return {
    rows: numbers.filter(({ run, step }) => !summed.has(run) || (step === 'total') === several),
    label: ({ run, step }) => (several ? run : step),
  };
}

/** One picture per counter, times first: A and B of each run or step. */
function chartsOf({ diff: { numbers } }: ComparedResults): Chart[] {
  const { rows, label } = chartRows(numbers);
  const counters = [...new Set(rows.map(({ counter }) => counter))];
  const differs = (counter: string): boolean =>
    isTime(counter) || rows.some((row) => row.counter === counter && row.a?.value !== row.b?.value);
  const bar = (name: string, counter: string, found: Placed | null): Bar => {
    const { least, most } = found?.spread ?? {};
    return {
      label: name,
      value: found?.value ?? null,
      text: found ? counterValue(found.value, counter, found.stepMs) : UNKNOWN,
      ...(least === undefined || most === undefined ? {} : { range: [least, most] as const }),
    };
  };
  return [...counters.filter(isTime), ...counters.filter((counter) => !isTime(counter))]
    .filter(differs)
    .slice(0, MOST_CHARTS)
    .map((counter) =>
      barChart(
        headingOf(counter),
        rows
          .filter((row) => row.counter === counter)
          .flatMap((row) => [
            bar(`${label(row)}, A`, counter, row.a),
            bar(`${label(row)}, B`, counter, row.b),
          ]),
      ),
    );
}

/** One self-contained file. */
export function diffHtml(compared: ComparedResults): string {
  const { diff } = compared;
  const { apart, times, counts, onlyA, onlyB, otherRows, environment } = diff;
  const table = (one: ResultTable): Block[] =>
    one.rows.length ? [{ heading: one.title, table: reportTable(one), lines: [one.help] }] : [];
  const lines = [
    equalWords(diff),
    ...otherRows.map((run) => `${run}: the rows that came back differ between A and B.`),
    ...onlyA.map((run) => `${run}: only in A.`),
    ...onlyB.map((run) => `${run}: only in B.`),
  ];
  return htmlPage({
    title: titleOf(compared),
    note: noteOf(compared),
    body: [
      blockHtml({ heading: 'Answer', lines }),
      ...table(apart).map(blockHtml),
      ...chartsHtml('Charts', chartsOf(compared)),
      ...[...table(times), ...table(counts)].map(blockHtml),
      blockHtml({ heading: 'Environment', facts: factPairs(environment) }),
    ],
  });
}

/** Only the charts. */
export const diffSvg = (compared: ComparedResults): string =>
  chartsFile(titleOf(compared), noteOf(compared), chartsOf(compared));

/**
 * One line per number of both; for times the median, the minimum, and the maximum, in ms. A value
 * that one lacks is empty.
 */
export function diffCsv({ diff: { numbers } }: ComparedResults): string {
  const of = (found: Placed | null): (number | null)[] => [
    found?.value ?? null,
    found?.spread?.least ?? null,
    found?.spread?.most ?? null,
  ];
  const lines = numbers.map(({ run, step, counter, a, b }) =>
    [run, step, counter, ...of(a), ...of(b)].map(csvCell).join(','),
  );
  return `${['run,step,counter,a,a_min,a_max,b,b_min,b_max', ...lines].join('\n')}\n`;
}
