/** Everything that belongs to one trace. Replaced as a whole by the next. */
import type { TraceStore } from '../../trace/store.ts';
import type { SummaryLanes } from '../../timeline/summary-lanes.ts';
import { TimelineLanes } from '../../timeline/timeline-lanes.ts';
import type { ThreadRow } from '../../protocol/session.ts';
import type { Release } from './spool.ts';
import { EventQuery } from './queries/event-query.ts';
import { LiveCounts } from './live-stats.ts';
import { Memo } from './queries/context.ts';
import { threadTitles } from '../../analysis/core/thread-titles.ts';

export interface HeldSpool {
  name: string;
  release: Release;
}

export interface LoadedTrace {
  store: TraceStore;
  lanes: TimelineLanes;
  counts: LiveCounts;
  query: EventQuery;
  memo: Memo;
  /** From the opened file; for a recording, its threads report it (originOf). */
  origin: string;
  /** The spool that it was read from: other panels must not delete it. */
  recovered: HeldSpool | null;
  /** What went wrong with it, as text for the user. */
  problems: Set<string>;
}

export const loadedTrace = (store: TraceStore): LoadedTrace => ({
  store,
  lanes: new TimelineLanes(store),
  counts: new LiveCounts(store),
  query: new EventQuery(store),
  memo: new Memo(store),
  origin: '',
  recovered: null,
  problems: new Set(),
});

/** @param lanes up to date */
export function threadRows(store: TraceStore, lanes: Pick<TimelineLanes, 'rowsOf'>): ThreadRow[] {
  const titles = threadTitles(store);
  return store.threads.map((t) => ({
    index: t.index,
    id: t.info.id,
    kind: t.info.kind,
    title: titles[t.index]!,
    url: t.info.url,
    events: t.events.count,
    dropped: t.lost,
    ended: t.ended,
    engines: t.engines,
    notes: t.notes.map(({ topic, text, url }) =>
      url === undefined ? { topic, text } : { topic, text, url },
    ),
    lanes: lanes.rowsOf(t),
  }));
}

/** For a file whose events haven't been read yet. */
export const previewRows = (preview: SummaryLanes): ThreadRow[] =>
  threadRows(preview.store, preview).map((row) => ({
    ...row,
    events: preview.eventsOf(preview.store.threads[row.index]!),
  }));
