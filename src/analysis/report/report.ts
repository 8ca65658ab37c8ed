/**
 * A trace as one page for a bug report: headings, facts, and tables, without a layout. The
 * terminal, Markdown, and HTML formats add one.
 *
 *   what was recorded . caveats . headline numbers . where the time went . statements . transactions . files . storage . findings
 */
import { captureText } from '../../event/capture.ts';
import { accounts } from '../findings/accounts.ts';
import { accountsBlock } from './report-accounts.ts';
import { tailCount, unknownTails } from '../core/unknown-tails.ts';
import { unseenWork } from '../core/unrecorded-workers.ts';
import { sampleSums } from '../cpu/hot-functions.ts';
import { explained, explainedText } from '../findings/explanation.ts';
import { badges, findings } from '../findings/index.ts';
import { FINDING_LABELS as label, noFindings } from '../findings/finding-facts.ts';
import type { Facts } from '../core/graph.ts';
import type { Block, Cell, Report } from './blocks.ts';
import { NUMBER_NEEDS, numbersFrom, type NumberId } from '../numbers/headline-numbers.ts';
import {
  UNKNOWN,
  countOf,
  formatBound,
  formatCount,
  formatDuration,
  formatNumber,
} from '../../text/numbers.ts';
import { samplesBlock } from './report-cpu.ts';
import { requestsBlock } from './report-requests.ts';
import { belowBlock } from './report-below.ts';
import { storageBlock } from './report-storage.ts';
import { filesBlock, statementsBlock, TABLE_NEEDS, transactionsBlock } from './report-tables.ts';
import { timeBlock } from './report-time.ts';
import { partition } from '../time/thread-times.ts';
import { longestReserved } from '../transactions/longest-reserved.ts';
import { engineCoverage } from './engine-coverage.ts';
import { summary, type Summary, type SummaryEngine, type SummaryThread } from './summary.ts';

/** Heading of the findings. */
export const FINDINGS = 'Findings';

interface ReportOptions {
  /** Warnings from reading the file. */
  warnings?: readonly string[];
  /**
   * Maximum rows of statements, transactions, files, and findings; 10 by default, half as many for
   * transactions and findings.
   */
  most?: number;
  /** Maximum characters of a statement or path; by default as many as fit in a terminal. */
  longest?: number;
  /** Query plans of statements that findings are about, by fingerprint. */
  plans?: ReadonlyMap<string, string>;
}

/** Needs of a report. */
export const REPORT_NEEDS = {
  ...NUMBER_NEEDS,
  summary,
  findings,
  explained,
  accounts,
  noFindings,
  sampleSums,
  badges,
  partition,
  ...TABLE_NEEDS,
};

/** `0 dropped, 1 tail unknown` */
const droppedText = (facts: Facts): string =>
  [`${formatCount(facts.store.dropped)} dropped`, tailCount(facts.get(unknownTails))]
    .filter(Boolean)
    .join(', ');

/** All texts come from the trace, unescaped, and may contain anything. */
export function reportOf(facts: Facts, options: ReportOptions = {}): Report {
  const { warnings = [], most = 10, longest, plans } = options;
  const said = facts.get(summary);
  const few = Math.ceil(most / 2);
  const found = facts.get(findings);
  const known = facts.get(explained);
  return {
    title: `vfscope trace, ${formatDuration(said.durationUs)}, ${countOf(said.events, 'event')}, ${droppedText(facts)}`,
    blocks: [
      recorded(said),
      caveats([...warnings, ...facts.get(badges).map((b) => `${b.badge}: ${b.say}`)]),
      { heading: 'SQLite', facts: headline(facts, said) },
      timeBlock(facts),
      statementsBlock(facts, most, longest),
      samplesBlock(facts.get(sampleSums), few),
      transactionsBlock(facts, few, longest),
      filesBlock(facts, most, longest),
      storageBlock(said.web, said.unknown['web'], facts.get(unseenWork)?.text ?? null),
      belowBlock(said.belowStorage ?? null),
      requestsBlock(said.requests ?? null),
      {
        heading: FINDINGS,
        ...(found.length
          ? {
              table: {
                head: ['Rule', label.saving, label.sure, 'Finding', label.advice],
                rows: found
                  .slice(0, few)
                  .map((f): Cell[] => [
                    f.rule,
                    formatDuration(f.savingUs),
                    f.confidence,
                    { text: f.title, wide: true },
                    { text: f.advice, wide: true },
                  ]),
                texts: [0, 2, 3, 4],
              },
              lines: [
                ...found.slice(0, few).flatMap(({ rule, statement = '' }) => {
                  const plan = plans?.get(statement);
                  return plan === undefined ? [] : [`${rule}, query plan: ${plan}`];
                }),
                ...(found.length > few
                  ? [`... and ${found.length - few} more: vfscope findings`]
                  : []),
                ...(known ? [explainedText(known)] : []),
              ],
            }
          : { lines: [facts.get(noFindings)] }),
      },
      ...accountsBlock(facts.get(accounts)),
    ].filter((block): block is Block => block !== null),
  };
}

