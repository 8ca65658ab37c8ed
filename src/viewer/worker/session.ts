/**
 * The session: the one owner of a trace in the viewer. Takes in a recording from its ports or a file, answers what the
 * drawing side asks (answers.ts), and tells it when something has changed.
 */
import { privacyReport, type PrivacyReport } from '../../trace/analysis/privacy-report.ts';
import { originOfThread } from '../../trace/analysis/thread-origin.ts';
import { saveTrace } from '../../trace/file/write.ts';
import { TraceStore, type ThreadStore } from '../../trace/store.ts';
import type { StorageDefinition, StorageHealth } from '../../trace/storage-health.ts';
import { SummaryLanes } from '../../trace/summary-lanes.ts';
import type { AskProgress, LiveStats, LoadResult, SessionApi, SessionPush, Spool } from '../session-api.ts';
import { Answers, NO_FILTER } from './answers.ts';
import { Exports } from './exports.ts';
import { FileReading } from './file-reading.ts';
import { Flight } from './flight.ts';
import { loaded, type Loaded } from './loaded.ts';
import { originOf } from './page-origin.ts';
import { SpoolKeeper } from './spool-keeper.ts';
import { discardSpool, idleSpools, readSpool } from './spool.ts';
import { Teller } from './teller.ts';
import { ThreadPorts } from './thread-ports.ts';

export class Session extends Answers implements SessionApi {
  private ports: ThreadPorts | null = null;
  private readonly spool = new SpoolKeeper((text) => this.problem(text));
  /** The spool that was opened again. */
  private recovered: string | null = null;
  /** What the opened file says of its own; a recording's threads say it (originOf). */
  private origin = '';
  private bytesReceived = 0;
  private readonly problems = new Set<string>();
  private readonly teller = new Teller({ recording: () => this.recording, tell: () => this.tell() });
  private threadsChanged = false;
  /** Notes and engines that the drawing side knows of. */
  private saidSeen = 0;
  private readonly reading = new FileReading((progress) => this.push({ k: 'progress', progress }));
  private readonly exports = new Exports();
  private flight: Flight | null = null;
  /** What the browser said of the storage of pages that are not here yet. */
  private unplaced: StorageDefinition[] = [];

  constructor(private readonly push: (message: SessionPush) => void) {
    super();
  }

  // ---- recording ----------------------------------------------------------------------------------------------------

  async begin({ originMs, spoolKey, flight }: Parameters<SessionApi['begin']>[0]): Promise<void> {
    await this.stopOpening();
    this.compared.keep(this.trace.store, 'the recording before this one');
    await this.forget();
    this.use(loaded(new TraceStore(originMs)));
    this.flight = flight && new Flight(this.trace.store, flight);
    this.origin = '';
    this.recording = true;
    this.listen();
    this.spool.begin(this.trace.store, spoolKey, originOf, (thread) => this.pyramidNow().lanesOf(thread));
    this.changed(true);
  }

  async attach(port: MessagePort): Promise<void> {
    this.listen().attach(port);
  }

  /** Kept with a page of that origin: until one has said hello, it waits. */
  async storage(when: 'start' | 'stop', health: StorageHealth): Promise<void> {
    if (!this.recording) return;
    this.unplaced.push({ kind: 'storage', id: 0, when, ...health });
    this.placeStorage();
    this.changed(false);
  }
  private placeStorage(): void {
    const { threads } = this.trace.store;
    this.unplaced = this.unplaced.filter((said) => {
      const page = threads.findLast((thread) => thread.info.kind === 'page' && originOfThread(thread) === said.origin);
      page?.define(said);
      return !page;
    });
  }

  private listen(): ThreadPorts {
    this.ports ??= new ThreadPorts(this.trace.store, {
      onBatch: (thread, firstNew, lateEnds, bytes) => {
        this.bytesReceived += bytes;
        this.grow(thread, firstNew, lateEnds);
        this.retain(thread, firstNew, lateEnds);
      },
      onThreads: () => {
        this.placeStorage();
        this.changed(true);
      },
      onProblem: (text) => this.problem(text),
    });
    return this.ports;
  }

