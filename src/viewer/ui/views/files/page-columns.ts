/** What kinds of pages are called and coloured, and the columns of the table of pages or blocks. */
import { PageType } from '../../../../sqlite/page.ts';
import type { Column } from '../../parts/columns.ts';
import { formatBytes, formatCount, formatMoment } from '../../../../text/numbers.ts';
import type { PlacesTable } from '../../../session/queries/pages.ts';
import { treeOfRow, treeTitle } from './b-tree-columns.ts';

interface TypeWords {
  title: string;
  /** CSS custom property. */
  color: string;
  meaning: string;
}
const NOT_KNOWN: TypeWords = {
  title: 'n/a',
  color: '--bg',
  meaning:
    'type not known: no call carried the page’s first byte (page 1 in the WAL, or a layer that decodes none)',
};
export const TYPE_WORDS: Readonly<Record<number, TypeWords>> = {
  [PageType.tableLeaf]: {
    title: 'table leaf',
    color: '--page-table-leaf',
    meaning: 'leaf of a table’s b-tree: holds rows',
  },
  [PageType.tableInterior]: {
    title: 'table interior',
    color: '--page-table-interior',
    meaning: 'interior page of a table’s b-tree: holds keys and child pointers',
  },
  [PageType.indexLeaf]: {
    title: 'index leaf',
    color: '--page-index-leaf',
    meaning: 'leaf of an index’s b-tree, or of a WITHOUT ROWID table',
  },
  [PageType.indexInterior]: {
    title: 'index interior',
    color: '--page-index-interior',
    meaning: 'interior page of an index’s b-tree',
  },
  [PageType.pointerMap]: {
    title: 'pointer map',
    color: '--page-pointer-map',
    meaning: 'says which page points at each other one, for auto_vacuum',
  },
};
const FIRST: TypeWords = {
  title: 'page 1',
  color: '--page-first',
  meaning: 'database header and root of the schema table',
};
const OTHER: TypeWords = {
  title: 'no b-tree page',
  color: '--page-other',
  meaning:
    'overflow or freelist page, whose first byte does not tell which (or of the pointer map, where no database header was seen)',
};
export const TYPE_LEGEND: readonly TypeWords[] = [FIRST, ...Object.values(TYPE_WORDS), OTHER];

/** @param fromFile the page was read from or written to the database file itself, so that its first byte was seen */
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
  return tree ? treeTitle(tree) : 'n/a';
}

type NumberColumn = Exclude<keyof PlacesTable['places'], 'count'>;

/** Columns over the numbers of rows of `table.places`. */
export function placeColumns(table: PlacesTable): readonly Column<number>[] {
  const { places, kind } = table;
  const isPages = kind === 'main-db';
  const numeric = (
    key: NumberColumn,
    title: string,
    definition: string,
    width: string,
    format = formatCount,
  ): Column<number> => ({
    key,
    title,
    definition,
    width,
    numeric: true,
    value: (i) => places[key][i]!,
    text: (i) => format(places[key][i]!),
  });
  const inWal = 'of its image in a frame of the WAL';
  return [
    numeric(
      'place',
      isPages ? 'Page' : 'Block',
      isPages ? 'Page number, from 1' : 'Number of the block, from 0',
      '92px',
    ),
    ...(isPages
      ? [
          {
            key: 'type',
            title: 'Type',
            width: '112px',
            definition: 'From the page’s first byte, as last seen. n/a: no layer decodes it',
            value: (i: number) => typeOfRow(table, i).title,
          },
          {
            key: 'tree',
            title: 'B-tree',
            width: '170px',
            definition:
              'Table or index that the page belongs to, from the schema and the pages above it, as they were last seen',
            value: (i: number) => treeOfRow(table, i)?.name ?? null,
            text: (i: number) => treeText(table, i),
          },
        ]
      : []),
    numeric('reads', 'Reads', 'From the file; what checkpoints copy is left out', '64px'),
    ...(isPages ? [numeric('walReads', 'WAL reads', `Reads ${inWal}`, '80px')] : []),
    numeric(
      'rereads',
      'Re-reads',
      'Reads of a page that the connection had, and that nobody else had written since',
      '72px',
    ),
    numeric('writes', 'Writes', 'To the file', '64px'),
    ...(isPages
      ? [
          numeric('walWrites', 'WAL writes', `Writes ${inWal}`, '84px'),
          numeric(
            'checkpointWrites',
            'Checkpoint',
            'Written to the database by checkpoints',
            '84px',
          ),
        ]
      : []),
    numeric('readBytes', 'Read', 'Bytes', '76px', formatBytes),
    numeric('writeBytes', 'Written', 'Bytes', '76px', formatBytes),
    numeric('firstUs', 'First', 'Begin of the first access', '104px', formatMoment),
    numeric('lastUs', 'Last', 'Begin of the last access', '104px', formatMoment),
  ];
}
