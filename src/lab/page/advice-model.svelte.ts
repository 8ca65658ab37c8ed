/** The index advisor on the Lab's page: the recording with the statements, and the answer. */
import type { Advice } from '../advisor/advice.ts';
import { adviceCsv, adviceHtml, adviceSvg } from '../results/advice-report.ts';
import { Canceled, type Bench } from './bench.ts';
import { saveResult, type SavedAs } from './results-file.ts';

export class AdviceModel {
  /** A recording opened beside the database. */
  recording = $state.raw<{ name: string; file: Blob } | null>(null);
  advice = $state.raw<Advice | null>(null);
  /** Name of the database in the answer. */
  private of = '';
  running = $state(false);
  /** The search stops after the current statement and answers with what it has tried. */
  stopping = $state(false);
  error = $state('');

  /** @param say receives the current activity; '' = none */
  constructor(
    private readonly bench: Bench,
    private readonly say: (what: string) => void,
  ) {}

  /** Another database or recording: the answer was for the previous one. */
  forget(): void {
    this.advice = null;
    this.error = '';
  }

  /** @param name of the database */
  async find(database: Blob, recording: Blob, name: string): Promise<void> {
    this.forget();
    this.of = name;
    this.running = true;
    this.say('Reading the recording');
    try {
      this.advice = await this.bench.advise(database, recording, ({ what, done, all }) =>
        this.say(`${what} (${done} of ${all})`),
      );
    } catch (error) {
      if (!(error instanceof Canceled))
        this.error = error instanceof Error ? error.message : String(error);
    } finally {
      [this.running, this.stopping] = [false, false];
      this.say('');
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
