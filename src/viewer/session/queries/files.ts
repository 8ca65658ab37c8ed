/** Queries of the Files view: every file and store, with its database and the map of its pages. */
import { databaseName } from '../../../event/file-names.ts';
import { fact, type Facts } from '../../../analysis/core/graph.ts';
import { isUnlimited } from '../../../analysis/core/scope.ts';
import type { FileRow } from '../../../analysis/files/files.ts';
import { filesByOrigin, originFiles, type OriginFile } from '../../../analysis/files/table.ts';
import { needing, type QueryContext } from './context.ts';
import { accesses } from '../../../analysis/pages/page-accesses.ts';
import { blockAccesses } from '../../../analysis/pages/storage-blocks.ts';
import type { PlacesKey } from '../../../protocol/answers/pages.ts';
import { placesKey } from './pages.ts';
import type { FileLine, FileScope } from '../../../protocol/answers/files.ts';

const nameOf = ({ kind, path }: FileRow): string => `${kind} ${path}`;

const CAUSES: Partial<Record<FileRow['kind'], string>> = {
  journal: "A rollback journal holds copies of its database's pages. See the map of the database.",
  temp: "A temporary file isn't a database. Its pages last as long as the statement or the connection.",
  'memory-journal': "This journal is in SQLite's memory. It never reaches storage.",
  storage: 'localStorage stores strings by key. It has no pages.',
  other: "This file isn't a SQLite database.",
};
const NO_PAGES = 'No call read or wrote a whole page, or the page size is unknown.';
const NO_BLOCKS = "Its keys aren't numbers, or no value was read or written.";

function groupOf(row: FileRow, databases: ReadonlySet<string>): string {
  if (row.kind === 'idb-store') return `IndexedDB ${row.idb ?? ''}`;
  if (row.kind === 'storage') return 'localStorage';
  const base = databaseName(row.path);
  if (row.kind !== 'opfs' || databases.has(base)) return base;
  const folder = base.lastIndexOf('/');
  return folder < 0 ? base : `OPFS ${base.slice(0, folder)}`;
}

const fileLines = fact(
  'fileLines',
  'files',
  { originFiles, accesses, blockAccesses },
  (_, { originFiles: rows, accesses: pages, blockAccesses: blocks }): FileLine[] => {
    const times = new Map<string, number>();
    for (const row of rows) times.set(nameOf(row), (times.get(nameOf(row)) ?? 0) + 1);
    const databases = new Set(
      rows.filter(({ kind }) => kind === 'main-db').map(({ path }) => databaseName(path)),
    );
    const used = (accesses: typeof pages): Map<string, PlacesKey> => {
      const layer = accesses === pages ? 'pages' : 'blocks';
      const touched = new Set(accesses.object.subarray(0, accesses.count));
      const objects = accesses.objects.filter((_, i) => touched.has(i));
      return new Map(
        objects.map((o) => [`${layer} ${o.kind} ${databaseName(o.path)}`, placesKey(o, layer)]),
      );
    };
    const known = new Map([...used(blocks), ...used(pages)]);
    return rows.map((row) => {
      const path = databaseName(row.path);
      const isDatabase = row.kind === 'main-db' || row.kind === 'wal';
      const found =
        (isDatabase ? known.get(`pages main-db ${path}`) : undefined) ??
        (row.kind === 'opfs'
          ? (known.get(`pages main-db ${path}`) ?? known.get(`blocks opfs ${path}`))
          : undefined) ??
        (row.kind === 'idb-store' ? known.get(`blocks idb-store ${path}`) : undefined) ??
        null;
      const cause = found !== null ? '' : (CAUSES[row.kind] ?? (isDatabase ? NO_PAGES : NO_BLOCKS));
      return {
        ...row,
        elsewhere: times.get(nameOf(row))! > 1,
        group: groupOf(row, databases),
        places: found,
        cause,
      };
    });
  },
);

/** The same for a part of the recording. Files without calls in it are left out. */
function fileLinesIn(facts: Facts, scope: FileScope): FileLine[] {
  const all = facts.get(fileLines);
  const keyOf = (row: OriginFile): string => `${row.origin} ${nameOf(row)}`;
  const known = new Map(all.map((line) => [keyOf(line), line]));
  return filesByOrigin(facts.store, scope).map((row) => ({ ...known.get(keyOf(row))!, ...row }));
}

export const fileQueries = {
  /** The most time first. */
  fileLines: needing([fileLines], ({ facts, memo }: QueryContext, scope: FileScope) =>
    isUnlimited(scope)
      ? facts.get(fileLines)
      : memo(`files ${JSON.stringify(scope)}`, () => fileLinesIn(facts, scope)),
  ),
};
