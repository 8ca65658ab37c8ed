/**
 * Indexes that statements could use, derived from how they use columns: equalities first, then one
 * range or the order of the rows.
 */
import { createIndex, type KeyColumn, type Schema, type TableInfo } from './schema.ts';
import type { TableUse } from './scopes.ts';

export interface Candidate {
  readonly name: string;
  readonly table: TableInfo;
  readonly columns: readonly KeyColumn[];
  /** The CREATE INDEX statement. */
  readonly sql: string;
  /** Instructions of the statements that it comes from, over all their runs. */
  readonly weight: number;
}
/** The columns that one statement uses, and its instructions over all its runs. */
export interface WeightedUses {
  readonly tables: readonly TableUse[];
  readonly weight: number;
}

const MOST_CANDIDATES = 60;
/** Longer indexes cost more than they save. */
const MOST_COLUMNS = 4;

/**
 * @returns the candidates with the most instructions first, at most `most`; `left` is how many more
 * there are. Beginnings of existing indexes are left out
 */
export function candidatesOf(
  schema: Schema,
  statements: readonly WeightedUses[],
  most = MOST_CANDIDATES,
): { candidates: Candidate[]; left: number } {
  const found = new Map<string, { table: TableInfo; columns: KeyColumn[]; weight: number }>();
  for (const { tables, weight } of statements) {
    const mine = new Set<string>();
    for (const use of tables)
      for (const keys of keysOf(use)) {
        const columns = usable(use.table, keys);
        if (!columns || exists(use.table, columns)) continue;
        const id = JSON.stringify([use.table.name, columns]);
        const entry = found.get(id) ?? { table: use.table, columns, weight: 0 };
        found.set(id, entry);
        if (!mine.has(id)) entry.weight += weight;
        mine.add(id);
      }
  }
  const names = new Set(schema.names);
  const sorted = [...found.values()].sort((a, b) => b.weight - a.weight);
  const candidates = sorted.slice(0, most).map(({ table, columns, weight }) => {
    const name = freeName(names, table, columns);
    return { name, table, columns, weight, sql: createIndex(name, table, columns) };
  });
  return { candidates, left: sorted.length - candidates.length };
}

/** Lists of columns that serve one mention of a table. */
function keysOf({ equal, joined, ranges, orders }: TableUse): KeyColumn[][] {
  const all = [...equal, ...joined];
  const lists: KeyColumn[][] = [];
  for (const front of [equal, all, ...joined.map((one) => [...equal, one])]) {
    lists.push([...front]);
    for (const range of ranges) lists.push([...front, range]);
    for (const order of orders) lists.push([...front, ...forward(order)]);
  }
  for (const one of [...all, ...ranges]) lists.push([one]);
  for (const one of equal) for (const range of ranges) lists.push([one, range]);
  return lists;
}

/** A list that is descending throughout is read backwards. */
const forward = (order: readonly KeyColumn[]): readonly KeyColumn[] =>
  order.every(({ descending }) => descending)
    ? order.map((one) => ({ ...one, descending: false }))
    : order;

/**
 * Each column once, without those that the rowid makes redundant.
 * @returns null where nothing is left
 */
function usable(table: TableInfo, keys: readonly KeyColumn[]): KeyColumn[] | null {
  const once = keys.filter(
    ({ column }, i) => keys.findIndex((other) => other.column === column) === i,
  );
  const isRowid = ({ column }: KeyColumn): boolean =>
    table.hasRowid && (column === table.rowid || column === 'rowid');
  const rowid = once.findIndex(isRowid);
  // an entry ends with the rowid, ascending: an index doesn't need it, and later columns don't
  // matter
  if (rowid === 0 || once.some((one) => !table.columns.has(one.column) && !isRowid(one)))
    return null;
  const ended =
    rowid < 0 || once[rowid]!.descending ? once.filter((o) => !isRowid(o)) : once.slice(0, rowid);
  const columns = ended.slice(0, MOST_COLUMNS);
  return columns.length ? columns : null;
}

/** Whether an index of the table begins with these columns, in one direction or the other. */
function exists({ indexes }: TableInfo, columns: readonly KeyColumn[]): boolean {
  return indexes.some((index) => {
    if (index.partial || !index.columns || index.columns.length < columns.length) return false;
    const head = index.columns.slice(0, columns.length);
    const same = head.every(
      ({ column, collation }, i) =>
        column === columns[i]!.column && collation === (columns[i]!.collation ?? 'BINARY'),
    );
    const turned = head.map(({ descending }, i) => descending !== columns[i]!.descending);
    return same && turned.every((turn) => turn === turned[0]);
  });
}

/** An index is named after its table and columns; a number makes the name unique. */
function freeName(names: Set<string>, { name }: TableInfo, columns: readonly KeyColumn[]): string {
  const base = [name, ...columns.map(({ column }) => column)]
    .join('_')
    .replace(/[^a-zA-Z0-9_]+/g, '_')
    .slice(0, 60);
  let free = `${base}_idx`;
  for (let n = 2; names.has(free.toLowerCase()); n++) free = `${base}_idx${n}`;
  names.add(free.toLowerCase());
  return free;
}
