import { databaseName } from '../../event/file-names.ts';
import { isVfsOp } from '../../event/operations.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { threadFact } from './graph.ts';
import { ById } from './by-id.ts';
import { getOrMake } from './maps.ts';

/**
 * For each thread, by connection id: names (`databaseName`) of the databases that its VFS calls go
 * to. Calls of unknown connections are under 0.
 */
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
  const files = new ById<{ name: string; last: number } | null>();
  const fileOf = (id: number): { name: string; last: number } | null => {
    const d = definitions.get(id);
    return files.set(
      id,
      d?.kind === 'file' && (d.fileKind === 'main-db' || d.fileKind === 'wal')
        ? { name: databaseName(d.path), last: -1 }
        : null,
    );
  };
  const { op, object, context, count } = events;
  for (let row = 0; row < count; row++) {
    if (!isVfsOp(op[row]!)) continue;
    const id = object[row]!;
    const known = files.get(id);
    const file = known === undefined ? fileOf(id) : known;
    // usually a call on a file has the same connection as the one before
    if (!file || file.last === context[row]) continue;
    file.last = context[row]!;
    getOrMake(found, file.last, () => new Set<string>()).add(file.name);
  }
  return found;
}
