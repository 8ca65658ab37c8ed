/**
 * The viewer's state as Svelte stores and its commands as methods, without their appearance. Holds
 * no trace; the session does (protocol/session.ts).
 */
import { get, writable, type Readable, type Writable } from 'svelte/store';
import { countOf } from '../../text/numbers.ts';
import { captureOptionsOf } from '../../event/capture.ts';
import { EXPORT_FORMATS, type ExportFormat } from '../../protocol/export-formats.ts';
import { traceName } from './file-name.ts';
import { FLIGHT_DEFAULTS, flightOptionsOf, type FlightChoice } from './flight-options.ts';
import type { AccessWanted, RecordingScope } from '../../protocol/messages.ts';
import type { RecordingStatus, ViewerHost } from './host.ts';
import { KeptViews } from './kept-views.ts';
import { Navigation } from './navigation.ts';
import { followPerformancePanel } from './performance-tracks.ts';
import { QueryClient } from './query-client.ts';
import { SettingsModel } from './settings.ts';
import { siteName } from './site-name.ts';
import { viewStateOf } from './view-state.ts';
import type {
  FrozenPart,
  LiveStats,
  LoadProgress,
  LoadResult,
  SessionApi,
  SessionChange,
  SessionPush,
  Spool,
  ThreadRow,
} from '../../protocol/session.ts';
import type { Queries } from '../../protocol/answers/queries.ts';

/** What the example is called. */
export const EXAMPLE_NAME = 'example: a notes app on IndexedDB.vfst';

/** Time limit for threads to send their last batches. */
const STOP_TIMEOUT_MS = 3000;
const STATS_EVERY_MS = 100;

const refused = (wanted: AccessWanted): string =>
  `You didn't allow access to ${wanted === 'all' ? 'all sites' : wanted.map(siteName).join(', ')}, so vfscope can't record there. Press again to be asked again.`;

/** Resolves once a store has the awaited value. */
const until = <T>(store: Readable<T>, is: (value: T) => boolean): Promise<void> =>
  new Promise((resolve) => {
    const stop = store.subscribe((value) => {
      if (!is(value)) return;
      queueMicrotask(() => stop()); // the first value may match: `stop` isn't set yet
      resolve();
    });
  });

interface ShownFile {
  name: string;
  warnings: string[];
  /** A recording's copy on disk, which isn't a file to the user. */
  copy: boolean;
}

interface Toast {
  id: number;
  kind: 'error' | 'info';
  text: string;
}

export class ViewerModel {
  /** What is on screen. */
  readonly navigation: Navigation;
  readonly queries: QueryClient;
  readonly toasts = writable<Toast[]>([]);
  private lastToast = 0;
  readonly status: Writable<RecordingStatus | null>;
  readonly stats = writable<LiveStats | null>(null);
  /** Version of the trace: when it increases, queries are sent again. */
  readonly version = writable(0);
  /** Version of what the timeline draws. */
  readonly pictures = writable(0);
  /** Incremented with every trace that replaces another. */
  readonly trace = writable(0);
  readonly threads = writable<ThreadRow[]>([]);
  /** A file is being read or made: what it is, the progress, and how to cancel. */
  readonly loading = writable<
    (LoadProgress & { what: string; cancel: () => Promise<void> }) | null
  >(null);
  /** What is shown comes from this file; null: from a recording, or nothing. */
  readonly file = writable<ShownFile | null>(null);
  /** When the shown recording began, ms; null = not known. */
  readonly begunMs = writable<number | null>(null);
  /** Recordings on disk, the newest first. */
  readonly spools = writable<Spool[]>([]);
  private readonly keptViews: KeptViews;
  readonly scope = writable<RecordingScope>('tab');
  readonly reload = writable(true);
  readonly flight = writable<FlightChoice>({ ...FLIGHT_DEFAULTS });
  /** A command is running that others must not overlap. */
  readonly busy = writable(false);
  readonly helpOpen = writable(false);
  readonly paletteOpen = writable(false);
  readonly exportOpen = writable(false);
  readonly settings: SettingsModel;
  /**
   * The views are paused while the recording continues. What arrives meanwhile is shown after the
   * pause.
   */
  readonly paused = writable(false);
  private held: SessionChange | null = null;
  /** The file that is being read is already on screen. */
  private opened = false;
  /** Counts requested traces and files: results of earlier ones are ignored. */
  private asked = 0;
  private readings = 0;
  /** When the numbers were last updated, ms. */
  private statsAt = -Infinity;
  private lastError: string | null = null;
  /**
   * The user is asked in a new tab for access to this origin. Once access is given, the recording
   * starts. null = not asked.
   */
  readonly asking = writable<string | null>(null);
  private readonly undo: (() => void)[] = [];

