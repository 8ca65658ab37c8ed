/**
 * The files table as a tree with each path once: a database with its journal and log, an IndexedDB
 * database with its stores, an OPFS folder with its files.
 */
import { FEWEST_IN_POOL } from '../../../../analysis/locks/handle-pools.ts';
import { grouped } from '../../../../analysis/core/maps.ts';
import { suffixOf } from '../../../../event/file-names.ts';
import { API_NAMES } from '../../../../event/operations.ts';
import { SUMS } from '../../../../analysis/files/files.ts';
import { fileKey } from '../../row-keys.ts';
import { sortedFiles, type TreeRow } from './file-columns.ts';
import type { FileLine } from '../../../../protocol/answers/files.ts';

interface FileGroup {
  name: string;
  rows: FileLine[];
  /**
   * Sums over its rows at SQLite's VFS, otherwise at the storage: both layers have the same bytes.
   */
  sum: FileLine;
}

const ROLES: Readonly<Record<FileLine['kind'], string>> = {
  'main-db': 'database',
  journal: 'journal',
  wal: 'WAL',
  temp: 'temporary file',
  'memory-journal': 'journal in memory',
  other: 'other file',
  opfs: API_NAMES.opfs,
  'idb-store': API_NAMES.idb,
  storage: API_NAMES.localStorage,
};
const OPFS_ROLES: Readonly<Record<string, string>> = {
  '': 'database in OPFS',
  '-journal': 'journal in OPFS',
  '-wal': 'WAL in OPFS',
  '-shm': 'WAL index in OPFS',
};

/**
 * A file's name within its group, whose name has the path: its role, or its name in a folder or an
 * IndexedDB database.
 */
function nameIn(group: string, { kind, path, idb }: FileLine): string {
  if (kind === 'idb-store') return idb === undefined ? path : path.slice(idb.length + 1);
  if (kind !== 'opfs') return ROLES[kind];
  if (!group.startsWith(OPFS_FOLDER)) return OPFS_ROLES[suffixOf(path)] ?? path;
  const folder = `/${group.slice(OPFS_FOLDER.length)}/`;
  return path.startsWith(folder) ? path.slice(folder.length) : path;
}
const OPFS_FOLDER = 'OPFS ';

/** A file without a group. */
function aloneName({ kind, path }: FileLine): { name: string; about: string } {
  const said = kind === 'memory-journal' || kind === 'storage';
  return { name: path, about: said ? '' : ROLES[kind] };
}

/** Rows of a group by name. Rows with the same name also show their paths. */
function namesIn({ name: group, rows }: FileGroup): { name: string; about: string }[] {
  const names = rows.map((line) => nameIn(group, line));
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return names.map((name, i) => ({ name, about: counts.get(name)! > 1 ? rows[i]!.path : '' }));
}

interface FileOrigin {
  /** '' if there is only one, which isn't a level of the tree. */
  name: string;
  groups: FileGroup[];
}

/**
 * The whole tree: origins, the one whose files took most time first; their groups; and the rows in
 * these.
 */
export function fileOrigins(
  lines: readonly FileLine[],
  key: string,
  descending: boolean,
): FileOrigin[] {
  const byOrigin = grouped(lines, ({ origin }) => origin);
  const time = ([, some]: [string, FileLine[]]): number =>
    some.reduce((us, { timeUs }) => us + timeUs, 0);
  return [...byOrigin]
    .sort((a, b) => time(b) - time(a))
    .map(([name, some]) => ({ name, groups: fileTree(some, key, descending) }));
}

/** Groups and their rows in the same order. A group with one row is replaced by that row. */
export function fileTree(
  lines: readonly FileLine[],
  key: string,
  descending: boolean,
): FileGroup[] {
  const groups = grouped(sortedFiles(lines, key, descending), ({ group }) => group);
  const found = [...groups].map(([name, rows]): FileGroup => {
    const sum: FileLine = { ...rows[0]!, path: rows.length > 1 ? name : rows[0]!.path };
    const ofSqlite = rows.filter(
      ({ kind }) => kind !== 'opfs' && kind !== 'idb-store' && kind !== 'storage',
    );
    const summed = ofSqlite.length ? ofSqlite : rows;
    for (const name of SUMS) sum[name] = summed.reduce((total, row) => total + row[name], 0);
    return { name, rows, sum };
  });
  const order = sortedFiles(
    found.map(({ sum }) => sum),
    key,
    descending,
  );
  const bySum = new Map(found.map((group) => [group.sum, group]));
  const sorted = order.map((sum) => bySum.get(sum)!);
  return [...sorted.filter((group) => !isPool(group)), ...sorted.filter(isPool)];
}

/**
 * Files whose names a VFS made up, which contain the databases' bytes again: they come last and are
 * folded by default.
 */
const isPool = ({ name, rows }: FileGroup): boolean =>
  name.startsWith(OPFS_FOLDER) && rows.length >= FEWEST_IN_POOL;
const foldOf = (origin: string, group: string): string => `${origin} ${group}`;

/** What is folded. @param toggled what differs from its default, by `fold` */
export function closedIn(tree: readonly FileOrigin[], toggled: readonly string[]): Set<string> {
  const closed = new Set(toggled);
  for (const { name, groups } of tree)
    for (const group of groups.filter(isPool)) {
      const fold = foldOf(name, group.name);
      if (!closed.delete(fold)) closed.add(fold);
    }
  return closed;
}

/** The visible rows. @param closed by `fold` */
export function treeRows(
  tree: readonly FileOrigin[],
  closed: ReadonlySet<string>,
): readonly TreeRow[] {
  const found: TreeRow[] = [];
  const top = tree.length > 1 ? 2 : 1;
  for (const { name: origin, groups } of tree) {
    if (top > 1)
      found.push({ key: origin, name: origin, about: '', line: null, fold: origin, level: 1 });
    for (const group of closed.has(origin) ? [] : groups) {
      const { name, rows, sum } = group;
      const fold = foldOf(origin, name);
      const many = rows.length > 1;
      if (many) found.push({ key: fold, name, about: '', line: sum, fold, level: top });
      const names = many ? namesIn(group) : [aloneName(rows[0]!)];
      for (const [i, line] of (many && closed.has(fold) ? [] : rows).entries())
        found.push({
          key: fileKey(line),
          ...names[i]!,
          line,
          fold: null,
          level: many ? top + 1 : top,
        });
    }
  }
  return found;
}
