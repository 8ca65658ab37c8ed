/** The columns of the table of statements. */
import { PART_WORDS, type Part } from '../../../../analysis/core/time-parts.ts';
import type { BoundExample } from '../../../../analysis/statements/bound-values.ts';
import type { StatementRow } from '../../../../analysis/statements/statement-table.ts';
import { frameColumns, statementColumns } from '../../../../analysis/statements/table.ts';
import { viewColumns, type Column } from '../../parts/columns.ts';
import { UNKNOWN_SQL } from '../../../../text/clean.ts';
import { formatCount, formatDuration, formatMeasured } from '../../../../text/numbers.ts';

/** A sum of n times that are each below the step is below n steps. */
const total = ({ totalUs, executions }: StatementRow, stepUs: number | null): string =>
  totalUs === 0 && executions > 0
    ? formatMeasured(0, stepUs === null ? null : stepUs * executions)
    : formatDuration(totalUs);

export const statementTitle = ({ text, truncated }: StatementRow): string =>
  text === null ? UNKNOWN_SQL : truncated ? `${text}…` : text;

/** What the bar is the length of, as a number: the same as the statement's frame has in the flame graph. */
const TOTAL_TIME: Column<StatementRow> = {
  key: 'time',
  title: frameColumns.total.title,
  definition: `${statementColumns.dur.help}. The same as in the flame graph`,
  numeric: true,
  value: ({ time }) => time.spanUs,
  text: ({ time }) => formatDuration(time.spanUs),
  width: '78px',
};

/** Values of one run in the order of their parameters. */
export const boundText = ({ values, left }: BoundExample): string =>
  `${values.join(', ')}${left ? `, … ${formatCount(left)} more` : ''}`;

/**
 * @param stepUs step of the clock, which tells no shorter time from 0; null = not known
 * @param part the one that counts of their time; null = all
 * @param wide the panel has room: the text gets no narrower than most statements need to be told apart
 */
export function shownColumns(
  stepUs: number | null,
  part: Part | null = null,
  wide = true,
): Column<StatementRow>[] {
  const one = { width: '72px', stepUs: () => stepUs };
  const columns = viewColumns(statementColumns, {
    fingerprint: { text: statementTitle, width: wide ? 'minmax(280px, 1fr)' : '1fr' },
    share: '74px',
    dur: part
      ? {
          title: PART_WORDS[part].title,
          definition: `Time that the statement spent ${PART_WORDS[part].meaning}`,
          value: ({ time }) => time[`${part}Us`],
          text: ({ time }) => formatDuration(time[`${part}Us`]),
          numeric: true,
          width: '170px',
        }
      : '170px',
    io: '72px',
    executions: '66px',
    total: { text: (s) => total(s, stepUs), width: '78px' },
    mean: {
      text: ({ meanUs }) => formatMeasured(meanUs, meanUs === 0 ? stepUs : null),
      width: '72px',
    },
    p50: one,
    p95: one,
    rows: '66px',
    vfs_calls: '76px',
    vfs_reads: '60px',
    vfs_writes: '60px',
    vfs_syncs: '60px',
    vfs_locks: '60px',
    pages_read: '90px',
    pages_written: '98px',
    hits: '80px',
    misses: '66px',
    failed: '60px',
  });
  return columns.flatMap((column) => (column.key === 'dur' ? [TOTAL_TIME, column] : [column]));
}
