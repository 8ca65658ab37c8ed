/**
 * The state and actions of the box "Replay a recording": the recording, the target, and the replays
 * so far.
 */
import type { RecordingFacts } from '../experiments/replay/facts.ts';
import type {
  Replayed as Done,
  ReplayProgress,
  ReplayReport,
} from '../experiments/replay/replay.ts';
import { traceOfPanel } from '../../protocol/panel-trace.ts';
import { Canceled, type Bench } from './bench.ts';
import {
  configFor,
  FIRST_CHOICE,
  headingOf,
  type ReplayChoice,
  type ReplaySetting,
} from './replay-choices.ts';
import { replayCsv, replayHtml, replaySvg } from '../results/replay-report.ts';
import { saveResult, type SavedAs } from './results-file.ts';
import type { UnfinishedReplay, UnfinishedStore } from './unfinished.svelte.ts';

export interface Replayed {
  readonly heading: string;
  readonly report: ReplayReport;
  /** A .vfst file. null: a closed tab only left the counts. */
  readonly trace: Blob | null;
}
interface Recording {
  readonly name: string;
  readonly file: Blob;
  /** Its source, as the end of a sentence. */
  readonly from: string;
  readonly facts: RecordingFacts;
  /** Damage in the file. */
  readonly warnings: readonly string[];
}
const STAGES: Readonly<Record<ReplayProgress['stage'], string>> = {
  fill: 'Filling the files as the recording found them',
  replay: 'Repeating the calls',
  error: "Repeating them on the recording's own VFS, to measure the error",
};

export class ReplayModel {
  /** From the panel that opened the Lab and provides its recording; null = none. */
  panelKey = $state<string | null>(null);
  recording = $state.raw<Recording | null>(null);
  choice = $state.raw<ReplayChoice>(FIRST_CHOICE);
  replays = $state.raw<readonly Replayed[]>([]);
  /** The recording of a replay that a closed tab left; '' = none. */
  leftOf = $state('');
  /** A file is being read, or calls are being made. */
  working = $state(false);
  progress = $state.raw<ReplayProgress | null>(null);
  /** Why nothing was replayed. */
  error = $state('');
  /** What could not be removed from storage. */
  left = $state.raw<readonly string[]>([]);

  /** @param say receives the current activity, '' at its end: the rest of the page waits for it */
  constructor(
    private readonly bench: Bench,
    private readonly unfinished: UnfinishedStore,
    private readonly say: (what: string) => void,
  ) {}

  readonly config = $derived(configFor(this.choice));
  readonly stage = $derived(this.progress ? STAGES[this.progress.stage] : 'Beginning');

  set(key: ReplaySetting, value: string | number | null): void {
    this.choice = { ...this.choice, [key]: value };
  }

  /** @param from its source, as the end of a sentence */
  async take(file: Blob, name: string, from: string): Promise<void> {
    this.forgetAll();
    await this.work(`Reading ${name}`, () => this.look(file, name, from));
  }
  /** The panel's current recording replaces this one, once it has arrived. */
  async takeFromPanel(): Promise<void> {
    const key = this.panelKey;
    if (key === null || this.working) return;
    await this.work('Asking the panel for its recording', async () => {
      const { file, name, recording } = await traceOfPanel(key);
      const time = new Date().toLocaleTimeString('en-GB');
      await this.look(
        file,
        name,
        `the panel, ${recording ? `which records it, as it was at ${time}` : `at ${time}`}`,
      );
    });
  }
  private async look(file: Blob, name: string, from: string): Promise<void> {
    const { facts, warnings } = await this.bench.look(file);
    this.forgetAll();
    this.recording = { name, file, from, facts, warnings };
  }
  private forgetAll(): void {
    this.recording = null;
    this.replays = [];
    this.leftOf = '';
  }
  /** What a closed tab left. */
  show({ recording, heading, report }: UnfinishedReplay): void {
    this.forgetAll();
    this.leftOf = recording;
    this.replays = [{ heading, report, trace: null }];
  }

  /** A replay on the same configuration replaces the last one. */
  async run(): Promise<void> {
    const { recording } = this;
    if (!recording) return;
    const heading = headingOf(this.config);
    await this.unfinished.during(async () => {
      let done = true;
      await this.work(`Replaying on ${heading}`, async () => {
        done = await this.replayed(recording, heading);
      });
      return done;
    });
  }
  /**
   * If stopped early, it returns what was replayed so far.
   * @returns false: it was canceled
   * @throws Error with a message for the user
   */
  private async replayed({ file, name }: Recording, heading: string): Promise<boolean> {
    let done: Done | null = null;
    const take = (now: Done): void => {
      done = now;
      this.unfinished.save({ kind: 'replay', recording: name, heading, report: now.report });
    };
    try {
      const { left, ...whole } = await this.bench.replay(
        file,
        this.config,
        (progress) => (this.progress = progress),
        take,
      );
      this.left = left;
      done = whole;
      return true;
    } catch (error) {
      if (error instanceof Canceled) return false;
      throw error;
    } finally {
      if (done) this.add({ heading, ...done });
    }
  }
  private add(replayed: Replayed): void {
    const at = this.replays.findIndex(({ heading }) => heading === replayed.heading);
    this.replays = at < 0 ? [...this.replays, replayed] : this.replays.with(at, replayed);
  }
  async cancel(): Promise<void> {
    this.left = await this.bench.cancel();
  }
  save({ heading, report }: Replayed, as: SavedAs): void {
    saveResult(`replay-${heading.replace(/[^\w]+/g, '-').toLowerCase()}`, as, {
      object: report,
      html: () => replayHtml(report),
      svg: () => replaySvg(report),
      csv: () => replayCsv(report),
    });
  }
  forget(heading: string): void {
    this.replays = this.replays.filter((r) => r.heading !== heading);
  }

  private async work(what: string, work: () => Promise<void>): Promise<void> {
    this.say(what);
    this.working = true;
    this.error = '';
    this.left = [];
    this.progress = null;
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Canceled))
        this.error = error instanceof Error ? error.message : String(error);
    } finally {
      this.working = false;
      this.progress = null;
      this.say('');
    }
  }
}
