/**
 * Names of the tables and indexes that pages belong to, why some are unknown, and the columns of
 * the table by b-tree.
 */
import type { BTree, BTreeCause } from '../../../../analysis/pages/b-trees.ts';
import { treeColumns } from '../../../../analysis/pages/table.ts';
import { lowerBound } from '../../../../trace/number-columns.ts';
import { overPlaces, viewColumns, type Column } from '../../parts/columns.ts';
import { formatCount } from '../../../../text/numbers.ts';
import type { PlacesTable, TreesTable } from '../../../../protocol/answers/pages.ts';

const CAUSES: Readonly<Record<BTreeCause, string>> = {
  opaque: "page 1 isn't a page of a database: the file is encrypted",
  changes: 'more changes of interior pages than are followed: what was written later is left out',
  'not captured': 'names of tables are recorded at capture level 1 and above, with the SQL layer',
  'several origins': 'several origins have a database of this name',
  'below the VFS': 'its pages were seen only below the VFS, where they are not decoded',
  'not seen': 'no page of its schema passed while recording',
};
const NO_WAY = 'no page above them passed while recording, or they are overflow or freelist pages';

/** Why the tables and indexes of some pages aren't known; '' if all are. */
export function bTreeCause({ list, owners, causes }: TreesTable): string {
  const unknown = owners.reduce((n, at) => n + (at < 0 ? 1 : 0), 0);
  if (unknown === 0) return '';
  const why = causes.map((cause) => CAUSES[cause]);
  if (list.length === 0) return `Tables and indexes of pages n/a: ${why.join('; ')}`;
  return `Table or index n/a for ${formatCount(unknown)} of ${formatCount(owners.length)} pages: ${[...why, NO_WAY].join('; ')}`;
}

/** `table orders`, `index orders_by_date` */
export const treeTitle = ({ kind, name }: BTree): string => `${kind} ${name}`;

/** The b-tree of a table row; undefined = not known. */
export const treeOfRow = ({ trees }: PlacesTable, i: number): BTree | undefined =>
  trees?.list[trees.owners[i] ?? -1];

const PARTS: Readonly<Record<number, string>> = {
  2: 'interior page',
  5: 'interior page',
  10: 'leaf',
  13: 'leaf',
};

/**
 * What pages [from, to) are part of: `leaf of index orders_by_date`, `table orders`, `3 tables and
 * indexes`; '' = not known.
 */
export function partOf(table: PlacesTable, fromPlace: number, toPlace: number): string {
  const first = lowerBound(table.places.place, fromPlace, table.places.count);
  if (toPlace - fromPlace === 1) {
    const tree = table.places.place[first] === fromPlace ? treeOfRow(table, first) : undefined;
    if (!tree) return '';
    const part = tree.root === fromPlace ? 'root' : (PARTS[table.places.type[first]!] ?? 'page');
    return `${part} of ${treeTitle(tree)}`;
  }
  const found = new Set<BTree | undefined>();
  for (let i = first; i < table.places.count && table.places.place[i]! < toPlace; i++)
    found.add(treeOfRow(table, i));
  found.delete(undefined);
  const [only] = found;
  return only && found.size === 1
    ? treeTitle(only)
    : found.size
      ? `${found.size} tables and indexes`
      : '';
}

/** A row of the table by b-tree: index in the list, or its length for pages of no known b-tree. */
export const treeRows = ({ list, totals }: TreesTable): number[] =>
  [...list.keys(), list.length].filter((at) => totals.pages[at]! > 0);
export const NOT_KNOWN = 'not known';

/** What is counted of a page, and of all that belong to a b-tree. */
export const COUNTS = {
  reads: {},
  writes: {},
  rereads: {},
  wal_reads: {},
  wal_writes: {},
  checkpoint_writes: {},
  read_bytes: {},
  write_bytes: {},
};
/** Columns over rows of `treeRows`. @param spanUs time by index; null = not known yet */
export function shownTreeColumns(
  { list, totals }: TreesTable,
  spanUs: (at: number) => number | null,
): readonly Column<number>[] {
  const columns = viewColumns(treeColumns, {
    name: { none: NOT_KNOWN, width: 'minmax(110px, 1fr)' },
    dur: '150px',
    pages: {},
    ...COUNTS,
    kind: {},
    of_table: {},
    root: {},
  });
  return overPlaces(columns, (at) => ({
    ...{ path: '', tree: list[at], totals, at },
    spanUs: spanUs(at),
  }));
}
