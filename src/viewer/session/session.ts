/**
 * The session: the one owner of a trace in the viewer. A recording (recording.ts), or a file that is opened here; answers what the drawing
 * side asks (answers.ts), saves and exports.
 */
import type { ThreadMessage } from '../../protocol/messages.ts';
import { privacyReport, type PrivacyReport } from '../../analysis/privacy/privacy-report.ts';
import { saveTrace } from '../../trace/file/write.ts';
import { TraceStore } from '../../trace/store.ts';
import { SummaryLanes } from '../../timeline/summary-lanes.ts';
import type { LoadResult, SessionApi, Spool } from '../../protocol/session.ts';
import type { Queries } from './query-table.ts';
import { Exports } from './exports.ts';
import { FileReading } from './file-reading.ts';
import { journalOf, readJournal } from './journal-file.ts';
import { loadedTrace, type LoadedTrace } from './loaded-trace.ts';
import { originOf } from './page-origin.ts';
import { Recording } from './recording.ts';
import { replay } from './replay.ts';
import { discardSpool, idleSpools, readSpool } from './spool.ts';
import { markSaved } from './spool-marks.ts';

export class Session extends Recording implements SessionApi<Queries> {
  /** The spool that was opened again. */
  private recovered: string | null = null;
  /** Files on their way, one of which becomes the trace at hand. */
  private openings = 0;
  /** What the opened file says of its own; a recording's threads say it (originOf). */
  private origin = '';
  private readonly reading = new FileReading((progress) => this.push({ k: 'progress', progress }));
  private readonly exports = new Exports();

  /** An error that nobody awaits. */
  stumbled(message: string): void {
    this.problem(
      `Something went wrong in the trace store: ${message}. What was recorded is there: save it, and reopen the panel.`,
    );
  }

  /** Forget the trace and delete its copy on disk. */
  async clear(): Promise<void> {
    await this.stopOpening();
    await this.dropCopies();
    this.compared.forget();
    await this.forget();
  }

  protected get exported(): Promise<unknown> | null {
    return this.exports.done;
  }

  protected override leave(): () => void {
    const { recovered, origin } = this;
    this.exports.cancel();
    this.recovered = null; // stays on disk, offered again
    this.origin = '';
    const putBack = super.leave();
    return () => {
      putBack();
      this.recovered = recovered;
      this.origin = origin;
    };
  }

  open(file: Blob, name: string): Promise<LoadResult> {
    return this.openWith(file, name);
  }
  /** @param journal what was said after the file was written */
  private async openWith(
    file: Blob,
    name: string,
    journal: readonly ThreadMessage[] = [],
  ): Promise<LoadResult> {
    if (this.recording) throw new Error('A recording is running: stop it before you open a file.');
    let incoming: LoadedTrace | null = null;
    let ready = (): void => {};
    this.openings++;
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
          this.notifier.now();
        },
        onStore: (store) => {
          incoming = loadedTrace(store);
          if (this.preview) this.trace = incoming;
        },
        onSection: (store) => {
          incoming!.lanes.update(this.preview?.extent[1] ?? lastBegin(store));
          incoming!.counts.counts(performance.now(), true);
          if (this.preview) this.changed(false, false);
        },
        take: async ({ store, header, lateEnds, partial }) => {
          if (!this.preview) await this.forget();
          const more = !partial && replay(store, journal);
          this.use(incoming && !lateEnds && !more ? incoming : loadedTrace(store)); // what came late is not in the lanes
          this.lanesNow().trim();
          this.origin = header.origin;
        },
      });
    } catch (error) {
      if (this.preview) {
        // the trace before it went for its picture, and the rest of it does not come
        this.leave();
        this.use(loadedTrace(new TraceStore(0)));
      }
      throw error;
    } finally {
      this.openings--;
      if (this.preview) this.firstPicture.begin();
      this.preview = null;
      this.opening = null;
      ready();
      this.changed(true);
      this.notifier.now();
    }
  }

  /** Give up a file that is being opened, and wait until that is done. */
  protected async stopOpening(): Promise<void> {
    this.reading.cancel();
    await this.reading.done;
    await this.whole();
  }

  /** A second trace, beside the loaded one, to compare with. */
  async openOther(file: Blob, name: string): Promise<LoadResult> {
    if (this.openings)
      throw new Error(
        'A trace is still being opened: wait for it, or cancel it, and choose B again.',
      );
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
    if (this.recording) return; // it goes on: the file is not all of it
    for (const copy of [this.spool.name, this.recovered]) if (copy !== null) await markSaved(copy);
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
    return this.exports.run(this.trace.store, said, (bytes) =>
      this.push({ k: 'progress', progress: { bytes, totalBytes: null } }),
    );
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

  async spools(): Promise<Spool[]> {
    return (await idleSpools()).filter(({ name }) => name !== this.recovered);
  }
  async recover(name: string): Promise<LoadResult> {
    const journal = await readJournal(journalOf(name));
    const result = await this.openWith(await readSpool(name), 'The recovered recording', journal);
    if (!result.partial) this.recovered = name; // deleted once it is cleared
    return result;
  }
  discard(name: string): Promise<void> {
    return discardSpool(name);
  }
}

/** When the last event of any thread began, microseconds. */
const lastBegin = ({ threads }: TraceStore): number =>
  Math.max(0, ...threads.map(({ events }) => (events.count ? events.t0[events.count - 1]! : 0)));
