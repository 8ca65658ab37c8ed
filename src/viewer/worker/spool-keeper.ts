/**
 * Looks after the disk copy of the recording at hand: makes it once there is a thread to tell what is recorded, appends to it once a
 * second, finishes it, deletes it when it is not needed.
 * A flight recorder's copy is written anew once most of it is forgotten, the old one deleted once the new one holds as much.
 * A copy that cannot be written any further stays, for what it holds, until the recording is saved or unwanted.
 */
import type { TraceStore } from '../../trace/store.ts';
import { DiskSpool, discardSpool, type LanesOf } from './spool.ts';

const EVERY_MS = 1000;
/** Forgotten events in the copy that are worth writing it anew, when they are also more than the trace holds. */
const WORTH_EVENTS = 65_536;

async function remove(spool: DiskSpool): Promise<void> {
  spool.close();
  await discardSpool(spool.name);
}

export class SpoolKeeper {
  private spool: DiskSpool | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private working: Promise<void> = Promise.resolve();
  private renew: ((generation: number) => Promise<DiskSpool>) | null = null;
  private store: TraceStore | null = null;
  private generation = 0;
  /** The copy is to grow with the recording. */
  private wanted = false;

  /** @param onProblem told in words when the copy cannot be kept: the recording goes on without it */
  constructor(
    private readonly onProblem: (text: string) => void,
    private readonly everyMs = EVERY_MS,
  ) {}

  get bytes(): number {
    return this.spool?.bytes ?? 0;
  }

  /** @param originOf what is recorded, as far as the store tells by now; '' = not yet */
  begin(store: TraceStore, key: string, originOf: (store: TraceStore) => string, lanesOf: LanesOf): void {
    this.store = store;
    this.generation = 0;
    this.renew = (generation) => DiskSpool.create(store, key, originOf(store), lanesOf, generation);
    this.wanted = true;
    this.plan();
  }

  private plan(): void {
    this.timer = setTimeout(() => {
      this.timer = null;
      this.working = this.append().then(() => {
        if (this.wanted) this.plan();
      });
    }, this.everyMs);
  }

  /** Not before a thread has come: an empty copy is worth nothing, and its name says what was recorded. */
  private async make(): Promise<void> {
    if (!this.wanted || this.spool || !this.renew || !this.store?.threads.length) return;
    try {
      this.spool = await this.renew(0);
    } catch (error) {
      this.wanted = false;
      this.problem('The recording is kept in memory only: its copy on disk could not be made', error);
    }
  }

  private async append(): Promise<void> {
    await this.make();
    if (!this.wanted) return;
    try {
      await this.spool?.append();
    } catch (error) {
      this.wanted = false;
      this.problem('The recording goes on in memory, its copy on disk stopped', error);
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
    if (!this.wanted) return; // it stopped before, and that was said
    this.wanted = false;
    try {
      await this.spool?.finish();
    } catch (error) {
      this.problem('The end of the recording is missing in its copy on disk', error);
    }
  }

  /** The recording is saved or unwanted: delete its copy. */
  async drop(): Promise<void> {
    this.wanted = false;
    await this.rest();
    const { spool } = this;
    this.spool = null;
    if (spool) await remove(spool);
  }

  private problem(what: string, error: unknown): void {
    this.onProblem(`${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
