import { databaseName } from '../../event/file-names.ts';
import { isVfsOp } from '../../event/operations.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { threadFact } from './graph.ts';
import { getOrMake } from './maps.ts';

/** Of each thread. By connection id: names (`databaseName`) of the databases that its VFS calls go to; calls of no known connection are under 0. */
export const databasesByConnection = threadFact(
  'databasesByConnection',
  'databases by connection',
  {},
  databasesOf,
);

function databasesOf({
  events,
  definitions,
}: ThreadStore): ReadonlyMap<number, ReadonlySet<string>> {
  const found = new Map<number, Set<string>>();
  const names = new Map<number, string | null>();
  for (let row = 0; row < events.count; row++) {
    if (!isVfsOp(events.op[row]!)) continue;
    const id = events.object[row]!;
    const name = getOrMake(names, id, () => {
      const file = definitions.get(id);
      return file?.kind === 'file' && (file.fileKind === 'main-db' || file.fileKind === 'wal')
        ? databaseName(file.path)
        : null;
    });
    if (name !== null) getOrMake(found, events.context[row]!, () => new Set()).add(name);
  }
  return found;
}
