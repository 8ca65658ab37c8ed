/** The statements and transactions of a report: those that took longest. */
import type { Block, Cell } from './blocks.ts';
import { cut, oneLine } from '../../text/clean.ts';
import { UNKNOWN, formatCount, formatDuration, formatShare } from '../../text/numbers.ts';
import type { Facts } from '../graph.ts';
import { statementTable, type StatementRow } from '../statements/statement-table.ts';
import { anatomiesOf, type TransactionAnatomy } from '../transactions/transaction-anatomy.ts';
import { transactions } from '../transactions/transactions.ts';

const LONGEST_SQL = 100;
const LONGEST_PATH = 40;

/** null where no SQL call was recorded. */
export function statementsBlock(
  facts: Facts,
  most: number,
  textLength = LONGEST_SQL,
): Block | null {
  const table = facts.get(statementTable);
  if (!table || table.rows.length === 0) return null;
  const more = table.rows.length - most;
  return {
    heading: 'Statements that took longest',
    table: {
      head: [
        'statement',
        'runs',
        'time',
        'of SQL',
        'median',
        'VFS calls',
        'pages read',
        'written',
        'cache',
      ],
      rows: table.rows.slice(0, most).map((row) => statement(row, textLength)),
      texts: [0],
      sql: true,
    },
    lines: more > 0 ? [`... and ${formatCount(more)} more.`] : [],
  };
}

function statement(row: StatementRow, textLength: number): Cell[] {
  const { text, time: spent, share, p50Us, pages, cache } = row;
  const asked = cache ? cache.hits + cache.misses : 0;
  return [
    cut(
      oneLine(text ?? '') || (row.executions ? '(text not recorded)' : '(opening and closing)'),
      textLength,
    ),
    formatCount(row.executions),
    formatDuration(spent.spanUs),
    formatShare(share),
    formatDuration(p50Us),
    formatCount(row.vfsCalls),
    pages ? formatCount(pages.read + pages.walRead) : UNKNOWN,
    pages ? formatCount(pages.written + pages.walWritten) : UNKNOWN,
    asked ? formatShare(cache!.hits / asked) : UNKNOWN,
  ];
}

/** null where no transaction was seen. */
export function transactionsBlock(
  facts: Facts,
  most: number,
  pathLength = LONGEST_PATH,
): Block | null {
  const { list } = facts.get(transactions);
  if (list.length === 0) return null;
  const { beginUs, endUs } = list;
  const longest = Uint32Array.from({ length: list.length }, (_, i) => i)
    .sort(
      (a, b) =>
        endUs[b]! - beginUs[b]! - (endUs[a]! - beginUs[a]!) || beginUs[a]! - beginUs[b]! || a - b,
    )
    .subarray(0, most);
  const more = list.length - longest.length;
  return {
    heading: 'Longest transactions',
    table: {
      head: [
        'at',
        'database',
        'kind',
        'outcome',
        'time',
        'idle',
        'commit',
        'statements',
        'pages written',
        'syncs',
        'busy',
      ],
      rows: anatomiesOf(facts, list.pick(longest))
        .sort((a, b) => b.toUs - b.fromUs - (a.toUs - a.fromUs))
        .map((anatomy) => transaction(anatomy, pathLength)),
      texts: [1, 2, 3],
    },
    lines: more > 0 ? [`... and ${formatCount(more)} more.`] : [],
  };
}

function transaction(a: TransactionAnatomy, pathLength: number): Cell[] {
  const { path, kind, outcome } = a.transaction;
  return [
    formatDuration(a.fromUs),
    cut(oneLine(path), pathLength, 'end') || '(no name)',
    a.mode === null ? kind : `${kind}, ${a.mode}`,
    outcome,
    formatDuration(a.toUs - a.fromUs),
    formatDuration(a.time.idleUs),
    a.commit ? formatDuration(a.commit.toUs - a.commit.fromUs) : UNKNOWN,
    formatCount(a.statements),
    formatCount(a.pagesWritten),
    formatCount(a.syncs),
    formatCount(a.busyRetries),
  ];
}
