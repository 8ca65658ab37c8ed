/** A crash test in words: what holds after each kind of crash, and the first call that breaks it. */
import { EVERY_SUBSET } from '../crash/fates.ts';
import {
  isTested,
  type Breach,
  type CrashConfig,
  type CrashResult,
  type Guarantee,
  type NotTested,
} from '../crash/model.ts';
import { countOf, UNKNOWN } from '../../text/numbers.ts';
import type { ResultTable } from './table.ts';

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

/** Why some configurations weren't tested, and the first crash that breaks a promise of each of the others. */
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

/** Lost calls that are listed; --json has all. */
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

/** How much was tried. */
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
