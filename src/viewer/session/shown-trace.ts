/**
 * The current trace: its extent, its lanes, and what has changed in it. While a file is being
 * opened, the timeline is drawn from the summaries of its chunks (`preview`), and all other queries
 * wait for the events (`whole`).
 */
import type { Facts } from '../../analysis/core/graph.ts';
import type { CallLanes } from '../../trace/lanes/frame.ts';
import { TraceStore, type ThreadStore } from '../../trace/store.ts';
import type { SummaryLanes } from '../../timeline/summary-lanes.ts';
import { TimelineLanes } from '../../timeline/timeline-lanes.ts';
import type { SessionChange, ThreadRow } from '../../protocol/session.ts';
import { ChangeNotifier } from './change-notifier.ts';
import { FirstPicture } from './first-picture.ts';
import { loadedTrace, previewRows, threadRows, type LoadedTrace } from './loaded-trace.ts';

const MOST_PROBLEMS = 50;

/** What the shown trace reports to the session. */
export interface ShownTraceEvents {
  /** It is time to notify the drawing side of changes. */
  onTell(change: Omit<SessionChange, 'stats'>): void;
  /** There was no memory for the timeline's lanes. */
  onNoMemory(): void;
}

export class ShownTrace {
  trace = loadedTrace(new TraceStore(0));
  /** A recording runs, and the trace grows. */
  recording = false;
  /** For a recording: its app is busy, and its batches wait until it is idle. */
  waits = (): boolean => false;
  /** Replaces the trace's lanes while its events are being read. */
  preview: SummaryLanes | null = null;
  /** Settles once the events are read, or never will be. */
  opening: Promise<void> | null = null;
  version = 0;
  /** The same without changes of the trace that it is compared with. */
  private traceVersion = 0;
  /** Better pictures of the same trace. */
  private repaints = 0;
  readonly firstPicture = new FirstPicture();
  readonly notifier = new ChangeNotifier({
    recording: () => this.recording,
    events: () => this.trace.store.eventCount + this.trace.store.forgotten,
    waits: () => this.waits(),
    tell: () => this.tell(),
  });
  /** Start of the first event and end of the last, microseconds. */
  private firstUs = Infinity;
  private lastUs = -Infinity;
  private lanesVersion = -1;
  private lanesSeen = 0;
  private threadsChanged = false;
  /** Notes and engines that the drawing side knows about. */
  private notesSeen = 0;
  /**
   * A picture of the timeline was requested since the drawing side was last notified of changes.
   */
  private watched = false;

  constructor(private readonly on: ShownTraceEvents) {}

  /** Show another trace. The caller calls `changed`. */
  use(trace: LoadedTrace): void {
    const { store } = trace;
    this.trace = trace;
    [this.firstUs, this.lastUs] = store.eventCount ? store.extent() : [Infinity, -Infinity];
  }

  /** Resolves when no file is being opened, and the last one is drawn. */
  async whole(): Promise<void> {
    while (this.opening) await this.opening;
    await this.firstPicture.out;
  }

  // ---- what it holds --------------------------------------------------------------------------------------------------

  /** End of the last event, microseconds; -Infinity if there is none. */
  get endUs(): number {
    return this.lastUs;
  }
  /** Start of the first event and end of the last, microseconds. */
  extent(): [number, number] {
    return this.firstUs === Infinity ? [0, 0] : [this.firstUs, this.lastUs];
  }
  extents(): Pick<SessionChange, 'extent' | 'drawn'> {
    const { preview } = this;
    const extent: [number, number] = preview ? [...preview.extent] : this.extent();
    return { extent, drawn: (preview ? preview.drawn() : this.callLanes().extent()) ?? extent };
  }
  threads(): ThreadRow[] {
    const { preview } = this;
    return preview ? previewRows(preview) : threadRows(this.trace.store, this.lanes());
  }
  callLanes(): CallLanes {
    return this.lanes().callLanes;
  }
  /** Up to the last event. @throws RangeError if there is no memory for them */
  lanes(): TimelineLanes {
    const { lanes } = this.trace;
    if (this.lanesVersion !== this.version) {
      this.lanesVersion = this.version;
      try {
        lanes.update(Math.max(0, this.lastUs));
      } catch (error) {
        // a lane without memory for a row is incomplete
        this.trace.lanes = new TimelineLanes(this.trace.store);
        this.lanesVersion = -1;
        this.on.onNoMemory();
        throw error;
      }
      this.countLanes();
    }
    return lanes;
  }
  /** A picture of the timeline is requested, so the timeline is on screen. */
  watch(): void {
    this.watched = true;
  }
  /** More of its lanes was computed: the same trace, a better picture. */
  repainted(): void {
    this.repaints++;
    this.countLanes();
    this.changed(false, false);
  }
  private countLanes(): void {
    const seen = this.trace.lanes.rows.length;
    if (seen !== this.lanesSeen) this.changed(true, false);
    this.lanesSeen = seen;
  }
  /** Of the current trace. */
  get facts(): Facts {
    return this.trace.memo.facts(this.traceVersion);
  }

  // ---- what has changed -----------------------------------------------------------------------------------------------

  /**
   * @param threads the set of threads, or their lanes @param data what the views show @param trace
   * the trace itself, not only the one it is compared with
   */
  changed(threads: boolean, data = true, trace = data): void {
    if (data) this.version++;
    if (trace) this.traceVersion++;
    this.threadsChanged ||= threads;
    this.notifier.soon();
  }

  /**
   * A thread has grown. @param firstNew its first new row @param lateEnds earlier rows that have
   * ended
   */
  grown({ events }: ThreadStore, firstNew: number, lateEnds: readonly number[]): void {
    if (events.count > firstNew) this.firstUs = Math.min(this.firstUs, events.t0[firstNew]!);
    for (let i = firstNew; i < events.count; i++)
      this.lastUs = Math.max(this.lastUs, events.t0[i]! + events.dur[i]!);
    for (const row of lateEnds)
      this.lastUs = Math.max(this.lastUs, events.t0[row]! + events.dur[row]!);
    this.changed(false);
  }
  /** Its first rows were dropped. */
  shortened(): void {
    const starts = this.trace.store.threads.flatMap(({ events }) =>
      events.count ? [events.t0[0]!] : [],
    );
    this.firstUs = Math.min(Infinity, ...starts);
    if (!starts.length) this.lastUs = -Infinity;
    this.changed(false);
  }

  /**
   * A problem of the session that the user should know about. @param text what failed, and the next
   * step
   */
  problem(text: string): void {
    const { problems } = this.trace;
    if (problems.size < MOST_PROBLEMS) problems.add(text); // a page can invent any number of them
    this.changed(false);
  }
  solved(text: string): void {
    if (this.trace.problems.delete(text)) this.changed(false);
  }

  private tell(): void {
    // new lanes are a change, too; for a recording that isn't on screen, they wait until the
    // timeline is
    const skipped = this.recording && !this.watched && this.lanesVersion >= 0;
    const extents = skipped ? { extent: this.extent(), drawn: this.extent() } : this.extents();
    this.watched = false;
    const notes = this.trace.store.threads.reduce(
      (n, t) => n + t.notes.length + t.engines.length,
      0,
    );
    const threadsChanged = this.threadsChanged || notes !== this.notesSeen;
    this.notesSeen = notes;
    this.threadsChanged = false;
    const { version } = this;
    this.on.onTell({ version, pictures: version + this.repaints, ...extents, threadsChanged });
  }
}
