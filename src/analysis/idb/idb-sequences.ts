/**
 * Gets in sequence: four or more on neighboring keys of one store, in one direction, in one
 * transaction without other requests in between. One getAll over the range, or a cursor, would
 * return the same.
 *
 *   transaction 1   get 4  get 5  get 6  get 7  get 9     a sequence of 4
 *   transaction 2   get 4  put 4  get 5  put 5  get 6     none: each put waits for its get
 *
 * Neighbors are one block apart. That is 1 if keys count blocks. If they are byte offsets, it is a
 * page size that the value fits once (a value has a few bytes in addition to its block).
 */
import { getOrMake } from '../core/maps.ts';
import { Op } from '../../event/event.ts';
import { isPageSize } from '../../sqlite/page-size.ts';
import type { ThreadStore } from '../../trace/store.ts';

const SHORTEST_SEQUENCE = 4;

interface Run {
  object: number;
  key: number;
  step: number;
  rows: number[];
}

/** Follows the requests of one thread. */
export class GetSequences {
  /** By transaction: the current run. */
  private readonly runs = new Map<number, Run>();

  /** @param each called with the rows of every sequence, ascending */
  constructor(
    private readonly thread: ThreadStore,
    private readonly each: (rows: readonly number[]) => void,
  ) {}

  /** The next request of any kind, in order of rows. */
  request(row: number): void {
    const { events } = this.thread;
    const [object, key] = [events.object[row]!, events.offset[row]!];
    const context = events.context[row]!;
    const run = getOrMake(this.runs, context, () => ({ object: 0, key: NaN, step: 0, rows: [] }));
    if (events.op[row] !== Op.idbGet || !Number.isFinite(key)) return this.close(run);
    const step = key - run.key;
    const follows =
      run.rows.length > 0 &&
      run.object === object &&
      isOneBlock(Math.abs(step), events.length[row]!);
    if (!follows || (run.rows.length > 1 && step !== run.step)) this.close(run);
    run.object = object;
    run.key = key;
    run.step = step;
    run.rows.push(row);
  }
  /** No more requests follow. */
  end(): void {
    for (const run of this.runs.values()) this.close(run);
  }

  private close(run: Run): void {
    if (run.rows.length >= SHORTEST_SEQUENCE) this.each(run.rows);
    run.rows = [];
  }
}

/** @param bytes of the value read */
const isOneBlock = (step: number, bytes: number): boolean =>
  step === 1 || (isPageSize(step) && bytes >= step && bytes < 2 * step);
