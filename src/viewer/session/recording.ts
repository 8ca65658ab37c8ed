/**
 * The recording that the viewer shows: takes in what its ports bring, keeps its copy on disk and its flight recorder, and tells the
 * drawing side what has changed. Files are session.ts's.
 */
import { originOfThread } from '../../analysis/core/thread-origin.ts';
import { TraceStore, type ThreadStore } from '../../trace/store.ts';
import type { StorageDefinition, StorageHealth } from '../../event/storage-health.ts';
import type { ThreadCommand } from '../../protocol/messages.ts';
import { ROW_BYTES, type Keep } from '../../trace/retention.ts';
import type {
  QueryProgress,
  LiveStats,
  RoomKind,
  SessionApi,
  SessionPush,
} from '../../protocol/session.ts';
import { Answers, NO_FILTER } from './answers.ts';
import { Flight } from './flight.ts';
import { Journal } from './journal.ts';
import { journalOf } from './journal-file.ts';
import { lineOf } from './line.ts';
import { limitsOf, RecordingRoom } from './room.ts';
import { loadedTrace, type LoadedTrace } from './loaded-trace.ts';
import { originOf } from './page-origin.ts';
import { spoolName } from './spool.ts';
import { SpoolKeeper } from './spool-keeper.ts';
import { ChangeNotifier } from './change-notifier.ts';
import { ThreadPorts } from './thread-ports.ts';

const MOST_PROBLEMS = 50;
/** Definitions that come until unused ones are forgotten. */
const WORDS_BEYOND = 2 << 20;
const WORDS_REFUSED =
  "Some SQL texts and names aren't stored: the recording has reached its maximum for them. It still stores their events. Stop and save, then record again.";

export abstract class Recording extends Answers {
  private ports: ThreadPorts | null = null;
  /** Through which the ports go; null = straight to us. */
  private journal: Journal | null = null;
  protected spool = this.newSpool();
  private flight: Flight | null = null;
  /** The flight recorder is not what the user chose: it keeps the recording below its limits. */
  private forced = false;
  private room = new RecordingRoom(limitsOf());
  private refusedSeen = 0;
  protected readonly notifier = new ChangeNotifier({
    recording: () => this.recording,
    tell: () => this.tell(),
  });
  private bytesReceived = 0;
  private readonly problems = new Set<string>();
  private threadsChanged = false;
  /** Notes and engines that the drawing side knows of. */
  private saidSeen = 0;
  /** What the browser said of the storage of pages that are not here yet. */
  private unplaced: StorageDefinition[] = [];
  /** The trace before a recording of which it is not known yet whether it runs. */
  private before: { store: TraceStore; drop(): Promise<void>; putBack(): void } | null = null;

  constructor(protected readonly push: (message: SessionPush) => void) {
    super();
  }

  /** Settled when the export is over that walks over the rows now: none may go meanwhile. null = there is none. */
  protected abstract get exported(): Promise<unknown> | null;
  /** Give up a file that is being opened, and wait until that is done. */
  protected abstract stopOpening(): Promise<void>;

