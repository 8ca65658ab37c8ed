/**
 * Runs of a tab that closed before they were done. They are stored after each pass, and the next Lab offers them: what was measured isn't
 * lost, and the rest can still run. One tab at a time stores its runs, the one that holds the lock.
 */
import type { Environment } from '../experiments/model/environment-types.ts';
import type { FaultSettings } from '../experiments/model/faults.ts';
import type { Sample } from '../experiments/model/result-types.ts';
import type { Mode, Run, VfsName } from '../experiments/model/types.ts';

declare const VFSCOPE_VERSION: string;

const KEY = 'vfscope-lab-unfinished';

/** What a closed tab was running. */
export interface Unfinished {
  readonly offer: string;
  readonly vfs: readonly VfsName[];
  readonly faults: FaultSettings;
  readonly mode: Mode;
  readonly headings: readonly string[];
  readonly environment: Environment;
  readonly runs: readonly StoredRun[];
}
interface StoredRun {
  readonly run: Run;
  readonly samples: readonly Sample[];
  /** Why it failed; '' where it did not. */
  readonly message: string;
}

/** The right of this tab to store its runs, for as long as they take. */
export class UnfinishedStore {
  private release: (() => void) | null = null;

  /** @param runs files of the user's, a database or an engine, are not stored, so such runs aren't */
  async begin(runs: readonly Run[]): Promise<void> {
    if (this.release || runs.some(({ database, engineFile }) => database || engineFile)) return;
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
      this.forget();
    }
  }

  /** All is done, or isn't wanted. */
  forget(): void {
    localStorage.removeItem(KEY);
  }
  end(): void {
    this.release?.();
    this.release = null;
  }
}

/** What a closed tab left; null: nothing, or the tab still runs it, or it is of another version. */
export async function unfinishedRuns(): Promise<Unfinished | null> {
  const text = localStorage.getItem(KEY);
  if (text === null) return null;
  const { held = [] } = await navigator.locks.query();
  if (held.some(({ name }) => name === KEY)) return null;
  const { version, unfinished } = JSON.parse(text) as { version: string; unfinished: Unfinished };
  return version === VFSCOPE_VERSION ? unfinished : null;
}
