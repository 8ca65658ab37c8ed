/**
 * One actor of a contention workload, in a separate worker: opens the existing database, reports
 * ready, and on a signal runs its transactions, with retries when refused.
 */
import { applyConfig } from '../engine/apply-config.ts';
import { Engines, type WasmLoader } from '../engine/open-engine.ts';
import { openHost, type OpenHost } from '../engine/open-host.ts';
import { insist } from '../engine/insist.ts';
import { ACTORS } from '../engine/run-workload.ts';
import { difference } from '../engine/run-step.ts';
import { answerOf } from '../engine/fault-run.ts';
import type { FaultAnswer } from '../model/faults.ts';
import type { Config, Counters } from '../model/types.ts';
import { buildHere } from './engines-here.ts';
import { explain } from './failure.ts';
import { absurdSqlVfs } from './absurd-sql.ts';
import type { SharedFaults } from './fault-state.ts';
import { FaultyStorage } from './faulty-storage.ts';
import { VfsMakers } from './vfs-makers.ts';
import { WebTally } from './web-tally.ts';

export interface ActorReport {
  /** VFS calls and, if requested, web calls since the signal. */
  readonly counters: Counters;
  /** How often it was refused. */
  readonly retries: number;
  /** Begin and end of each of its iterations: ms, on a clock shared by all workers. */
  readonly spans: Float64Array<ArrayBuffer>;
  /**
   * On a device with faults: the actor's failure. Without faults, a failure rejects. null: it
   * succeeded.
   */
  readonly failure: FaultAnswer | null;
}

/**
 * The only actor of this worker: first `prepare`, then `go`, once each. Both reject with an Error
 * with a message for the user.
 */
export class ActorHere {
  private readonly makers = new VfsMakers(absurdSqlVfs);
  private web: WebTally | null = null;
  private open: OpenHost | null = null;
  private faulty = false;

  constructor(private readonly wasm: WasmLoader) {}

  /** @param faults of the run; null: none @returns its failure on a device with faults */
  async prepare(
    config: Config,
    web: boolean,
    faults: SharedFaults | null,
  ): Promise<FaultAnswer | null> {
    this.faulty = faults !== null;
    if (faults) new FaultyStorage(faults.settings, faults.buffer); // below everything that counts
    this.web = web ? new WebTally() : null;
    const options = {
      metering: 'none',
      seed: 0,
      pageCache: false,
      makeVfs: this.makers.make,
    } as const;
    return this.inWords(async () => {
      this.open = await openHost(new Engines(this.wasm, buildHere), config, options);
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
    let failure: FaultAnswer | null = null;
    for (let i = 0; i < iterations && !failure; i++) {
      spans[2 * i] = performance.timeOrigin + performance.now();
      failure = await this.inWords(async () => {
        retries += await insist(open.host, sql);
      });
      spans[2 * i + 1] = performance.timeOrigin + performance.now();
    }
    // nothing is closed: the worker ends with the run, and VFSs that share post to channels after
    // closing them
    return { counters: difference(before, read()), retries, spans, failure };
  }

  private async inWords(work: () => Promise<unknown>): Promise<FaultAnswer | null> {
    try {
      await work();
      return null;
    } catch (error) {
      const lastError = this.makers.lastError();
      if (this.faulty) return answerOf(ACTORS, error, lastError);
      throw new Error(explain(error, lastError), { cause: error });
    }
  }
}
