/**
 * Limits a growing trace to its last seconds or megabytes. All threads forget what began before one
 * moment, the cut. What is left is the trace of a recording that began then, except that earlier
 * names stay known.
 *
 * Rows are dropped from the front of a thread's columns in blocks, each time half of the trace is
 * too old. So moving the rest and rebuilding what was derived from it (lanes, counts, filters)
 * happens about once per event, and memory is at most twice what is kept. Rows then have other
 * indices. Outside the store, an event is named by its sequence number (EventRef), which doesn't
 * change.
 *
 * A call that began before the cut is dropped with its begin, however long it runs: rows are in
 * order of their begin, and a gap would shift the numbers of the others.
 */
import type { ThreadStore, TraceStore } from './store.ts';

export type Keep =
  | { kind: 'everything' }
  | { kind: 'seconds'; seconds: number }
  | { kind: 'megabytes'; megabytes: number };

/** Bytes of the columns per event; a megabyte is 10^6. */
export const ROW_BYTES = 62;
/** Fewer rows aren't worth a move. */
const LEAST_ROWS = 4096;
/**
 * If a thread has more meanings of ids than this, they are forgotten with the rows that used them.
 * Hooks themselves remember fewer.
 */
export const MAX_DEFINITIONS = 40_000;
/** The same if they cost more than this (store.ts). */
const MAX_WORDS = 4 << 20;

const rowsFrom = (store: TraceStore, us: number): number =>
  store.threads.reduce((n, { events }) => n + events.count - events.lowerBound(us), 0);

/**
 * The moment before which everything may be forgotten, microseconds; -Infinity = nothing.
 * @param endUs the trace's end
 */
export function cutOf(store: TraceStore, keep: Keep, endUs: number): number {
  if (keep.kind === 'everything') return -Infinity;
  if (keep.kind === 'seconds') return endUs - keep.seconds * 1e6;
  const most = Math.floor((keep.megabytes * 1e6) / ROW_BYTES);
  if (store.eventCount <= most) return -Infinity;
  let tooEarly = Math.min(
    ...store.threads.map(({ events }) => (events.count ? events.t0[0]! : Infinity)),
  );
  let cut = Math.max(endUs, tooEarly) + 1;
  while (cut - tooEarly > 0.001) {
    const middle = (tooEarly + cut) / 2;
    if (middle === tooEarly || middle === cut) break;
    if (rowsFrom(store, middle) > most) tooEarly = middle;
    else cut = middle;
  }
  return cut;
}

/** Forget what began before the cut, and excess meanings of ids. @returns rows forgotten */
export function forgetBefore(store: TraceStore, cutUs: number): number {
  let rows = 0;
  for (const thread of store.threads) {
    const before = thread.events.lowerBound(cutUs);
    thread.forget(before);
    rows += before;
    if (before && (thread.said.length > MAX_DEFINITIONS || thread.words > MAX_WORDS))
      forgetUnused(thread);
  }
  return rows;
}

/** Keep the newest half of the limits, and what the rows in the store use. */
function forgetUnused(thread: ThreadStore): void {
  const { events, said } = thread;
  const used = new Set(events.object.subarray(0, events.count));
  let words = 0;
  for (
    let i = said.length - 1;
    i >= Math.max(0, said.length - MAX_DEFINITIONS / 2) && words < MAX_WORDS / 2;
    i--
  ) {
    used.add(said[i]!.id);
    words += thread.wordsAt(i);
  }
  thread.forgetDefinitions((id) => used.has(id));
}

/**
 * Call this as the trace grows. It forgets a block once it is too old.
 * @returns rows forgotten; 0 most of the time
 */
export function forgetBlock(store: TraceStore, keep: Keep, endUs: number): number {
  if (keep.kind === 'everything') return 0;
  const all = store.eventCount;
  const worth = Math.max(LEAST_ROWS, all / 2);
  if (keep.kind === 'megabytes' && all - (keep.megabytes * 1e6) / ROW_BYTES < worth) return 0;
  const cut = cutOf(store, keep, endUs);
  return all - rowsFrom(store, cut) < worth ? 0 : forgetBefore(store, cut);
}
