/** IndexedDB requests that absurd-sql's workers make, counted in shared memory: SQLite's worker reads them, which is blocked meanwhile. */
import type { Counters } from '../model/types.ts';

/** By the names of the summary (`event/web-calls.ts`). */
const CELLS = [
  'idb.get',
  'idb.put',
  'idb.cursor',
  'idb.cursorContinue',
  'idb.transactions',
  'idb.readwriteTransactions',
] as const;
export type RequestCell = (typeof CELLS)[number];

/** The first message of a worker whose requests are to be counted. */
export interface RequestsMessage {
  readonly vfscopeRequests: SharedArrayBuffer;
}
/** @returns null of any other message */
export const requestsOf = (message: unknown): SharedArrayBuffer | null =>
  (message as Partial<RequestsMessage> | null)?.vfscopeRequests ?? null;

export class RequestCounts {
  private readonly cells: Int32Array;

  /** @param buffer another thread's; absent: a new one */
  constructor(
    readonly buffer = new SharedArrayBuffer(CELLS.length * Int32Array.BYTES_PER_ELEMENT),
  ) {
    this.cells = new Int32Array(buffer);
  }

  add(cell: RequestCell): void {
    Atomics.add(this.cells, CELLS.indexOf(cell), 1);
  }
  /** Cumulative; what was not called is absent. */
  read(): Counters {
    return Object.fromEntries(
      CELLS.flatMap((cell, i) => {
        const n = Atomics.load(this.cells, i);
        return n ? [[cell, n]] : [];
      }),
    );
  }
}
