/**
 * What a run of a statement did inside the engine, once the run is over: rows of full scans, sorts, steps of its virtual machine, ...
 * (sqlite.org/c3ref/c_stmtstatus_counter.html). No SQL runs. The engine adds its counters up for as long as a statement lives; they are
 * never reset here, for the app may read them. What is recorded is what the run added, so they are read before it, too: the app may have
 * reset them, and runs may not have been seen.
 *
 * sqlite3_stmt_status answers with one word of an array inside the statement. Sixteen calls a run cost an app that runs many small
 * statements more than all else that is recorded of them, under DevTools above all. Where several answers in a row show which words these
 * are, they are read from memory, and compared with the function's answer now and then.
 */
import { Op } from '../event/event.ts';
import type { Recorder } from '../record/recorder.ts';
import { StatementStatus, VALUES_HASH } from '../sqlite/constants.ts';
import type { EngineMemory } from '../vfs-instrumented/interpose/io-methods.ts';
import type { Reach } from './counters.ts';

const { fullScanStep, sort, autoIndex, vmStep, reprepare, run, filterMiss, filterHit, memoryUsed } =
  StatementStatus;
/** Of those runs that have them. */
const RARE = [autoIndex, reprepare, filterMiss, filterHit] as const;
/** From this release on there are the last two: before it the function answers with whatever comes next. */
const FILTERS_SINCE = 3_038_000;
/** What its counters were before its run, by their codes. An array: each statement has one, and a typed array of its size costs several times as much. */
export const newCounts = (): number[] => [0, 0, 0, 0, 0, 0, 0, 0, 0];

/** A statement has no more words than these. */
const MOST_WORDS = 128;
/** Answers that agree until the place is known. */
const ANSWERS = 3;
/** Reads between two comparisons, two a run: even, so that it is the run's end that is compared. */
const COMPARED_EVERY = 128;

export class StatusReader {
  private status: ((...args: number[]) => unknown) | null = null;
  /** Texts of which a statement's memory is known. */
  private readonly measured = new Set<number>();
  private readonly now = newCounts();
  private codes = 0;
  /** Where the array may be, in bytes behind a statement's address; null = not looked for yet. */
  private places: number[] | null = null;
  private answers = 0;
  private reads = 0;

  constructor(
    private readonly recorder: Recorder,
    private readonly memory: EngineMemory,
    private readonly reach: Reach,
  ) {}

  /** A run begins. @param stmt the engine's pointer @param last of `newCounts`, to fill */
  begin(stmt: number, last: number[]): void {
    if (this.reaches()) this.readAll(stmt, last);
  }

  /** False where the build lacks the function. */
  private reaches(): boolean {
    this.status ??= this.reach('sqlite3_stmt_status');
    if (this.status === null) return false;
    this.codes ||=
      Number(this.reach('sqlite3_libversion_number')?.()) >= FILTERS_SINCE ? filterHit : run;
    return true;
  }

  /**
   * Record what the run added, and of a query whether it had the values of another one; nothing where the build lacks the function, and no
   * counts where the app had them reset while it ran.
   * @param stmt the engine's pointer, of a statement that is not finalized
   * @param last of `newCounts`, as it began @param values the hash of its values; 0 = it isn't a query
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
    // without a step, or with less than before it, the app had them reset in the run
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
    // walks the whole program: once a text is enough
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

  /** All counters of a statement. @param into of `newCounts` */
  private readAll(stmt: number, into: number[]): void {
    const { codes, memory } = this;
    const isKnown = this.answers >= ANSWERS && this.places!.length === 1;
    if (isKnown && ++this.reads % COMPARED_EVERY !== 0) {
      const at = stmt + this.places![0]!;
      for (let code = 1; code <= codes; code++) into[code] = memory.word(at + 4 * code);
      return;
    }
    for (let code = 1; code <= codes; code++) into[code] = this.ask(stmt, code);
    // before a run they are what they were
    if (into === this.now && (this.places === null || this.places.length > 0)) this.narrow(stmt);
  }

  /** Keep the places whose words are the function's answers. */
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
