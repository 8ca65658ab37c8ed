/** The index advisor on the Lab's page: the recording with the statements, and the answer. */
import type { Advice } from '../advisor/advice.ts';
import { withoutValues } from '../advisor/without-values.ts';
import { adviceCsv, adviceHtml, adviceSvg } from '../results/advice-report.ts';
import { Canceled, type Bench } from './bench.ts';
import { saveResult, type SavedAs } from './results-file.ts';
import type { FileOfRuns, UnfinishedAdvice, UnfinishedStore } from './unfinished.svelte.ts';

/** A file of the user's. */
interface Own {
  readonly name: string;
  readonly file: Blob;
}

export class AdviceModel {
  /** A recording opened beside the database. */
  recording = $state.raw<{ name: string; file: Blob } | null>(null);
  advice = $state.raw<Advice | null>(null);
  /** Database and recording of an answer that a closed tab left; [] = none. */
  leftOf = $state.raw<readonly FileOfRuns[]>([]);
  /** Name of the database in the answer. */
  private of = '';
  running = $state(false);
  /** The search stops after the current statement and answers with what it has tried. */
  stopping = $state(false);
  error = $state('');

  /** @param say receives the current activity; '' = none */
  constructor(
    private readonly bench: Bench,
    private readonly unfinished: UnfinishedStore,
    private readonly say: (what: string) => void,
  ) {}

  /** Another database or recording: the answer was for the previous one. */
  forget(): void {
    this.advice = null;
    this.leftOf = [];
    this.error = '';
  }
  /** What a closed tab left. */
  show({ files, advice }: UnfinishedAdvice): void {
    this.forget();
    [this.leftOf, this.advice, this.of] = [files, advice, files[0]!.name];
  }

  /** The answer so far is stored, without values. */
  async find(database: Own, recording: Own): Promise<void> {
    this.forget();
    this.of = database.name;
    this.running = true;
    this.say('Reading the recording');
    try {
      await this.unfinished.during(() => this.search(database, recording));
    } catch (error) {
      this.error = error instanceof Error ? error.message : String(error);
    } finally {
      [this.running, this.stopping] = [false, false];
      this.say('');
    }
  }
  /** If it fails, it shows the answer so far. @returns whether nothing of it is left to do */
  private async search(database: Own, recording: Own): Promise<boolean> {
    const files = [database, recording].map(({ name, file }) => ({ name, bytes: file.size }));
    let soFar: Advice | null = null;
    const take = (advice: Advice): void => {
      soFar = advice;
      this.unfinished.save({ kind: 'advice', files, advice: withoutValues(advice) });
    };
    try {
      const advice = await this.bench.advise(
        database.file,
        recording.file,
        ({ what, done, all }) => this.say(`${what} (${done} of ${all})`),
        take,
      );
      take(advice);
      return advice.interruptedAt === null;
    } catch (error) {
      if (!(error instanceof Canceled)) throw error;
      soFar = null;
      return true;
    } finally {
      this.advice = soFar;
    }
  }
  /** JSON has the same form as `vfscope lab advise --json`. */
  save(as: SavedAs): void {
    const { advice, of: database } = this;
    if (!advice) return;
    const of = { advice, database };
    saveResult('advice', as, {
      object: advice,
      html: () => adviceHtml(of),
      svg: () => adviceSvg(of),
      csv: () => adviceCsv(of),
    });
  }
  /**
   * Stops with what was tried so far as the answer. Pressed again, it cancels without an answer.
   */
  async cancel(): Promise<void> {
    if (this.stopping) await this.bench.cancel();
    else {
      this.stopping = true;
      await this.bench.stop().catch((error: unknown) => {
        if (!(error instanceof Canceled)) throw error; // pressed again in the meantime
      });
    }
  }
}
