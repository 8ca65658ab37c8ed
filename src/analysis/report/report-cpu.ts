/** CPU samples by statement, as a block of the report. */
import { cut, oneLine, plain, UNKNOWN_SQL } from '../../text/clean.ts';
import { countOf, formatDuration, formatShare } from '../../text/numbers.ts';
import type { SampleSums, StatementSamples } from '../cpu/hot-functions.ts';
import type { Block } from './blocks.ts';

const LONGEST = { statement: 60, name: 60 };
/** Functions of a statement. */
const FEW = 3;
/** With fewer samples, shares mean little. */
const ENOUGH = 20;

/** `patternCompare 81 %, sqlite3VdbeExec 12 %`, of the samples in which the thread computed. */
const hottest = ({ functions, onCpu }: StatementSamples): string =>
  functions
    .slice(0, FEW)
    .map(({ name, self }) => `${cut(plain(name), LONGEST.name)} ${formatShare(self / onCpu)}`)
    .join(', ');

/** null if no thread was sampled. @param most statements */
export function samplesBlock(sums: SampleSums | null, most: number): Block | null {
  if (!sums) return null;
  const { statements, outside, intervalUs, clockErrorUs } = sums;
  const samples = statements.reduce((n, one) => n + one.samples, 0);
  const few = statements.slice(0, most).some((one) => one.samples < ENOUGH);
  return {
    heading: `CPU: ${countOf(samples, 'sample')} while SQL ran, one every ${formatDuration(intervalUs)}`,
    table: {
      head: ['Statement', 'Samples', 'On CPU', 'Hottest functions'],
      rows: statements
        .slice(0, most)
        .map((one) => [
          cut(oneLine(one.sql ?? UNKNOWN_SQL), LONGEST.statement),
          String(one.samples),
          formatShare(one.onCpu / one.samples),
          { text: hottest(one), wide: true },
        ]),
      texts: [0, 3],
      code: [0],
    },
    lines: [
      `Samples are placed to within ${formatDuration(clockErrorUs)}. While no SQL ran, threads of the page computed in ${countOf(outside, 'sample')}.`,
      ...(few ? [`A statement with fewer than ${ENOUGH} samples has only rough shares.`] : []),
    ],
  };
}
