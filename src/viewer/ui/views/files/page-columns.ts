/** Names and styles of page kinds, and the columns of the table of pages or blocks. */
import { PageType } from '../../../../sqlite/page.ts';
import { PAGE_TYPES, pageColumns } from '../../../../analysis/pages/table.ts';
import { overPlaces, viewColumns, type Column } from '../../parts/columns.ts';
import type { PlacesTable } from '../../../../protocol/answers/pages.ts';
import { COUNTS, treeOfRow, treeTitle } from './b-tree-columns.ts';
import { UNKNOWN } from '../../../../text/numbers.ts';

interface TypeWords {
  title: string;
  /** CSS custom property. Not an activity's color, because these have other meanings. */
  color: string;
  /** For an index: hatched; tables are solid. */
  hatched?: true;
  meaning: string;
}
/** As a CSS background. */
export const typeBackground = ({ color, hatched }: TypeWords): string =>
  hatched
    ? `repeating-linear-gradient(135deg, var(${color}) 0 2px, var(--bg) 2px 4px)`
    : `var(${color})`;
const NOT_KNOWN: TypeWords = {
  title: UNKNOWN,
  color: '--bg',
  meaning:
    "type not known: no call carried the page's first byte (page 1 in the WAL, or a layer that decodes none)",
};
const typed = (
  type: number,
  color: string,
  meaning: string,
  more: Pick<TypeWords, 'hatched'> = {},
): [number, TypeWords] => [type, { title: PAGE_TYPES[type]!, color, meaning, ...more }];
export const TYPE_WORDS: Readonly<Record<number, TypeWords>> = Object.fromEntries([
  typed(PageType.tableLeaf, '--neutral-pale', "leaf of a table's b-tree: holds rows"),
  typed(
    PageType.tableInterior,
    '--neutral-strong',
    "interior page of a table's b-tree: holds keys and child pointers",
  ),
  typed(
    PageType.indexLeaf,
    '--neutral-pale',
    "leaf of an index's b-tree, or of a WITHOUT ROWID table",
    { hatched: true },
  ),
  typed(PageType.indexInterior, '--neutral-strong', "interior page of an index's b-tree", {
    hatched: true,
  }),
  typed(
    PageType.pointerMap,
    '--neutral',
    'records which page points at each other one, for auto_vacuum',
  ),
]);
const FIRST: TypeWords = {
  title: 'page 1',
  color: '--text',
  meaning: 'database header and root of the schema table',
};
const OTHER: TypeWords = {
  title: 'no b-tree page',
  color: '--activity-none',
  meaning:
    'overflow or freelist page, whose first byte does not tell which (or of the pointer map, where no database header was seen)',
};
export const TYPE_LEGEND: readonly TypeWords[] = [FIRST, ...Object.values(TYPE_WORDS), OTHER];

/**
 * @param fromFile the page was read from or written to the database file itself, so its first byte
 * was seen
 */
export function typeWords(
  type: number,
  place: number,
  decoded: boolean,
  fromFile: boolean,
): TypeWords {
  if (place === 1 && decoded) return FIRST;
  return TYPE_WORDS[type] ?? (decoded && fromFile ? OTHER : NOT_KNOWN);
}

export function typeOfRow({ places, decoded }: PlacesTable, i: number): TypeWords {
  return typeWords(
    places.type[i]!,
    places.place[i]!,
    decoded,
    places.reads[i]! + places.writes[i]! > 0,
  );
}

function treeText(table: PlacesTable, i: number): string {
  const tree = treeOfRow(table, i);
  return tree ? treeTitle(tree) : UNKNOWN;
}

/** Columns over the numbers of rows of `table.places`. */
export function placeColumns(table: PlacesTable): readonly Column<number>[] {
  const isPages = table.kind === 'main-db';
  const columns = viewColumns(pageColumns, {
    page: {
      key: 'place',
      ...(!isPages && { title: 'Block', definition: 'Number of the block, from 0' }),
    },
    type: { value: ({ i }) => typeOfRow(table, i).title, width: '116px' },
    b_tree: {
      key: 'tree',
      text: ({ i }) => treeText(table, i),
      mono: false,
      width: 'minmax(120px, 1fr)',
    },
    ...COUNTS,
    first_ts: {},
    last_ts: {},
  });
  return overPlaces(
    isPages ? columns : columns.filter(({ key }) => !OF_PAGES.includes(key)),
    (i) => ({ pages: table, i, tree: treeOfRow(table, i) }),
  );
}
/** Blocks have none of these. */
const OF_PAGES = ['type', 'tree', 'wal_reads', 'wal_writes', 'checkpoint_writes'];
