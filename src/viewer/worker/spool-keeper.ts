/**
 * Looks after the disk copy of the recording at hand: makes it once there is a thread to tell what is recorded, appends to it once a
 * second, finishes it, deletes it when it is not needed.
 * A flight recorder's copy is written anew once most of it is forgotten, the old one deleted after that.
 */
import type { TraceStore } from '../../trace/store.ts';
import { DiskSpool, discardSpool, type LanesOf } from './spool.ts';

const EVERY_MS = 1000;
/** Forgotten events in the copy that are worth writing it anew, when they are also more than the trace holds. */
const WORTH_EVENTS = 65_536;

export class SpoolKeeper {
  private spool: DiskSpool | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private working: Promise<void> = Promise.resolve();
  private renew: ((generation: number) => Promise<DiskSpool>) | null = null;
  private store: TraceStore | null = null;
  private generation = 0;
  /** There is to be a copy. */
  private wanted = false;

  /** @param onProblem told in words when the copy cannot be kept: the recording goes on without it */
  constructor(private readonly onProblem: (text: string) => void) {}

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
    }, EVERY_MS);
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
    try {
      await this.spool?.append();
      await this.shorten();
    } catch (error) {
      this.wanted = false;
      this.problem('The recording goes on in memory, its copy on disk stopped', error);
      this.spool?.close();
      this.spool = null;
    }
  }

  private async shorten(): Promise<void> {
    const { spool, store, renew } = this;
    if (!spool || !store || !renew) return;
    const forgotten = spool.events - store.eventCount;
    if (forgotten < Math.max(WORTH_EVENTS, store.eventCount)) return;
    const next = await renew(++this.generation);
    this.spool = next;
    try {
      await next.append();
    } finally {
      spool.close();
      await discardSpool(spool.name);
    }
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
    if (!spool) return;
    spool.close();
    await discardSpool(spool.name);
  }

  private problem(what: string, error: unknown): void {
    this.onProblem(`${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
