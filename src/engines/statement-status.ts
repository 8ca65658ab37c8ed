/**
 * What a run of a statement did inside the engine, read by sqlite3_stmt_status once the run is over: rows of full scans, sorts, steps of its
 * virtual machine, ... (sqlite.org/c3ref/c_stmtstatus_counter.html). No SQL runs. The engine adds its counters up for as long as a statement
 * lives; they are never reset here, for the app may read them. What is recorded is what the run added.
 */
import { Op } from '../event/event.ts';
import type { Recorder } from '../record/recorder.ts';
import { StatementStatus, VALUES_HASH } from '../sqlite/constants.ts';
import type { Reach } from './counters.ts';

const { fullScanStep, sort, autoIndex, vmStep, reprepare, run, filterMiss, filterHit, memoryUsed } =
  StatementStatus;
/** Of those runs that have them. */
const RARE = [autoIndex, reprepare, filterMiss, filterHit] as const;
/** What its counters were when they were read last, by their codes. */
export const newCounts = (): Float64Array => new Float64Array(filterHit + 1);

export class StatusReader {
  private status: ((...args: number[]) => unknown) | null = null;
  /** Texts of which a statement's memory is known. */
  private readonly measured = new Set<number>();

  constructor(
    private readonly recorder: Recorder,
    private readonly reach: Reach,
  ) {}

  /**
   * Record what the run added, and of a query whether it had the values of another one; nothing where the build lacks the function.
   * @param stmt the engine's pointer, of a statement that is not finalized
   * @param last of `newCounts`, kept up @param values the hash of its values; 0 = it is no query
   */
  read(
    stmt: number,
    text: number,
    instance: number,
    context: number,
    last: Float64Array,
    values: number,
  ): void {
    this.status ??= this.reach('sqlite3_stmt_status');
    if (this.status === null) return;
    const { recorder } = this;
    const steps = this.added(stmt, vmStep, last);
    const scanned = this.added(stmt, fullScanStep, last);
    const sorts = this.added(stmt, sort, last);
    recorder.instant(Op.sqlStmtStatus, text, scanned, steps, instance, context, sorts, false);
    if (values) this.say(text, VALUES_HASH, values, instance, context);
    for (let i = 0; i < RARE.length; i++) {
      const more = this.added(stmt, RARE[i]!, last);
      if (more > 0) this.say(text, RARE[i]!, more, instance, context);
    }
    const runs = this.added(stmt, run, last);
    if (runs !== 1) this.say(text, run, runs, instance, context); // others were not seen
    // walks the whole program: once a text is enough
    if (this.measured.has(text)) return;
    this.measured.add(text);
    this.say(text, memoryUsed, this.now(stmt, memoryUsed), instance, context);
  }

  private say(text: number, code: number, value: number, instance: number, context: number): void {
    this.recorder.instant(Op.sqlStmtStatusMore, text, NaN, value, instance, context, code, false);
  }

  private now(stmt: number, code: number): number {
    return Number(this.status!(stmt, code, 0)) >>> 0;
  }

  private added(stmt: number, code: number, last: Float64Array): number {
    const now = this.now(stmt, code);
    const before = last[code]!;
    last[code] = now;
    return now < before ? now : now - before; // the app had it reset
  }
}
