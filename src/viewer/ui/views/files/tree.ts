/** The files table as a tree: a database with its journal and log, an IndexedDB database with its stores, a folder of OPFS with its files. */
import { grouped } from '../../../../analysis/core/maps.ts';
import { SUMS } from '../../../../analysis/files/files.ts';
import { fileKey } from '../../row-keys.ts';
import { sortedFiles, type TreeRow } from './file-columns.ts';
import type { FileLine } from '../../../../protocol/answers/files.ts';

interface FileGroup {
  name: string;
  rows: FileLine[];
  /** Sums over its rows as SQLite's VFS has them, else over those of storage: both are the same bytes, one above the other. */
  sum: FileLine;
}

/** A path as it is called in its group: what a folder of OPFS says already is left out. */
function nameIn(group: string, { path }: Pick<FileLine, 'path'>): string {
  const folder = group.startsWith('OPFS ') ? `/${group.slice('OPFS '.length)}/` : '';
  return folder && path.startsWith(folder) ? path.slice(folder.length) : path;
}

interface FileOrigin {
  /** '' where there is one only: then it is no level of the tree. */
  name: string;
  groups: FileGroup[];
}

/** The whole tree: origins, the one whose files took most time first; their groups; the rows in these. */
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

/** Groups and the rows in them in the same order; a group of one row stands for that row. */
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
  return order.map((sum) => bySum.get(sum)!);
}

/** The rows that are not folded away. @param closed by `fold` */
export function treeRows(
  tree: readonly FileOrigin[],
  closed: ReadonlySet<string>,
): readonly TreeRow[] {
  const found: TreeRow[] = [];
  const top = tree.length > 1 ? 2 : 1;
  for (const { name: origin, groups } of tree) {
    if (top > 1) found.push({ key: origin, name: origin, line: null, fold: origin, level: 1 });
    for (const { name, rows, sum } of closed.has(origin) ? [] : groups) {
      const fold = `${origin} ${name}`;
      const many = rows.length > 1;
      if (many) found.push({ key: fold, name, line: sum, fold, level: top });
      for (const line of many && closed.has(fold) ? [] : rows)
        found.push({
          key: fileKey(line),
          name: many ? nameIn(name, line) : line.path,
          line,
          fold: null,
          level: many ? top + 1 : top,
        });
    }
  }
  return found;
}
