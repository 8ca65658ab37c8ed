/**
 * The engine's own page-cache counters, cumulative per connection, and what the connection holds in
 * memory: read by sqlite3_db_status after a statement. No SQL runs, and the app's memory is touched
 * once, by one malloc of eight bytes.
 */
import { Op } from '../event/event.ts';
import type { Recorder } from '../record/recorder.ts';
import type { EngineMemory } from '../vfs-instrumented/interpose/io-methods.ts';

/** SQLITE_DBSTATUS_CACHE_HIT, _MISS, _WRITE, _SPILL */
const STATUS = [7, 8, 9, 12] as const;
/**
 * SQLITE_DBSTATUS_CACHE_USED, _SCHEMA_USED, _STMT_USED. The last two iterate over the schema and
 * all prepared statements.
 */
const MEMORY = [1, 2, 3] as const;
/** Minimum time between two readings of what a connection holds. */
const MEMORY_EVERY_MS = 250;
/**
 * Finds one of the engine's functions by SQLite's name, or `malloc`; null if the build doesn't
 * expose it.
 */
export type Reach = (name: string) => ((...args: number[]) => unknown) | null;

type EngineCall = (...args: number[]) => unknown;

export class CounterReader {
  private readonly recorder: Recorder;
  private readonly memory: EngineMemory;
  private readonly reach: Reach;
  private readonly id: () => number;
  private status: EngineCall | null = null;
  private scratch = 0;
  private broken = false;
  private readonly now = [0, 0, 0];
  /** By connection: the last reading of its memory, and when it was, ms of the recorder's clock. */
  private readonly held = new Map<number, { at: number; text: string }>();
  /** By connection: the last values of the four counters, in the order of `STATUS`. */
  private readonly last = new Map<number, Float64Array>();

  /** @param id emits the engine's definition, and returns its id */
  constructor(recorder: Recorder, memory: EngineMemory, reach: Reach, id: () => number) {
    this.recorder = recorder;
    this.memory = memory;
    this.reach = reach;
    this.id = id;
  }

  get available(): boolean {
    return (
      !this.broken && this.reach('sqlite3_db_status') !== null && this.reach('malloc') !== null
    );
  }

  /** Record the counters of an open connection if they changed. */
  read(db: number, context: number): void {
    const status = this.status ?? this.prepare(db);
    if (status === null) return;
    const { memory, scratch } = this;
    let last = this.last.get(context);
    if (last === undefined)
      this.last.set(context, (last = new Float64Array(STATUS.length).fill(NaN)));
    let changed = false;
    for (let i = 0; i < STATUS.length; i++) {
      if (status(db, STATUS[i]!, scratch, scratch + 4, 0) !== 0) return;
      const value = memory.word(scratch);
      if (value !== last[i]) changed = true;
      last[i] = value;
    }
    if (changed)
      this.recorder.instant(
        Op.sqlCounters,
        0,
        last[0]!,
        last[1]!,
        last[2],
        context,
        last[3],
        false,
      );
  }

  /** sqlite3_db_status, once memory for its results is allocated. */
  private prepare(db: number): EngineCall | null {
    if (!this.available) return null;
    const scratch = this.reach('malloc')!(8);
    if (typeof scratch === 'number' && scratch !== 0) {
      this.scratch = scratch;
      // older glue installs the real function at its first call
      this.reach('sqlite3_db_status')!(db, STATUS[0], scratch, scratch + 4, 0);
      this.status = this.reach('sqlite3_db_status');
    } else this.broken = true;
    return this.status;
  }

  /** Record what an open connection holds in memory, from time to time, if it changed. */
  readMemory(db: number, context: number): void {
    const status = this.status ?? this.prepare(db);
    if (status === null) return;
    const { memory, scratch, recorder } = this;
    const at = recorder.lastClock;
    const before = this.held.get(context);
    if (before && at - before.at < MEMORY_EVERY_MS) return;
    for (let i = 0; i < MEMORY.length; i++) {
      if (status(db, MEMORY[i]!, scratch, scratch + 4, 0) !== 0) return;
      this.now[i] = memory.word(scratch);
    }
    const [cache, schema, statements] = this.now as [number, number, number];
    const all = memory.memory.buffer.byteLength;
    const text = `${all} ${cache} ${schema} ${statements}`;
    this.held.set(context, { at, text });
    if (before?.text !== text)
      recorder.instant(Op.sqlMemory, this.id(), all, cache, schema, context, statements, false);
  }

  forget(context: number): void {
    this.held.delete(context);
    this.last.delete(context);
  }
}