  private grow({ events }: ThreadStore, firstNew: number, lateEnds: readonly number[]): void {
    if (events.count > firstNew) this.firstUs = Math.min(this.firstUs, events.t0[firstNew]!);
    for (let i = firstNew; i < events.count; i++) this.lastUs = Math.max(this.lastUs, events.t0[i]! + events.dur[i]!);
    for (const row of lateEnds) this.lastUs = Math.max(this.lastUs, events.t0[row]! + events.dur[row]!);
    this.changed(false);
  }

  /** A flight recorder: forget what is too old, or freeze. */
  private retain(thread: ThreadStore, firstNew: number, lateEnds: readonly number[]): void {
    const { flight } = this;
    if (!flight || this.exports.busy) return; // an export walks over the rows
    let forgotten: number;
    if (flight.onBatch(thread, firstNew, lateEnds)) {
      forgotten = flight.finish(this.lastUs);
      void this.ports?.stop(0); // the host is told by the drawing side; what is on its way still arrives
    } else forgotten = flight.trim(this.lastUs);
    if (forgotten) this.forgot();
  }
  private forgot(): void {
    const starts = this.trace.store.threads.flatMap(({ events }) => (events.count ? [events.t0[0]!] : []));
    this.firstUs = Math.min(Infinity, ...starts);
    if (!starts.length) this.lastUs = -Infinity;
    this.changed(false);
  }

  async end(timeoutMs: number): Promise<void> {
    await this.ports?.stop(timeoutMs);
    this.recording = false;
    if (this.flight?.finish(this.lastUs)) this.forgot();
    await this.spool.finish();
    this.changed(true);
  }

  private problem(text: string): void {
    this.problems.add(text);
    this.changed(false);
  }

  /** Forget the trace and delete its copy on disk. */
  async clear(): Promise<void> {
    await this.stopOpening();
    await this.dropCopies();
    this.compared.forget();
    await this.forget();
  }

  private async forget(): Promise<void> {
    this.recording = false;
    this.flight = null;
    this.exports.cancel();
    this.recovered = null; // stays on disk, offered again
    this.ports?.close();
    this.ports = null;
    await this.spool.drop();
    this.use(loaded(new TraceStore(0)));
    this.changed(true);
  }

  private use(trace: Loaded): void {
    const { store } = trace;
    this.trace = trace;
    this.problems.clear();
    this.unplaced = [];
    this.bytesReceived = 0;
    this.filter = NO_FILTER;
    [this.firstUs, this.lastUs] = store.eventCount ? store.extent() : [Infinity, -Infinity];
  }

  // ---- files --------------------------------------------------------------------------------------------------------

  async open(file: Blob, name: string): Promise<LoadResult> {
    if (this.recording) throw new Error('A recording is running: stop it before you open a file.');
    let incoming: Loaded | null = null;
    let ready = (): void => {};
    try {
      return await this.reading.read(file, name, {
        onOverview: async (overview) => {
          await this.forget();
          const preview = new SummaryLanes(overview);
          this.preview = preview;
          this.opening = new Promise((resolve) => (ready = resolve));
          this.origin = overview.header.origin;
          this.push({ k: 'opening' });
          this.changed(true);
          this.teller.now();
        },
        onStore: (store) => {
          incoming = loaded(store);
          if (this.preview) this.trace = incoming;
        },
        onSection: (store) => {
          incoming!.lanes.update(this.preview?.extent[1] ?? lastBegin(store));
          incoming!.counts.counts(performance.now(), true);
          if (this.preview) this.changed(false, false);
        },
        take: async ({ store, header, lateEnds }) => {
          if (!this.preview) await this.forget();
          this.use(incoming && !lateEnds ? incoming : loaded(store)); // ends that came late are not in the lanes
          this.lanesNow().trim();
          this.origin = header.origin;
        },
      });
    } finally {
      if (this.preview) this.firstPicture.begin();
      this.preview = null;
      this.opening = null;
      ready();
      this.changed(true);
      this.teller.now();
    }
  }

  /** Give up a file that is being opened, and wait until that is done. */
  private async stopOpening(): Promise<void> {
    this.reading.cancel();
    await this.reading.done;
    await this.whole();
  }

