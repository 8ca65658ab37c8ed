/**
 * Memory over time of each engine of a thread and its connections, from the engine's own counters
 * (sqlMemory events).
 */
import { ConnectionEngines } from '../analysis/memory/engine-readings.ts';
import { getOrMake } from '../analysis/core/maps.ts';
import { Op } from '../event/event.ts';
import { firstPlace } from '../trace/number-columns.ts';
import type { ThreadStore } from '../trace/store.ts';

/**
 * WebAssembly memory of an engine; then the page caches, schemas, and prepared statements of its
 * connections, each summed.
 */
export const MEMORY_KINDS = ['memory', 'cacheMemory', 'schemaMemory', 'statementMemory'] as const;
export type MemoryKind = (typeof MEMORY_KINDS)[number];

/** One engine. */
class EngineMemory {
  readonly us: number[] = [];
  /** By kind: bytes from then on. */
  readonly bytes = MEMORY_KINDS.map((): number[] => []);
  /** By open connection: its last reading, in the order of the kinds without the first. */
  readonly open = new Map<number, number[]>();
  /** Bytes; they never decrease. */
  wasm = 0;

  add(us: number): void {
    const all = [...this.open.values()];
    this.us.push(us);
    this.bytes.forEach((list, kind) =>
      list.push(kind === 0 ? this.wasm : all.reduce((sum, reading) => sum + reading[kind - 1]!, 0)),
    );
  }
}

export class MemoryCounter {
  /** By id; null = not known, as of some connections in older recordings. */
  private readonly byEngine = new Map<number | null, EngineMemory>();
  private readonly connections: ConnectionEngines;
  private next = 0;

  constructor(private readonly thread: ThreadStore) {
    this.connections = new ConnectionEngines(thread);
  }

  /** Ids of the engines that have readings, in order; null = not known. */
  get engines(): readonly (number | null)[] {
    return [...this.byEngine.keys()];
  }

  update(): void {
    const { events } = this.thread;
    for (; this.next < events.count; this.next++) {
      const row = this.next;
      const op = events.op[row]!;
      this.connections.take(row);
      if (op === Op.sqlMemory) this.reading(row);
      else if (op === Op.sqlClose && events.result[row] === 0)
        for (const engine of this.byEngine.values())
          if (engine.open.delete(events.context[row]!)) engine.add(events.t0[row]!);
    }
  }

  private reading(row: number): void {
    const { t0, offset, length, aux, aux2, context } = this.thread.events;
    const connection = context[row]!;
    const id = this.connections.of(connection);
    // the engine of an older recording's connection may be known by now
    if (id !== null) this.byEngine.get(null)?.open.delete(connection);
    const engine = getOrMake(this.byEngine, id, () => new EngineMemory());
    engine.open.set(connection, [length[row]!, aux[row]!, aux2[row]!]);
    engine.wasm = Math.max(engine.wasm, offset[row]!);
    engine.add(t0[row]!);
  }

  /**
   * @param engine one of `engines`
   * @returns the most bytes by column; NaN before the first reading
   */
  most(
    engine: number | null,
    kind: MemoryKind,
    fromUs: number,
    toUs: number,
    width: number,
  ): Float32Array {
    const of = this.byEngine.get(engine);
    if (!of) return new Float32Array(width).fill(NaN);
    const bytes = of.bytes[MEMORY_KINDS.indexOf(kind)]!;
    return mostIn({ us: of.us, bytes }, fromUs, toUs, width);
  }
}

/**
 * The most bytes by column; NaN before the first reading.
 * @param readings moments, ascending, and bytes from then on
 */
export function mostIn(
  { us, bytes }: { readonly us: readonly number[]; readonly bytes: readonly number[] },
  fromUs: number,
  toUs: number,
  width: number,
): Float32Array {
  const step = (toUs - fromUs) / width;
  let i = firstPlace(0, us.length, (reading) => us[reading]! >= fromUs);
  let now = bytes[i - 1] ?? NaN;
  return Float32Array.from({ length: width }, (_, column) => {
    let most = now;
    for (; i < us.length && us[i]! < fromUs + (column + 1) * step; i++) {
      now = bytes[i]!;
      most = Number.isNaN(most) ? now : Math.max(most, now);
    }
    return most;
  });
}
