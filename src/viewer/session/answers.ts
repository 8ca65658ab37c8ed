/**
 * The loaded trace and everything that the drawing side asks of it; session.ts changes it. While a file is being opened the timeline is
 * drawn from the summaries of its chunks, and every other query waits until the events are there.
 */
import type { Facts } from '../../analysis/graph.ts';
import { summaryTime, totalTimeInSql } from '../../analysis/time/summary-time.ts';
import { pieces } from '../../analysis/time/thread-times.ts';
import { commits } from '../../analysis/transactions/commits.ts';
import { anatomies } from '../../analysis/transactions/transaction-anatomy.ts';
import { rowAt, type TracePyramid } from '../../trace/lanes/frame.ts';
import { TraceStore } from '../../trace/store.ts';
import type { SummaryLanes } from '../../timeline/summary-lanes.ts';
import { TimelineLanes } from '../../timeline/timeline-lanes.ts';
import type {
  QueryProgress,
  EventDetails,
  EventFilter,
  EventLine,
  SessionApi,
  ThreadRow,
  TimelineFrame,
} from '../../protocol/session.ts';
import { QueryQueue, type RunningQuery } from './query-queue.ts';
import { detailsOfEvent, lineOfEvent } from './event-lines.ts';
import { ComparisonTraces } from './comparison-traces.ts';
import { FirstPicture } from './first-picture.ts';
import { loadedTrace, previewRows, threadRows } from './loaded-trace.ts';
import { Scheduler } from './scheduler.ts';
import type { Query, QueryContext } from './queries/context.ts';
import { compareQueries } from './queries/compare.ts';
import {
  needsOf,
  QUERIES,
  type QueryAnswer,
  type QueryArgs,
  type QueryName,
} from './query-table.ts';
import { yieldToMessages } from './yield.ts';

export const NO_FILTER: EventFilter = {
  text: '',
  layers: null,
  errorsOnly: false,
  fromUs: null,
  toUs: null,
};

export abstract class Answers {
  protected trace = loadedTrace(new TraceStore(0));
  protected recording = false;
  /** Begin of the first event and end of the last, microseconds. */
  protected firstUs = Infinity;
  protected lastUs = -Infinity;
  /** Stands for the lanes of the trace while its events are read. */
  protected preview: SummaryLanes | null = null;
  /** Settled once the events are there, or will not come. */
  protected opening: Promise<void> | null = null;
  protected version = 0;
  /** The same without the changes of what it is compared with. */
  protected traceVersion = 0;
  /** The trace is the same, and the picture of it better. */
  protected repaints = 0;
  protected filter = NO_FILTER;
  protected readonly compared = new ComparisonTraces();
  protected readonly firstPicture = new FirstPicture();
  private readonly queue = new QueryQueue((progress) => this.computing(progress));
  private pyramidVersion = -1;
  private queryVersion = -1;
  private lanesSeen = 0;
  /** Of the last picture that was answered. */
  private picturedVersion = -1;
  protected readonly scheduler = new Scheduler({
    background: [pieces, anatomies, commits, summaryTime, totalTimeInSql], // of the timeline's derived lanes, and of the live numbers
    facts: () => this.facts,
    growing: () => this.recording || this.opening !== null,
    pictured: () => this.picturedVersion === this.version,
    dueIn: () => {
      const due = this.trace.counts.slowDueIn(this.version, performance.now(), this.recording);
      return due === null ? null : Math.max(due, this.firstPicture.wake);
    },
    compute: (facts) => {
      if (this.opening) return; // planned again when the events are there
      const lanes = this.lanesNow();
      this.trace.counts.computeSlow(
        this.version,
        performance.now(),
        () => lanes.settle(facts),
        facts,
        this.recording,
      );
      this.repaints++;
      this.countLanes();
      this.changed(false, false);
    },
  });

  /** @param threads their set, or their lanes @param data what the views show @param trace the trace itself, not only what it is compared with */
  protected abstract changed(threads: boolean, data?: boolean, trace?: boolean): void;

  /** The lanes of the timeline found no memory. */
  protected abstract noMemory(): void;

  /** The progress of a query. */
  protected abstract computing(progress: QueryProgress): void;

  /** Resolves when no file is being opened, and the one that was is drawn. */
  protected async whole(): Promise<void> {
    while (this.opening) await this.opening;
    await this.firstPicture.out;
  }

  async threads(): Promise<ThreadRow[]> {
    const { preview } = this;
    return preview ? previewRows(preview) : threadRows(this.trace.store, this.lanesNow());
  }

