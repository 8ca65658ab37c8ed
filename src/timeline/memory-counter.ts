/** What a thread's engines and connections hold in memory over time, from the engine's own counters (sqlMemory events). */
import { Op } from '../event/event.ts';
import { firstPlace } from '../trace/number-columns.ts';
import type { ThreadStore } from '../trace/store.ts';

/** The largest engine's WebAssembly memory; of all connections together page caches, schemas, and prepared statements. */
export const MEMORY_KINDS = ['memory', 'cacheMemory', 'schemaMemory', 'statementMemory'] as const;
export type MemoryKind = (typeof MEMORY_KINDS)[number];

export class MemoryCounter {
  private readonly us: number[] = [];
  /** By kind: bytes up to then. */
  private readonly bytes = MEMORY_KINDS.map((): number[] => []);
  /** By connection: its last reading, in the order of the kinds. */
  private readonly open = new Map<number, number[]>();
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
        this.open.set(context[row]!, [offset[row]!, length[row]!, aux[row]!, aux2[row]!]);
        this.add(events.t0[row]!);
      }
    }
  }
  private add(us: number): void {
    const all = [...this.open.values()];
    this.us.push(us);
    this.bytes.forEach((list, kind) => {
      const of = all.map((reading) => reading[kind]!);
      // connections of an engine share its memory, which stays when they close
      list.push(kind === 0 ? Math.max(list.at(-1) ?? 0, ...of) : of.reduce((sum, n) => sum + n, 0));
    });
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
