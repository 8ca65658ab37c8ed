/**
 * Plain accounts of what costs most and no finding explains: which calls, which statements, and what would avoid them. They promise no
 * saving, for no known mistake is seen.
 */
import { cut, oneLine } from '../../text/clean.ts';
import {
  countOf,
  formatBytes,
  formatDuration,
  formatNumber,
  formatShare,
} from '../../text/numbers.ts';
import { opTable } from '../../event/operations.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { PART, type Part } from '../core/time-parts.ts';
import { fact, type Known } from '../core/graph.ts';
import { sqliteThreads } from '../core/main-threads.ts';
import { callCounts } from '../files/call-counts.ts';
import { fileCounts, vfsTotal } from '../files/file-counts.ts';
import { heldFromSqlite, lockWaits } from '../locks/lock-waits.ts';
import { statementTable, type StatementRow } from '../statements/statement-table.ts';
import { totalTimeInSql } from '../time/summary-time.ts';
import { commits } from '../transactions/commits.ts';
import { coverage } from './explanation.ts';

/** Of the time while SQL runs: less needs no account. */
const LARGE = 0.3;
/** Statements that an account names. */
const NAMED = 2;

export interface Account {
  /** One sentence with the numbers. */
  title: string;
  advice: string;
}

const NEEDS = {
  coverage,
  totalTimeInSql,
  sqliteThreads,
  statementTable,
  callCounts,
  fileCounts,
  commits,
  lockWaits,
};

interface Kind {
  parts: readonly Part[];
  what: string;
  /** Which calls. @param us the time of the parts */
  calls(known: Known<typeof NEEDS>, us: number): string;
  advice: string;
  /** Instead, where most of the time is in statements that ran once. */
  once?: string;
}

/** "200 commits of 20 ms"; '' where their number is not known. @param which what of each takes so long */
const each = (count: number | null, noun: string, us: number, which = ''): string =>
  count ? `${countOf(count, noun)} ${which && `${which} `}of ${formatDuration(us / count)}` : '';

const IS_LOCK_CALL = opTable(({ layer, spent }) => Number(layer === 'vfs' && spent === 'lock'));
function lockCallsOf({ events: { op, count } }: ThreadStore): number {
  let n = 0;
  for (let row = 0; row < count; row++) n += IS_LOCK_CALL[op[row]!]!;
  return n;
}

/** Parts of the time that have one cure. vfscope's own time needs none. */
const KINDS: readonly Kind[] = [
  {
    parts: ['write', 'sync', 'idbTransaction'],
    what: 'Writing and committing',
    calls({ commits: { count, syncsPerCommit }, fileCounts: files }, us) {
      const bytes = vfsTotal(files, 'xWriteBytes');
      return [
        each(count, 'commit', us),
        ...(syncsPerCommit === null ? [] : [`${formatNumber(syncsPerCommit)} syncs each`]),
        ...(bytes === null ? [] : [`${formatBytes(bytes)} written`]),
      ]
        .filter(Boolean)
        .join(', ');
    },
    advice: 'Commit less often: statements that belong together go into one transaction.',
  },
  {
    parts: ['read'],
    what: 'Reading',
    calls: ({ callCounts: calls }, us) => each(calls.of('read'), 'read', us),
    advice:
      'Read fewer pages: an index for these statements, a larger page cache (the Cache view shows what it would avoid), or larger pages.',
  },
  {
    parts: ['cpu'],
    what: 'Computing in SQLite and its VFS',
    calls: () => '',
    advice:
      'Look at the query plans of these statements: scans, sorts, and functions called for every row compute. Fewer, larger statements save calls through JavaScript.',
    once: 'Most of it is in opening and in statements that ran once. What an engine does first takes longest, since WebAssembly compiles while it runs: leave the database open, and open it before it is needed.',
  },
  {
    parts: ['lock'],
    what: 'Waiting inside calls that take and release locks',
    calls: ({ sqliteThreads: threads }, us) =>
      each(
        threads.reduce((n, thread) => n + lockCallsOf(thread), 0),
        'lock call',
        us,
        'with a wait',
      ),
    advice:
      'Lock less often: several statements in one transaction share its locks. With a single connection, locking_mode=EXCLUSIVE takes them once.',
  },
  {
    parts: ['lockWait'],
    what: 'Waiting for locks that others held',
    calls: ({ lockWaits: waits }, us) => each(heldFromSqlite(waits).length, 'wait', us),
    advice:
      'Keep write transactions short, and send writes through one connection. The Locks view shows who held each lock.',
  },
  {
    parts: ['other'],
    what: 'Waiting for something that was not recorded',
    calls: () => '',
    advice:
      'Record all layers and all workers: the engine waits for a promise or a worker whose calls are not in this trace.',
  },
];

/** Heading of the accounts. */
export const ACCOUNTS = 'Large costs that no finding explains';

/** The largest first; [] where findings explain what is large. */
export const accounts = fact(
  'accounts',
  'what costs most',
  NEEDS,
  (_, known): readonly Account[] => {
    const { all, explained } = known.coverage;
    const inSql = 1000 * (known.totalTimeInSql ?? 0);
    const sumOf = (ns: Float64Array, { parts }: Kind): number =>
      parts.reduce((sum, part) => sum + ns[PART[part]]!, 0);
    return KINDS.map((kind) => {
      const [ns, told] = [sumOf(all, kind), sumOf(explained, kind)];
      return { kind, ns, told, left: ns - told };
    })
      .filter(({ left }) => left > LARGE * inSql)
      .sort((a, b) => b.left - a.left)
      .map(({ kind, ns, told, left }): Account => {
        const calls = kind.calls(known, ns / 1000);
        const who = statementsText(known, kind, ns);
        const rest = told > 0 ? `, and ${formatDuration(told / 1000)} that findings explain` : '';
        const share = `${kind.what} takes ${formatShare(left / inSql)} of the time in SQL (${formatDuration(left / 1000)}${rest})`;
        const advice = kind.once && mostOnce(known, kind) ? kind.once : kind.advice;
        return { title: [share, calls, who].filter(Boolean).join('; '), advice };
      });
  },
);

/** What a statement has of these parts, microseconds. */
const timeOf = ({ parts }: Kind, { time }: StatementRow): number =>
  parts.reduce((sum, part) => sum + time[`${part}Us`], 0);

/** More than half of it is in calls that no statement repeats. */
function mostOnce({ statementTable: table }: Known<typeof NEEDS>, kind: Kind): boolean {
  const sum = (rows: readonly StatementRow[]): number =>
    rows.reduce((us, row) => us + timeOf(kind, row), 0);
  const rows = table?.rows ?? [];
  return 2 * sum(rows.filter(({ executions }) => executions <= 1)) > sum(rows);
}

/** The statements that have most of it. */
const statementsText = (
  { statementTable: table }: Known<typeof NEEDS>,
  kind: Kind,
  allNs: number,
): string =>
  (table?.rows ?? [])
    .flatMap((row) => (row.text === null ? [] : [{ text: row.text, us: timeOf(kind, row) }]))
    .sort((a, b) => b.us - a.us)
    .slice(0, NAMED)
    .filter(({ us }) => us * 1000 > 0.1 * allNs)
    .map(({ text, us }) => `${formatShare((us * 1000) / allNs)} in "${cut(oneLine(text), 60)}"`)
    .join(', ');