  async extents(): ReturnType<SessionApi['extents']> {
    return this.extentsNow();
  }
  protected extentsNow(): Awaited<ReturnType<SessionApi['extents']>> {
    const { preview } = this;
    const extent: [number, number] = preview ? [...preview.extent] : this.extentNow();
    return { extent, drawn: (preview ? preview.drawn() : this.pyramidNow().extent()) ?? extent };
  }
  protected extentNow(): [number, number] {
    return this.firstUs === Infinity ? [0, 0] : [this.firstUs, this.lastUs];
  }

  protected pyramidNow(): TracePyramid {
    return this.lanesNow().pyramid;
  }
  protected lanesNow(): TimelineLanes {
    const { lanes } = this.trace;
    if (this.pyramidVersion !== this.version) {
      this.pyramidVersion = this.version;
      try {
        lanes.update(Math.max(0, this.lastUs));
      } catch (error) {
        this.trace.lanes = new TimelineLanes(this.trace.store); // one that found no memory for a row is not whole
        this.pyramidVersion = -1;
        this.noMemory();
        throw error;
      }
      this.countLanes();
    }
    return lanes;
  }
  protected countLanes(): void {
    const seen = this.trace.lanes.rows.length;
    if (seen !== this.lanesSeen) this.changed(true, false);
    this.lanesSeen = seen;
  }

  async timeline({
    from,
    to,
    width,
    lanes,
  }: Parameters<SessionApi['timeline']>[0]): Promise<TimelineFrame> {
    const { preview } = this;
    const frame = {
      from,
      to,
      width,
      lanes: (preview ?? this.lanesNow()).frames(lanes, from, to, width),
    };
    if (!preview && this.picturedVersion !== this.version) {
      this.picturedVersion = this.version;
      this.firstPicture.answered();
      this.scheduler.plan();
    }
    return frame;
  }

  async hit(
    lane: string,
    us: number,
    slackUs: number,
  ): Promise<{ thread: number; row: number } | null> {
    if (this.opening) return null; // a summary knows no events
    const found = this.lanesNow().lane(lane);
    const row = found ? rowAt(found, us, slackUs) : -1;
    return row < 0 ? null : { thread: found!.thread.index, row: found!.thread.forgotten + row };
  }

  async event(thread: number, row: number): Promise<EventDetails> {
    await this.whole();
    return detailsOfEvent(this.trace.store, thread, row);
  }

  query<N extends QueryName>(
    name: N,
    args: QueryArgs<N>,
    id: number | null = null,
  ): Promise<QueryAnswer<N>> {
    return this.queue.during(id, (query) => this.answer(name, args, query));
  }
  async cancelQuery(id: number): Promise<void> {
    this.queue.cancel(id);
  }

  private async answer<N extends QueryName>(
    name: N,
    args: QueryArgs<N>,
    query: RunningQuery,
  ): Promise<QueryAnswer<N>> {
    if (!Object.hasOwn(QUERIES, name)) throw new TypeError(`the trace has no query "${name}"`);
    await this.whole();
    query.check();
    const other = Object.hasOwn(compareQueries, name) ? (this.compared.other?.facts ?? null) : null;
    await this.scheduler.prepare(needsOf(name), query, other);
    const { store, memo } = this.trace;
    const { version } = this;
    const context: QueryContext = {
      store,
      pyramid: () => this.pyramidNow(),
      timeline: () => this.lanesNow(),
      compared: this.compared,
      facts: this.facts,
      memo: (key, make) => memo.get(version, key, make),
      async rest() {
        await yieldToMessages();
        query.check();
      },
    };
    return await (QUERIES[name] as unknown as Query<QueryArgs<N>, QueryAnswer<N>>)(context, args);
  }

  protected get facts(): Facts {
    return this.trace.memo.facts(this.traceVersion);
  }

  async filterEvents(filter: EventFilter): Promise<number> {
    await this.whole();
    this.filter = filter;
    this.queryVersion = this.version;
    return this.trace.query.run(filter);
  }
  async eventLines(from: number, count: number): Promise<EventLine[]> {
    await this.whole();
    if (this.trace.query.forgotten !== this.trace.store.forgotten)
      await this.filterEvents(this.filter);
    const { query, store } = this.trace;
    const lines: EventLine[] = [];
    for (let line = Math.max(0, from); line < Math.min(query.count, from + count); line++) {
      const { thread, row } = query.at(line);
      lines.push(lineOfEvent(store, thread, row));
    }
    return lines;
  }
  async lineOf(thread: number, row: number): Promise<number> {
    await this.whole();
    if (this.queryVersion !== this.version) await this.filterEvents(this.filter);
    return this.trace.query.lineOf(thread, row);
  }
}
