/**
 * Counts the IndexedDB requests of absurd-sql's workers in shared memory. SQLite's worker, which is
 * blocked during them, reads the counts.
 */
import type { Counters } from '../model/types.ts';

/** By the names in the summary (`event/web-calls.ts`). */
const CELLS = [
  'idb.get',
  'idb.put',
  'idb.cursor',
  'idb.cursorContinue',
  'idb.transactions',
  'idb.readwriteTransactions',
] as const;
export type RequestCell = (typeof CELLS)[number];

/** The first message to a worker whose requests are counted. */
export interface RequestsMessage {
  readonly vfscopeRequests: SharedArrayBuffer;
}
/** @returns null for any other message */
export const requestsOf = (message: unknown): SharedArrayBuffer | null =>
  (message as Partial<RequestsMessage> | null)?.vfscopeRequests ?? null;

export class RequestCounts {
  private readonly cells: Int32Array;

  /** @param buffer from another thread; absent: a new one */
  constructor(
    readonly buffer = new SharedArrayBuffer(CELLS.length * Int32Array.BYTES_PER_ELEMENT),
  ) {
    this.cells = new Int32Array(buffer);
  }

  add(cell: RequestCell): void {
    Atomics.add(this.cells, CELLS.indexOf(cell), 1);
  }
  /** Cumulative; uncalled methods are absent. */
  read(): Counters {
    return Object.fromEntries(
      CELLS.flatMap((cell, i) => {
        const n = Atomics.load(this.cells, i);
        return n ? [[cell, n]] : [];
      }),
    );
  }
}
