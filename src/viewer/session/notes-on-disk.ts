/**
 * Writes the notes of a finished recording into its copy on disk, so that they are there when it is
 * reopened.
 */
import type { TraceStore } from '../../trace/store.ts';
import { writeNotes } from './spool.ts';

/** Minimum interval while notes are typed and tracks are moved. */
const AFTER_MS = 400;

export class NotesOnDisk {
  private due: { copy: string; store: TraceStore } | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private working: Promise<void> = Promise.resolve();

  /** @param onProblem called if they can't be written */
  constructor(private readonly onProblem: (text: string) => void) {}

  /** @param copy name of the spool, which this panel holds */
  changed(copy: string, store: TraceStore): void {
    this.due = { copy, store };
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.written(), AFTER_MS);
  }

  /** Resolves when all changes are written. */
  written(): Promise<void> {
    clearTimeout(this.timer);
    const { due } = this;
    this.due = null;
    if (due)
      this.working = this.working
        .then(() => writeNotes(due.copy, due.store.annotations))
        .catch((error: unknown) =>
          this.onProblem(
            `vfscope couldn't store your notes: ${error instanceof Error ? error.message : String(error)}. Save the recording as a file.`,
          ),
        );
    return this.working;
  }
}