  constructor(
    readonly session: SessionApi<Queries>,
    readonly host: ViewerHost,
  ) {
    this.queries = new QueryClient(session);
    this.navigation = new Navigation(session, (command) => this.attempt(command));
    this.keptViews = new KeptViews(this.navigation, viewStateOf(this));
    this.settings = new SettingsModel(host.settings, (message) => this.say('error', message));
    this.status = writable(
      host.recorder ? { recording: false, busy: false, origin: '', error: null } : null,
    );
    if (host.performancePanel)
      this.undo.push(
        followPerformancePanel(host.performancePanel, {
          isOn: () => get(this.settings.values).performanceTracks,
          marks: (args) => session.query('performanceTracks', args),
          failed: (message) => this.say('error', message),
        }),
      );
    if (host.recorder) {
      this.undo.push(host.recorder.subscribe((status) => this.onStatus(status)));
      this.undo.push(host.recorder.onPort((port) => void this.attempt(() => session.attach(port))));
      const stop = host.recorder.onStorage?.(
        (when, health) => void this.attempt(() => session.storage(when, health)),
      );
      if (stop) this.undo.push(stop);
      const timed = host.recorder.onSlowdown?.(
        (slowdown) => void this.attempt(() => session.slowdown(slowdown)),
      );
      if (timed) this.undo.push(timed);
    }
  }

  /** Restore the stored choices, and store changes from now on. */
  async restoreSettings(): Promise<void> {
    await this.settings.read();
    const { reload, flight } = get(this.settings.values);
    this.reload.set(reload);
    this.flight.set({ ...flight });
    let [reloadSeen, flightSeen] = [reload, JSON.stringify(flight)];
    this.undo.push(
      this.reload.subscribe((now) => {
        if (now !== reloadSeen) void this.settings.change({ reload: (reloadSeen = now) });
      }),
      this.flight.subscribe((now) => {
        if (JSON.stringify(now) === flightSeen) return;
        flightSeen = JSON.stringify(now);
        void this.settings.change({ flight: { ...now } });
      }),
    );
  }

  destroy(): void {
    for (const undo of this.undo) undo();
  }

  private onStatus(status: RecordingStatus): void {
    this.status.set(status);
    if (status.error && status.error !== this.lastError) this.say('error', status.error);
    this.lastError = status.error;
    const asking = get(this.asking);
    const { access } = status;
    if (asking === null || !access) return;
    if (access.origin !== asking || status.recording) this.asking.set(null);
    else if (access.granted !== 'none') void this.record();
  }

  /**
   * Ask for access to sites. Call within the user's press, which the browser requires.
   * @returns whether access is given now
   */
  private async ask(wanted: AccessWanted): Promise<boolean> {
    const answer = (await this.host.recorder?.allow?.(wanted)) ?? 'granted';
    if (answer === 'refused') throw new Error(refused(wanted));
    return answer === 'granted';
  }
  /** Let the recording access these, too. */
  async allow(wanted: AccessWanted): Promise<void> {
    await this.attempt(async () => void (await this.ask(wanted)));
  }

  /** Reload the page so that its workers are recorded. */
  widenPolicy(): void {
    this.host.recorder?.widenPolicy?.();
  }
  /**
   * Reload other tabs of the origin, so that their workers are recorded or, after a recording,
   * restored.
   */
  reloadTabs(): void {
    this.host.recorder?.reloadTabs?.();
  }

