/** The columns of the table of statements. */
import type { BoundExample } from '../../../../analysis/statements/bound-values.ts';
import type { StatementRow } from '../../../../analysis/statements/statement-table.ts';
import type { Column } from '../../parts/columns.ts';
import {
  formatCount,
  formatDuration,
  formatMeasured,
  formatShare,
} from '../../../../text/numbers.ts';

/** Of one execution. */
const one = (us: number | null, stepUs: number | null): string => formatMeasured(us, stepUs);
/** A sum of n times that are each below the step is below n steps. */
const total = ({ totalUs, executions }: StatementRow, stepUs: number | null): string =>
  totalUs === 0 && executions > 0
    ? formatMeasured(0, stepUs === null ? null : stepUs * executions)
    : formatDuration(totalUs);

/** Stable over updates: texts that were cut stand apart from whole ones. */
export const statementKey = ({ text, truncated }: StatementRow): string =>
  `${truncated ? 1 : 0}${text ?? '\0'}`;
/** What is shown where the text is not known. */
export const statementTitle = ({ text, truncated }: StatementRow): string =>
  text === null
    ? '(SQL whose text was not seen, opening and closing)'
    : truncated
      ? `${text}…`
      : text;

/** Values of one run in the order of their parameters. */
export const boundText = ({ values, left }: BoundExample): string =>
  `${values.join(', ')}${left ? `, … ${formatCount(left)} more` : ''}`;

const NO_VFS = 'n/a: no VFS call was recorded on its threads';
const NO_COUNTERS = 'n/a: this engine shows no counters, or they cannot be told to be its own';

/** @param stepUs step of the clock, which tells no shorter time from 0; null = not known */
export const statementColumns = (stepUs: number | null): readonly Column<StatementRow>[] => [
  {
    key: 'text',
    title: 'Statement',
    definition: 'Literals are folded to ?',
    value: (r) => r.text,
    text: statementTitle,
    mono: true,
    width: '1fr',
  },
  {
    key: 'share',
    title: 'Share',
    definition: 'Of the time with SQL in flight, all threads',
    numeric: true,
    value: (r) => r.share,
    text: (r) => formatShare(r.share),
    width: '66px',
  },
  {
    key: 'time',
    title: 'Where its time went',
    definition:
      'CPU, read, write, sync, IDB transaction, lock wait; as wide as its share of the longest',
    value: (r) => r.time.spanUs,
    width: '170px',
  },
  {
    key: 'executions',
    title: 'Count',
    definition: 'Executions: from the first step to done, reset or finalize',
    numeric: true,
    value: (r) => r.executions,
    text: (r) => formatCount(r.executions),
    width: '66px',
  },
  {
    key: 'totalUs',
    title: 'Total',
    definition: 'Its step calls, summed up',
    numeric: true,
    value: (r) => r.totalUs,
    text: (r) => total(r, stepUs),
    width: '78px',
  },
  {
    key: 'meanUs',
    title: 'Mean',
    numeric: true,
    definition: 'Of one execution',
    value: (r) => r.meanUs,
    text: (r) => (r.meanUs === 0 ? one(0, stepUs) : formatDuration(r.meanUs)),
    width: '72px',
  },
  {
    key: 'p50Us',
    title: 'p50',
    numeric: true,
    definition: 'Half of its executions took no longer',
    value: (r) => r.p50Us,
    text: (r) => one(r.p50Us, stepUs),
    width: '72px',
  },
  {
    key: 'p95Us',
    title: 'p95',
    numeric: true,
    definition: '95 of 100 executions took no longer',
    value: (r) => r.p95Us,
    text: (r) => one(r.p95Us, stepUs),
    width: '72px',
  },
  {
    key: 'rows',
    title: 'Rows',
    numeric: true,
    definition: 'Steps that brought a row',
    value: (r) => r.rows,
    text: (r) => formatCount(r.rows),
    width: '66px',
  },
  {
    key: 'vfsCalls',
    title: 'VFS calls',
    numeric: true,
    definition: `Beneath step, exec, reset and finalize. ${NO_VFS}`,
    value: (r) => r.vfsCalls,
    text: (r) => formatCount(r.vfsCalls),
    width: '76px',
  },
  {
    key: 'pagesRead',
    title: 'Pages read',
    numeric: true,
    definition: `Page reads of databases and WAL, checkpoints left out. ${NO_VFS}`,
    value: (r) => (r.pages ? r.pages.read + r.pages.walRead : null),
    text: (r) => formatCount(r.pages && r.pages.read + r.pages.walRead),
    width: '90px',
  },
  {
    key: 'pagesWritten',
    title: 'Pages written',
    numeric: true,
    definition: `Page writes to databases and WAL, checkpoints left out. ${NO_VFS}`,
    value: (r) => (r.pages ? r.pages.written + r.pages.walWritten : null),
    text: (r) => formatCount(r.pages && r.pages.written + r.pages.walWritten),
    width: '98px',
  },
  {
    key: 'hits',
    title: 'Cache hits',
    numeric: true,
    definition: `Of SQLite's page cache. ${NO_COUNTERS}`,
    value: (r) => r.cache?.hits ?? null,
    text: (r) => formatCount(r.cache?.hits),
    width: '80px',
  },
  {
    key: 'misses',
    title: 'Misses',
    numeric: true,
    definition: `Of SQLite's page cache. ${NO_COUNTERS}`,
    value: (r) => r.cache?.misses ?? null,
    text: (r) => formatCount(r.cache?.misses),
    width: '66px',
  },
  {
    key: 'failed',
    title: 'Failed',
    numeric: true,
    definition: 'Executions that ended with an error',
    value: (r) => r.failed,
    text: (r) => formatCount(r.failed),
    width: '60px',
  },
];
