/**
 * The answer without its views: the sentence, where the time in SQL went, and what to do first. For
 * `vfscope record` and scripts that run it.
 */
import { plain } from '../../text/clean.ts';
import { countOf, formatDuration, formatShare } from '../../text/numbers.ts';
import { belowStorage, type BelowStorageSums } from '../below/browser-work.ts';
import { actionsOf, changeText, insteadText, timeAfter } from '../answer/actions.ts';
import { headline } from '../answer/headline.ts';
import type { Facts } from '../core/graph.ts';
import { sampleSums, type SampleSums } from '../cpu/hot-functions.ts';
import { PART_WORDS, SQL_PARTS, type Part } from '../core/time-parts.ts';
import { badges, findings } from '../findings/index.ts';
import { accounts, type Account } from '../findings/accounts.ts';
import { causeText, noFindings, savingText } from '../findings/finding-facts.ts';
import { costText } from '../findings/cost-said.ts';
import { totalTimeInSql } from '../time/summary-time.ts';
import type { Block, Report } from './blocks.ts';
import { accountsBlock } from './report-accounts.ts';
import { belowBlock } from './report-below.ts';
import { samplesBlock } from './report-cpu.ts';

/** Actions of a short answer. */
const FEW = 3;
/** Statements of a short answer. */
const STATEMENTS = 5;

export interface Answer {
  /** One or two sentences. */
  answer: string;
  /** What makes numbers incomplete, such as a thread that wasn't recorded: one sentence each. */
  missing: string[];
  /** Time while SQL runs, in microseconds; null if not known. */
  inSqlUs: number | null;
  /** Its parts that are above 0. */
  parts: { part: Part; us: number }[];
  /** What threads executed, by statement, if they were sampled. */
  cpu?: SampleSums;
  /** What the browser did for storage calls, and whether it counted as many, if it was asked. */
  belowStorage?: BelowStorageSums;
  /** Ranked. An action without a known time has no `afterUs`. */
  actions: {
    rule: string;
    advice: string;
    seen: string;
    confidence: string;
    savingUs: number | null;
    savesOutsideSql?: true;
    afterUs: number | null;
    /** Rule of an earlier action that solves the same problem. */
    insteadOf: string | null;
  }[];
  /** Large costs that no action explains. */
  accounts: readonly Account[];
  /** What recording cost the app: one sentence; '' if not known. */
  cost: string;
  /** Actions beyond those. */
  more: number;
  /** The text if there is nothing to do. */
  none: string | null;
}

const NEEDS = {
  headline,
  badges,
  findings,
  noFindings,
  accounts,
  totalTimeInSql,
  sampleSums,
  belowStorage,
};

/** The part for a short answer. */
const fewest = ({ statements, ...rest }: SampleSums): SampleSums => ({
  ...rest,
  statements: statements
    .slice(0, STATEMENTS)
    .map((one) => ({ ...one, functions: one.functions.slice(0, FEW) })),
});

/**
 * The texts come from the trace, on one line each and without control characters.
 * @param most actions, 3 by default
 */
export function answerOf(facts: Facts, most = FEW): Answer {
  const known = facts.known(NEEDS);
  const { times, text } = known.headline;
  const inSqlUs = known.totalTimeInSql || null; // 0: every call was too short for the clock
  const actions = actionsOf(known.findings);
  return {
    answer: plain(text),
    missing: known.badges.filter(({ hides }) => hides).map(({ say }) => plain(say)),
    inSqlUs,
    parts: SQL_PARTS.map((part) => ({ part, us: times?.[`${part}Us`] ?? 0 })).filter(
      ({ us }) => us > 0,
    ),
    ...(known.sampleSums && { cpu: fewest(known.sampleSums) }),
    ...(known.belowStorage && { belowStorage: known.belowStorage }),
    actions: actions.slice(0, most).map(({ rule, findings: [first], insteadOf }) => {
      const { advice, title, confidence, savingUs, savesOutsideSql } = first!;
      return {
        rule,
        advice: plain(advice),
        seen: plain(title),
        confidence,
        savingUs,
        ...(savesOutsideSql && { savesOutsideSql }),
        afterUs: timeAfter(inSqlUs, first!),
        insteadOf,
      };
    }),
    accounts: known.accounts.map((one) => ({
      ...one,
      title: plain(one.title),
    })),
    cost: costText(known.headline.cost),
    more: Math.max(0, actions.length - most),
    none: actions.length ? null : known.noFindings,
  };
}

/** Less time in SQL may mean that the app didn't do what is slow. */
const LITTLE_US = 100_000;
const littleText = (inSqlUs: number): string =>
  `SQL only ran for ${formatDuration(inSqlUs)}. Did your app do what is slow? To use it yourself, add --headed. To record longer, add --seconds.`;

/** A path, quoted for shells. */
const quoted = (path: string): string => (/^[\w./@:+-]+$/.test(path) ? path : JSON.stringify(path));

/** vfscope's part of the bar is less than what it cost, so both are explained together. */
function costLines(cost: string, parts: Answer['parts']): string[] {
  if (cost === '') return [];
  const timed = parts.find(({ part }) => part === 'tracer');
  return timed === undefined
    ? [cost]
    : [
        `${cost} ${formatDuration(timed.us)} of that is the "${PART_WORDS.tracer.title}" row. The rest is in the other rows, or outside SQL.`,
      ];
}

/** @param path of the recording, for the commands that show more */
export function answerReport(said: Answer, path: string): Report {
  const file = quoted(path);
  const { answer, missing, inSqlUs, parts, cpu = null, actions, accounts, cost, more, none } = said;
  const blocks: (Block | null)[] = [
    missing.length ? { heading: 'Not in these numbers', lines: missing } : null,
    parts.length
      ? {
          heading: 'Time in SQL',
          table: {
            head: ['part', 'time', 'share'],
            rows: parts.map(({ part, us }) => [
              PART_WORDS[part].title,
              formatDuration(us),
              formatShare(us / inSqlUs!),
            ]),
            texts: [0],
          },
          lines: costLines(cost, parts),
        }
      : null,
    samplesBlock(cpu, STATEMENTS),
    belowBlock(said.belowStorage ?? null),
    {
      heading: none ?? 'What to do',
      lines: [
        ...(none !== null && inSqlUs !== null && inSqlUs < LITTLE_US ? [littleText(inSqlUs)] : []),
        ...actions.flatMap(
          ({ rule, advice, seen, confidence, afterUs, insteadOf, ...saving }, i) => [
            `${i + 1}. ${advice}  [${rule}]`,
            `   ${seen}`,
            `   ${afterUs === null ? savingText(saving) : `Time in SQL ${changeText(inSqlUs!, afterUs)}`}, ${causeText(confidence)}${insteadOf === null ? '' : `, ${insteadText({ rule, insteadOf })}`}`,
          ],
        ),
      ],
    },
    ...accountsBlock(accounts, none ? 'Where the time went' : undefined),
    {
      heading: 'More',
      facts: [
        ['All views', `npx vfscope open ${file}`],
        [more ? `${countOf(more, 'more action')}` : 'In detail', `npx vfscope findings ${file}`],
        ['For a bug report', `npx vfscope summary ${file}`],
      ],
    },
  ];
  return { title: answer, blocks: blocks.filter((block) => block !== null) };
}
