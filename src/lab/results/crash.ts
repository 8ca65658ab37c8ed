/** A crash test as text: what holds after each kind of crash, and the first call that breaks it. */
import { EVERY_SUBSET } from '../crash/fates.ts';
import {
  isTested,
  LEVELS,
  type Breach,
  type CrashConfig,
  type CrashResult,
  type Guarantee,
  type NotTested,
} from '../crash/model.ts';
import { countOf, UNKNOWN } from '../../text/numbers.ts';
import type { Answer, AnswerBar } from './answers.ts';
import { listed, type ResultTable } from './table.ts';

type Outcome = CrashResult | NotTested;

export function guaranteeText({ level, mostLost }: Guarantee): string {
  if (level === 'kept') return 'all commits kept';
  if (level === 'lost')
    return `last ${mostLost === 1 ? 'commit' : countOf(mostLost, 'commit')} can be lost, database intact`;
  return level === 'half' ? 'half a transaction' : 'corrupt';
}

export const crashConfigText = ({
  vfs,
  journalMode,
  synchronous,
  durability,
}: CrashConfig): string =>
  `${vfs}, ${journalMode}, synchronous=${synchronous}${durability === null ? '' : `, ${durability}`}`;

/** A row for each configuration. */
export function guaranteeTable(outcomes: readonly Outcome[]): ResultTable {
  const withDurability = outcomes.some(({ config }) => config.durability !== null);
  return {
    id: 'guarantees',
    title: 'What you can rely on',
    help: 'After every crash, the same VFS recovered the database and checked it.',
    head: [
      ...['VFS', 'journal', 'synchronous'],
      ...(withDurability ? ['durability'] : []),
      ...['process death', 'power loss'],
    ],
    rows: outcomes.map((outcome) => {
      const { vfs, journalMode, synchronous, durability } = outcome.config;
      return [
        ...[vfs, journalMode, synchronous],
        ...(withDurability ? [durability ?? ''] : []),
        ...(isTested(outcome)
          ? [guaranteeText(outcome.processDeath), guaranteeText(outcome.powerLoss)]
          : [UNKNOWN, UNKNOWN]),
      ];
    }),
    more: 0,
  };
}

/**
 * Why some configurations weren't tested, and for each of the others the first crash that breaks a
 * promise.
 */
export function breachLines(outcomes: readonly Outcome[]): string[] {
  return outcomes.flatMap((outcome) => {
    if (!isTested(outcome))
      return [`${crashConfigText(outcome.config)}: ${UNKNOWN}, ${outcome.cause}`];
    const lines = [
      ...outcome.notes,
      ...ofKind('Process death', outcome.processDeath),
      ...ofKind('Power loss', outcome.powerLoss),
    ];
    return lines.length
      ? [`${crashConfigText(outcome.config)}:`, ...lines.map((line) => `  ${line}`)]
      : [];
  });
}

const BREAKS = {
  lost: 'loses a commit',
  half: 'leaves half a transaction',
  corrupt: 'damages the database',
} as const;
const ofKind = (kind: string, { first, lostCommits }: Guarantee): string[] => [
  ...(['lost', 'half', 'corrupt'] as const).flatMap((level) => {
    const breach = first[level];
    return breach ? breachText(`${kind} ${BREAKS[level]}`, breach) : [];
  }),
  ...(lostCommits.length
    ? [
        `${kind} can lose ${lostCommits.length === 1 ? 'commit' : 'commits'} ${lostCommits.join(', ')}`,
      ]
    : []),
];

/** Maximum listed lost calls; --json has all. */
const MOST_LOST = 4;
function breachText(what: string, breach: Breach): string[] {
  const { afterCall, call, nextCall, phase, lost, acknowledged, recovered, cause } = breach;
  const shown = lost.slice(0, MOST_LOST);
  return [
    `${what}, first after call ${afterCall}${call === null ? '' : `: ${call}`} (${phase})`,
    ...(nextCall === null ? [] : [`  never made: ${nextCall}`]),
    ...shown.map((text) => `  lost: ${text}`),
    ...(lost.length > shown.length ? [`  and ${lost.length - shown.length} more`] : []),
    cause === null
      ? `  ${countOf(acknowledged, 'commit')} acknowledged, ${recovered} found`
      : `  ${cause}`,
  ];
}

