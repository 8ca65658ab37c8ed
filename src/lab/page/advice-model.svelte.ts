/** The index advisor on the Lab's page: the recording whose statements it reads, and its answer. */
import type { Advice } from '../advisor/advice.ts';
import { adviceCsv, adviceHtml, adviceSvg } from '../results/advice-report.ts';
import { Canceled, type Bench } from './bench.ts';
import { saveResult, type SavedAs } from './results-file.ts';

export class AdviceModel {
  /** A recording that was opened beside the database. */
  recording = $state.raw<{ name: string; file: Blob } | null>(null);
  advice = $state.raw<Advice | null>(null);
  /** Name of the database that the answer is of. */
  private of = '';
  running = $state(false);
  /** It ends with what it has tried by now, after the statement that runs. */
  stopping = $state(false);
  error = $state('');

  /** @param say what is under way; '' = nothing */
  constructor(
    private readonly bench: Bench,
    private readonly say: (what: string) => void,
  ) {}

  /** Another database or recording: the answer was for the one before. */
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
  /** JSON has the form of `vfscope lab advise --json`. */
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
  /** What was tried by now is the answer; pressed again, there is none. */
  async cancel(): Promise<void> {
    if (this.stopping) await this.bench.cancel();
    else {
      this.stopping = true;
      await this.bench.stop().catch((error: unknown) => {
        if (!(error instanceof Canceled)) throw error; // pressed again meanwhile
      });
    }
  }
}
