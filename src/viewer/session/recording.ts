/**
 * One recording: takes in the messages of its ports, and maintains its copy on disk, its journal,
 * and its flight recorder.
 */
import { originOfThread } from '../../analysis/core/thread-origin.ts';
import { TraceStore, type ThreadStore } from '../../trace/store.ts';
import { devtoolsBy, type ConditionsDefinition, type Slowdown } from '../../event/conditions.ts';
import type { StorageDefinition, StorageHealth } from '../../event/storage-health.ts';
import type { ThreadCommand } from '../../protocol/messages.ts';
import { ROW_BYTES, type Keep } from '../../trace/retention.ts';
import type {
  FlightOptions,
  Frozen,
  LiveStats,
  RecordingLimits,
  RoomKind,
} from '../../protocol/session.ts';
import { countOf } from '../../text/numbers.ts';
import { Flight } from './flight.ts';
import type { FrozenParts } from './frozen-parts.ts';
import { Journal } from './journal.ts';
import { lineOf } from './line.ts';
import { RecordingRoom } from './room.ts';
import { loadedTrace, type LoadedTrace } from './loaded-trace.ts';
import { originOf } from './page-origin.ts';
import type { ShownTrace } from './shown-trace.ts';
import { idOf, spoolName, type LanesOf } from './spool.ts';
import { SpoolKeeper } from './spool-keeper.ts';
import { ThreadPorts } from './thread-ports.ts';

/** Number of new definitions after which unused ones are dropped. */
const WORDS_BEYOND = 2 << 20;
const WORDS_REFUSED =
  "Some SQL texts and names aren't stored: the recording has reached its maximum for them. It still stores their events. Stop and save, then record again.";

/** A thread that doesn't belong to a recording is told to stop. */
export function refuse(port: MessagePort): void {
  port.postMessage({ k: 'stop' } satisfies ThreadCommand);
  port.close();
}

export class Recording {
  readonly trace: LoadedTrace;
  readonly spool: SpoolKeeper;
  private readonly ports: ThreadPorts;
  /** Ports go through it; null = directly to us. */
  private journal: Journal | null = null;
  private flight: Flight | null;
  /**
   * Settles when the parts being stored are on disk. Until then, nothing is dropped. null = none
   * are being stored.
   */
  private freezing: Promise<void> | null = null;
  /** Part of the names of its copies. */
  private key = '';
  /** The user didn't choose the flight recorder: it keeps the recording below its limits. */
  private forced = false;
  private readonly room: RecordingRoom;
  private refusedSeen = 0;
  private bytesReceived = 0;
  /** Another trace is shown, and requests don't refer to this one any more. */
  private closed = false;
  /** What the browser reported about the storage of pages that haven't arrived yet. */
  private unplaced: StorageDefinition[] = [];
  /** How it is recorded; passed on with the first thread. */
  private made: ConditionsDefinition | null = null;

  /**
   * @param shown shows this recording's trace from now on
   * @param exported settles when the export that reads the rows is done; no row may be dropped
   * until then. null = no export
   */
  constructor(
    private readonly shown: ShownTrace,
    originMs: number,
    flight: FlightOptions | null,
    limits: RecordingLimits,
    private readonly frozen: FrozenParts,
    private readonly exported: () => Promise<unknown> | null,
  ) {
    const store = new TraceStore(originMs);
    store.words.most = limits.words + WORDS_BEYOND;
    this.trace = loadedTrace(store);
    this.flight = flight && new Flight(store, flight);
    this.room = new RecordingRoom(limits);
    this.spool = new SpoolKeeper(
      (text) => shown.problem(text),
      (text) => shown.solved(text),
    );
    this.ports = new ThreadPorts(store, {
      onBatch: (thread, firstNew, lateEnds, bytes) => {
        this.bytesReceived += bytes;
        shown.grown(thread, firstNew, lateEnds);
        this.watch();
        this.retain(thread, firstNew, lateEnds);
      },
      onThreads: () => {
        this.placeStorage();
        this.placeConditions();
        shown.changed(true);
      },
      onProblem: (text) => shown.problem(text),
    });
    shown.use(this.trace);
    shown.recording = true;
    shown.waits = () => this.ports.waits;
  }

  private readonly lanesOf: LanesOf = (thread) => this.shown.callLanes().lanesOf(thread);

  /** Start its copy on disk. @param key in the copy's name @returns the recording's id (Spool) */
  async beginCopy(key: string): Promise<string> {
    this.key = key;
    const { store } = this.trace;
    const id = idOf(spoolName(store, key, ''));
    try {
      this.journal = await Journal.start(id, (line) => this.ports.attach(line));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.shown.problem(
        `If the browser crashes now, you lose more than the last half second: the recording has no journal (${reason}).`,
      );
    }
    this.spool.begin(store, key, originOf, this.lanesOf, this.journal);
    return id;
  }

  /** A thread that comes too late is told to continue without us. */
  async attach(port: MessagePort): Promise<void> {
    if (this.closed) refuse(port);
    else if (this.journal) await this.journal.attach(port);
    else this.ports.attach(lineOf(port));
  }

