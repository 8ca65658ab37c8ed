/**
 * Access handles that a VFS keeps open: a pool of files with the VFS's own names, from which it
 * takes one when SQLite opens a file. They are shown together, as separate lanes add no
 * information.
 *
 *   /.ahp-n0863k/0.tmp ... 9.tmp        a pool: no VFS call names such a file
 *   /data/app.db, /data/app.db-journal  none: SQLite's own files
 */
import { plainPath } from '../../event/file-names.ts';
import type { TraceStore } from '../../trace/store.ts';
import { fact, type Known } from '../core/graph.ts';
import { grouped } from '../core/maps.ts';
import { locks } from './locks.ts';

/** Fewer handles in a folder are shown separately. */
export const FEWEST_IN_POOL = 4;

const NEEDS = { locks };

/**
 * By index in Locks.resources: the folder of the pool that an access handle is in; '' for others.
 */
export const handlePools = fact('handlePools', 'holds and waits', NEEDS, handlePoolsOf);

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

function handlePoolsOf(store: TraceStore, { locks: { resources } }: Known<typeof NEEDS>): string[] {
  const folders = resources.map(({ kind, name }) =>
    kind === 'access-handle' ? folderOf(name) : '',
  );
  const sqlite = new Set<string>();
  for (const { definitions } of store.threads)
    for (const d of definitions.values()) if (d.kind === 'file') sqlite.add(plainPath(d.path));
  if (sqlite.size === 0) return folders.map(() => ''); // SQLite's files aren't known
  const places = folders.flatMap((folder, i) => (folder ? [i] : []));
  const pools = folders.map(() => '');
  for (const some of grouped(places, (i) => `${resources[i]!.origin}\0${folders[i]}`).values()) {
    const own = some.every((i) => !sqlite.has(plainPath(resources[i]!.name)));
    if (own && some.length >= FEWEST_IN_POOL) for (const i of some) pools[i] = folders[i]!;
  }
  return pools;
}
