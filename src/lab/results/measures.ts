/**
 * Measures of a result besides its counters, each as a table with a chart, for the page, the
 * command, and reports.
 */
import type { NamedResult } from '../experiments/model/environment.ts';
import type { AnswerChart } from './answers.ts';
import { checkpointChart, checkpointTable } from './checkpoints.ts';
import { rateChart, rateTable } from './rates.ts';
import type { ResultTable } from './table.ts';

interface Measure {
  readonly chart: AnswerChart;
  readonly table: ResultTable;
}
const MEASURES = [
  [checkpointChart, checkpointTable],
  [rateChart, rateTable],
] as const;

/** The ones available for these runs. */
export const measuresOf = (runs: readonly NamedResult[]): Measure[] =>
  MEASURES.flatMap(([chartOf, tableOf]) => {
    const [chart, table] = [chartOf(runs), tableOf(runs)];
    return chart && table ? [{ chart, table }] : [];
  });
