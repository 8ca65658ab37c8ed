/**
 * Finds data in an origin's storage that may be unused: from an older version of the app, or from a
 * version that was interrupted.
 */
import { databaseName, databasePath, plainPath, suffixOf } from '../event/file-names.ts';
import { countOf } from '../text/numbers.ts';
import { companionKind, isCompanion, poolOf } from './kinds.ts';
import type { PageState } from '../protocol/page-state.ts';
import { storedName, type PageStorage, type StoredFile } from '../protocol/page-storage.ts';

/** Where a database is stored. */
interface Database {
  name: string;
  kind: string;
  at: string;
}
export interface Leftover {
  /** Its path or name. */
  what: string;
  /** One or two sentences. */
  why: string;
}

/**
 * wa-sqlite's OPFS VFSs create temporary files here, and hold a Web Lock of this name while they
 * use them.
 */
const TEMPORARY = /^\/(\.ahp-[^/]+)\/$/;
const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);
/** Files with the same key may belong together. */
const areaOf = (file: StoredFile): string =>
  file.pool === null ? folderOf(file.path) : `pool ${folderOf(file.path)}`;

/**
 * Folders that aren't judged because not all of their files are known. A file that wasn't read may
 * be a slot of a pool. So may a file whose header isn't a pool's, next to others whose header is.
 */
export function unjudgedFolders(files: readonly StoredFile[]): Set<string> {
  const pools = new Set(
    files.filter(({ pool }) => pool !== null).map(({ path }) => folderOf(path)),
  );
  return new Set(
    files
      .filter(({ path, pool, cause }) => cause || (pool === null && pools.has(folderOf(path))))
      .map(({ path }) => folderOf(path)),
  );
}

/** @param locks null = not known @param databases as Doctor lists them */
export function leftoversOf(
  storage: Pick<PageStorage, 'files' | 'folders' | 'moreFiles'>,
  locks: PageState['locks'],
  databases: readonly Database[],
): Leftover[] {
  const found: Leftover[] = [];
  const { files, folders, moreFiles } = storage;
  const unjudged = unjudgedFolders(files);
  const isJudged = ({ path }: StoredFile): boolean => !moreFiles && !unjudged.has(folderOf(path));
  const names = new Set(files.map((file) => `${areaOf(file)}\n${plainPath(storedName(file))}`));
  for (const file of files) {
    const name = storedName(file);
    const what = file.pool ? `${name} (${file.path})` : name;
    const isAlone = !names.has(`${areaOf(file)}\n${plainPath(databasePath(name))}`);
    if (suffixOf(name) !== '' && isAlone && isJudged(file))
      found.push({
        what,
        why: isCompanion(file)
          ? 'Its database is gone. SQLite may delete it or use it when your app creates a database of that name.'
          : `By its name, a ${companionKind(file)} without a database. It may be your app's own file.`,
      });
    else if (file.head === 'journal')
      found.push({
        what,
        why: 'This rollback journal is hot. A transaction is under way, or one was cut off. SQLite then rolls it back when it opens the database.',
      });
  }

  const held = new Set(locks?.held.map(({ name }) => name));
  for (const folder of folders) {
    const [, lock] = TEMPORARY.exec(folder) ?? [];
    if (lock !== undefined && locks && !locks.more && !held.has(lock))
      found.push({
        what: folder,
        why: 'Temporary files of a worker that has ended: nothing holds its lock. wa-sqlite deletes them when the VFS starts again.',
      });
  }

  for (const pool of new Set(files.flatMap((file) => (file.pool === null ? [] : areaOf(file))))) {
    const places = files.filter((file) => areaOf(file) === pool);
    if (isJudged(places[0]!) && places.every(({ pool: name }) => name === ''))
      found.push({
        what: folderOf(places[0]!.path),
        why: `A pool of ${poolOf(places[0]!)} without a file: ${countOf(places.length, 'free place')}.`,
      });
  }

  const places = new Map<string, Database[]>();
  for (const database of databases) {
    // one name for each storage, because an app can use both
    if (database.kind === 'kvvfs') continue;
    const name = databaseName(database.name);
    places.set(name, [...(places.get(name) ?? []), database]);
  }
  for (const [what, several] of places)
    if (several.length > 1)
      found.push({
        what,
        why: `Stored ${several.length} times: ${several.map(({ kind, at }) => `${kind} (${at})`).join(', ')}. Your app may use each of them.`,
      });
  return found;
}
