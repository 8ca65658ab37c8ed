/**
 * Runs of one statement that follow each other with no other between, so that the timeline can draw
 * many short ones as one:
 *
 *   |i|i|i|i|i|    |i|i|i|     ->   [ INSERT INTO notes x 5 ]    [ INSERT x 3 ]
 *
 * Where a run is cut depends on the zoom: at each gap that is wide enough to be seen.
 */
import type { Executions } from '../analysis/core/executions.ts';
import type { StatementRuns } from '../trace/lanes/frame.ts';
import { IntervalIndex } from '../trace/lanes/interval-index.ts';
import { statementCodes } from '../trace/lanes/statement-codes.ts';
import { toNs } from '../trace/lanes/sweep.ts';
import { labelOf } from '../trace/describe.ts';
import type { ThreadStore } from '../trace/store.ts';

/**
 * Narrower runs can't hold a text. If executions are wider than this on average, each is drawn
 * separately.
 */
const [LEAST_PX, OWN_PX] = [48, 40];
/** A run is cut where this many columns are empty. */
const GAP_PX = 8;

export class StatementSpans {
  private readonly spans = new IntervalIndex();
  /** Begins of executions, nanoseconds. */
  private readonly begins: Float64Array;

  constructor(
    private readonly thread: ThreadStore,
    private readonly executions: Executions,
  ) {
    const { events } = thread;
    const { count, firstRow, text, calls } = executions;
    this.begins = Float64Array.from({ length: count }, (_, i) => toNs(events.t0[firstRow[i]!]!));
    const ends = new Float64Array(count);
    for (let call = 0; call < calls.count; call++) {
      const [row, i] = [calls.row[call]!, calls.execution[call]!];
      ends[i] = Math.max(ends[i]!, toNs(events.t0[row]! + events.dur[row]!));
    }
    const kindOf = statementCodes(thread);
    let end = -Infinity;
    for (let first = 0; first < count;) {
      let next = first + 1;
      let last = ends[first]!;
      while (next < count && text[next] === text[first]) last = Math.max(last, ends[next++]!);
      const from = Math.max(end, this.begins[first]!);
      end = Math.max(from, Math.min(last, this.begins[next] ?? Infinity));
      this.spans.push(from, end - from, kindOf(text[first]!), first);
      first = next;
    }
    this.spans.trim();
  }

  /** How many executions of [first, end) begin in [fromNs, toNs). */
  private countIn(first: number, end: number, fromNs: number, toNs: number): number {
    const place = (ns: number): number => {
      let [lo, hi] = [first, end];
      while (lo < hi) {
        const mid = (lo + hi) >>> 1;
        if (this.begins[mid]! < ns) lo = mid + 1;
        else hi = mid;
      }
      return lo;
    };
    return place(toNs) - place(fromNs);
  }

  /** @param busy of the lane's frame over the same columns: a run is cut where it is empty */
  runs(fromUs: number, toUs: number, busy: Uint8Array): StatementRuns {
    const { spans, thread, executions } = this;
    const fields: number[] = [];
    const labels: string[] = [];
    const fromNs = fromUs * 1000;
    const step = ((toUs - fromUs) * 1000) / busy.length;
    let taken = -1;
    // a span with room for a text covers one of these columns
    for (let column = 0; column <= busy.length; column += LEAST_PX) {
      const i = spans.before(fromNs + column * step) - 1;
      if (i < 0 || i === taken) continue;
      taken = i;
      const x0 = Math.max(0, Math.floor((spans.startOf(i) - fromNs) / step));
      const x1 = Math.min(busy.length, Math.ceil((spans.endOf(i) - fromNs) / step));
      if (x1 - x0 < LEAST_PX) continue;
      const first = spans.rowOf(i);
      const end = i + 1 < spans.count ? spans.rowOf(i + 1) : executions.count;
      for (const [from, to] of stretches(busy, x0, x1)) {
        const count = this.countIn(first, end, fromNs + from * step, fromNs + to * step);
        if (to - from < LEAST_PX || count < 2 || (to - from) / count >= OWN_PX) continue;
        const label = labels.push(labelOf(thread, executions.firstRow[first]!)) - 1;
        fields.push(from, to, spans.kind[i]!, count, label);
      }
    }
    return { runs: Float32Array.from(fields), labels };
  }
}

/** Parts of [from, to) without gaps that cut a run. */
function stretches(busy: Uint8Array, from: number, to: number): [number, number][] {
  const found: [number, number][] = [];
  let [begin, last] = [-1, -1];
  for (let x = from; x < to; x++) {
    if (!busy[x]) continue;
    if (begin >= 0 && x - last > GAP_PX) {
      found.push([begin, last + 1]);
      begin = x;
    }
    if (begin < 0) begin = x;
    last = x;
  }
  if (begin >= 0) found.push([begin, last + 1]);
  return found;
}