  /** What prevents recording the inspected page; null = nothing, or not known. */
  private missing(allSites: boolean): AccessWanted | null {
    const access = get(this.status)?.access;
    if (!access || access.granted === 'all') return null;
    if (allSites) return 'all';
    return access.granted === 'none' && access.origin ? [access.origin] : null;
  }

  // ---- session reports -----------------------------------------------------------------------------------------------

  onPush(push: SessionPush): void {
    if (push.k === 'progress') this.loading.update((now) => now && { ...now, ...push.progress });
    else if (push.k === 'opening') {
      this.forget();
      this.opened = true;
    } else if (push.k === 'computing') this.queries.progressed(push.progress);
    else if (push.k === 'answering') this.queries.answering(push.id, push.version);
    else this.onChange(push.change);
  }

  togglePause(): void {
    const paused = !get(this.paused);
    this.paused.set(paused);
    const { held } = this;
    this.held = null;
    if (!paused && held) this.onChange(held);
  }

  private onChange(change: SessionChange): void {
    const { version, pictures, stats, threadsChanged, ...extents } = change;
    this.showStats(stats);
    if (get(this.paused)) {
      this.held = {
        ...change,
        threadsChanged: threadsChanged || (this.held?.threadsChanged ?? false),
      };
      return;
    }
    this.navigation.takeExtents(extents);
    this.version.set(version);
    this.pictures.set(pictures);
    if (get(this.navigation.follow)) this.navigation.followView(stats.recording);
    if (threadsChanged)
      void this.attempt(async () => this.threads.set(await this.session.threads()));
  }

  /** The numbers of an empty trace: each shows why it isn't known. */
  async showFirstStats(): Promise<void> {
    await this.attempt(async () => {
      const first = await this.session.stats();
      this.stats.update((now) => now ?? first);
    });
  }
  /** During a recording, the picture updates more often than numbers can be read. */
  private showStats(stats: LiveStats): void {
    const now = performance.now();
    if (stats.recording && get(this.stats)?.recording && now - this.statsAt < STATS_EVERY_MS)
      return;
    this.statsAt = now;
    this.stats.set(stats);
  }

  // ---- commands -------------------------------------------------------------------------------------------------------

  private async exclusively(command: () => Promise<void>): Promise<void> {
    if (get(this.busy)) return;
    this.busy.set(true);
    await this.attempt(command);
    this.busy.set(false);
  }

  /**
   * @param allSites ask for access to all sites, not only to the inspected page's
   * @param others also the origin's other tabs, which reload
   */
  async record(allSites = false, others = false): Promise<void> {
    const { recorder } = this.host;
    if (!recorder) return;
    await this.exclusively(async () => {
      const missing = this.missing(allSites);
      const origin = get(this.status)?.access?.origin ?? '';
      this.asking.set(missing && !(await this.ask(missing)) ? origin : null);
      if (get(this.asking) !== null) return;
      const [file, begunMs] = [get(this.file), get(this.begunMs)];
      const { shown, views } = this.keptViews.leave();
      this.asked++;
      this.forget();
      const originMs = performance.timeOrigin + performance.now();
      this.begunMs.set(originMs);
      const id = await this.session.begin({
        originMs,
        spoolKey: this.host.spoolKey,
        devtools: recorder.devtools,
        flight: flightOptionsOf(get(this.flight)),
      });
      try {
        await this.settings.read(); // another panel, or `vfscope record`, may have changed them
        const capture = captureOptionsOf(get(this.settings.values));
        const scope = others ? 'origin' : get(this.scope);
        const reload = others || get(this.reload);
        await recorder.start({ scope, reload, others, capture });
      } catch (error) {
        await this.session.revert();
        this.file.set(file);
        this.begunMs.set(begunMs);
        await this.takeAll();
        await this.keptViews.show(shown, views);
        throw error;
      }
      await this.session.begun();
      await this.keptViews.show(id);
    });
  }

  async stop(): Promise<void> {
    const { recorder } = this.host;
    if (!recorder) return;
    await this.exclusively(async () => {
      if (get(this.paused)) this.togglePause();
      await recorder.stop();
      await this.session.end(STOP_TIMEOUT_MS);
      this.navigation.takeExtents(await this.session.extents());
      this.showStats(await this.session.stats());
      // all of it, at once, without the time before the first event
      if (get(this.navigation.follow)) this.navigation.followView(false);
      this.navigation.tab.set('answer');
      await this.lookForSpools(); // those of saved recordings were deleted
    });
  }

