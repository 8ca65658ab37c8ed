/** The statements, transactions, and files of a report: those that took longest. */
import { fileColumns, originFiles } from '../files/table.ts';
import type { Facts } from '../core/graph.ts';
import { statementTable } from '../statements/statement-table.ts';
import { statementColumns } from '../statements/table.ts';
import { transactionColumns, transactionRows } from '../transactions/table.ts';
import { anatomies } from '../transactions/transaction-anatomy.ts';
import { moreLines, tableOf, type Block } from './blocks.ts';

/** Needs of these blocks. */
export const TABLE_NEEDS = { statementTable, originFiles, transactionRows };

/** null if no SQL call was recorded. */
export function statementsBlock(facts: Facts, most: number, longest?: number): Block | null {
  const rows = facts.get(statementTable)?.rows ?? [];
  if (rows.length === 0) return null;
  return {
    heading: 'Statements that took longest',
    table: tableOf(
      statementColumns,
      [
        'fingerprint',
        'executions',
        'dur',
        'share',
        'p50',
        'vfs_calls',
        'pages_read',
        'pages_written',
        'hit_rate',
        ...(rows.some(({ instructions }) => instructions !== null)
          ? (['instructions'] as const)
          : []),
      ],
      rows.slice(0, most),
      longest,
    ),
    lines: moreLines(rows.length - most),
  };
}

/** null if no transaction was seen. */
export function transactionsBlock(facts: Facts, most: number, longest?: number): Block | null {
  const lines = facts.get(transactionRows);
  if (lines.count === 0) return null;
  const all = facts.get(anatomies);
  const us = Float64Array.from({ length: lines.count }, (_, i) => all.durationUs(i));
  const slowest = Uint32Array.from(us.keys())
    .sort((a, b) => us[b]! - us[a]! || a - b)
    .subarray(0, most);
  return {
    heading: 'Longest transactions',
    table: tableOf(
      transactionColumns,
      [
        'ts',
        'path',
        'kind',
        'mode',
        'outcome',
        'dur',
        'idle_dur',
        'commit_dur',
        'statements',
        'pages_written',
        'syncs',
        'busy',
        ...(all.instructions.some((n) => n > 0) ? (['instructions'] as const) : []),
      ],
      Array.from(slowest, (i) => lines.at(i)),
      longest,
    ),
    lines: moreLines(lines.count - most),
  };
}

/** null if no file was seen. */
export function filesBlock(facts: Facts, most: number, longest?: number): Block | null {
  const files = facts.get(originFiles);
  if (files.length === 0) return null;
  return {
    heading: 'Files',
    table: tableOf(
      fileColumns,
      ['path', 'kind', 'dur', 'reads', 'read_bytes', 'writes', 'write_bytes', 'syncs', 'locks'],
      files.slice(0, most),
      longest,
    ),
    lines: moreLines(files.length - most),
  };
}
