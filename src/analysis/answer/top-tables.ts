/** Tables and indexes by how many of their pages were read and written. */
import { fact } from '../core/graph.ts';
import { bTrees, bTreeTotals, ownersOf } from '../pages/b-trees.ts';
import { pages } from '../pages/pages.ts';

export interface TopTable {
  /** Path of the database. */
  path: string;
  name: string;
  kind: 'table' | 'index';
  /** The table that it is, or is an index of. */
  table: string;
  /** Pages read from storage and written to it, WAL and checkpoints included. */
  reads: number;
  writes: number;
}

/** Shown. */
const TABLES = 5;

/** Those with most reads and writes first; [] where none is known. */
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
        }));
      })
      .filter(({ reads, writes }) => reads + writes > 0)
      .sort((a, b) => b.reads + b.writes - (a.reads + a.writes))
      .slice(0, TABLES),
);
