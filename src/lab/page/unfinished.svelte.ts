/**
 * What a tab that closed was doing: runs, a crash test, a replay. It is stored after each pass, each configuration, and a few times a second
 * of a replay. The next Lab offers it: what was done isn't lost, and the rest can still run. One tab at a time stores what it does, the one
 * that holds the lock.
 */
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

/** A file of the user's that runs are of: a database, or a build of SQLite. Its bytes aren't stored. */
export interface FileOfRuns {
  readonly name: string;
  readonly bytes: number;
}
export interface UnfinishedRuns {
  readonly kind: 'runs';
  readonly offer: string;
  /** Values that were chosen, without builds of the user's. */
  readonly choices: Choices;
  readonly parameters: ParameterChoices;
  readonly memory: boolean;
  /** Without them the rest can't run; [] = there are none. */
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
/** Its counts. The recording is the user's, and isn't stored. */
export interface UnfinishedReplay {
  readonly kind: 'replay';
  /** Name of its file. */
  readonly recording: string;
  readonly heading: string;
  readonly report: ReplayReport;
}
/** What a closed tab was doing. */
export type Unfinished = UnfinishedRuns | UnfinishedCrash | UnfinishedReplay;
interface StoredRun {
  /** Without the user's files. */
  readonly run: Run;
  readonly samples: readonly Sample[];
  /** Why it failed; '' where it did not. */
  readonly message: string;
}

/** Files of the user's in runs, each once. */
export function filesOf(runs: readonly Run[]): FileOfRuns[] {
  const files = runs.flatMap(({ database, engineFile }) =>
    [database, engineFile].flatMap((own) =>
      own ? [{ name: own.name, bytes: own.file.size }] : [],
    ),
  );
  return [...new Map(files.map((file) => [file.name, file])).values()];
}

/** What results of a closed tab were run on. */
export const wasOf = (files: readonly FileOfRuns[]): string =>
  `These results are of ${listed(files.map(({ name, bytes }) => `${name} (${formatBytes(bytes)})`))}. Your files aren't stored: to run the rest, open ${files.length === 1 ? 'it' : 'them'} again and press Run.`;

/** What a closed tab left, and what this one stores. */
export class UnfinishedStore {
  /** What a closed tab left, until it is shown, discarded, or replaced. */
  found = $state.raw<Unfinished | null>(null);
  /** The right of this tab to store, for as long as its work takes. */
  private release: (() => void) | null = null;

  /** Stores what `save` is given meanwhile. @param work returns whether all of it is done: then nothing stays stored */
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
      // more than the browser stores for a page: half of it would be worth nothing
      if (!(error instanceof DOMException)) throw error;
      localStorage.removeItem(KEY);
    }
  }

  /** Nothing is found where a tab still does it, or where it is of another version. */
  async look(): Promise<void> {
    const text = localStorage.getItem(KEY);
    if (text === null) return;
    const { held = [] } = await navigator.locks.query();
    if (held.some(({ name }) => name === KEY)) return;
    const { version, unfinished } = JSON.parse(text) as { version: string; unfinished: Unfinished };
    if (version === VFSCOPE_VERSION) this.found = unfinished;
  }
  /** @returns what was found: it is on show now */
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