  /** Begin to listen. The trace that was here is kept until it is known whether anything is recorded: `begun` or `revert` follows. */
  async begin({
    originMs,
    spoolKey,
    flight,
    limits = limitsOf(),
  }: Parameters<SessionApi['begin']>[0]): Promise<void> {
    await this.stopOpening();
    await this.before?.drop();
    const putBack = this.leave();
    const old = this.spool;
    this.before = { store: this.trace.store, putBack, drop: () => old.drop() };
    this.spool = this.newSpool();
    this.use(loadedTrace(new TraceStore(originMs)));
    this.flight = flight && new Flight(this.trace.store, flight);
    this.forced = false;
    this.room = new RecordingRoom(limits);
    this.refusedSeen = 0;
    this.trace.store.words.most = limits.words + WORDS_BEYOND;
    this.recording = true;
    this.listen();
    await this.beginCopy(spoolKey);
    this.changed(true);
  }
  private async beginCopy(key: string): Promise<void> {
    const { store } = this.trace;
    try {
      this.journal = await Journal.start(journalOf(spoolName(store, key, '')), (line) =>
        this.listen().attach(line),
      );
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.problem(
        `If the browser crashes now, you lose more than the last half second: the recording has no journal (${reason}).`,
      );
    }
    this.spool.begin(
      store,
      key,
      originOf,
      (thread) => this.pyramidNow().lanesOf(thread),
      this.journal,
    );
  }
  async begun(): Promise<void> {
    const { before } = this;
    if (!before) return;
    this.before = null;
    this.compared.keep(before.store, 'the recording before this one');
    await before.drop();
  }
  /** Nothing is recorded: the trace before it is the one at hand again. */
  async revert(): Promise<void> {
    const { before } = this;
    if (!before) return;
    this.before = null;
    await this.ports?.stop(0); // a page may have been reached before it went wrong
    await this.spool.drop();
    this.leave();
    before.putBack();
    this.changed(true);
  }

  /** Nobody speaks to the trace at hand, nothing is done with it any more. @returns puts it back as it was */
  protected leave(): () => void {
    const { trace, spool, flight, forced, room } = this;
    const problems = [...this.problems];
    this.recording = this.forced = false;
    this.flight = null;
    this.room = new RecordingRoom(limitsOf());
    this.ports?.close();
    this.ports = null;
    this.journal?.close();
    this.journal = null;
    return () => {
      this.use(trace);
      this.spool = spool;
      this.flight = flight;
      this.forced = forced;
      this.room = room;
      problems.forEach((text) => this.problem(text));
    };
  }
  /** The trace goes. Its copy on disk stays, and is offered again. */
  protected async forget(): Promise<void> {
    this.leave();
    await this.spool.letGo();
    this.use(loadedTrace(new TraceStore(0)));
    this.changed(true);
  }

