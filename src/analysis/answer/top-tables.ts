/**
 * Tables and indexes by how many of their pages were read and written, or by their share of a part
 * of the time.
 */
import { fact, type Facts } from '../core/graph.ts';
import { isUnlimited, type Scope } from '../core/scope.ts';
import { getOrMake } from '../core/maps.ts';
import { bTrees, bTreeTotals, ownersOf } from '../pages/b-trees.ts';
import { accesses } from '../pages/page-accesses.ts';
import { pages } from '../pages/pages.ts';
import { treeUseIn } from '../pages/tree-use.ts';
import { statementsIn } from '../statements/statements-in-scope.ts';

export interface TopTable {
  /** Path of the database. */
  path: string;
  name: string;
  kind: 'table' | 'index';
  /** The table itself, or the table of an index. */
  table: string;
  /** Pages read from storage and written to it, WAL and checkpoints included. */
  reads: number;
  writes: number;
  /**
   * Time of the calls on its pages within the requested part of the time, microseconds; null = no
   * part is requested.
   */
  partUs: number | null;
}

/** Tables shown. */
const TABLES = 5;

/** Those with the most reads and writes first; [] if none is known. */
export const topTables = fact(
  'topTables',
  'tables and indexes',
  { bTrees },
  (_, { bTrees }, facts): TopTable[] =>
    (bTrees.some(({ list }) => list.length) ? facts.get(pages) : [])
      .filter(({ kind }) => kind === 'main-db')
      .flatMap(({ index, path, places }) => {
        const trees = bTrees[index];
        if (!trees?.list.length) return [];
        const totals = bTreeTotals(places, ownersOf(trees, places), trees.list.length);
        return trees.list.map(({ name, kind, table }, i): TopTable => ({
          path,
          name,
          kind,
          table,
          reads: totals.reads[i]! + totals.walReads[i]!,
          writes: totals.writes[i]! + totals.walWrites[i]! + totals.checkpointWrites[i]!,
          partUs: null,
        }));
      })
      .filter((one) => rankOf(one) > 0)
      .sort(byRank)
      .slice(0, TABLES),
);

/** The same for statements, a range, a thread, or a part of the time. */
export function topTablesIn(facts: Facts, scope: Scope): TopTable[] {
  if (isUnlimited(scope)) return facts.get(topTables);
  const trees = facts.get(bTrees);
  if (!trees.some(({ list }) => list.length)) return [];
  const { objects } = facts.get(accesses);
  const taken = statementsIn(facts, scope);
  const { part } = scope;
  const found = new Map<string, TopTable>();
  for (const { database, tree, statement, reads, writes, checkpointed, time } of treeUseIn(
    facts,
    scope,
  )) {
    const known = trees[database]!.list[tree];
    if (!known || (taken && !taken(statement))) continue;
    const { name, kind, table } = known;
    const sum = getOrMake(found, `${database} ${tree}`, (): TopTable => {
      const { path } = objects[database]!;
      return { path, name, kind, table, reads: 0, writes: 0, partUs: part ? 0 : null };
    });
    sum.reads += reads;
    sum.writes += writes + checkpointed;
    if (part) sum.partUs! += time[`${part}Us`];
  }
  return [...found.values()]
    .filter((one) => rankOf(one) > 0)
    .sort(byRank)
    .slice(0, TABLES);
}

const rankOf = ({ reads, writes, partUs }: TopTable): number => partUs ?? reads + writes;
const byRank = (a: TopTable, b: TopTable): number => rankOf(b) - rankOf(a);
