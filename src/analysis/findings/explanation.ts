/**
 * How much of the time while SQL runs the findings explain: the calls that they name, each moment
 * once.
 */
import { formatDuration } from '../../text/numbers.ts';
import { conditions } from '../core/conditions.ts';
import { fact } from '../core/graph.ts';
import { numberSaid } from '../numbers/headline-numbers.ts';
import {
  partsListed,
  say,
  saidList,
  saidText,
  type Said,
  type SaidNumber,
} from '../numbers/said.ts';
import { totalTimeInSql } from '../time/summary-time.ts';
import { toldFindings } from './index.ts';
import { COVERAGE_NEEDS, coverageOf, explainedParts, explainedUs } from './named-time.ts';

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
  /** Sentences about that, their numbers with what they count. */
  said: Said;
}

/** null if no time passed while SQL ran. */
export const explained = fact(
  'explained',
  'what the findings explain',
  { coverage, totalTimeInSql, conditions, toldFindings },
  (_, { coverage, totalTimeInSql, conditions, toldFindings }, facts): Explained | null => {
    if (!totalTimeInSql) return null;
    const counts = {
      explainedUs: explainedUs(coverage),
      inSqlUs: totalTimeInSql,
      findings: toldFindings.length,
      savings: toldFindings.filter(({ finding }) => finding.savingUs !== null).length,
      slowed: conditions.slowed,
    };
    const inSql = numberSaid(facts)('sqlTime', formatDuration(counts.inSqlUs));
    const calls: SaidNumber = {
      text: formatDuration(counts.explainedUs),
      definition:
        'Time in SQL that the actions explain: that of the calls behind them. Each moment counts once. To list the calls, press Show beside an action. The lists here show all time of each kind.',
      list: 'statements',
      about: partsListed(explainedParts(coverage)),
    };
    return { ...counts, said: explainedSaid(counts, calls, inSql) };
  },
);

export const explainedText = ({ said }: Pick<Explained, 'said'>): string => saidText(said);

/** @param calls the time of the calls @param inSql all time in SQL */
export const explainedSaid = (
  told: Omit<Explained, 'said'>,
  calls: SaidNumber | string,
  inSql: SaidNumber | string,
): Said =>
  saidList(
    [
      aboutSaid(told, calls, inSql),
      told.savings > 1
        ? ["Savings overlap, so don't add them up: fix one, then record again."]
        : [],
      told.slowed ? ['Times and savings are those with DevTools open.'] : [],
    ],
    ' ',
  );

function aboutSaid(
  { findings, explainedUs }: Omit<Explained, 'said'>,
  calls: SaidNumber | string,
  inSql: SaidNumber | string,
): Said {
  const these = findings > 1 ? 'These actions explain' : 'This action explains';
  return say`${these} ${explainedUs === 0 ? 'none' : calls} of the ${inSql} in SQL.`;
}
