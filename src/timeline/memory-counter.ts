/** What a thread's engines and connections hold in memory over time, from the engine's own counters (sqlMemory events). */
import { Op } from '../event/event.ts';
import { isVfsOp } from '../event/operations.ts';
import { firstPlace } from '../trace/number-columns.ts';
import type { ThreadStore } from '../trace/store.ts';

/** WebAssembly memory of all engines; of all connections together page caches, schemas, and prepared statements. */
export const MEMORY_KINDS = ['memory', 'cacheMemory', 'schemaMemory', 'statementMemory'] as const;
export type MemoryKind = (typeof MEMORY_KINDS)[number];

export class MemoryCounter {
  private readonly us: number[] = [];
  /** By kind: bytes up to then. */
  private readonly bytes = MEMORY_KINDS.map((): number[] => []);
  /** By connection: its last reading, in the order of the kinds but the first. */
  private readonly open = new Map<number, number[]>();
  /** By connection: the engine of its files, an id; of a database in memory none is known. */
  private readonly engineOf = new Map<number, number>();
  private lastContext = 0;
  /** By engine, 0 = not known: bytes, which never get less. */
  private readonly engines = new Map<number, number>();
  private next = 0;

  constructor(private readonly thread: ThreadStore) {}

  get seen(): boolean {
    return this.us.length > 0;
  }

  update(): void {
    const { events } = this.thread;
    for (; this.next < events.count; this.next++) {
      const row = this.next;
      const op = events.op[row]!;
      if (op === Op.sqlClose && events.result[row] === 0) {
        if (this.open.delete(events.context[row]!)) this.add(events.t0[row]!);
      } else if (op === Op.sqlMemory) {
        const { offset, length, aux, aux2, context } = events;
        this.open.set(context[row]!, [length[row]!, aux[row]!, aux2[row]!]);
        const engine = this.engineAt(context[row]!);
        this.engines.set(engine, Math.max(this.engines.get(engine) ?? 0, offset[row]!));
        this.add(events.t0[row]!);
      } else if (isVfsOp(op) && events.context[row] !== this.lastContext) this.follow(row);
    }
  }
  /** A VFS call shows which engine its connection is of. */
  private follow(row: number): void {
    const { events, definitions } = this.thread;
    this.lastContext = events.context[row]!;
    if (this.lastContext === 0 || this.engineOf.has(this.lastContext)) return;
    const file = definitions.get(events.object[row]!);
    if (file?.kind === 'file' && file.engine) this.engineOf.set(this.lastContext, file.engine);
  }
  private engineAt(connection: number): number {
    const { engines } = this.thread;
    return this.engineOf.get(connection) ?? (engines.length === 1 ? engines[0]!.id : 0);
  }
  /** Of engines that are known, or else of what a reading had. */
  private get allEngines(): number {
    let sum = 0;
    for (const [engine, bytes] of this.engines) if (engine !== 0) sum += bytes;
    return sum || (this.engines.get(0) ?? 0);
  }
  private add(us: number): void {
    const all = [...this.open.values()];
    this.us.push(us);
    this.bytes.forEach((list, kind) =>
      list.push(
        kind === 0 ? this.allEngines : all.reduce((sum, reading) => sum + reading[kind - 1]!, 0),
      ),
    );
  }

  most(kind: MemoryKind, fromUs: number, toUs: number, width: number): Float32Array {
    const bytes = this.bytes[MEMORY_KINDS.indexOf(kind)]!;
    return mostIn({ us: this.us, bytes }, fromUs, toUs, width);
  }
}

/** The most bytes by column; NaN before the first reading. @param readings moments, ascending, and bytes from then on */
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
