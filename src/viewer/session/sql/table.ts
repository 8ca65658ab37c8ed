/**
 * How SQLite's module (module.ts) sees a virtual table: columns, scans, and the WHERE conditions
 * that it can answer itself.
 */
import type { Cell, Columns, Unit } from '../../../analysis/core/table.ts';
import type { Sink } from './sink.ts';
import type { SqlColumn } from '../../../protocol/answers/sql-columns.ts';

/** Numbers that are not whole, or were measured. */
const REAL: readonly Unit[] = ['moment', 'us', 'number', 'share'];
const TEXT: readonly Unit[] = ['text', 'code'];
export const sqlColumns = (columns: Columns<never>): SqlColumn[] =>
  Object.entries(columns)
    .filter(([, { only }]) => only !== 'exports')
    .map(([name, { unit, help }]) => ({
      name,
      type: REAL.includes(unit) ? 'REAL' : TEXT.includes(unit) ? 'TEXT' : 'INTEGER',
      help,
    }));

/** SQLITE_INDEX_CONSTRAINT_* */
export const Compare = { eq: 2, gt: 4, le: 8, lt: 16, ge: 32 } as const;

/**
 * A comparison of a column with a value that a scan should apply. SQLite checks every row again, so
 * a scan may return too many rows, but never too few.
 */
export interface Term {
  column: number;
  op: number;
}
export interface BoundTerm extends Term {
  value: Cell;
}

/**
 * The column by which a scan should order its rows, as ORDER BY would. SQLite doesn't sort them
 * again.
 */
export interface Order {
  column: number;
  desc: boolean;
}

/** One scan. Positioned on a row, or at the end. */
export interface Cursor {
  /** @param order one that the table `sorts`; null = any */
  start(terms: readonly BoundTerm[], order: Order | null): void;
  next(): void;
  readonly done: boolean;
  column(sink: Sink, context: number, column: number): void;
  rowid(): number;
}

export interface SqlTable {
  readonly name: string;
  readonly help: string;
  readonly columns: readonly SqlColumn[];
  /** Rows now, for the planner. */
  rows(): number;
  /** Share of the rows that pass the comparison, 0..1; null if the table can't use it. */
  selectivity(term: Term): number | null;
  /** Whether scans can return their rows in this order. */
  sorts(order: Order): boolean;
  open(): Cursor;
}

/** Text in any of SQLite's collations: texts equal in one of them are equal here. */
export const folded = (text: string): string => text.toLowerCase().trimEnd();
