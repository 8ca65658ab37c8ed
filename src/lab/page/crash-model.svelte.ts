/**
 * The crash test on the Lab's page: one configuration after the other, each in the Lab's worker, on
 * emulated storage.
 */
import {
  crashConfigs,
  CRASH_VFSS,
  DEFAULT_OPTIONS,
  type CrashConfig,
  type CrashResult,
  type NotTested,
} from '../crash/model.ts';
import { crashText } from '../experiments/duration.ts';
import {
  crashCsv,
  crashHtml,
  crashObject,
  crashSvg,
  type CrashTests,
} from '../results/crash-report.ts';
import { Canceled, type Bench } from './bench.ts';
import { saveResult, type SavedAs } from './results-file.ts';
import type { UnfinishedCrash, UnfinishedStore } from './unfinished.svelte.ts';

/** It isn't a VFS of the Lab's engines, and its package isn't part of the extension. */
const COMMAND_ONLY = 'opfs-sahpool';

export class CrashModel {
  /** synchronous=normal, too. */
  normal = $state(false);
  outcomes = $state.raw<readonly (CrashResult | NotTested)[]>([]);
  running = $state(false);
  /** Number of crashes of the current configuration. */
  crashes = $state(0);
  /** Configurations of the shown run, finished or not. */
  configs = $state.raw<readonly CrashConfig[]>([]);

  /** @param say receives the current activity; '' = none */
  constructor(
    private readonly bench: Bench,
    private readonly unfinished: UnfinishedStore,
    private readonly say: (what: string) => void,
  ) {}

  /** Its estimated duration. */
  get takes(): string {
    return crashText(this.chosen().length, DEFAULT_OPTIONS.commits);
  }
  get canResume(): boolean {
    return !this.running && this.hasMore;
  }

  async run(): Promise<void> {
    this.outcomes = [];
    this.configs = this.chosen();
    await this.resume();
  }
  resume(): Promise<void> {
    return this.unfinished.during(async () => {
      await this.rest();
      return !this.hasMore;
    });
  }
  /** What a closed tab left. */
  show({ configs, outcomes }: UnfinishedCrash): void {
    [this.configs, this.outcomes] = [configs, outcomes];
    this.normal = configs.some(({ synchronous }) => synchronous === 'normal');
  }
  private async rest(): Promise<void> {
    this.running = true;
    this.say('Testing crashes');
    try {
      while (this.hasMore) {
        this.crashes = 0;
        const { configs } = this;
        this.outcomes = [...this.outcomes, await this.outcomeOf(configs[this.outcomes.length]!)];
        this.unfinished.save({ kind: 'crash', configs, outcomes: this.outcomes });
      }
    } catch (error) {
      if (!(error instanceof Canceled)) throw error;
    } finally {
      this.running = false;
      this.say('');
      // other runs can't use this worker: the files that its VFSs opened weren't real
      await this.bench.cancel();
    }
  }
  async cancel(): Promise<void> {
    await this.bench.cancel();
  }

  /** Results so far. */
  get tests(): CrashTests {
    return { options: DEFAULT_OPTIONS, outcomes: this.outcomes };
  }
  save(as: SavedAs): void {
    const { tests } = this;
    saveResult('crash', as, {
      object: crashObject(tests),
      html: () => crashHtml(tests),
      svg: () => crashSvg(tests),
      csv: () => crashCsv(tests),
    });
  }
  /** All configurations are tested. */
  get isDone(): boolean {
    return this.outcomes.length > 0 && !this.hasMore;
  }
  private get hasMore(): boolean {
    return this.outcomes.length < this.configs.length;
  }
  private chosen(): CrashConfig[] {
    return crashConfigs({
      vfs: CRASH_VFSS.filter((vfs) => vfs !== COMMAND_ONLY),
      journalMode: ['delete', 'wal'],
      synchronous: this.normal ? ['full', 'normal'] : ['full'],
      durability: ['relaxed', 'strict'],
    });
  }
  /** @throws Canceled */
  private async outcomeOf(config: CrashConfig): Promise<CrashResult | NotTested> {
    try {
      return await this.bench.crash(config, DEFAULT_OPTIONS, (crashes) => (this.crashes = crashes));
    } catch (error) {
      if (error instanceof Canceled) throw error;
      // the VFS or SQLite rejects the configuration: the others continue
      const said = error instanceof Error ? error.message : String(error);
      return { config, cause: said.split('\n')[0]! };
    }
  }
}
