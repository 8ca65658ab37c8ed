/**
 * Manages the current recording's copy on disk: creates it once a thread tells what is recorded,
 * appends once a second, finishes it, and deletes it when it isn't needed. If the copy can't grow,
 * it retries until there is room. A flight recorder's copy is rewritten once most of it has been
 * dropped; the old copy is deleted once the new one holds as much. A copy that can't be written any
 * further stays until the recording is discarded. Earlier recordings stay, as many as history.ts
 * allows. On a full disk, the oldest are deleted.
 */
import type { TraceStore } from '../../trace/store.ts';
import type { Journal } from './journal.ts';
import { countOf } from '../../text/numbers.ts';
import { makeRoom, prune } from './history.ts';
import { DiskSpool, discardSpool, isFull, type LanesOf } from './spool.ts';

/**
 * Newer data is in the journal. A few large steps pack better than many small ones, and use less of
 * the traced app's processor.
 */
const EVERY_MS = 1000;
/** Without one. */
const ALONE_MS = 200;
/** Interval of retries on a full disk. */
const AGAIN_MS = 5000;
/**
 * Minimum number of dropped events in the copy before it is rewritten. They must also exceed those
 * that the trace holds.
 */
const WORTH_EVENTS = 65_536;

async function remove(spool: DiskSpool): Promise<void> {
  await spool.close();
  await discardSpool(spool.name);
}

export class SpoolKeeper {
  private spool: DiskSpool | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private working: Promise<void> = Promise.resolve();
  private renew: ((generation: number) => Promise<DiskSpool>) | null = null;
  private store: TraceStore | null = null;
  private journal: Pick<Journal, 'covered' | 'end'> | null = null;
  private generation = 0;
  /** The copy should grow with the recording. */
  private wanted = false;
  /** The warning about a copy that can't grow; null = it grows. */
  private stopped: { what: string; text: string } | null = null;
  /** Earlier recordings that were deleted because the disk is full, and the message about them. */
  private removed = { count: 0, text: '' };

  /**
   * @param onProblem called with a text when the copy can't be kept; the recording continues
   * without it
   * @param onSolved called with the same text when it can be kept again
   */
  constructor(
    private readonly onProblem: (text: string) => void,
    private readonly onSolved: (text: string) => void = () => {},
    private readonly everyMs: number | null = null,
    private readonly againMs = AGAIN_MS,
  ) {}

  get bytes(): number {
    return this.spool?.bytes ?? 0;
  }

  /** Of the copy; null = there is none. */
  get name(): string | null {
    return this.spool?.name ?? null;
  }

  /**
   * @param originOf what is recorded, as far as the store knows; '' = not yet known
   * @param journal notified of what the copy has; ended with it
   */
  begin(
    store: TraceStore,
    key: string,
    originOf: (store: TraceStore) => string,
    lanesOf: LanesOf,
    journal: Pick<Journal, 'covered' | 'end'> | null = null,
  ): void {
    this.store = store;
    this.journal = journal;
    this.generation = 0;
    this.renew = (generation) =>
      DiskSpool.create(store, key, originOf(store), lanesOf, generation ? `${generation}` : '');
    this.wanted = true;
    this.plan();
  }

  private plan(): void {
    this.timer = setTimeout(
      () => {
        this.timer = null;
        this.working = this.append().then(() => {
          if (this.wanted) this.plan();
        });
      },
      this.stopped === null ? (this.everyMs ?? (this.journal ? EVERY_MS : ALONE_MS)) : this.againMs,
    );
  }

  /** Waits for a thread: an empty copy is useless, and its name tells what was recorded. */
  private async make(): Promise<void> {
    if (!this.wanted || this.spool || !this.renew || !this.store?.threads.length) return;
    const { renew } = this;
    try {
      this.spool = await this.withRoom(() => renew(0));
      this.grows();
    } catch (error) {
      this.stops('The recording has no backup copy on disk', error);
      return;
    }
    await this.prune();
  }

  private async prune(): Promise<void> {
    await prune().catch((error: unknown) =>
      this.onProblem(
        `vfscope couldn't delete earlier recordings: ${error instanceof Error ? error.message : String(error)}`,
      ),
    );
  }

  /** On a full disk, delete earlier recordings. */
  private async withRoom<T>(write: () => Promise<T>): Promise<T> {
    for (;;)
      try {
        return await write();
      } catch (error) {
        if (!isFull(error) || !(await makeRoom())) throw error;
        const { count, text } = this.removed;
        if (count) this.onSolved(text);
        this.removed = {
          count: count + 1,
          text: `The disk is full. vfscope deleted ${countOf(count + 1, 'earlier recording')} to store this one.`,
        };
        this.onProblem(this.removed.text);
      }
  }

  private async append(): Promise<void> {
    await this.make();
    if (!this.wanted) return;
    const covered = this.journal?.covered();
    try {
      const { spool } = this;
      if (spool) await this.withRoom(() => spool.append());
      if (this.spool) {
        this.grows();
        covered?.();
      }
    } catch (error) {
      this.stops("The recording's backup copy on disk stopped growing", error);
      return;
    }
    await this.shorten();
  }

  private async shorten(): Promise<void> {
    const { spool, store, renew } = this;
    if (!spool || !store || !renew) return;
    const forgotten = spool.events - store.eventCount;
    if (forgotten < Math.max(WORTH_EVENTS, store.eventCount)) return;
    let next: DiskSpool | null = null;
    try {
      next = await renew(++this.generation);
      await next.append();
    } catch {
      // most likely no room for both: the old one keeps growing, and reports when it can't
      this.renew = null;
      if (next) await remove(next);
      return;
    }
    this.spool = next;
    await remove(spool);
  }

  private async rest(): Promise<void> {
    await this.working; // it may schedule the next
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }

  /** The recording has ended: write the rest. The copy stays, marked as in use. */
  async finish(): Promise<void> {
    await this.rest();
    await this.make();
    if (!this.wanted) return;
    this.wanted = false;
    try {
      const { spool } = this;
      if (spool) await this.withRoom(() => spool.finish());
      if (spool) this.grows();
      await this.journal?.end(true);
    } catch (error) {
      this.stops("The recording's backup copy on disk lacks its end", error);
      await this.journal?.end(false);
    }
    await this.prune(); // their sizes are known at this point
  }

  /** The recording is discarded: delete its copy. */
  async drop(): Promise<void> {
    const name = await this.letGo();
    if (name !== null) await discardSpool(name);
  }

  /** Another trace is shown: the copy stays on disk, and is offered again. @returns its name */
  async letGo(): Promise<string | null> {
    this.wanted = false;
    await this.rest();
    const { spool } = this;
    this.spool = null;
    await spool?.close();
    return spool?.name ?? null;
  }

  private stops(what: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    const text = `${what}: ${reason}. The recording itself continues in memory. Free some disk space: vfscope retries automatically.`;
    if (this.stopped?.what === what) return;
    this.grows();
    this.stopped = { what, text };
    this.onProblem(text);
  }
  private grows(): void {
    if (this.stopped) this.onSolved(this.stopped.text);
    this.stopped = null;
  }
}
