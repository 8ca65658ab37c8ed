/**
 * What a run of a statement did inside the engine, once the run is over: rows of full scans, sorts,
 * steps of its virtual machine, ... (sqlite.org/c3ref/c_stmtstatus_counter.html). No SQL runs. The
 * engine's counters grow as long as a statement lives. They are never reset here, because the app
 * may read them. The record has what the run added, so they are also read before it: the app may
 * have reset them, and some runs may not have been recorded.
 *
 * sqlite3_stmt_status answers with one word of an array inside the statement. For an app that runs
 * many small statements, sixteen calls a run cost more than everything else that is recorded,
 * especially under DevTools. Once several results in a row show which words these are, they are
 * read from memory, and compared with the function's result from time to time.
 */
import { Op } from '../event/event.ts';
import type { Recorder } from '../record/recorder.ts';
import { StatementStatus, VALUES_HASH } from '../sqlite/constants.ts';
import type { EngineMemory } from '../vfs-instrumented/interpose/io-methods.ts';
import type { Reach } from './counters.ts';

const { fullScanStep, sort, autoIndex, vmStep, reprepare, run, filterMiss, filterHit, memoryUsed } =
  StatementStatus;
/** Only for runs that have them. */
const RARE = [autoIndex, reprepare, filterMiss, filterHit] as const;
/** The last two exist from this release on; before it the function returns whatever comes next. */
const FILTERS_SINCE = 3_038_000;
/**
 * Its counters before its run, by their codes. An array, because each statement has one, and a
 * typed array of this size costs several times as much.
 */
export const newCounts = (): number[] => [0, 0, 0, 0, 0, 0, 0, 0, 0];

/** Maximum words of a statement. */
const MOST_WORDS = 128;
/** How many results must agree before the place is known. */
const ANSWERS = 3;
/**
 * Reads between two comparisons. There are two a run, and the number is even, so that the run's end
 * is compared.
 */
const COMPARED_EVERY = 128;

export class StatusReader {
  private status: ((...args: number[]) => unknown) | null = null;
  /** Texts whose statement memory is known. */
  private readonly measured = new Set<number>();
  private readonly now = newCounts();
  private codes = 0;
  /**
   * Possible positions of the array, in bytes after a statement's address; null = not searched yet.
   */
  private places: number[] | null = null;
  private answers = 0;
  private reads = 0;

  constructor(
    private readonly recorder: Recorder,
    private readonly memory: EngineMemory,
    private readonly reach: Reach,
  ) {}

  /** A run begins. @param stmt the engine's pointer @param last from `newCounts`, to fill */
  begin(stmt: number, last: number[]): void {
    if (this.reaches()) this.readAll(stmt, last);
  }

  /** False if the build doesn't have the function. */
  private reaches(): boolean {
    this.status ??= this.reach('sqlite3_stmt_status');
    if (this.status === null) return false;
    this.codes ||=
      Number(this.reach('sqlite3_libversion_number')?.()) >= FILTERS_SINCE ? filterHit : run;
    return true;
  }

  /**
   * Record what the run added, and for a query whether it had the values of another one. Records
   * nothing if the build doesn't have the function, and no counts if the app reset them during the
   * run.
   * @param stmt the engine's pointer, of a statement that isn't finalized @param last from
   * `newCounts`, when it began @param values the hash of its values; 0 = it isn't a query
   */
  read(
    stmt: number,
    text: number,
    instance: number,
    context: number,
    last: number[],
    values: number,
  ): void {
    if (!this.reaches()) return;
    const { now, codes } = this;
    this.readAll(stmt, now);
    if (values) this.say(text, VALUES_HASH, values, instance, context);
    let steps = now[vmStep]! - last[vmStep]!;
    for (let code = 1; code <= codes; code++) if (now[code]! < last[code]!) steps = 0;
    // without a step, or with fewer than before it, the app reset them during the run
    if (steps > 0) {
      const [scanned, sorts] = [this.added(fullScanStep, last), this.added(sort, last)];
      this.recorder.instant(
        Op.sqlStmtStatus,
        text,
        scanned,
        steps,
        instance,
        context,
        sorts,
        false,
      );
      for (let i = 0; i < RARE.length; i++) {
        const more = this.added(RARE[i]!, last);
        if (more > 0) this.say(text, RARE[i]!, more, instance, context);
      }
    }
    // it iterates over the whole program, so once a text is enough
    if (this.measured.has(text)) return;
    this.measured.add(text);
    this.say(text, memoryUsed, this.ask(stmt, memoryUsed), instance, context);
  }

  private say(text: number, code: number, value: number, instance: number, context: number): void {
    this.recorder.instant(Op.sqlStmtStatusMore, text, NaN, value, instance, context, code, false);
  }

  private ask(stmt: number, code: number): number {
    return Number(this.status!(stmt, code, 0)) >>> 0;
  }

  /** All counters of a statement. @param into from `newCounts` */
  private readAll(stmt: number, into: number[]): void {
    const { codes, memory } = this;
    const isKnown = this.answers >= ANSWERS && this.places!.length === 1;
    if (isKnown && ++this.reads % COMPARED_EVERY !== 0) {
      const at = stmt + this.places![0]!;
      for (let code = 1; code <= codes; code++) into[code] = memory.word(at + 4 * code);
      return;
    }
    for (let code = 1; code <= codes; code++) into[code] = this.ask(stmt, code);
    // before a run they are unchanged
    if (into === this.now && (this.places === null || this.places.length > 0)) this.narrow(stmt);
  }

  /** Keep the places whose words equal the function's results. */
  private narrow(stmt: number): void {
    const { now, codes, memory } = this;
    if (!(now[vmStep]! > 0 && now[run]! > 0)) return; // such words are everywhere
    this.places ??= Array.from({ length: MOST_WORDS }, (_, i) => 4 * i);
    this.places = this.places.filter((place) => {
      for (let code = 1; code <= codes; code++)
        if (memory.word(stmt + place + 4 * code) !== now[code]) return false;
      return true;
    });
    this.answers++;
  }

  private added(code: number, last: number[]): number {
    return this.now[code]! - last[code]!;
  }
}
