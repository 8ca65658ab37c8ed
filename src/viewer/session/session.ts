/**
 * The session owns the trace in the viewer. It shows one at a time (ShownTrace), from a Recording
 * or from a file that it opens. Its QueryRunner answers the drawing side. It also saves, exports,
 * and compares.
 */
import { functionNames } from '../../lab/meter/function-names.ts';
import { nameFunctions } from '../../trace/name-functions.ts';
import type { ThreadMessage } from '../../protocol/messages.ts';
import { privacyReport, type PrivacyReport } from '../../analysis/privacy/privacy-report.ts';
import { saveTrace } from '../../trace/file/write.ts';
import { TraceStore } from '../../trace/store.ts';
import { SummaryLanes } from '../../timeline/summary-lanes.ts';
import type {
  LiveStats,
  LoadResult,
  SessionApi,
  SessionPush,
  Spool,
} from '../../protocol/session.ts';
import type { Queries } from '../../protocol/answers/queries.ts';
import { ComparisonTraces } from './comparison-traces.ts';
import { Exports } from './exports.ts';
import { FrozenParts } from './frozen-parts.ts';
import { FileReading } from './file-reading.ts';
import { journalOf, readJournal } from './journal-file.ts';
import { loadedTrace, type LoadedTrace } from './loaded-trace.ts';
import { originOf } from './page-origin.ts';
import { QueryRunner } from './query-runner.ts';
import { Recording, refuse } from './recording.ts';
import { replay } from './replay.ts';
import { limitsOf } from './room.ts';
import { ShownTrace } from './shown-trace.ts';
import { discardSpool, hold, idleSpools, isFrozenPart, readSpool } from './spool.ts';
import { NotesOnDisk } from './notes-on-disk.ts';
import { markSaved } from './spool-marks.ts';

type Api = SessionApi<Queries>;

export class Session implements Api {
  /** The recording of the shown trace; null = it is from a file, or there is none. */
  private recording: Recording | null = null;
  /** What was shown before a recording that may not start. */
  private before: {
    trace: LoadedTrace;
    recording: Recording | null;
    frozen: FrozenParts;
  } | null = null;
  /**
   * Parts that flight recorders froze: of the latest recording, even while another trace is shown.
   */
  private frozen = new FrozenParts();
  /** Files being opened, one of which becomes the current trace. */
  private openings = 0;
  private readonly compared = new ComparisonTraces();
  private readonly shown = new ShownTrace({
    onTell: (change) => {
      this.push({ k: 'change', change: { ...change, stats: this.statsNow() } });
      this.queries.plan();
    },
    onNoMemory: () => this.recording?.noMemory(),
  });
  private readonly queries = new QueryRunner(
    this.shown,
    this.compared,
    (progress) => this.push({ k: 'computing', progress }),
    (id, version) => this.push({ k: 'answering', id, version }),
  );
  private readonly notes = new NotesOnDisk((text) => this.shown.problem(text));
  private readonly reading = new FileReading((progress) => this.push({ k: 'progress', progress }));

  constructor(
    private readonly push: (message: SessionPush) => void,
    private readonly exports = new Exports(),
  ) {}

  /** An error that no caller awaits. */
  stumbled(message: string): void {
    this.shown.problem(
      `vfscope's store failed: ${message}. Your recording is intact. Save it, then reopen the panel.`,
    );
  }

  // ---- requests of the drawing side ----------------------------------------------------------------------------------

  threads: Api['threads'] = async () => this.shown.threads();
  extents: Api['extents'] = async () => this.shown.extents();
  timeline: Api['timeline'] = async (request) => this.queries.timeline(request);
  hit: Api['hit'] = async (lane, us, slackUs) => this.queries.hit(lane, us, slackUs);
  event: Api['event'] = (thread, seq) => this.queries.event(thread, seq);
  filterEvents: Api['filterEvents'] = (filter) => this.queries.filterEvents(filter);
  eventLines: Api['eventLines'] = (from, count) => this.queries.eventLines(from, count);
  lineOf: Api['lineOf'] = (thread, seq) => this.queries.lineOf(thread, seq);
  query: Api['query'] = async (name, args, id) => {
    const answer = await this.queries.query(name, args, id);
    if (name === 'setAnnotations') this.keepNotes();
    return answer;
  };
  cancelQuery: Api['cancelQuery'] = async (id) => this.queries.cancel(id);

  async stats(): Promise<LiveStats> {
    this.shown.firstPicture.over(); // the drawing side requests them last
    this.queries.plan();
    return this.statsNow();
  }
  private statsNow(): LiveStats {
    const { trace, recording, version } = this.shown;
    const { store, counts, problems } = trace;
    const { threads } = store;
    const [first, last] = this.shown.extent();
    return {
      recording,
      ...(this.recording?.stats() ?? NOT_RECORDED),
      frozen: this.frozen.list.map((part) => ({ ...part })),
      ...counts.counts(performance.now(), !recording, version, this.recording?.keepsNewest),
      dropped: store.dropped,
      faults: threads.reduce((n, t) => n + t.faults, 0),
      problems: [...problems],
      durationUs: last - first,
      threads: threads.length,
      notes: threads.reduce((n, t) => n + t.notes.length, 0),
    };
  }

