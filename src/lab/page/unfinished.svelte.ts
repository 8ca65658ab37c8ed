/**
 * Stores the work of a tab, so that it survives closing: runs, a crash test, a replay, index
 * advice. It saves after each pass, after each configuration, a few times a second during a replay,
 * and after each candidate index. The next Lab offers to show the finished part and to run the
 * rest. Only one tab at a time saves, the one that holds the lock.
 */
import type { Advice } from '../advisor/advice.ts';
import type { CrashConfig, CrashResult, NotTested } from '../crash/model.ts';
import type { Environment } from '../experiments/model/environment-types.ts';
import type { FaultSettings } from '../experiments/model/faults.ts';
import type { Sample } from '../experiments/model/result-types.ts';
import type { Mode, Run, VfsName } from '../experiments/model/types.ts';
import type { ReplayReport } from '../experiments/replay/replay.ts';

import { listed } from '../results/table.ts';
import { formatBytes } from '../../text/numbers.ts';
import type { Choices, ParameterChoices } from './grid.ts';

declare const VFSCOPE_VERSION: string;

const KEY = 'vfscope-lab-unfinished';

/** A user's file that runs depend on: a database, or a build of SQLite. Its bytes aren't stored. */
export interface FileOfRuns {
  readonly name: string;
  readonly bytes: number;
}
export interface UnfinishedRuns {
  readonly kind: 'runs';
  readonly offer: string;
  /** Chosen values, without the user's builds. */
  readonly choices: Choices;
  readonly parameters: ParameterChoices;
  readonly memory: boolean;
  /** Files that the rest needs to run; [] = none. */
  readonly files: readonly FileOfRuns[];
  readonly vfs: readonly VfsName[];
  readonly faults: FaultSettings;
  readonly mode: Mode;
  readonly headings: readonly string[];
  readonly environment: Environment;
  readonly runs: readonly StoredRun[];
}
export interface UnfinishedCrash {
  readonly kind: 'crash';
  readonly configs: readonly CrashConfig[];
  readonly outcomes: readonly (CrashResult | NotTested)[];
}
/** Its counts. The recording belongs to the user and isn't stored. */
export interface UnfinishedReplay {
  readonly kind: 'replay';
  /** Name of its file. */
  readonly recording: string;
  readonly heading: string;
  readonly report: ReplayReport;
}
/** What the index advisor found so far, without values. */
export interface UnfinishedAdvice {
  readonly kind: 'advice';
  /** The database and the recording. Their bytes aren't stored. */
  readonly files: readonly FileOfRuns[];
  readonly advice: Advice;
}
/** The work of a closed tab. */
export type Unfinished = UnfinishedRuns | UnfinishedCrash | UnfinishedReplay | UnfinishedAdvice;
interface StoredRun {
  /** Without the user's files. */
  readonly run: Run;
  readonly samples: readonly Sample[];
  /** Why it failed; '' where it didn't. */
  readonly message: string;
}

/** The user's files in runs, each once. */
export function filesOf(runs: readonly Run[]): FileOfRuns[] {
  const files = runs.flatMap(({ database, engineFile }) =>
    [database, engineFile].flatMap((own) =>
      own ? [{ name: own.name, bytes: own.file.size }] : [],
    ),
  );
  return [...new Map(files.map((file) => [file.name, file])).values()];
}

const filesText = (files: readonly FileOfRuns[]): string =>
  listed(files.map(({ name, bytes }) => `${name} (${formatBytes(bytes)})`));
/** The configurations of a closed tab's results. */
export const wasOf = (files: readonly FileOfRuns[]): string =>
  `These results are of ${filesText(files)}. Your files aren't stored: to run the rest, open ${files.length === 1 ? 'it' : 'them'} again and press Run.`;

/** The files of a closed tab's index advice. */
export const adviceWasOf = (files: readonly FileOfRuns[]): string =>
  `This advice is of ${filesText(files)}. Your files and their values aren't stored: to search again, open both and press Find indexes.`;

/** What a closed tab left, and what this one saves. */
export class UnfinishedStore {
  /** What a closed tab left, until it is shown, discarded, or replaced. */
  found = $state.raw<Unfinished | null>(null);
  /** This tab's right to save, for as long as its work takes. */
  private release: (() => void) | null = null;

  /**
   * Lets `save` store the work while it runs.
   * @param work returns whether everything is done: then the stored work is deleted
   */
  async during(work: () => Promise<boolean>): Promise<void> {
    this.found = null;
    const begun = this.begin();
    try {
      const done = await work();
      await begun;
      if (done && this.release) localStorage.removeItem(KEY);
    } finally {
      await begun;
      this.release?.();
      this.release = null;
    }
  }
  private async begin(): Promise<void> {
    await new Promise<void>((known) => {
      void navigator.locks.request(KEY, { ifAvailable: true }, (lock) => {
        known();
        if (!lock) return undefined;
        return new Promise<void>((resolve) => (this.release = resolve));
      });
    });
  }

  save(unfinished: Unfinished): void {
    if (!this.release) return;
    try {
      localStorage.setItem(KEY, JSON.stringify({ version: VFSCOPE_VERSION, unfinished }));
    } catch (error) {
      // more than the browser stores for a page: half of it would be useless
      if (!(error instanceof DOMException)) throw error;
      localStorage.removeItem(KEY);
    }
  }

  /** Finds nothing while a tab is still working, or after a version change. */
  async look(): Promise<void> {
    const text = localStorage.getItem(KEY);
    if (text === null) return;
    const { held = [] } = await navigator.locks.query();
    if (held.some(({ name }) => name === KEY)) return;
    const { version, unfinished } = JSON.parse(text) as { version: string; unfinished: Unfinished };
    if (version === VFSCOPE_VERSION) this.found = unfinished;
  }
  /** @returns what was found, which is shown from here on */
  take(): Unfinished | null {
    const { found } = this;
    this.found = null;
    return found;
  }
  discard(): void {
    this.found = null;
    localStorage.removeItem(KEY);
  }
}