  /**
   * Open what the flight recorder froze on the timeline, at the event that triggered it. Stops a
   * running recording first.
   */
  async openFrozen(part: FrozenPart): Promise<void> {
    const { name, thread, seq, bytes } = part;
    if (name === null) return;
    if (get(this.status)?.recording) await this.stop();
    if (
      await this.load(this.frozenName(part), bytes, () => this.session.recover(name), { id: name })
    )
      await this.navigation.show({ thread, seq });
  }
  /** The recording continues. */
  async saveFrozen(part: FrozenPart): Promise<void> {
    const { name } = part;
    if (name === null) return;
    await this.attempt(async () => {
      await this.host.saveFile(
        `${this.frozenName(part)}.vfst`,
        await this.session.frozenPart(name),
      );
      await this.session.saved(name);
    });
  }
  private frozenName({ atUs }: FrozenPart): string {
    return `${this.fileName()}-frozen-${Math.round(atUs / 1000)}ms`;
  }

  toggleRecording(): Promise<void> {
    return get(this.status)?.recording ? this.stop() : this.record();
  }

  private forget(): void {
    this.keptViews.leave();
    this.trace.update((n) => n + 1);
    this.file.set(null);
    this.begunMs.set(null);
    if (get(this.paused)) this.togglePause();
    this.navigation.reset();
  }

  async clear(): Promise<void> {
    await this.exclusively(async () => {
      if (get(this.status)?.recording) return;
      this.asked++;
      await this.session.clear();
      this.forget();
      await this.lookForSpools();
    });
  }

  async save(): Promise<void> {
    await this.exportAs('vfst', false, async (name) => {
      await this.session.saved();
      this.say('info', `Your browser is saving ${name}. If the file doesn't appear, save again.`);
    });
  }
  /**
   * The current trace, even during a recording. Its copy on disk stays. @throws Error with a
   * message for the user if there is none
   */
  async copy(): Promise<{ file: Blob; name: string; recording: boolean }> {
    const { events, recording } = await this.session.stats();
    if (events === 0)
      throw new Error('The panel has no recording yet: record the page, or open a file.');
    return { file: await this.session.save(), name: `${this.fileName()}.vfst`, recording };
  }
  async exportAs(
    format: ExportFormat,
    sanitize = false,
    done?: (name: string) => Promise<void>,
  ): Promise<void> {
    const title = this.fileName();
    const name = `${sanitize ? 'sanitized-trace' : title}.${EXPORT_FORMATS[format].ending}`;
    await this.writing(name, () => this.session.exportAs({ format, sanitize, title }), done);
  }
  /** Lines of the list that Events shows, as CSV. */
  async exportLines(range: { from: number; count: number }): Promise<void> {
    await this.writing(`${this.fileName()}-events.csv`, () => this.session.exportLines(range));
  }
  /** Shows its progress with a Cancel button. @param done called once the browser has the file */
  private async writing(
    name: string,
    make: () => Promise<Blob>,
    done?: (name: string) => Promise<void>,
  ): Promise<void> {
    await this.exclusively(async () => {
      this.loading.set({
        what: `Writing ${name}`,
        bytes: 0,
        totalBytes: null,
        cancel: () => this.session.cancelExport(),
      });
      try {
        await this.host.saveFile(name, await make());
        await done?.(name);
      } finally {
        this.loading.set(null);
      }
    });
  }

  private readonly fileName = (): string =>
    traceName(get(this.file), get(this.threads)[0]?.url ?? '');