function recorded(s: Summary): Block {
  const env = s.environment;
  const { tracerNsPerEvent: cost } = env;
  return {
    heading: 'Recorded',
    facts: [
      ['page', env.url ?? UNKNOWN],
      ['browser', env.userAgent ?? UNKNOWN],
      ...(s.engines.length ? s.engines : [null]).map((e): [string, string] => [
        'engine',
        e ? engineText(e) : 'none seen',
      ]),
      ...s.threads.map((t): [string, string] => ['thread', threadText(t)]),
      [
        'clock',
        `step ${formatDuration(env.clockStepUs)}, cross-origin isolated: ${yesNo(env.crossOriginIsolated)}`,
      ],
      ['captured', env.capture ? captureText(env.capture) : UNKNOWN],
      [
        'tracer',
        `${formatNumber(cost.vfs)} ns a VFS call, ${formatNumber(cost.js)} ns a storage call`,
      ],
    ],
  };
}

const yesNo = (v: boolean | null): string => (v === null ? UNKNOWN : v ? 'yes' : 'no');

/** `wa-sqlite, SQLite 3.53.0, VFS opfs; ...` */
export function engineText(of: SummaryEngine): string {
  const { name, sqliteVersion, vfs } = of;
  return [
    name,
    ...(sqliteVersion ? [`, SQLite ${sqliteVersion}`] : []),
    ...(vfs.length ? [`, VFS ${vfs.join(', ')}`] : []),
    `; ${engineCoverage(of)}`,
  ].join('');
}

function threadText({ title, events, layers, note }: SummaryThread): string {
  return `${title}: ${countOf(events, 'event')} (${layers.join(', ') || 'none'})${note ? `; ${note}` : ''}`;
}

/** Warnings, losses, and what makes numbers misleading; null without any. */
function caveats(lines: readonly string[]): Block | null {
  return lines.length ? { heading: 'Caveats', lines } : null;
}

const REPORTED: readonly NumberId[] = [
  'statements',
  'distinctStatements',
  'transactionsWrite',
  'transactionsRead',
  'rolledBack',
  'commits',
  'syncsPerCommit',
  'vfsPerStatement',
  'longestReserved',
  'hitRate',
  'readBytes',
  'writtenBytes',
];

function headline(facts: Facts, { pageCache, unknown, instructions }: Summary): [string, string][] {
  const numbers = numbersFrom(facts);
  const hold = facts.get(longestReserved);
  const { hits, misses, spills } = pageCache;
  const more: Partial<Record<NumberId, string>> = {
    longestReserved: hold ? ` on ${hold.path}${hold.open ? ', not released' : ''}` : '',
    hitRate: `: ${countOf(hits, 'hit')}, ${countOf(misses, 'miss', 'misses')}, ${countOf(spills, 'spill')}`,
  };
  return [
    ...[...REPORTED, ...(instructions === undefined ? [] : (['instructions'] as const))].map(
      (id): [string, string] => {
        const number = numbers.get(id);
        return [number.title, `${formatBound(number)}${more[id] ?? ''}`];
      },
    ),
    ...Object.entries(unknown).map(([key, why]): [string, string] => [UNKNOWN, `${key}: ${why}`]),
  ];
}
