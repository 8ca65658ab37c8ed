/** The tables of pages, of their b-trees, and of every page read and write. */
import { PageType } from '../../sqlite/page.ts';
import type { TraceStore } from '../../trace/store.ts';
import { THREAD } from '../events/table.ts';
import { fact } from '../core/graph.ts';
import { col, inParts, listed, table, type Columns, type Rows } from '../core/table.ts';
import { Access, type Accesses } from './accesses.ts';
import { bTrees, bTreeTotals, ownersOf, type BTree, type BTreeTotals } from './b-trees.ts';
import { accesses } from './page-accesses.ts';
import { timesByTree, treeOf, treeUse, type TreeUse } from './tree-use.ts';
import { pages, type ObjectPages, type PlaceColumns } from './pages.ts';

/** Names of page types. */
export const PAGE_TYPES: Readonly<Record<number, string>> = {
  [PageType.tableLeaf]: 'table leaf',
  [PageType.tableInterior]: 'table interior',
  [PageType.indexLeaf]: 'index leaf',
  [PageType.indexInterior]: 'index interior',
  [PageType.pointerMap]: 'pointer map',
};

/** A page of a database, or a block of a store. */
interface PlaceRow {
  pages: ObjectPages;
  /** Index in `pages.places`. */
  i: number;
  /** Its table or index, if known. */
  tree: BTree | undefined;
}
/** A column of `pages.places`. */
const ofPage =
  (name: Exclude<keyof PlaceColumns, 'count'>) =>
  ({ pages, i }: PlaceRow): number =>
    pages.places[name][i]!;
/* @__NO_SIDE_EFFECTS__ */
const ofTable = <Row extends Pick<PlaceRow, 'tree'>>() =>
  col<Row>(
    'text',
    'Of table',
    'The table itself, or that of the index',
    ({ tree }) => tree?.table ?? null,
  );
const READS = 'From the file; what checkpoints copy is left out';
const READS_WAL = 'Reads of images in frames of the WAL';
const REREADS =
  'Reads of a page that the connection already had and that no other connection wrote since';
const WRITES_WAL = 'Writes of images in frames of the WAL';
const TIME =
  'Time inside the VFS calls on its pages, storage calls and checkpoints included. Each moment counts once';
const WRITES_CHECKPOINT = 'Written to the database by checkpoints';

export const pageColumns = {
  path: col('code', 'Database', 'Path of the database', ({ pages }) => pages.path),
  page: col('count', 'Page', 'Page number, from 1', ofPage('place')),
  type: col(
    'text',
    'Type',
    "From the page's first byte, as last seen. n/a: no b-tree or pointer map page, or no layer decodes it",
    ({ pages, i }) => PAGE_TYPES[pages.places.type[i]!] ?? null,
  ),
  b_tree: col(
    'text',
    'B-tree',
    'Table or index that the page belongs to, from the schema and the pages above it, as they were last seen',
    ({ tree }) => tree?.name ?? null,
  ),
  b_tree_table: ofTable(),
  reads: col('count', 'Reads', READS, ofPage('reads')),
  wal_reads: col('count', 'WAL reads', READS_WAL, ofPage('walReads')),
  rereads: col('count', 'Re-reads', REREADS, ofPage('rereads')),
  writes: col('count', 'Writes', 'To the file', ofPage('writes')),
  wal_writes: col('count', 'WAL writes', WRITES_WAL, ofPage('walWrites')),
  checkpoint_writes: col('count', 'Checkpoint', WRITES_CHECKPOINT, ofPage('checkpointWrites')),
  first_ts: col('moment', 'First', 'Begin of the first access', ofPage('firstUs')),
  last_ts: col('moment', 'Last', 'Begin of the last access', ofPage('lastUs')),
  read_bytes: col('bytes', 'Read', 'Bytes read', ofPage('readBytes')),
  write_bytes: col('bytes', 'Written', 'Bytes written', ofPage('writeBytes')),
} satisfies Columns<PlaceRow>;

const pageRows = fact('pageRows', 'pages', { pages, bTrees }, (_, known) =>
  inParts(
    known.pages.map(({ places }) => places.count),
    (part, i): PlaceRow => {
      const table = known.pages[part]!;
      const { list, ownerOf } = known.bTrees[table.index]!;
      return { pages: table, i, tree: list[ownerOf(table.places.place[i]!)] };
    },
  ),
);
const pageTable = table(
  'pages',
  'Pages of databases, with sums over the trace',
  pageRows,
  pageColumns,
);

/** Sums over the pages of a b-tree. */
interface TreeRow {
  path: string;
  /** undefined: pages of unknown b-trees. */
  tree: BTree | undefined;
  totals: BTreeTotals;
  /** Index in `totals`. */
  at: number;
  /** Microseconds; null = not known. */
  spanUs: number | null;
}
const sum =
  (name: keyof BTreeTotals) =>
  ({ totals, at }: TreeRow): number =>
    totals[name][at]!;
