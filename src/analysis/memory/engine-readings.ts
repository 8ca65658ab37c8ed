/**
 * Readings of WebAssembly memory, engine by engine: a thread may hold several, each with a memory of its own.
 *
 *   connection 4   16 MiB          16 MiB          the same memory all the time, and another one, which grows
 *   connection 7           32 MiB          48 MiB
 *
 * A reading names its connection. The files that this one's VFS calls are on name its engine; a connection without any stands alone.
 */
import { isVfsOp } from '../../event/operations.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { threadFact } from '../core/graph.ts';
import { getOrMake } from '../core/maps.ts';

/** Of each thread: the engine of a connection, as its definition's id; null = not known. */
export const engineOfConnection = threadFact(
  'engineOfConnection',
  'engines of connections',
  {},
  (thread): ((connection: number) => number | null) => {
    const { engines } = thread;
    if (engines.length < 2) return () => engines[0]?.id ?? null;
    const known = enginesOf(thread);
    return (connection) => known.get(connection) ?? null;
  },
);

function enginesOf({ events, definitions }: ThreadStore): ReadonlyMap<number, number> {
  const { op, object, context, count } = events;
  const found = new Map<number, number>();
  let last = 0;
  for (let row = 0; row < count; row++) {
    if (!isVfsOp(op[row]!) || context[row] === last) continue;
    last = context[row]!;
    if (last === 0 || found.has(last)) continue;
    const file = definitions.get(object[row]!);
    if (file?.kind === 'file' && file.engine) found.set(last, file.engine);
  }
  return found;
}

/** @param rows of sqlMemory events @param engineOf of the thread @returns the same by engine, in order */
export function readingsByEngine(
  { events }: ThreadStore,
  rows: Uint32Array,
  engineOf: (connection: number) => number | null,
): (readonly number[])[] {
  const found = new Map<string, number[]>();
  for (const row of rows) {
    const connection = events.context[row]!;
    const engine = engineOf(connection);
    const key = engine === null ? `connection ${connection}` : `engine ${engine}`;
    getOrMake(found, key, () => [] as number[]).push(row);
  }
  return [...found.values()];
}
