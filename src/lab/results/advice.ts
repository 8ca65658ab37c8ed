/** The index advisor's answer as text and tables, for the page and the command. */
import type { RecordedRuns } from '../experiments/engine/plan.ts';
import type {
  Advice,
  AdvisedIndex,
  AdviceProgress,
  Effect,
  RunCounts,
  TriedStatement,
} from '../advisor/advice.ts';
import {
  COUNTED_ONCE,
  pragmaText,
  ranFacts,
  type EnvironmentFact,
} from '../experiments/model/environment.ts';
import { vfsTitle } from '../experiments/model/vfs-facts.ts';
import { cut, oneLine } from '../../text/clean.ts';
import { countOf, formatBytes, formatNumber, formatSigned, UNKNOWN } from '../../text/numbers.ts';
import { number, ratioOf, type ResultTable } from './table.ts';

/** The answer in a sentence, or in several where the search was interrupted. */
export function answerWords(advice: Advice): string {
  const { interruptedAt: at, candidates, indexes, leading } = advice;
  if (!at) return answerOf(advice);
  const tried =
    candidates === 0
      ? ['No index was tried.']
      : indexes.length || leading === null
        ? [`Of what was tried: ${answerOf(advice)}`]
        : [];
  const next = indexes.length ? 'The next best' : 'The best';
  const uncounted = leading === null ? [] : [`${next} so far isn't counted exactly: ${leading}`];
  return [`Interrupted while ${progressWords(at)}.`, ...tried, ...uncounted].join(' ');
}
/** `trying indexes, 12 of 60 done`. */
export const progressWords = ({ what, done, all }: AdviceProgress): string =>
  `${what.charAt(0).toLowerCase()}${what.slice(1)}, ${number(done)} of ${number(all)} done`;
function answerOf({ indexes, statements, candidates }: Advice): string {
  const tried = countOf(statements.length, 'recorded statement');
  const helped = new Set(
    indexes.flatMap(({ effects }) =>
      effects
        .filter(({ before, after }) => after.instructions < before.instructions)
        .map(({ fingerprint }) => fingerprint),
    ),
  );
  if (indexes.length)
    return `${countOf(indexes.length, 'index helps', 'indexes help')} ${number(helped.size)} of ${tried}.`;
  return candidates
    ? `No index helps. vfscope built ${countOf(candidates, 'candidate')} and ran ${tried}.`
    : `No index helps. ${tried} gave no candidate.`;
}

/** Costs and savings of an index, as names and values. */
export const indexFacts = (index: AdvisedIndex): readonly (readonly [string, string])[] => [
  ['Saves', `${number(Math.round(index.saved))} instructions over all recorded runs`],
  ['Size', formatBytes(index.sizeBytes)],
  ['Each INSERT', insertWords(index)],
];

function insertWords({ insert, recordedInserts }: AdvisedIndex): string {
  const recorded = `${countOf(recordedInserts, 'INSERT')} recorded`;
  return 'why' in insert
    ? `${UNKNOWN}: ${insert.why}`
    : `${formatSigned(insert.bytes, formatBytes)} written, ${formatSigned(insert.instructions, number)} instructions (${recorded})`;
}

const changed = (before: number, after: number, ratio = false): string => {
  const by = ratio && ratioOf(after, before);
  return before === after
    ? number(before)
    : `${number(before)} → ${number(after)}${by ? ` (${by})` : ''}`;
};

/** The changes by an index, for each statement: each cell is without it → with it. */
export const effectTable = ({ name, effects, more }: AdvisedIndex): ResultTable => ({
  id: `advice-${name}`,
  title: 'What it changes',
  help: 'One run on a cold page cache: without the index → with it. A scan step moves from one row to the next.',
  head: ['Statement', 'runs', 'instructions', 'pages read', 'scan steps', 'sorts', 'VM steps'],
  rows: effects.map(({ fingerprint, runs, before, after }) => [
    fingerprint,
    number(runs),
    changed(before.instructions, after.instructions, true),
    changed(before.pagesRead, after.pagesRead),
    changed(before.scanSteps, after.scanSteps),
    changed(before.sorts, after.sorts),
    changed(before.vmSteps, after.vmSteps),
  ]),
  more,
});

/** A plan with the cost of one run: `SCAN note: 922 pages, 19,999 scan steps for 10 rows`. */
const planWords = (plan: readonly string[], counts: RunCounts): string =>
  `${plan.map((line) => line.trim()).join('; ') || 'No table is read'}: ${costWords(counts)}`;
const costWords = ({ pagesRead, scanSteps, rows }: RunCounts): string =>
  `${countOf(pagesRead, 'page')}, ${countOf(scanSteps, 'scan step')} for ${countOf(rows, 'row')}`;

/** A statement as it runs without a new index, and its recorded numbers. */
export const statementLines = (one: TriedStatement): string[] => [
  planWords(one.plan, one.counts),
  recordedWords(one),
];

/** The plans of an effect, without the index and with it. */
export const planLines = ({ planBefore, planAfter, before, after }: Effect): string[] => [
  `before: ${planWords(planBefore, before)}`,
  `after: ${planWords(planAfter, after)}`,
];

const perRun = (n: number | null, runs: number): string =>
  n === null ? UNKNOWN : formatNumber(n / runs);
/** The recorded numbers of a statement, beside the copy's. */
export function recordedWords({ runs, recordedRows, recordedPages }: RecordedRuns): string {
  return `recorded: ${countOf(runs, 'run')}, pages per run ${perRun(recordedPages, runs)}, rows per run ${perRun(recordedRows, runs)}`;
}

/** What ran it. */
export const adviceFacts = (advice: Advice): EnvironmentFact[] =>
  ranFacts([
    {
      name: '',
      result: {
        ...advice,
        vfs: vfsTitle('MemoryVFS'),
        pragmas: pragmaText(advice.settings),
        passes: COUNTED_ONCE,
      },
    },
  ]);

/** Characters of a statement in the list of skipped ones. */
const MOST_EXAMPLE = 100;
/** Limits of the answer. */
export function adviceNotes({ statements, leftOut, candidatesLeft, engine }: Advice): string[] {
  const by = (values: TriedStatement['values']): number =>
    statements.filter((one) => one.values === values).length;
  const fromCopy = by('copy') + by('null');
  return [
    `Counted on ${engine.package} ${engine.version}, SQLite ${engine.sqlite}, on a copy in memory. Your app's engine can plan differently.`,
    ...(fromCopy
      ? [
          `The recording has no values for ${countOf(fromCopy, 'statement')}. The Lab used values from your database's rows instead.`,
        ]
      : []),
    ...(by('null')
      ? [`${countOf(by('null'), 'statement')} ran with NULL where no column suggests a value.`]
      : []),
    ...(candidatesLeft ? [`${countOf(candidatesLeft, 'more candidate')} weren't tried.`] : []),
    ...leftOut.map(
      ({ why, statements: n, example }) =>
        `${countOf(n, 'statement')} left out. ${why}. ${n === 1 ? 'It is' : 'One is'}: ${cut(oneLine(example), MOST_EXAMPLE)}`,
    ),
  ];
}
