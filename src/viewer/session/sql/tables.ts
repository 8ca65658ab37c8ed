/**
 * The tables besides `events`: those of the catalog, read in place. Times are microseconds.
 * (thread, row) permanently identifies an event, so that results can be shown on the timeline.
 */
import { TABLES } from '../../../analysis/tables.ts';
import type { QueryContext } from '../queries/context.ts';
import { ColumnTable } from './column-table.ts';

/** @param context of the trace as it is when it is called */
export const tablesOf = (context: () => Pick<QueryContext, 'facts'>): ColumnTable[] =>
  TABLES.map((table) => new ColumnTable(table, () => context().facts.get(table.rows)));