  /** A thread that comes too late is told so, and goes on without us. */
  async attach(port: MessagePort): Promise<void> {
    if (this.journal) return this.journal.attach(port);
    if (this.recording || this.ports) return this.listen().attach(lineOf(port));
    port.postMessage({ k: 'stop' } satisfies ThreadCommand);
    port.close();
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
      const page = threads.findLast(
        (thread) => thread.info.kind === 'page' && originOfThread(thread) === said.origin,
      );
      page?.define(said);
      return !page;
    });
  }

  private listen(): ThreadPorts {
    this.ports ??= new ThreadPorts(this.trace.store, {
      onBatch: (thread, firstNew, lateEnds, bytes) => {
        this.bytesReceived += bytes;
        this.grow(thread, firstNew, lateEnds);
        this.watch();
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
    for (let i = firstNew; i < events.count; i++)
      this.lastUs = Math.max(this.lastUs, events.t0[i]! + events.dur[i]!);
    for (const row of lateEnds)
      this.lastUs = Math.max(this.lastUs, events.t0[row]! + events.dur[row]!);
    this.changed(false);
  }

  /** At a limit the recording goes on as a flight recorder. */
  private watch(): void {
    const { refused } = this.trace.store;
    if (refused !== this.refusedSeen) {
      this.refusedSeen = refused;
      this.noMemory();
    }
    if (this.trace.store.words.refused) this.problem(WORDS_REFUSED);
    const kind = this.room.look(this.trace, performance.now());
    if (kind && !this.room.room?.reached) this.keepHalf(kind, this.room.room?.limit ?? null);
  }
  protected noMemory(): void {
    if (this.recording) this.keepHalf('browser', null);
  }
  private keepHalf(kind: RoomKind, limit: number | null): void {
    const { store } = this.trace;
    this.room.reach(kind, limit);
    const keep: Keep = { kind: 'megabytes', megabytes: (store.eventCount / 2) * (ROW_BYTES / 1e6) };
    this.forced = !this.flight;
    this.flight ??= new Flight(store, {
      keep,
      freezeOn: { busy: false, ioerr: false, corrupt: false, error: false, slowCommitMs: null },
    });
    this.flight.keep = keep;
    this.changed(false);
  }

  /** A flight recorder: forget what is too old, or freeze. */
  private retain(thread: ThreadStore, firstNew: number, lateEnds: readonly number[]): void {
    const { flight } = this;
    if (!flight) return;
    if (!this.forced && flight.onBatch(thread, firstNew, lateEnds)) {
      void this.ports?.stop(0); // the host is told by the drawing side; what is on its way still arrives
      void this.finishFlight(flight);
    } else if (!this.exported && flight.trim(this.lastUs)) this.forgot();
  }
  /** Once no export walks over the rows. */
  private async finishFlight(flight: Flight): Promise<void> {
    while (this.exported) await this.exported;
    if (this.flight === flight && flight.finish(this.lastUs)) this.forgot();
  }
  private forgot(): void {
    const starts = this.trace.store.threads.flatMap(({ events }) =>
      events.count ? [events.t0[0]!] : [],
    );
    this.firstUs = Math.min(Infinity, ...starts);
    if (!starts.length) this.lastUs = -Infinity;
    this.changed(false);
  }

  async end(timeoutMs: number): Promise<void> {
    await this.ports?.stop(timeoutMs);
    this.recording = false;
    if (this.flight && !this.forced) void this.finishFlight(this.flight);
    await this.spool.finish();
    this.changed(true);
  }

  private newSpool(): SpoolKeeper {
    return new SpoolKeeper(
      (text) => this.problem(text),
      (text) => {
        if (this.problems.delete(text)) this.changed(false);
      },
    );
  }

  protected problem(text: string): void {
    if (this.problems.size < MOST_PROBLEMS) this.problems.add(text); // a page can make up any number of them
    this.changed(false);
  }

  protected use(trace: LoadedTrace): void {
    const { store } = trace;
    this.trace = trace;
    this.problems.clear();
    this.unplaced = [];
    this.bytesReceived = 0;
    this.filter = NO_FILTER;
    [this.firstUs, this.lastUs] = store.eventCount ? store.extent() : [Infinity, -Infinity];
  }

  // ---- numbers ------------------------------------------------------------------------------------------------------

  async stats(): Promise<LiveStats> {
    this.firstPicture.over(); // the drawing side asks for them last
    if (!this.opening) this.scheduler.plan();
    return this.statsNow();
  }

  private statsNow(): LiveStats {
    const { store, counts } = this.trace;
    const { room } = this.room;
    const { threads } = store;
    const [first, last] = this.extentNow();
    return {
      recording: this.recording,
      flight:
        this.flight && !this.forced ? { keep: this.flight.keep, frozen: this.flight.frozen } : null,
      room:
        room && (this.recording || room.reached) ? { ...room, forgotten: store.forgotten } : null,
      ...counts.counts(
        performance.now(),
        !this.recording,
        this.version,
        this.flight !== null && !this.forced,
      ),
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
    this.notifier.soon();
  }

  protected computing(progress: QueryProgress): void {
    this.push({ k: 'computing', progress });
  }

  private tell(): void {
    const extents = this.extentsNow(); // new lanes are news, too
    const said = this.trace.store.threads.reduce(
      (n, t) => n + t.notes.length + t.engines.length,
      0,
    );
    const threadsChanged = this.threadsChanged || said !== this.saidSeen;
    this.saidSeen = said;
    this.threadsChanged = false;
    this.push({
      k: 'change',
      change: {
        version: this.version + this.repaints,
        stats: this.statsNow(),
        ...extents,
        threadsChanged,
      },
    });
    if (!this.opening) this.scheduler.plan();
  }
}
