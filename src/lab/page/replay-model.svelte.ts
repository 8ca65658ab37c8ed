/** What the box "Replay a recording" shows and does: the recording, what it is replayed on, the replays so far. */
import type { RecordingFacts } from '../experiments/replay/facts.ts';
import type { ReplayProgress, ReplayReport } from '../experiments/replay/replay.ts';
import { traceOfPanel } from '../../protocol/panel-trace.ts';
import { Canceled, type Bench } from './bench.ts';
import {
  configFor,
  FIRST_CHOICE,
  headingOf,
  type ReplayChoice,
  type ReplaySetting,
} from './replay-choices.ts';

export interface Replayed {
  readonly heading: string;
  readonly report: ReplayReport;
  /** A .vfst file. */
  readonly trace: Blob;
}
interface Recording {
  readonly name: string;
  readonly file: Blob;
  /** Where it came from, as the end of a sentence. */
  readonly from: string;
  readonly facts: RecordingFacts;
  /** What of the file is not whole. */
  readonly warnings: readonly string[];
}
const STAGES: Readonly<Record<ReplayProgress['stage'], string>> = {
  fill: 'Filling the files as the recording found them',
  replay: 'Making the calls again',
  error: "Making them on the recording's own VFS, to measure the error",
};

export class ReplayModel {
  /** Of the panel that opened the Lab and gives its recording; null where none did. */
  panelKey = $state<string | null>(null);
  recording = $state.raw<Recording | null>(null);
  choice = $state.raw<ReplayChoice>(FIRST_CHOICE);
  replays = $state.raw<readonly Replayed[]>([]);
  /** A file is read or calls are made. */
  working = $state(false);
  progress = $state.raw<ReplayProgress | null>(null);
  /** Why nothing was replayed. */
  error = $state('');
  /** What could not be removed from storage. */
  left = $state.raw<readonly string[]>([]);

  /** @param say what is under way, '' at its end: the rest of the page waits for it */
  constructor(
    private readonly bench: Bench,
    private readonly say: (what: string) => void,
  ) {}

  readonly config = $derived(configFor(this.choice));
  readonly stage = $derived(this.progress ? STAGES[this.progress.stage] : 'Beginning');

  set(key: ReplaySetting, value: string | number | null): void {
    this.choice = { ...this.choice, [key]: value };
  }

  /** @param from where it comes from, as the end of a sentence */
  async take(file: Blob, name: string, from: string): Promise<void> {
    this.forgetAll();
    await this.work(`Reading ${name}`, () => this.look(file, name, from));
  }
  /** What the panel has by now takes the place of the current recording, once it is here. */
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
  }

  /** The same configuration again takes the place of its last replay. */
  async run(): Promise<void> {
    const { recording, config } = this;
    if (!recording) return;
    const heading = headingOf(config);
    await this.work(`Replaying on ${heading}`, async () => {
      const { report, trace, left } = await this.bench.replay(
        recording.file,
        config,
        (progress) => (this.progress = progress),
      );
      this.left = left;
      const done: Replayed = { heading, report, trace };
      const at = this.replays.findIndex((r) => r.heading === heading);
      this.replays = at < 0 ? [...this.replays, done] : this.replays.with(at, done);
    });
  }
  async cancel(): Promise<void> {
    this.left = await this.bench.cancel();
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
