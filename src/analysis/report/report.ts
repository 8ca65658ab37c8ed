/**
 * A trace as one page for a bug report: headings, facts and tables, without a layout. report-text.ts and report-markdown.ts draw it.
 *
 *   what was recorded . what to mind . headline numbers . where the time went . statements . transactions . files . storage . findings
 */
import type { TraceStore } from '../../trace/store.ts';
import { captureText } from '../../event/capture.ts';
import { vfsTotal } from '../files/file-counts.ts';
import { badgesOf, findingContext, findingsOf } from '../findings/index.ts';
import { count, percent, some, time } from '../rules/words.ts';
import { filesBlock, storageBlock } from './report-files.ts';
import { statementsBlock, transactionsBlock } from './report-sql.ts';
import { timeBlock } from './report-time.ts';
import type { Block, Cell, Report } from './report-words.ts';
import { known, knownSize } from './report-words.ts';
import { Analyses } from '../shared.ts';
import { summaryOf, type Summary, type SummaryEngine, type SummaryThread } from './summary.ts';
import { transactionHeadline } from '../transactions/transaction-headline.ts';

interface ReportOptions {
  /** What reading the file had to say. */
  warnings?: readonly string[];
  /** Where it is there already. */
  summary?: Summary;
  /** What is computed already. */
  shared?: Analyses;
  /** Rows of statements, transactions, files and findings at most; 10 unless told, half as many transactions and findings. */
  most?: number;
}

/** All texts are the trace's own, unescaped: they may hold anything. */
export function reportOf(store: TraceStore, options: ReportOptions = {}): Report {
  const {
    shared = new Analyses(store),
    warnings = [],
    summary = summaryOf(store, shared),
    most = 10,
  } = options;
  const few = Math.ceil(most / 2);
  const ctx = findingContext(shared);
  const found = findingsOf(store, ctx);
  return {
    title: `vfscope trace, ${time(summary.durationUs)}, ${some(summary.events, 'event')}, ${count(summary.dropped)} dropped`,
    blocks: [
      recorded(summary),
      minding(summary, [...warnings, ...badgesOf(store, ctx).map((b) => `${b.badge}: ${b.say}`)]),
      { heading: 'SQLite', facts: headline(shared, summary) },
      timeBlock(shared),
      statementsBlock(shared, most),
      transactionsBlock(shared, few),
      filesBlock(summary.files, most),
      storageBlock(summary.web, summary.unknown['web']),
      {
        heading: 'Findings',
        ...(found.length
          ? {
              table: {
                head: ['rule', 'saves about', 'how sure', 'what was found', 'what to do'],
                rows: found
                  .slice(0, few)
                  .map((f): Cell[] => [
                    f.rule,
                    f.savingUs === null ? 'n/a' : time(f.savingUs),
                    f.confidence,
                    { text: f.title, wide: true },
                    { text: f.advice, wide: true },
                  ]),
                texts: [0, 2, 3, 4],
              },
              lines:
                found.length > few ? [`... and ${found.length - few} more: vfscope findings`] : [],
            }
          : { lines: ['none: none of the known patterns is in this trace'] }),
      },
    ].filter((block): block is Block => block !== null),
  };
}

function recorded(s: Summary): Block {
  const env = s.environment;
  const { tracerNsPerEvent: cost } = env;
  return {
    heading: 'Recorded',
    facts: [
      ['page', known(env.url)],
      ['browser', known(env.userAgent)],
      ...(s.engines.length ? s.engines : [null]).map((e): [string, string] => [
        'engine',
        e ? engine(e) : 'none seen',
      ]),
      ...s.threads.map((t): [string, string] => [t.kind, threadText(t)]),
      [
        'clock',
        `step ${env.clockStepUs === null ? 'n/a' : time(env.clockStepUs)}, cross-origin isolated: ${yesNo(env.crossOriginIsolated)}`,
      ],
      ['captured', env.capture ? captureText(env.capture) : 'n/a'],
      ['tracer', `${known(cost.vfs)} ns a VFS call, ${known(cost.js)} ns a storage call`],
    ],
  };
}

const yesNo = (v: boolean | null): string => (v === null ? 'n/a' : v ? 'yes' : 'no');

function engine({ name, sqliteVersion, vfs, layers, note }: SummaryEngine): string {
  const seen = Object.entries(layers).flatMap(([layer, on]) => (on ? [layer] : []));
  return [
    name,
    ...(sqliteVersion ? [`, SQLite ${sqliteVersion}`] : []),
    ...(vfs.length ? [`, VFS ${vfs.join(', ')}`] : []),
    `; recorded: ${seen.join(', ') || 'nothing'}`,
    ...(note ? [`; ${note}`] : []),
  ].join('');
}

function threadText({ name, url, events, layers, note }: SummaryThread): string {
  const title = name ? `"${name}" ` : '';
  return `${title}${url}: ${some(events, 'event')} (${layers.join(', ') || 'none'})${note ? `; ${note}` : ''}`;
}

/** Warnings, losses and what makes numbers mislead; nothing where nothing is to be said. */
function minding(s: Summary, lines: readonly string[]): Block | null {
  const all = [
    ...(s.dropped
      ? [`${some(s.dropped, 'event')} dropped: every count below is a lower bound.`]
      : []),
    ...(s.faults ? [`${some(s.faults, 'exception')} inside the tracer's own hooks.`] : []),
    ...lines,
  ];
  return all.length ? { heading: 'To mind', lines: all } : null;
}

function headline(shared: Analyses, s: Summary): [string, string][] {
  const { vfsCallsPerStatement, longestReserved: hold } = transactionHeadline(shared.store, shared);
  const { hits, misses, spills, hitRate } = s.pageCache;
  const rate = hitRate === null ? 'n/a' : percent(hitRate);
  return [
    [
      'statements',
      `${known(s.statements.count)} executions of ${known(s.statements.distinct)} texts`,
    ],
    [
      'transactions',
      `${known(s.transactions.write)} write, ${known(s.transactions.read)} read, ${known(s.transactions.rolledBack)} rolled back`,
    ],
    ['commits', `${known(s.commits)}, ${known(s.syncsPerCommit)} syncs each`],
    ['VFS calls', `${known(vfsCallsPerStatement)} a statement`],
    [
      'longest write lock',
      hold
        ? `${time(hold.toUs - hold.fromUs)} on ${hold.path}${hold.open ? ', not given back' : ''}`
        : 'none seen',
    ],
    [
      'page cache',
      `${known(hits)} hits, ${known(misses)} misses, ${known(spills)} spills; hit rate ${rate}`,
    ],
    ['bytes', bytesText(s)],
    ...Object.entries(s.unknown).map(([key, why]): [string, string] => ['n/a', `${key}: ${why}`]),
  ];
}

const bytesText = ({ files }: Summary): string =>
  `${knownSize(vfsTotal(files, 'xReadBytes'))} read, ${knownSize(vfsTotal(files, 'xWriteBytes'))} written by SQLite`;
