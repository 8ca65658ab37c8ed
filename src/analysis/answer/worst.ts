/** What cost most: statements, tables and indexes, and moments. */
import { fact } from '../core/graph.ts';
import { statementTable, type StatementRow } from '../statements/statement-table.ts';
import { moments, type Moment } from './moments.ts';
import { topTables, type TopTable } from './top-tables.ts';

export interface Worst {
  /** The longest time first; null where no SQL call was recorded. */
  statements: StatementRow[] | null;
  tables: TopTable[];
  moments: Moment[];
}

/** Statements shown. */
const STATEMENTS = 5;

export const worst = fact(
  'worst',
  'what cost most',
  { statementTable, topTables, moments },
  (_, { statementTable: table, topTables: tables, moments }): Worst => ({
    statements: table && table.rows.slice(0, STATEMENTS),
    tables,
    moments,
  }),
);