  /** How it is recorded. @param devtools open on the page; null = not known */
  conditions(devtools: boolean | null): void {
    this.made = { kind: 'conditions', id: 0, devtools, wasmFactor: null, awaitExtraNs: null };
  }
  slowdown(slowdown: Slowdown): void {
    if (!this.shown.recording || !this.made) return;
    this.made = { ...this.made, ...slowdown };
    this.made.devtools ??= devtoolsBy(slowdown);
    this.placeConditions();
    this.shown.changed(false);
  }
  private placeConditions(): void {
    const [first] = this.trace.store.threads;
    if (this.made && first && first.conditions !== this.made) first.define(this.made);
  }

  /** Stored with a page of that origin. Waits until a page has said hello. */
  storage(when: 'start' | 'stop', health: StorageHealth): void {
    if (!this.shown.recording) return;
    this.unplaced.push({ kind: 'storage', id: 0, when, ...health });
    this.placeStorage();
    this.shown.changed(false);
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

  /** The user chose a flight recorder. */
  get keepsNewest(): boolean {
    return this.flight !== null && !this.forced;
  }
  /** At a limit, the recording continues as a flight recorder. */
  private watch(): void {
    const { refused } = this.trace.store;
    if (refused !== this.refusedSeen) {
      this.refusedSeen = refused;
      this.noMemory();
    }
    if (this.trace.store.words.refused) this.shown.problem(WORDS_REFUSED);
    const kind = this.room.look(this.trace, performance.now());
    if (kind && !this.room.room?.reached) this.keepHalf(kind, this.room.room?.limit ?? null);
  }
  /** The browser provides no more memory. */
  noMemory(): void {
    if (this.shown.recording) this.keepHalf('browser', null);
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
    this.shown.changed(false);
  }

  /** Store the kept part as a separate trace, and continue. One part at a time. */
  private freeze(flight: Flight, trigger: Frozen): void {
    const stored = (this.freezing ?? Promise.resolve()).then(() => this.store(flight, trigger));
    this.freezing = stored;
    void stored.finally(() => {
      if (this.freezing === stored) this.freezing = null;
      this.shown.changed(false);
    });
  }
  private async store(flight: Flight, trigger: Frozen): Promise<void> {
    const { shown, frozen, key, lanesOf } = this;
    const { store } = this.trace;
    if (frozen.isFull) {
      shown.problem(
        `The flight recorder has frozen ${countOf(frozen.list.length, 'part')}, the maximum for one recording. It freezes no more parts. Stop and save them, then record again.`,
      );
      return;
    }
    while (this.exported()) await this.exported();
    if (this.closed) return;
    if (flight.cut(shown.endUs, trigger)) shown.shortened();
    await frozen.keep(trigger, store, { key, origin: originOf(store), lanesOf }, (text) =>
      shown.problem(text),
    );
  }

  /** For a flight recorder: drop what is too old, or freeze. */
  private retain(thread: ThreadStore, firstNew: number, lateEnds: readonly number[]): void {
    const { flight, shown } = this;
    if (!flight) return;
    const trigger = this.forced ? null : flight.onBatch(thread, firstNew, lateEnds, shown.endUs);
    if (trigger) this.freeze(flight, trigger);
    else if (!this.exported() && !this.freezing && flight.trim(shown.endUs)) shown.shortened();
  }
  /** Once nothing reads the rows. */
  private async finishFlight(flight: Flight): Promise<void> {
    while (this.exported()) await this.exported();
    await this.freezing;
    if (!this.closed && flight.finish(this.shown.endUs)) this.shown.shortened();
  }

  /** Stop every thread and wait for its bye, at most `timeoutMs`. */
  async stop(timeoutMs: number): Promise<void> {
    await this.ports.stop(timeoutMs);
  }
  /** The recording has ended; its trace stays. @param timeoutMs for the threads */
  async end(timeoutMs: number): Promise<void> {
    await this.stop(timeoutMs);
    this.shown.recording = false;
    if (this.flight && !this.forced) void this.finishFlight(this.flight);
    await this.spool.finish();
    this.shown.changed(true);
  }
  /**
   * Another trace is shown: this recording does nothing more, and its copy on disk stays as it is.
   */
  close(): void {
    this.closed = true;
    this.shown.recording = false;
    this.ports.close();
    this.journal?.close();
    this.journal = null;
  }

  stats(): Pick<
    LiveStats,
    'flight' | 'room' | 'bytesReceived' | 'ignoredMessages' | 'spooledBytes'
  > {
    const { flight } = this;
    const { room } = this.room;
    return {
      flight: flight && this.keepsNewest ? { keep: flight.keep } : null,
      room:
        room && (this.shown.recording || room.reached)
          ? { ...room, forgotten: this.trace.store.forgotten }
          : null,
      bytesReceived: this.bytesReceived,
      ignoredMessages: this.ports.ignored,
      spooledBytes: this.spool.bytes,
    };
  }
}