/** The number of tested cases. */
export function coverageLines(outcomes: readonly Outcome[]): string[] {
  const tested = outcomes.filter(isTested);
  const sum = (of: (result: CrashResult) => number): number =>
    tested.reduce((total, result) => total + of(result), 0);
  const sampled = sum(({ powerLoss }) => powerLoss.sampledPoints);
  return [
    `${countOf(
      sum(({ processDeath, powerLoss }) => processDeath.states + powerLoss.states),
      'crash',
      'crashes',
    )} made, each recovered and checked, in ${countOf(tested.length, 'configuration')}`,
    `Power loss: every subset of up to ${EVERY_SUBSET} pending calls. ${countOf(sampled, 'point')} of ${sum(({ powerLoss }) => powerLoss.points)} had more and were sampled.`,
  ];
}

/** The kind of crash that loses more. */
const worse = ({ processDeath, powerLoss }: CrashResult): [kind: string, held: Guarantee] => {
  const rank = ({ level, mostLost }: Guarantee): number =>
    LEVELS.indexOf(level) * 1000 + Math.min(mostLost, 999);
  return rank(processDeath) >= rank(powerLoss)
    ? ['process death', processDeath]
    : ['power loss', powerLoss];
};

/** The first call after which a crash breaks a promise; '' where none does. */
function firstCallText({ processDeath, powerLoss }: CrashResult): string {
  const all = [processDeath, powerLoss].flatMap(({ first }) =>
    Object.values(first).flatMap((breach) => breach ?? []),
  );
  const [earliest] = all.sort((a, b) => a.afterCall - b.afterCall);
  if (!earliest) return '';
  const { afterCall, call, phase } = earliest;
  return `after call ${afterCall}${call === null ? '' : `: ${call}`} (${phase})`;
}

const withDurability = ({ vfs, durability }: CrashConfig): string =>
  durability === null ? vfs : `${vfs} (${durability})`;

/** What the tested VFSs retain, for each pair of journal mode and synchronous. */
function crashSentences(tested: readonly CrashResult[]): string[] {
  const groups = new Map<string, CrashResult[]>();
  for (const result of tested) {
    const { journalMode, synchronous } = result.config;
    const key = `With journal_mode=${journalMode} and synchronous=${synchronous}`;
    groups.set(key, [...(groups.get(key) ?? []), result]);
  }
  return [...groups].flatMap(([settings, results]) => {
    const those = (is: (level: Guarantee['level']) => boolean): string[] =>
      results.filter((result) => is(worse(result)[1].level)).map((r) => withDurability(r.config));
    const kept = those((level) => level === 'kept');
    const losing = those((level) => level === 'lost');
    const damaged = those((level) => level === 'half' || level === 'corrupt');
    return [
      `${settings}, ${kept.length ? `no commit is lost on ${listed(kept)}` : 'every tested VFS can lose commits'}.`,
      ...(losing.length && kept.length ? [`Commits can be lost on ${listed(losing)}.`] : []),
      ...(damaged.length ? [`The database can be damaged on ${listed(damaged)}.`] : []),
    ];
  });
}

/** The answer to "Will I lose data?". */
export function crashAnswer(outcomes: readonly Outcome[]): Answer {
  const tested = outcomes.filter(isTested);
  const { head, rows, ...table } = guaranteeTable(outcomes);
  return {
    sentences: crashSentences(tested),
    charts: [
      {
        id: 'kept',
        title: 'Commits that survive the worst crash',
        bars: tested.map((result): AnswerBar => {
          const [kind, held] = worse(result);
          const damaged = held.level === 'half' || held.level === 'corrupt';
          const kept = damaged ? 0 : result.commits - held.mostLost;
          const after = held.level === 'kept' ? '' : ` after ${kind}`;
          return {
            label: crashConfigText(result.config),
            value: kept,
            text: damaged
              ? `${guaranteeText(held)}${after}`
              : `${kept} of ${countOf(result.commits, 'commit')}${after}`,
          };
        }),
      },
    ],
    table: {
      ...table,
      head: [...head, 'first call that breaks it'],
      texts: head.map((_, i) => i + 1),
      rows: rows.map((row, i) => {
        const outcome = outcomes[i]!;
        return [...row, isTested(outcome) ? firstCallText(outcome) : outcome.cause];
      }),
    },
  };
}
