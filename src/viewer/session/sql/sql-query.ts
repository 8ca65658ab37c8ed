/** Queries of the Query view: the list of tables, a query, its result as CSV. */
import { csvCell } from '../../../formats/csv.ts';
import { threadViews } from '../../../analysis/events/table.ts';
import type { TraceStore } from '../../../trace/store.ts';
import type { RunResult } from '../../../protocol/answers/sql-result.ts';
import { SqlEngine, type RowTaker, type RunOptions } from './engine.ts';
import { wasmSource } from '../queries/wasm-source.ts';
import { EventsTable } from './events-table.ts';
import type { Cell } from '../../../analysis/core/table.ts';
import type { SqlTable } from './table.ts';
import { tablesOf } from './tables.ts';
import type { QueryContext } from '../queries/context.ts';
import type { SqlTableInfo, SqlRequest, SqlAnswer } from '../../../protocol/answers/sql.ts';

/** Maximum rows of a displayed result; CSV has all rows. */
export const MOST_ROWS = 10_000;
const MOST_TEXT = 10_000;

interface TraceSql {
  /** Context of the current request, through which tables read. */
  context: QueryContext;
  tables: readonly SqlTable[];
  engine: Promise<SqlEngine> | null;
}
/** One per trace, with the tables and views that the user created. */
const traces = new WeakMap<TraceStore, TraceSql>();
const canceled = new Set<number>();

function sqlOf(context: QueryContext): TraceSql {
  let found = traces.get(context.store);
  if (!found) {
    const events = new EventsTable(context.store, (thread) =>
      made.context.facts.get(threadViews).of(thread),
    );
    const made: TraceSql = {
      context,
      tables: [events, ...tablesOf(() => made.context)],
      engine: null,
    };
    traces.set(context.store, (found = made));
  }
  found.context = context;
  return found;
}

async function run(
  context: QueryContext,
  request: SqlRequest,
  rows: Pick<RunOptions, 'maxRows' | 'maxText' | 'into'>,
): Promise<RunResult> {
  const sql = sqlOf(context);
  const opening = (sql.engine ??= SqlEngine.open(wasmSource.at, sql.tables));
  let engine: SqlEngine;
  try {
    engine = await opening;
  } catch (cause) {
    sql.engine = null; // the next query tries again
    throw new Error(
      `SQLite could not be loaded: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
  const { id, stop } = request;
  try {
    const stopped = (): boolean =>
      canceled.has(id) || (stop !== null && Atomics.load(stop, 0) !== 0);
    return await engine.run({
      sql: request.sql,
      ...rows,
      maxMs: request.maxMs,
      canceled: stopped,
      forgotten: () => context.store.forgotten,
    });
  } finally {
    canceled.delete(id);
  }
}

/**
 * Characters to collect before they go into a blob: rows of a long result don't fit in memory, a
 * blob does.
 */
const STRETCH = 1 << 20;

class CsvText implements RowTaker {
  private parts: Blob[] = [];
  private text = '';

  begin(columns: readonly string[]): void {
    this.parts = [];
    this.text = '';
    this.add(columns);
  }
  add(row: readonly Cell[]): void {
    this.text += `${row.map(csvCell).join(',')}\n`;
    if (this.text.length < STRETCH) return;
    this.parts.push(new Blob([this.text]));
    this.text = '';
  }
  blob(): Blob {
    return new Blob([...this.parts, this.text], { type: 'text/csv' });
  }
}

export const sqlQueries = {
  /** For completion and the list of tables. */
  sqlTables(context: QueryContext, _args: Record<string, never>): SqlTableInfo[] {
    return sqlOf(context).tables.map(({ name, help, columns }) => ({
      name,
      help,
      columns: columns.map((c) => ({ ...c })),
    }));
  },

  /** @throws Error with SQLite's message; AbortError if canceled */
  sqlRun(context: QueryContext, request: SqlRequest): Promise<SqlAnswer> {
    return run(context, request, { maxRows: MOST_ROWS, maxText: MOST_TEXT });
  },

  /** All rows of a query, as a file. */
  async sqlCsv(context: QueryContext, request: SqlRequest): Promise<Blob> {
    const text = new CsvText();
    await run(context, request, { maxRows: Infinity, maxText: Infinity, into: text });
    return text.blob();
  },

  /** Stop a run that pauses between rows. Within a row, only `stop` or its time limit works. */
  sqlCancel(_: QueryContext, { id }: { id: number }): null {
    canceled.add(id);
    return null;
  },
};
