/**
 * Answers requests of the drawing side about the current trace: pictures, single events, the events
 * table, and queries, which run in steps if they are long.
 */
import { rowAt } from '../../trace/lanes/frame.ts';
import type {
  QueryProgress,
  EventDetails,
  EventFilter,
  EventLine,
  SessionApi,
  TimelineFrame,
} from '../../protocol/session.ts';
import { foldedFrames } from '../../timeline/folded-frames.ts';
import { LANE_NEEDS } from '../../timeline/timeline-lanes.ts';
import type { EventRef } from '../../trace/store.ts';
import type { ComparisonTraces } from './comparison-traces.ts';
import { detailsOfEvent, lineOfEvent } from './event-lines.ts';
import { SLOW_NEEDS } from './live-stats.ts';
import { QueryQueue, type RunningQuery } from './query-queue.ts';
import { Scheduler } from './scheduler.ts';
import type { Query, QueryContext } from './queries/context.ts';
import { compareQueries } from './queries/compare.ts';
import type { QueryAnswer, QueryArgs, QueryName } from '../../protocol/answers/queries.ts';
import { needsOf, QUERIES } from './query-table.ts';
import type { ShownTrace } from './shown-trace.ts';
import { yieldToMessages } from '../yield.ts';

export class QueryRunner {
  private readonly queue: QueryQueue;
  private filteredVersion = -1;
  /** Of the last picture that was answered. */
  private picturedVersion = -1;
  private readonly scheduler = new Scheduler({
    background: [...Object.values(LANE_NEEDS), ...SLOW_NEEDS],
    facts: () => this.shown.facts,
    growing: () => this.shown.recording || this.shown.opening !== null,
    pictured: () => this.picturedVersion === this.shown.version,
    dueIn: () => {
      const { trace, version, recording, firstPicture } = this.shown;
      const due = trace.counts.slowDueIn(version, performance.now(), recording);
      return due === null ? null : Math.max(due, firstPicture.wake);
    },
    compute: (facts) => {
      const { shown } = this;
      if (shown.opening) return; // scheduled again when the events have been read
      const lanes = shown.lanes();
      shown.trace.counts.computeSlow(
        shown.version,
        performance.now(),
        () => lanes.settle(facts),
        facts,
        shown.recording,
      );
      shown.repainted();
    },
  });

  constructor(
    private readonly shown: ShownTrace,
    private readonly compared: ComparisonTraces,
    report: (progress: QueryProgress) => void,
    /**
     * Called before an answer is sent, with the query's number and the version of the trace that it
     * describes.
     */
    private readonly answering: (id: number, version: number) => void,
  ) {
    this.queue = new QueryQueue(report);
  }

  /** Compute the whole-trace numbers when they are due. */
  plan(): void {
    if (!this.shown.opening) this.scheduler.plan();
  }

  timeline({
    from,
    to,
    width,
    lanes,
    pauses = [],
    binUs,
  }: Parameters<SessionApi['timeline']>[0]): TimelineFrame {
    const { shown } = this;
    const { preview } = shown;
    shown.watch();
    if (preview) shown.firstPicture.watch();
    const all = preview ?? shown.lanes();
    const frames = pauses.length
      ? foldedFrames({ from, to, width }, pauses, (begin, end, columns) =>
          all.frames(lanes, begin, end, columns, binUs),
        )
      : all.frames(lanes, from, to, width, binUs);
    if (!preview && this.picturedVersion !== shown.version) {
      this.picturedVersion = shown.version;
      shown.firstPicture.answered();
      this.scheduler.plan();
    }
    return { from, to, width, binUs: binUs ?? (to - from) / width, lanes: frames };
  }

  hit(lane: string, us: number, slackUs: number): EventRef | null {
    if (this.shown.opening) return null; // a summary has no events
    const found = this.shown.lanes().lane(lane);
    if (!found || found.ofEvents === false) return null;
    const row = rowAt(found, us, slackUs);
    return row < 0 ? null : found.thread.ref(row);
  }

  async event(thread: number, seq: number): Promise<EventDetails> {
    await this.shown.whole();
    return detailsOfEvent(this.shown.trace.store, { thread, seq });
  }

  query<N extends QueryName>(
    name: N,
    args: QueryArgs<N>,
    id: number | null = null,
  ): Promise<QueryAnswer<N>> {
    return this.queue.during(id, (query) => this.answer(name, args, query, id));
  }
  cancel(id: number): void {
    this.queue.cancel(id);
  }

  private async answer<N extends QueryName>(
    name: N,
    args: QueryArgs<N>,
    query: RunningQuery,
    id: number | null,
  ): Promise<QueryAnswer<N>> {
    if (!Object.hasOwn(QUERIES, name)) throw new TypeError(`the trace has no query "${name}"`);
    const { shown, compared } = this;
    await shown.whole();
    query.check();
    const other = Object.hasOwn(compareQueries, name) ? (compared.other?.facts ?? null) : null;
    await this.scheduler.prepare(needsOf(name), query, other);
    const { store, memo } = shown.trace;
    const { version } = shown;
    const context: QueryContext = {
      store,
      callLanes: () => shown.callLanes(),
      timeline: () => shown.lanes(),
      compared,
      facts: shown.facts,
      memo: (key, make) => memo.get(version, key, make),
      async rest() {
        await yieldToMessages();
        query.check();
      },
    };
    const run = QUERIES[name] as unknown as Query<QueryArgs<N>, QueryAnswer<N>>;
    const answer = await run(context, args);
    if (id !== null) this.answering(id, version);
    return answer;
  }

  /**
   * Filter the events table. @param filter default: the last one, on the current trace @returns
   * number of matching events
   */
  async filterEvents(filter?: EventFilter): Promise<number> {
    await this.shown.whole();
    this.filteredVersion = this.shown.version;
    return this.shown.trace.query.run(this.shown.facts, filter);
  }
  async eventLines(from: number, count: number): Promise<EventLine[]> {
    const { thread, row } = await this.lines(from, count);
    const { threads } = this.shown.trace.store;
    return Array.from(row, (row, i) => lineOfEvent(threads[thread[i]!]!, row));
  }
  /** Events of the table's current lines: indexes of threads and rows. */
  async lines(from: number, count: number): Promise<{ thread: Uint16Array; row: Uint32Array }> {
    await this.shown.whole();
    const { query } = this.shown.trace;
    if (query.stale) await this.filterEvents();
    return query.slice(from, count);
  }
  async lineOf(thread: number, seq: number): Promise<number> {
    await this.shown.whole();
    if (this.filteredVersion !== this.shown.version) await this.filterEvents();
    return this.shown.trace.query.lineOf({ thread, seq });
  }
}
