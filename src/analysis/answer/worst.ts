/** What cost most: statements, tables and indexes, and moments. */
import { fact, type Facts } from '../core/graph.ts';
import type { PartTimes } from '../core/time-parts.ts';
import { isUnlimited, type Scope } from '../core/scope.ts';
import {
  statementTable,
  statementTableIn,
  timesTogether,
  type StatementRow,
  type StatementTable,
} from '../statements/statement-table.ts';
import { moments, momentsIn, type Moment } from './moments.ts';
import { topTables, topTablesIn, type TopTable } from './top-tables.ts';

export interface Worst {
  /** The longest time first; null if SQL calls weren't recorded. */
  statements: StatementRow[] | null;
  /**
   * Where the time of all statements in the scope went, microseconds; null if SQL calls weren't
   * recorded.
   */
  times: (PartTimes & { spanUs: number }) | null;
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
    ...topStatements(table),
    tables,
    moments,
  }),
);

/** The same for a part of the recording. @param table its statements */
export const worstIn = (
  facts: Facts,
  scope: Scope,
  table = statementTableIn(facts, scope),
): Worst =>
  isUnlimited(scope)
    ? facts.get(worst)
    : {
        ...topStatements(table),
        tables: topTablesIn(facts, scope),
        moments: momentsIn(facts, scope),
      };

const topStatements = (table: StatementTable | null): Pick<Worst, 'statements' | 'times'> => ({
  statements: table && table.rows.slice(0, STATEMENTS),
  times: table && timesTogether(table),
});
