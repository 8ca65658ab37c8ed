/** The columns of the table of statements. */
import { PART_WORDS, type Part } from '../../../../analysis/core/time-parts.ts';
import type { BoundExample } from '../../../../analysis/statements/bound-values.ts';
import type { StatementRow } from '../../../../analysis/statements/statement-table.ts';
import { frameColumns, statementColumns } from '../../../../analysis/statements/table.ts';
import { viewColumns, type Column } from '../../parts/columns.ts';
import { UNKNOWN_SQL } from '../../../../text/clean.ts';
import { formatCount, formatDuration, formatMeasured } from '../../../../text/numbers.ts';

/** A sum of n times below the step is below n steps. */
const total = ({ totalUs, executions }: StatementRow, stepUs: number | null): string =>
  totalUs === 0 && executions > 0
    ? formatMeasured(0, stepUs === null ? null : stepUs * executions)
    : formatDuration(totalUs);

/** As recorded, with its line breaks. */
export const statementTitle = ({ sql, truncated }: StatementRow): string =>
  sql === null ? UNKNOWN_SQL : truncated ? `${sql}…` : sql;

/**
 * The number that the bar's length shows: the same as the statement's frame has in the flame graph.
 */
const TOTAL_TIME: Column<StatementRow> = {
  key: 'time',
  title: frameColumns.total.title,
  definition: `${statementColumns.dur.help}. The same as in the flame graph`,
  numeric: true,
  value: ({ time }) => time.spanUs,
  text: ({ time }) => formatDuration(time.spanUs),
};

/**
 * Panel width below which there is no room for long bars, or for their heading next to a number,
 * px.
 */
const [NARROW, NARROWEST] = [700, 450];

/** Values of one run in the order of their parameters. */
export const boundText = ({ values, left }: BoundExample): string =>
  `${values.join(', ')}${left ? `, … ${formatCount(left)} more` : ''}`;

/**
 * @param stepUs step of the clock, which measures shorter times as 0; null = not known
 * @param part count only this part of their time; null = all
 * @param room width of the panel, for the bars, px
 */
export function shownColumns(
  stepUs: number | null,
  part: Part | null = null,
  room = Infinity,
): Column<StatementRow>[] {
  const one = { stepUs: () => stepUs };
  const bar = room > NARROW ? '170px' : room > NARROWEST ? '150px' : '90px';
  const columns = viewColumns(statementColumns, {
    fingerprint: { text: statementTitle, width: '1fr' },
    share: {},
    dur: part
      ? {
          title: PART_WORDS[part].title,
          definition: `Time that the statement spent ${PART_WORDS[part].meaning}`,
          value: ({ time }) => time[`${part}Us`],
          text: ({ time }) => formatDuration(time[`${part}Us`]),
          numeric: true,
          width: bar,
        }
      : { width: bar, title: room > NARROWEST ? 'Where its time went' : 'By part' },
    io: {},
    executions: {},
    total: { text: (s) => total(s, stepUs) },
    mean: { text: ({ meanUs }) => formatMeasured(meanUs, meanUs === 0 ? stepUs : null) },
    p50: one,
    p95: one,
    rows: {},
    vfs_calls: {},
    vfs_reads: {},
    vfs_writes: {},
    vfs_syncs: {},
    vfs_locks: {},
    pages_read: {},
    pages_written: {},
    scanned: {},
    sorts: {},
    auto_index_rows: {},
    hits: {},
    misses: {},
    instructions: {},
    failed: {},
  });
  return columns.toSpliced(1, 0, TOTAL_TIME);
}