  async open(file: Blob, name: string): Promise<void> {
    if (/\.wasm$/i.test(name)) await this.nameFunctions(file);
    else await this.load(name, file.size, () => this.session.open(file, name));
  }
  /** A wasm file isn't a trace: it has the function names for CPU samples. */
  private async nameFunctions(file: Blob): Promise<void> {
    await this.attempt(async () => {
      const named = await this.session.nameFunctions(file);
      this.say(
        'info',
        `Named ${countOf(named, 'function')} of the CPU samples. The names are right only for the same build.`,
      );
    });
  }
  async openExample(): Promise<void> {
    await this.attempt(async () => {
      const file = await this.host.example?.();
      if (file) await this.open(file, EXAMPLE_NAME);
    });
  }
  /** Show a recording from disk in the open view, in the recording's last state. */
  async recover({ name, id, origin, begunMs, bytes }: Spool): Promise<void> {
    const recover = (): Promise<LoadResult> => this.session.recover(name);
    await this.load(traceName(null, origin, begunMs), bytes, recover, { id, begunMs });
  }
  /** Delete one recording. */
  async discard(spool: Spool): Promise<void> {
    if (spool.shown) return this.clear();
    await this.attempt(() => this.session.discard(spool.name));
    await this.lookForSpools();
  }
  /** Delete all recordings on disk. */
  async discardAll(): Promise<void> {
    const all = get(this.spools);
    for (const { name, shown } of all)
      if (!shown) await this.attempt(() => this.session.discard(name));
    if (all.some(({ shown }) => shown)) await this.clear();
    await this.lookForSpools();
  }
  lookForSpools(): Promise<boolean> {
    return this.attempt(async () => this.spools.set(await this.session.spools()));
  }

  /** @param recording that it is a copy of; null = the user's file */
  private async load(
    name: string,
    totalBytes: number,
    command: () => Promise<LoadResult>,
    recording: { id: string; begunMs?: number } | null = null,
  ): Promise<boolean> {
    const before = get(this.trace);
    const stays = recording !== null && (get(this.stats)?.events ?? 0) > 0;
    return this.reading(name, totalBytes, async () => {
      const asked = ++this.asked;
      this.opened = false;
      const { warnings } = await command();
      if (asked !== this.asked) return; // another file or recording was requested meanwhile
      if (!this.opened) this.forget();
      this.file.set({ name, warnings, copy: recording !== null });
      this.begunMs.set(recording?.begunMs ?? null);
      // otherwise the address may name the view
      if (before > 0 && !stays) this.navigation.tab.set('answer');
      await this.takeAll();
      if (recording) await this.keptViews.show(recording.id);
      await this.lookForSpools();
    });
  }
  /** The session has another trace. */
  private async takeAll(): Promise<void> {
    this.navigation.takeExtents(await this.session.extents());
    if (get(this.navigation.follow)) this.navigation.followView(false);
    this.threads.set(await this.session.threads());
    this.stats.set(await this.session.stats());
  }
  private async reading(
    name: string,
    totalBytes: number,
    command: () => Promise<void>,
  ): Promise<boolean> {
    const reading = ++this.readings;
    this.loading.set({
      what: `Reading ${name}`,
      bytes: 0,
      totalBytes,
      cancel: () => this.session.cancelOpen(),
    });
    try {
      return await this.attempt(command);
    } finally {
      // otherwise it belongs to a file that was requested later
      if (reading === this.readings) this.loading.set(null);
    }
  }
  /** Open a second trace for comparison, after the current file operation. */
  async compareWith(file: Blob, name: string): Promise<void> {
    await until(this.loading, (now) => now === null);
    await this.reading(name, file.size, async () => {
      const { warnings } = await this.session.openOther(file, name);
      for (const text of warnings) this.say('info', `${name}: ${text}`);
    });
  }

  // ---- failures and toasts ----------------------------------------------------------------------------------------------

  /** Run a command and show its failure as a toast. @returns whether it succeeded */
  async attempt(command: () => Promise<void>): Promise<boolean> {
    try {
      await command();
      return true;
    } catch (error) {
      if (!(error instanceof Error && error.name === 'AbortError'))
        this.say('error', error instanceof Error ? error.message : String(error));
      return false;
    }
  }

  say(kind: Toast['kind'], text: string): void {
    const toast = { id: ++this.lastToast, kind, text };
    this.toasts.update((all) => [...all.slice(-3), toast]);
  }
  dismiss(id: number): void {
    this.toasts.update((all) => all.filter((toast) => toast.id !== id));
  }
}
