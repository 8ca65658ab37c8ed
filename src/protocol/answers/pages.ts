/** Questions and answers about pages and blocks. */
import type { BTree, BTreeCause, BTreeTotals } from '../../analysis/pages/b-trees.ts';
import type { TreeUse } from '../../analysis/pages/tree-use.ts';
import type { ObjectPages } from '../../analysis/pages/pages.ts';
import type { EventRef } from '../../trace/store.ts';

/** Identifies a database or store for as long as the trace grows. */
export type PlacesKey = string;

/** null = from the first access, to the last. */
export interface PlacesRange {
  fromUs: number | null;
  toUs: number | null;
}

export interface PageMapRequest extends PlacesRange {
  key: PlacesKey;
  fromPlace: number | null;
  toPlace: number | null;
  timeBins: number;
  /** Maximum. Each place takes at least one. */
  placeBins: number;
}

/** The calls behind a number, such as a part of the map or a fact about a file. */
export interface FoundEvents {
  events: EventRef[];
  /** Total. `events` are the first of them. */
  total: number;
  /** From the begin of the first call to the begin of the last, microseconds. */
  fromUs: number;
  toUs: number;
}

/** The tables and indexes that pages belong to. */
export interface TreesTable {
  /** By root page; [] where no name is known. */
  list: BTree[];
  /** Place in `list` by place of the table, -1 = not known. */
  owners: Int32Array;
  /** By place in `list`, followed by the events of unknown b-trees. */
  totals: BTreeTotals;
  /** What was left out, and why. */
  causes: BTreeCause[];
}

/**
 * Which statements touched the tables and indexes of one database, and the time inside those calls.
 */
export interface TreeUseAnswer {
  /**
   * By place in the list of b-trees: its root page. The last entry, -1, is for pages of unknown
   * b-trees.
   */
  roots: number[];
  /** By the same place. */
  times: TreeUse['time'][];
  /** The most time first. `tree` is the place in that list, `sql` the statement as shown. */
  uses: (TreeUse & { sql: string | null })[];
}

/** A table or index that a statement touched. */
export interface StatementTree {
  /** Path of the database, and its key in Files. */
  path: string;
  key: PlacesKey;
  /** undefined: pages of unknown b-trees. */
  tree: BTree | undefined;
  use: TreeUse;
}

/**
 * A page's table. `decoded`: at least one access showed the page's type. `trees`: null for blocks.
 */
export interface PlacesTable extends ObjectPages {
  decoded: boolean;
  trees: TreesTable | null;
}
