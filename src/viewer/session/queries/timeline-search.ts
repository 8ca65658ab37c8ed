/**
 * The timeline's search: events whose operation, file, or statement contains the words, their
 * positions, and the next one from here.
 */
import { layerOfCode, type Layer } from '../../../event/operations.ts';
import type { EventRef } from '../../../trace/store.ts';
import { EventQuery } from './event-query.ts';
import type { QueryContext } from './context.ts';
import type { SearchAnswer, SearchArgs } from '../../../protocol/answers/timeline-search.ts';

class Hits {
  text: string | null = null;
  count = 0;
  constructor(readonly query: EventQuery) {}
}

function hitsOf(context: QueryContext, text: string): Hits {
  const hits = context.memo('timeline search', () => new Hits(new EventQuery(context.store)));
  if (hits.text === text) return hits;
  hits.count = text.trim()
    ? hits.query.run(context.facts, {
        text,
        layers: null,
        errorsOnly: false,
        fromUs: null,
        toUs: null,
      })
    : 0;
  hits.text = text;
  return hits;
}

/** At most one hit a column. */
function thinned(hits: Hits, fromUs: number, toUs: number, width: number): Float64Array {
  const found: number[] = [];
  const step = (toUs - fromUs) / Math.max(1, width);
  for (let line = hits.query.lineFrom(fromUs); line < hits.count;) {
    const us = hits.query.beginOf(line);
    if (us > toUs) break;
    found.push(us);
    const next = line + 1;
    line =
      next < hits.count && hits.query.beginOf(next) >= us + step
        ? next
        : hits.query.lineFrom(us + step);
    if (line < next) line = next; // several at one moment, and a step of zero
  }
  return Float64Array.from(found);
}

export const timelineSearchQueries = {
  timelineSearch(context: QueryContext, args: SearchArgs): SearchAnswer {
    const hits = hitsOf(context, args.text);
    return {
      count: hits.count,
      inView: thinned(hits, args.fromUs, args.toUs, args.width),
      overview: thinned(hits, args.wholeFromUs, args.wholeToUs, args.width),
      at: args.selected ? hits.query.lineOf(args.selected) : -1,
    };
  },

  /**
   * The next (1) or previous (-1) hit from an event, or from a moment if there is no event. Wraps
   * at the ends. null without hits.
   */
  timelineHit(
    context: QueryContext,
    args: { text: string; from: EventRef | null; us: number; by: 1 | -1 },
  ): EventRef | null {
    const hits = hitsOf(context, args.text);
    if (!hits.count) return null;
    const { from, by } = args;
    const at = from ? hits.query.lineOf(from) : -1;
    const line = at >= 0 ? at + by : hits.query.lineFrom(args.us) - (by < 0 ? 1 : 0);
    return hits.query.at((line + hits.count) % hits.count);
  },

  /** The next (1) or previous (-1) event on the same lane; null at the end. */
  timelineNeighbor(context: QueryContext, args: EventRef & { by: 1 | -1 }): EventRef | null {
    const thread = context.store.threads[args.thread];
    if (!thread) return null;
    const { events } = thread;
    const at = events.rowOfSeq(args.seq);
    const layer = (row: number): Layer => layerOfCode(events.op[row]!);
    if (at < 0) return null;
    for (let row = at + args.by; row >= 0 && row < events.count; row += args.by)
      if (layer(row) === layer(at)) return thread.ref(row);
    return null;
  },
};
