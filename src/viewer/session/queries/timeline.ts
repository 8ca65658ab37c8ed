/**
 * Queries of the timeline: the I/O map, the chosen area. Search and arrows: timeline-search.ts,
 * timeline-flows.ts.
 */
import { getOrMake } from '../../../analysis/core/maps.ts';
import { partTimes, SQL_PARTS, type PartTimes } from '../../../analysis/core/time-parts.ts';
import { areaRows, blockEndsOf, type AreaBy } from '../../../analysis/time/area.ts';
import { addSelfTimes, selfTimeOf } from '../../../analysis/time/self-times.ts';
import { sweeps } from '../../../analysis/time/thread-times.ts';
import {
  ioAt,
  ioMap,
  ioObjects,
  type IoMap,
  type IoMapRequest,
  type IoObject,
} from '../../../analysis/files/io-map.ts';
import type { Layer } from '../../../event/operations.ts';
import { checkedAnnotations, type LaneSetup, type TraceNote } from '../../../trace/notes.ts';
import type { EventRef, TraceStore } from '../../../trace/store.ts';
import { fact, threadFact } from '../../../analysis/core/graph.ts';
import { extent } from '../../../analysis/core/time-range.ts';
import { owners } from '../../../analysis/core/owners.ts';
import type { QueryContext } from './context.ts';
import type { AreaAnswer, AnnotationsAnswer } from '../../../protocol/answers/timeline.ts';

/** By row: id of the text of the statement that it belongs to. */
const statementTexts = threadFact(
  'statementTexts',
  'statement of each call',
  { owners },
  (thread, known) => known.owners.of(thread).texts(),
);
const blockEnds = fact('blockEnds', 'block boundaries', {}, blockEndsOf);
const traces = new WeakMap<TraceStore, number>();
let lastTrace = 0;
function annotationsOf(store: TraceStore): AnnotationsAnswer {
  return { ...store.annotations, trace: getOrMake(traces, store, () => ++lastTrace) };
}

export const timelineQueries = {
  /** Notes, bookmarks, and the track settings: what is saved with the trace. */
  annotations({ store }: QueryContext, _args: Record<string, never>): AnnotationsAnswer {
    return annotationsOf(store);
  },
  /** Replace them. @param args omitted ones stay */
  setAnnotations(
    { store }: QueryContext,
    args: { trace: number; notes?: TraceNote[]; lanes?: LaneSetup },
  ): AnnotationsAnswer {
    const now = annotationsOf(store);
    if (args.trace === now.trace)
      store.annotations = checkedAnnotations({
        notes: args.notes ?? now.notes,
        lanes: args.lanes ?? now.lanes,
      });
    return annotationsOf(store);
  },

  /** Files and stores that the I/O map can show, the busiest first. */
  ioObjects(context: QueryContext, _args: Record<string, never>): IoObject[] {
    return context.facts.get(ioObjects);
  },

  ioMap(context: QueryContext, request: IoMapRequest): Promise<IoMap> {
    return ioMap(context.store, request, context.rest);
  },

  /** The read or write nearest to a point of the map. */
  ioAt(
    { store }: QueryContext,
    { key, ...point }: { key: string; us: number; slackUs: number; offset: number; slack: number },
  ): EventRef | null {
    const found = ioAt(store, key, point);
    return found && store.threads[found.thread]!.ref(found.row);
  },

  /** What happened in an area, by operation, statement or file. */
  async timelineArea(
    context: QueryContext,
    args: { fromUs: number; toUs: number; by: AreaBy; threadsOff: number[]; layers: Layer[] },
  ): Promise<AreaAnswer> {
    const { store, facts } = context;
    const { fromUs, toUs, by, layers } = args;
    const threads = store.threads.filter(({ index }) => !args.threadsOff.includes(index));
    const lanes = context.timeline();
    const until = facts.get(extent)[1];
    const request = {
      fromUs,
      toUs,
      by,
      layers,
      threads: args.threadsOff.length ? threads.map(({ index }) => index) : null,
    };
    const rows = areaRows(store, request, until, facts.get(statementTexts).of, () =>
      facts.get(blockEnds),
    );
    const sums = new Float64Array(SQL_PARTS.length);
    const withSql = threads.filter((thread) => lanes.runsSql(thread));
    const sqlThreads = withSql.length;
    let settled = sqlThreads > 0;
    for (const thread of withSql) {
      const times = lanes.times(thread, fromUs, toUs);
      if (times) times.forEach((ns, i) => (sums[i]! += ns));
      else settled = false;
    }
    const self = new Map<string, number>();
    for (const thread of withSql) {
      await context.rest();
      addSelfTimes(self, thread, facts.get(sweeps).of(thread), by, { fromUs, toUs });
    }
    return {
      rows: rows.map((row) => ({ ...row, selfUs: sqlThreads ? selfTimeOf(self, row) : null })),
      times: settled ? sqlTimes(sums, (toUs - fromUs) * sqlThreads) : null,
      sqlThreads,
    };
  },
};

/** @param ns by index in SQL_PARTS, the first of PARTS; the rest of the whole is idle */
function sqlTimes(ns: Float64Array, wholeUs: number): PartTimes {
  const times = partTimes((part) => (ns[part] ?? 0) / 1000);
  const inSql = SQL_PARTS.reduce((us, part) => us + times[`${part}Us`], 0);
  return { ...times, idleUs: Math.max(0, wholeUs - inSql) };
}
