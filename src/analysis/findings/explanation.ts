/**
 * How much of the time while SQL runs the findings explain: the calls that they name, each moment
 * once.
 */
import { formatDuration } from '../../text/numbers.ts';
import { conditions } from '../core/conditions.ts';
import { fact } from '../core/graph.ts';
import { totalTimeInSql } from '../time/summary-time.ts';
import { toldFindings } from './index.ts';
import { COVERAGE_NEEDS, coverageOf, explainedUs } from './named-time.ts';

const NEEDS = { ...COVERAGE_NEEDS, toldFindings };
/** Over all threads of SQLite. What a worker does for one of them counts as that thread's time. */
export const coverage = fact('coverage', 'what the findings explain', NEEDS, (store, known) =>
  coverageOf(
    store,
    known,
    known.toldFindings.map(({ named }) => named),
  ),
);

export interface Explained {
  explainedUs: number;
  inSqlUs: number;
  /** How many findings there are, and how many have a known saving. */
  findings: number;
  savings: number;
  /**
   * DevTools were open in a browser that is slower then. The findings' savings are slower times,
   * too.
   */
  slowed: boolean;
}

/** null if no time passed while SQL ran. */
export const explained = fact(
  'explained',
  'what the findings explain',
  { coverage, totalTimeInSql, conditions, toldFindings },
  (_, { coverage, totalTimeInSql, conditions, toldFindings }): Explained | null =>
    totalTimeInSql
      ? {
          explainedUs: explainedUs(coverage),
          inSqlUs: totalTimeInSql,
          findings: toldFindings.length,
          savings: toldFindings.filter(({ finding }) => finding.savingUs !== null).length,
          slowed: conditions.slowed,
        }
      : null,
);

export const explainedText = (told: Explained): string =>
  [
    aboutText(told),
    ...(told.savings > 1
      ? ["Savings overlap, so don't add them up: fix one, then record again."]
      : []),
    ...(told.slowed ? ['Times and savings are those with DevTools open.'] : []),
  ].join(' ');

function aboutText({ findings, explainedUs, inSqlUs }: Explained): string {
  const inSql = `the ${formatDuration(inSqlUs)} in SQL`;
  if (explainedUs === 0)
    return findings > 1 ? `No action is about ${inSql}.` : `This action isn't about ${inSql}.`;
  const these = findings > 1 ? 'These actions are' : 'This action is';
  return `${these} about calls that took ${formatDuration(explainedUs)} of ${inSql}.`;
}