  // ---- recording ------------------------------------------------------------------------------------------------------

  /**
   * The shown trace has a finished copy on disk, which stores the notes. A running recording writes
   * them at its end.
   */
  private keepNotes(): void {
    const { recording, trace } = this.shown;
    const copy = this.recording?.spool.name ?? trace.recovered?.name;
    if (copy && !recording) this.notes.changed(copy, trace.store);
  }

  /**
   * Start to listen. The previous trace is kept until it is known whether anything is recorded:
   * `begun` or `revert` follows.
   */
  async begin({
    originMs,
    spoolKey,
    devtools,
    flight,
    limits = limitsOf(),
  }: Parameters<Api['begin']>[0]): Promise<string> {
    await this.stopOpening();
    await this.letGoBefore();
    await this.notes.written();
    this.leave();
    this.before = { trace: this.shown.trace, recording: this.recording, frozen: this.frozen };
    const exported = (): Promise<unknown> | null => this.exports.done;
    this.frozen = new FrozenParts();
    this.recording = new Recording(this.shown, originMs, flight, limits, this.frozen, exported);
    this.recording.conditions(devtools);
    const id = await this.recording.beginCopy(spoolKey);
    this.shown.changed(true);
    return id;
  }
  async begun(): Promise<void> {
    const { before } = this;
    if (!before) return;
    this.compared.keep(before.trace.store, 'the previous recording');
    await this.letGoBefore();
  }
  /** Its copies stay on disk. */
  private async letGoBefore(): Promise<void> {
    const { before } = this;
    this.before = null;
    before?.frozen.letGo();
    await before?.trace.recovered?.release();
    await before?.recording?.spool.letGo();
  }
  /** Nothing is recorded: the previous trace is shown again. */
  async revert(): Promise<void> {
    const { before } = this;
    if (!before) return;
    this.before = null;
    await this.recording?.stop(0); // a page may have been reached before the failure
    await this.recording?.spool.drop();
    this.leave();
    await this.frozen.drop();
    this.frozen = before.frozen;
    this.recording = before.recording;
    this.shown.use(before.trace);
    this.shown.changed(true);
  }
  async attach(port: MessagePort): Promise<void> {
    if (this.recording) await this.recording.attach(port);
    else refuse(port);
  }
  storage: Api['storage'] = async (when, health) => this.recording?.storage(when, health);
  slowdown: Api['slowdown'] = async (slowdown) => this.recording?.slowdown(slowdown);
  async end(timeoutMs: number): Promise<void> {
    await this.recording?.end(timeoutMs);
  }

  /** Requests don't refer to the current trace any more, and its work ends. */
  private leave(): void {
    this.exports.cancel();
    this.recording?.close();
  }
  /** Close the trace. Its copy on disk stays, and is offered again. */
  private async forget(): Promise<void> {
    await this.notes.written();
    this.leave();
    await this.recording?.spool.letGo();
    await this.shown.trace.recovered?.release();
    this.recording = null;
    this.shown.use(loadedTrace(new TraceStore(0)));
    this.shown.changed(true);
  }
  /** Forget the trace and delete its copy on disk. */
  async clear(): Promise<void> {
    await this.stopOpening();
    await this.notes.written();
    const { recovered } = this.shown.trace;
    this.shown.trace.recovered = null;
    if (this.recording) {
      await this.recording.spool.drop();
      await this.frozen.drop();
    } else if (recovered) {
      await recovered.release();
      await discardSpool(recovered.name);
      this.frozen.forget(recovered.name);
    } else this.frozen.letGo();
    this.compared.forget();
    await this.forget();
  }

  // ---- files ----------------------------------------------------------------------------------------------------------

  open(file: Blob, name: string): Promise<LoadResult> {
    return this.openWith(file, name);
  }
  /** @param journal messages that arrived after the file was written */
  private async openWith(
    file: Blob,
    name: string,
    journal: readonly ThreadMessage[] = [],
  ): Promise<LoadResult> {
    const { shown } = this;
    if (shown.recording) throw new Error('A recording is running. Stop it before you open a file.');
    let incoming: LoadedTrace | null = null;
    let ready = (): void => {};
    this.openings++;
    try {
      return await this.reading.read(file, name, {
        onOverview: async (overview) => {
          await this.forget();
          shown.preview = new SummaryLanes(overview);
          shown.opening = new Promise((resolve) => (ready = resolve));
          this.push({ k: 'opening' });
          shown.changed(true);
          shown.notifier.now();
        },
        onStore: (store) => {
          incoming = loadedTrace(store);
          if (shown.preview) shown.trace = incoming;
        },
        onSection: (store) => {
          incoming!.lanes.update(shown.preview?.extent[1] ?? lastBegin(store));
          incoming!.counts.counts(performance.now(), true);
          if (shown.preview) shown.changed(false, false);
        },
        take: async ({ store, header, lateEnds, partial }) => {
          if (!shown.preview) await this.forget();
          const more = !partial && replay(store, journal);
          // late data isn't in the lanes
          shown.use(incoming && !lateEnds && !more ? incoming : loadedTrace(store));
          shown.lanes().trim();
          shown.trace.origin = header.origin;
        },
      });
    } catch (error) {
      if (shown.preview) {
        // the previous trace was closed to draw this file's summary, and the rest of the file
        // doesn't come
        this.leave();
        shown.use(loadedTrace(new TraceStore(0)));
      }
      throw error;
    } finally {
      this.openings--;
      if (shown.preview) shown.firstPicture.begin();
      shown.preview = null;
      shown.opening = null;
      ready();
      shown.changed(true);
      shown.notifier.now();
    }
  }