  /** A second trace, beside the loaded one, to compare with. */
  async openOther(file: Blob, name: string): Promise<LoadResult> {
    return this.reading.read(file, name, {
      take: ({ store }) => {
        this.compared.use(store, name);
        this.changed(false, true, false);
      },
    });
  }
  async comparePrevious(): Promise<void> {
    this.compared.usePrevious();
    this.changed(false, true, false);
  }
  async closeOther(): Promise<void> {
    this.compared.other = null;
    this.changed(false, true, false);
  }

  async cancelOpen(): Promise<void> {
    this.reading.cancel();
  }

  async save(): Promise<Blob> {
    await this.whole();
    return saveTrace(this.trace.store, { origin: this.origin || originOf(this.trace.store) });
  }
  async saved(): Promise<void> {
    if (!this.recording) await this.dropCopies();
  }

  private async dropCopies(): Promise<void> {
    await this.spool.drop();
    const { recovered } = this;
    this.recovered = null;
    if (recovered !== null) await discardSpool(recovered);
  }

  async exportAs(options: Parameters<SessionApi['exportAs']>[0]): Promise<Blob> {
    await this.whole();
    const said = { ...options, origin: this.origin || originOf(this.trace.store) };
    return this.exports.run(this.trace.store, said, (bytes) => this.push({ k: 'progress', progress: { bytes, totalBytes: null } }));
  }
  async exportLines({ from, count }: { from: number; count: number }): Promise<Blob> {
    await this.whole();
    const { query, store } = this.trace;
    if (query.forgotten !== store.forgotten) await this.filterEvents(this.filter);
    return this.exports.runLines(store, query.slice(from, count), (bytes) =>
      this.push({ k: 'progress', progress: { bytes, totalBytes: null } }),
    );
  }
  async cancelExport(): Promise<void> {
    this.exports.cancel();
  }
  async privacy(): Promise<PrivacyReport> {
    await this.whole();
    return privacyReport(this.trace.store);
  }

  spools(): Promise<Spool[]> {
    return idleSpools();
  }
  async recover(name: string): Promise<LoadResult> {
    const result = await this.open(await readSpool(name), 'The recovered recording');
    if (!result.partial) this.recovered = name; // deleted once it is saved or cleared
    return result;
  }
  discard(name: string): Promise<void> {
    return discardSpool(name);
  }

  // ---- numbers ------------------------------------------------------------------------------------------------------

  async stats(): Promise<LiveStats> {
    this.firstPicture.over(); // the drawing side asks for them last
    if (!this.opening) this.pacer.plan();
    return this.statsNow();
  }

  private statsNow(): LiveStats {
    const { store, counts } = this.trace;
    const { threads } = store;
    const [first, last] = this.extentNow();
    return {
      recording: this.recording,
      flight: this.flight && { keep: this.flight.options.keep, frozen: this.flight.frozen },
      ...counts.counts(performance.now(), !this.recording, this.version),
      bytesReceived: this.bytesReceived,
      dropped: store.dropped,
      faults: threads.reduce((n, t) => n + t.faults, 0),
      ignoredMessages: this.ports?.ignored ?? 0,
      problems: [...this.problems],
      durationUs: last - first,
      threads: threads.length,
      spooledBytes: this.spool.bytes,
      notes: threads.reduce((n, t) => n + t.notes.length, 0),
    };
  }

  // ---- what has changed ---------------------------------------------------------------------------------------------

  protected changed(threads: boolean, data = true, trace = data): void {
    if (data) this.version++;
    if (trace) this.traceVersion++;
    this.threadsChanged ||= threads;
    this.teller.soon();
  }

  protected computing(progress: AskProgress): void {
    this.push({ k: 'computing', progress });
  }

  private tell(): void {
    const extents = this.extentsNow(); // new lanes are news, too
    const said = this.trace.store.threads.reduce((n, t) => n + t.notes.length + t.engines.length, 0);
    const threadsChanged = this.threadsChanged || said !== this.saidSeen;
    this.saidSeen = said;
    this.threadsChanged = false;
    this.push({ k: 'change', change: { version: this.version + this.repaints, stats: this.statsNow(), ...extents, threadsChanged } });
    if (!this.opening) this.pacer.plan();
  }
}

/** When the last event of any thread began, microseconds. */
const lastBegin = ({ threads }: TraceStore): number =>
  Math.max(0, ...threads.map(({ events }) => (events.count ? events.t0[events.count - 1]! : 0)));
