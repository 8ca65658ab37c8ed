/**
 * An INSERT's parameters, and the columns that they set. A recording folds them, so new rows need
 * other values.
 */
import type { Schema, TableInfo } from '../advisor/schema.ts';
import {
  isLeaf,
  isSign,
  isWord,
  leavesOf,
  listOf,
  sqlTree,
  type Leaf,
} from '../advisor/sql-tree.ts';

export interface InsertUse {
  /** null: not in the schema. */
  readonly table: TableInfo | null;
  /** Its rows come from a query. */
  readonly byQuery: boolean;
  /**
   * In order. `column`: the parameter is the whole value of that column in a new row; null = it
   * isn't.
   */
  readonly parameters: readonly { readonly leaf: Leaf; readonly column: string | null }[];
}

/** @param sql one INSERT or REPLACE @throws Error where the text can't be parsed */
export function insertUse(sql: string, schema: Schema): InsertUse {
  const nodes = sqlTree(sql);
  let at = nodes.findIndex((node) => isWord(node, 'into')) + 1;
  if (isSign(nodes[at + 1], '.')) at += 2;
  const name = nodes[at];
  const table = (isLeaf(name) && schema.tables.get(name.name)) || null;
  if (isWord(nodes[at + 1], 'as')) at += 2;
  const list = nodes[at + 1];
  const columns =
    list?.kind === 'group'
      ? listOf(list.nodes).map(([column]) => (isLeaf(column) ? column.name : ''))
      : (table?.stored ?? []);
  const values = nodes.findIndex((node, i) => i > at && isWord(node, 'values'));
  const columnOf = new Map<Leaf, string>();
  for (let i = values + 1; values >= 0 && i < nodes.length; i++) {
    const row = nodes[i]!;
    if (row.kind === 'group')
      listOf(row.nodes).forEach((value, n) => {
        const [only] = value;
        if (value.length === 1 && isLeaf(only) && columns[n]) columnOf.set(only, columns[n]);
      });
    else if (!isSign(row, ',')) break;
  }
  return {
    table,
    byQuery: nodes.some((node, i) => i > at && isWord(node, 'select', 'with')),
    parameters: [...leavesOf(nodes)]
      .filter(({ kind }) => kind === 'parameter')
      .map((leaf) => ({ leaf, column: columnOf.get(leaf) ?? null })),
  };
}
