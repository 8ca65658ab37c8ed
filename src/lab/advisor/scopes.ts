/**
 * Which names a query sees, and the table columns that they resolve to: through aliases,
 * subqueries, common table expressions, and views.
 */
import type { KeyColumn, TableInfo } from './schema.ts';

/** One mention of a table in a statement. */
export interface TableUse {
  readonly table: TableInfo;
  /**
   * Caused by a trigger or a foreign key of the change: its query plan doesn't show all of them.
   */
  readonly fired: boolean;
  /** Compared by = or IN with something other than a column. */
  readonly equal: KeyColumn[];
  /** Compared by = with a column of another mention. */
  readonly joined: KeyColumn[];
  /** Compared by <, >, BETWEEN, LIKE, GLOB. */
  readonly ranges: KeyColumn[];
  /**
   * ORDER BY, GROUP BY, and DISTINCT lists with columns of this mention only, and the argument of
   * min() or max().
   */
  readonly orders: KeyColumn[][];
}
export interface Ref {
  use: TableUse;
  column: string;
}
/** The columns of a subquery's result, by lower-case name. */
export type Outputs = Map<string, readonly Ref[]>;
export interface Source {
  alias: string;
  use: TableUse | null;
  outputs: Outputs;
}
export interface Scope {
  sources: Source[];
  outer: Scope | null;
}

const ROWIDS = new Set(['rowid', 'oid', '_rowid_']);

/** Outputs, renamed by a list of columns. */
export const renamed = (outputs: Outputs, names: readonly string[] | null): Outputs =>
  names ? new Map([...outputs.values()].map((refs, i) => [names[i] ?? `:${i}`, refs])) : outputs;

export function outputsOf({ use, outputs }: Source): Outputs {
  if (!use) return outputs;
  return new Map([...use.table.columns.keys()].map((column) => [column, [{ use, column }]]));
}

export function columnOf({ use, outputs }: Source, name: string): readonly Ref[] {
  if (!use) return outputs.get(name) ?? [];
  const { table } = use;
  if (table.columns.has(name)) return [{ use, column: name }];
  return ROWIDS.has(name) && table.hasRowid ? [{ use, column: table.rowid ?? 'rowid' }] : [];
}

/** The column with this name in the innermost query that has one. */
export function resolve(
  scope: Scope | null,
  qualifier: string | null,
  name: string,
): readonly Ref[] {
  for (let at = scope; at; at = at.outer) {
    const refs = at.sources
      .filter(({ alias }) => qualifier === null || alias === qualifier)
      .map((source) => columnOf(source, name))
      .find((some) => some.length);
    if (refs) return refs;
  }
  return [];
}
