/**
 * One actor of a contention workload, in a worker of its own: opens the database that is there, says so, and on a sign runs its
 * transactions. What is refused (Rc.busy) is rolled back, counted and tried again.
 */
import { applyConfig } from '../engine/apply-config.ts';
import { Engines, type WasmLoader } from '../engine/open-engine.ts';
import { openHost, type OpenHost } from '../engine/open-host.ts';
import { difference } from '../engine/run-step.ts';
import type { Config, Counters } from '../model/types.ts';
import { explain } from './failure.ts';
import { VfsMakers } from './vfs-makers.ts';
import { WebTally } from './web-tally.ts';
import { isBusy } from '../../../sqlite/constants.ts';

export interface ActorReport {
  /** VFS calls and, where asked for, web calls from the sign on. */
  readonly counters: Counters;
  /** How often it was refused. */
  readonly retries: number;
  /** When each of its iterations began and ended, in turn: ms, one clock for all workers. */
  readonly spans: Float64Array<ArrayBuffer>;
}
/** So often in a row is no contention but a lock that nobody gives back. */
const MOST_RETRIES = 100_000;

/** The one actor of this worker: first `prepare`, then `go`, once each. Both reject with an Error in words. */
export class ActorHere {
  private readonly makers = new VfsMakers();
  private web: WebTally | null = null;
  private open: OpenHost | null = null;

  constructor(private readonly wasm: WasmLoader) {}

  async prepare(config: Config, web: boolean): Promise<void> {
    this.web = web ? new WebTally() : null;
    const options = {
      metering: 'none',
      seed: 0,
      pageCache: false,
      makeVfs: this.makers.make,
    } as const;
    await this.inWords(async () => {
      this.open = await openHost(new Engines(this.wasm), config, options);
      await applyConfig(this.open.host, config, true);
    });
  }

  async go(sql: string, iterations: number): Promise<ActorReport> {
    const { open } = this;
    if (!open) throw new Error('the database is not open');
    const read = (): Counters => ({ ...open.host.counters(), ...this.web?.read() });
    const before = read();
    const spans = new Float64Array(2 * iterations);
    let retries = 0;
    for (let i = 0; i < iterations; i++) {
      spans[2 * i] = performance.timeOrigin + performance.now();
      retries += await this.inWords(() => this.insist(open, sql));
      spans[2 * i + 1] = performance.timeOrigin + performance.now();
    }
    // nothing is closed: the worker ends with the run, and VFSs that share post to channels after they have closed them
    return { counters: difference(before, read()), retries, spans };
  }

  private inWords<T>(work: () => Promise<T>): Promise<T> {
    return work().catch((error: unknown) => {
      throw new Error(explain(error, this.makers.lastError()), { cause: error });
    });
  }

  /** @returns how often it was refused before it got through */
  private async insist({ host }: OpenHost, sql: string): Promise<number> {
    for (let refused = 0; ; refused++)
      try {
        await host.sqlite3.exec(host.db, sql);
        return refused;
      } catch (error) {
        if (!isBusy(Number((error as { code?: unknown }).code)) || refused === MOST_RETRIES)
          throw error;
        await this.rollBack(host);
        await new Promise((resolve) => setTimeout(resolve)); // a lock may be given up in a message to this worker
      }
  }

  private async rollBack(host: OpenHost['host']): Promise<void> {
    const { get_autocommit: autocommit } = host.sqlite3 as unknown as {
      get_autocommit(db: number): number;
    };
    if (autocommit.call(host.sqlite3, host.db) === 0) await host.sqlite3.exec(host.db, 'ROLLBACK');
  }
}