export const treeColumns = {
  path: col('code', 'Database', 'Path of the database', (t) => t.path),
  name: col(
    'text',
    'Table or index',
    'n/a: pages whose table or index is not known',
    ({ tree }) => tree?.name ?? null,
  ),
  kind: col('text', 'Kind', 'table or index', ({ tree }) => tree?.kind ?? null),
  of_table: ofTable(),
  root: col('count', 'Root', 'Page where it begins', ({ tree }) => tree?.root ?? null),
  pages: col('count', 'Pages', 'That were read or written', sum('pages')),
  reads: col('count', 'Reads', READS, sum('reads')),
  wal_reads: col('count', 'WAL reads', READS_WAL, sum('walReads')),
  rereads: col('count', 'Re-reads', REREADS, sum('rereads')),
  writes: col('count', 'Writes', 'To the file', sum('writes')),
  wal_writes: col('count', 'WAL writes', WRITES_WAL, sum('walWrites')),
  checkpoint_writes: col('count', 'Checkpoint', WRITES_CHECKPOINT, sum('checkpointWrites')),
  read_bytes: col('bytes', 'Read', 'Bytes read', sum('readBytes')),
  write_bytes: col('bytes', 'Written', 'Bytes written', sum('writeBytes')),
  dur: col('us', 'Time', TIME, (t) => t.spanUs),
} satisfies Columns<TreeRow>;

const treeRows = fact('treeRows', 'tables and indexes', { pages, bTrees, treeUse }, (_, known) =>
  listed(
    known.pages.flatMap(({ path, index, places }) => {
      const trees = known.bTrees[index]!;
      const { list } = trees;
      const totals = bTreeTotals(places, ownersOf(trees, places), list.length);
      const times = timesByTree(known.treeUse, index, list.length);
      return [...list, undefined]
        .map((tree, at): TreeRow => ({ path, tree, totals, at, spanUs: times[at]!.spanUs }))
        .filter(({ at }) => totals.pages[at]! > 0);
    }),
  ),
);
const treeTable = table(
  'b_trees',
  'Tables and indexes of databases, with sums over their pages',
  treeRows,
  treeColumns,
);

/** What a statement did with a table or index. */
export interface TreeUseRow {
  path: string;
  tree: BTree | undefined;
  use: TreeUse;
}
export const treeUseColumns = {
  path: col('code', 'Database', 'Path of the database', (t) => t.path),
  name: col<TreeUseRow>(
    'text',
    'Table or index',
    'n/a: pages whose table or index is not known',
    ({ tree }) => tree?.name ?? null,
  ),
  of_table: ofTable<TreeUseRow>(),
  fingerprint: col(
    'code',
    'Statement',
    'Its text with literals folded; null: the text was not seen, or opening and closing',
    ({ use }) => use.statement,
  ),
  reads: col(
    'count',
    'Page reads',
    'From the database and the WAL; what checkpoints copy is left out',
    ({ use }) => use.reads,
  ),
  writes: col(
    'count',
    'Page writes',
    'To the database and the WAL; what checkpoints copy is left out',
    ({ use }) => use.writes,
  ),
  checkpoint_writes: col(
    'count',
    'Checkpoint',
    'Written to the database by checkpoints while the statement ran',
    ({ use }) => use.checkpointed,
  ),
  dur: col('us', 'Time', TIME, ({ use }) => use.time.spanUs),
} satisfies Columns<TreeUseRow>;

const treeUseRows = fact(
  'treeUseRows',
  'tables and indexes by statement',
  { treeUse, bTrees, accesses },
  (_, known) =>
    listed(
      known.treeUse.map((use): TreeUseRow => ({
        path: known.accesses.objects[use.database]!.path,
        tree: treeOf(known.bTrees, use),
        use,
      })),
    ),
);
const treeUseTable = table(
  'b_tree_statements',
  'What each statement read and wrote of each table and index',
  treeUseRows,
  treeUseColumns,
);

interface AccessRow {
  store: TraceStore;
  a: Accesses;
  i: number;
}
const isSet =
  (bit: number) =>
  ({ a, i }: AccessRow) =>
    a.what[i]! & bit ? 1 : 0;
const accessRows = fact(
  'accessRows',
  'reads and writes of pages',
  { accesses },
  (store, { accesses: a }): Rows<AccessRow> => {
    const row = { store, a, i: 0 };
    return { count: a.count, at: (i) => Object.assign(row, { i }) };
  },
);
const accessTable = table(
  'page_accesses',
  'Each read and write of a page, in the order of time',
  accessRows,
  {
    thread: col('int', 'Thread', THREAD, ({ a, i }) => a.thread[i]!),
    seq: col(
      'id',
      'Event',
      'The call',
      ({ store, a, i }) => store.threads[a.thread[i]!]!.events.seq[a.row[i]!]!,
    ),
    ts: col('moment', 'Time', 'Begin of the call', ({ a, i }) => a.us[i]!),
    path: col(
      'code',
      'Database',
      'Path of the database',
      ({ a, i }) => a.objects[a.object[i]!]?.path ?? null,
    ),
    page: col('count', 'Page', 'First page', ({ a, i }) => a.place[i]!),
    pages: col('count', 'Pages', 'Pages in the call', ({ a, i }) => a.span[i]!),
    write: col('int', 'Write', '1: a write', isSet(Access.write)),
    wal: col('int', 'WAL', '1: in the WAL', isSet(Access.wal)),
    checkpoint: col('int', 'Checkpoint', '1: made by a checkpoint', isSet(Access.checkpoint)),
    bytes: col('bytes', 'Bytes', 'Moved', ({ a, i }) => a.bytes[i]!),
  },
);

export const pageTables = [pageTable, treeTable, accessTable, treeUseTable];
