/**
 * Readings of WebAssembly memory by engine: a thread may have several, each with its own memory.
 *
 *   connection 4   16 MiB          16 MiB          the same memory all the time, and another one, which grows
 *   connection 7           32 MiB          48 MiB
 *
 * A reading names its engine and its connection. In older recordings it only names its connection.
 * Then the files of the connection's VFS calls name its engine, and a connection without any is
 * separate.
 */
import { Op } from '../../event/event.ts';
import { isVfsOp } from '../../event/operations.ts';
import { shown } from '../../text/clean.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { threadFact } from '../core/graph.ts';
import { getOrMake } from '../core/maps.ts';

/** The engine of each connection of a thread, as far as its rows show. */
export class ConnectionEngines {
  private readonly known = new Map<number, number>();
  private lastContext = 0;

  constructor(private readonly thread: ThreadStore) {}

  /** Take in a row. */
  take(row: number): void {
    const { events, definitions } = this.thread;
    const op = events.op[row]!;
    const context = events.context[row]!;
    if (op === Op.sqlMemory) {
      const engine = definitions.get(events.object[row]!);
      if (engine?.kind === 'engine') this.known.set(context, engine.id);
    } else if (isVfsOp(op) && context !== this.lastContext) {
      this.lastContext = context;
      if (context === 0 || this.known.has(context)) return;
      const file = definitions.get(events.object[row]!);
      if (file?.kind === 'file' && file.engine) this.known.set(context, file.engine);
    }
  }

  /** @returns id of its engine's definition; null = not known */
  of(connection: number): number | null {
    const { engines } = this.thread;
    return this.known.get(connection) ?? (engines.length === 1 ? engines[0]!.id : null);
  }
}

/** For each thread: the engine of a connection, as its definition's id; null = not known. */
export const engineOfConnection = threadFact(
  'engineOfConnection',
  'engines of connections',
  {},
  (thread): ((connection: number) => number | null) => {
    const engines = new ConnectionEngines(thread);
    if (thread.engines.length > 1)
      for (let row = 0; row < thread.events.count; row++) engines.take(row);
    return (connection) => engines.of(connection);
  },
);

/**
 * Distinguishes an engine of a thread from others: `sql.js`, or `sql.js 2` if it isn't the first
 * one of that name.
 * @param engine id of its definition
 * @returns '' if the thread has only one, or if it isn't known
 */
export function engineTitle({ engines }: ThreadStore, engine: number | null): string {
  const own = engines.find(({ id }) => id === engine);
  if (!own || engines.length < 2) return '';
  const place = engines.filter(({ name }) => name === own.name).indexOf(own);
  return shown(place > 0 ? `${own.name} ${place + 1}` : own.name);
}

/** Readings of one engine. */
export interface EngineReadings {
  /** Id of its definition; null = not known, and they belong to one connection. */
  engine: number | null;
  rows: number[];
}

/**
 * @param rows of sqlMemory events @param engineOf of the thread
 * @returns the readings by engine, in order
 */
export function readingsByEngine(
  { events }: ThreadStore,
  rows: Uint32Array,
  engineOf: (connection: number) => number | null,
): EngineReadings[] {
  const found = new Map<string, EngineReadings>();
  for (const row of rows) {
    const connection = events.context[row]!;
    const engine = engineOf(connection);
    const key = engine === null ? `connection ${connection}` : `engine ${engine}`;
    getOrMake(found, key, (): EngineReadings => ({ engine, rows: [] })).rows.push(row);
  }
  return [...found.values()];
}
