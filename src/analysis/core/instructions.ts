/**
 * Instructions that SQLite's wasm executed in each call of its API and of its VFS, if the recording
 * counted them. They are exact and the same on every machine. A call's own instructions include
 * those of the calls in it.
 *
 *   step      |---------- own ----------|
 *   xRead          |- own -|
 *   gap       |----|       |------------|     from one begin or end to the next begin
 */
import type { ThreadStore } from '../../trace/store.ts';
import { instructionsOf, Op } from '../../event/event.ts';
import { columns, lowerBound } from '../../trace/number-columns.ts';
import { fact, threadFact } from './graph.ts';
import { rowsByOperation } from './rows-by-operation.ts';

/** For columns. */
export const NOT_COUNTED = 'n/a: the recording did not count instructions';

/** A row for each counted call, in the order of the calls. */
export class CallInstructions extends columns({
  /** Row of the call. */
  row: Uint32Array,
  /** What its thread's engines had executed before it. */
  first: Float64Array,
  /** What they executed from its begin to its end. */
  own: Float64Array,
  /** What they had executed for the app since the previous begin or end of a call. */
  gap: Float64Array,
}) {
  /**
   * From the begin of one call to the end of another, by their rows; NaN if one of them wasn't
   * counted.
   */
  between(from: number, to: number): number {
    const [a, b] = [this.placeOf(from), this.placeOf(to)];
    return a < 0 || b < 0 ? NaN : this.first[b]! + this.own[b]! - this.first[a]!;
  }

  private placeOf(row: number): number {
    const at = lowerBound(this.row, row, this.count);
    return at < this.count && this.row[at] === row ? at : -1;
  }
}

/** For each thread; empty if instructions weren't counted. */
export const instructions = threadFact(
  'instructions',
  'instructions of calls',
  { rowsByOperation },
  (thread: ThreadStore, known): CallInstructions => {
    const { events } = thread;
    const found = new CallInstructions();
    const readings = [...known.rowsByOperation.of(thread).of(Op.sqlInstructions)]
      .map((at) => ({ at, row: events.rowOfSeq(events.aux[at]!) }))
      .filter(({ row }) => row >= 0)
      .sort((a, b) => a.row - b.row);
    /**
     * Ends of the calls that are open at a moment, innermost last: sequence number, and
     * instructions executed until then.
     */
    const open: { endSeq: number; executed: number }[] = [];
    let last = 0;
    for (const { at, row } of readings) {
      while (open.length && open.at(-1)!.endSeq < events.seq[row]!) last = open.pop()!.executed;
      const i = found.add();
      const first = events.offset[at]!;
      const own = instructionsOf(events.length[at]!, events.aux2[at] ?? 0);
      found.row[i] = row;
      found.first[i] = first;
      found.own[i] = own;
      found.gap[i] = Math.max(0, first - last);
      last = first;
      open.push({ endSeq: events.endSeq[row]!, executed: first + own });
    }
    return found;
  },
);

/**
 * For all threads together, from the begin of each engine to its last call; null if instructions
 * weren't counted.
 */
export const totalInstructions = fact(
  'totalInstructions',
  'instructions in all',
  { instructions },
  ({ threads }, { instructions: of }): number | null => {
    let total: number | null = null;
    for (const thread of threads) {
      const { first, own, count } = of.of(thread);
      let executed = 0;
      for (let i = 0; i < count; i++) executed = Math.max(executed, first[i]! + own[i]!);
      if (count) total = (total ?? 0) + executed;
    }
    return total;
  },
);
