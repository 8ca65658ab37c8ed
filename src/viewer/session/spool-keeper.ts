/**
 * Looks after the disk copy of the current recording: makes it once there is a thread to tell what is recorded, appends to it once a
 * second, finishes it, deletes it when it is not needed. Where it cannot grow, it is tried again until there is room.
 * A flight recorder's copy is written again once most of it is forgotten, the old one deleted once the new one holds as much.
 * A copy that cannot be written any further stays, for what it holds, until the recording is unwanted.
 * Earlier recordings stay, as many as history.ts allows; on a full disk the oldest of them make room.
 */
import type { TraceStore } from '../../trace/store.ts';
import type { Journal } from './journal.ts';
import { countOf } from '../../text/numbers.ts';
import { makeRoom, prune } from './history.ts';
import { DiskSpool, discardSpool, isFull, type LanesOf } from './spool.ts';

/** What came since is in the journal: few large steps pack better than many small ones, and leave the traced app its processor. */
const EVERY_MS = 1000;
/** Without one. */
const ALONE_MS = 200;
/** A disk without room is asked again so often. */
const AGAIN_MS = 5000;
/** Forgotten events in the copy that are worth writing it again, when they are also more than the trace holds. */
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
  /** The copy is to grow with the recording. */
  private wanted = false;
  /** What was said of a copy that cannot grow; null = it grows. */
  private stopped: { what: string; text: string } | null = null;
  /** Earlier recordings that went because the disk is full, and what was said of them. */
  private removed = { count: 0, text: '' };

  /**
   * @param onProblem called with a text when the copy cannot be kept: the recording goes on without it
   * @param onSolved told of the same words when it can be again
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
   * @param originOf what is recorded, as far as the store tells by now; '' = not yet
   * @param journal told what the copy has; ended with it
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

  /** Not before a thread has come: an empty copy is worth nothing, and its name says what was recorded. */
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

  /** On a full disk, earlier recordings make room. */
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
      // no room for both, most likely: the old one grows on, and says so when it cannot
      this.renew = null;
      if (next) await remove(next);
      return;
    }
    this.spool = next;
    await remove(spool);
  }

  private async rest(): Promise<void> {
    await this.working; // it may plan the next
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
    await this.prune(); // their sizes are known now
  }

  /** The recording is unwanted: delete its copy. */
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
    const text = `${what}: ${reason}. The recording itself continues in memory. Free some disk space: vfscope tries again by itself.`;
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