  /** Cancel opening a file, and wait until that is done. */
  private async stopOpening(): Promise<void> {
    this.reading.cancel();
    await this.reading.done;
    await this.shown.whole();
  }
  async cancelOpen(): Promise<void> {
    this.reading.cancel();
  }

  private get origin(): string {
    const { origin, store } = this.shown.trace;
    return origin || originOf(store);
  }
  async save(): Promise<Blob> {
    await this.shown.whole();
    return saveTrace(this.shown.trace.store, { origin: this.origin });
  }
  async saved(part?: string): Promise<void> {
    if (part !== undefined) return this.frozen.saved(part);
    if (this.shown.recording) return; // it goes on: the file isn't complete
    const copies = [this.recording?.spool.name, this.shown.trace.recovered?.name];
    for (const copy of copies) if (copy) await markSaved(copy);
  }

  async spools(): Promise<Spool[]> {
    const frozen = this.frozen.list.map(({ name }) => name);
    const shown = [this.recording?.spool.name, this.shown.trace.recovered?.name];
    const found = await idleSpools(shown.filter((name) => typeof name === 'string'));
    return found.filter(({ name, shown }) => shown || !frozen.includes(name));
  }
  async recover(name: string): Promise<LoadResult> {
    const part = this.frozen.list.find((one) => one.name === name);
    const release = part && !this.frozen.onDisk(name) ? null : await hold(name);
    let keep = false;
    try {
      const file = part ? await this.frozen.file(name) : await readSpool(name);
      const journal = part || isFrozenPart(name) ? [] : await readJournal(journalOf(name));
      const result = await this.openWith(file, 'The stored recording', journal);
      // an incompletely read file doesn't replace the copy
      keep = !result.partial && release !== null;
      if (keep) this.shown.trace.recovered = { name, release: release! };
      return result;
    } finally {
      if (!keep) await release?.();
    }
  }
  frozenPart: Api['frozenPart'] = (name) => this.frozen.file(name);
  discard(name: string): Promise<void> {
    return discardSpool(name);
  }

  async nameFunctions(file: Blob): Promise<number> {
    const { store } = this.shown.trace;
    const named = nameFunctions(store, functionNames(new Uint8Array(await file.arrayBuffer())));
    if (named === 0)
      throw new Error(
        store.threads.some(({ cpu }) => cpu)
          ? "This wasm file doesn't match any module in the CPU samples, or it has no names. Choose the same build with names."
          : 'This recording has no CPU samples to name. Record with: vfscope record --cpu',
      );
    this.shown.changed(false);
    return named;
  }

  // ---- a second trace, and exports ------------------------------------------------------------------------------------

  async openOther(file: Blob, name: string): Promise<LoadResult> {
    if (this.openings)
      throw new Error(
        'Another recording is still opening. Wait for it or cancel it, then choose B again.',
      );
    return this.reading.read(file, name, {
      take: ({ store }) => {
        this.compared.use(store, name);
        this.shown.changed(false, true, false);
      },
    });
  }
  async comparePrevious(): Promise<void> {
    this.compared.usePrevious();
    this.shown.changed(false, true, false);
  }
  async closeOther(): Promise<void> {
    this.compared.other = null;
    this.shown.changed(false, true, false);
  }

  private readonly exporting = (bytes: number): void =>
    this.push({ k: 'progress', progress: { bytes, totalBytes: null } });
  async exportAs(options: Parameters<Api['exportAs']>[0]): Promise<Blob> {
    await this.shown.whole();
    const { origin } = this;
    return this.exports.run(this.shown.trace.store, { ...options, origin }, this.exporting);
  }
  async exportLines({ from, count }: { from: number; count: number }): Promise<Blob> {
    const lines = await this.queries.lines(from, count);
    return this.exports.runLines(this.shown.trace.store, lines, this.exporting);
  }
  async cancelExport(): Promise<void> {
    this.exports.cancel();
  }
  async privacy(): Promise<PrivacyReport> {
    await this.shown.whole();
    return privacyReport(this.shown.trace.store);
  }
}

/** A recording's part of the live strip, for a trace from a file. */
const NOT_RECORDED: ReturnType<Recording['stats']> = {
  flight: null,
  room: null,
  bytesReceived: 0,
  ignoredMessages: 0,
  spooledBytes: 0,
};

/** When the last event of any thread started, microseconds. */
const lastBegin = ({ threads }: TraceStore): number =>
  Math.max(0, ...threads.map(({ events }) => (events.count ? events.t0[events.count - 1]! : 0)));
