/**
 * SQLite over the loaded trace: wa-sqlite's synchronous build with the trace's own arrays as
 * virtual tables. Nothing is imported. A statement runs to its next row without a pause. Between
 * rows the worker handles other requests; a limit or a cancellation also stops it inside a row.
 */
import { yieldToMessages } from '../../yield.ts';
import { Rc } from '../../../sqlite/constants.ts';
import type { Cell } from '../../../analysis/core/table.ts';
import type { SqliteModule } from './sink.ts';
import { Sink } from './sink.ts';
import { moduleOf } from './module.ts';
import type { SqlTable } from './table.ts';
import type { RunResult } from '../../../protocol/answers/sql-result.ts';
import { loadSqlite, type WasmSource } from '../../../plan/load-sqlite.ts';

export interface RunOptions {
  sql: string;
  /** Maximum rows of the last statement that has any. The others aren't counted. */
  maxRows: number;
  /** For all statements together. */
  maxMs: number;
  /** Texts beyond this many characters are cut. */
  maxText: number;
  /** Called every few thousand steps of SQLite. */
  canceled: () => boolean;
  /** Number of rows that the trace has dropped. A change shifts row indexes, so the run ends. */
  forgotten: () => number;
  /**
   * Receives the rows instead of the result, which then has none. Each statement with rows replaces
   * those of earlier ones.
   */
  into?: RowTaker;
}
export interface RowTaker {
  begin(columns: readonly string[]): void;
  add(row: Cell[]): void;
}

/** SQLite steps between two looks at the clock: about a millisecond. */
const STEPS = 20_000;
const PAUSE_EVERY_MS = 50;
const CHECK_ROWS = 64;

export class SqlEngine {
  private thrown: unknown = null;
  /** Runs are queued. */
  private last: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly sqlite3: SQLiteAPI,
    private readonly db: number,
  ) {}

  /** @throws Error if the wasm can't be loaded */
  static async open(source: WasmSource, tables: readonly SqlTable[]): Promise<SqlEngine> {
    const { module, sqlite3 } = await loadSqlite<SqliteModule>(source);
    const engine = new SqlEngine(sqlite3, await sqlite3.open_v2(':memory:'));
    const sink = new Sink(module);
    const api = sqlite3 as unknown as Parameters<typeof moduleOf>[1];
    for (const table of tables) {
      const failed = (error: unknown): void => void (engine.thrown ??= error);
      sqlite3.create_module(
        engine.db,
        table.name,
        moduleOf(table, api, sink, failed) as SQLiteModule,
      );
    }
    await sqlite3.exec(engine.db, 'PRAGMA temp_store=memory');
    return engine;
  }

  /**
   * Run one or more statements. @returns the rows of the last one that has columns
   * @throws Error with SQLite's message; AbortError if canceled; an Error about the time limit if
   * it was exceeded
   */
  run(options: RunOptions): Promise<RunResult> {
    const run = this.last.then(() => this.runNow(options));
    this.last = run.catch(() => undefined);
    return run;
  }

  private async runNow({
    sql,
    maxRows,
    maxMs,
    maxText,
    canceled,
    forgotten,
    into,
  }: RunOptions): Promise<RunResult> {
    const { sqlite3, db } = this;
    const began = performance.now();
    const forgottenThen = forgotten();
    const result: RunResult = { columns: [], rows: [], more: false, statements: 0, ms: 0 };
    let stopped: 'canceled' | 'late' | null = null;
    const check = (): boolean => {
      if (canceled()) stopped = 'canceled';
      else if (performance.now() - began > maxMs) stopped = 'late';
      return stopped !== null;
    };
    this.thrown = null;
    sqlite3.progress_handler(db, STEPS, () => (check() ? 1 : 0), null);
    let pausedAt = began;
    let rowsSince = 0;
    const failed = (error: unknown): Error => {
      if (stopped === 'canceled') return new DOMException('The query was canceled', 'AbortError');
      if (stopped === 'late')
        return new Error(
          `The query was stopped after ${maxMs / 1000} s: narrow it by ts, or raise the limit`,
        );
      const cause = this.thrown ?? error;
      return new Error(cause instanceof Error ? cause.message : String(cause), { cause });
    };
    try {
      for await (const statement of sqlite3.statements(db, sql)) {
        result.statements++;
        const columns = sqlite3.column_names(statement);
        if (columns.length) {
          Object.assign(result, { columns, rows: [], more: false });
          into?.begin(columns);
        }
        while ((await sqlite3.step(statement)) === Rc.row) {
          if (result.rows.length >= maxRows) {
            result.more = true;
            break;
          }
          const row = sqlite3.row(statement).map((value) => cellOf(value, maxText));
          if (into) into.add(row);
          else result.rows.push(row);
          if (++rowsSince < CHECK_ROWS) continue;
          rowsSince = 0;
          if (performance.now() - pausedAt > PAUSE_EVERY_MS) {
            await yieldToMessages();
            pausedAt = performance.now();
            if (forgotten() !== forgottenThen)
              throw new Error(
                'the flight recorder has dropped rows in the meantime: run the query again',
              );
          }
          if (check()) throw new Error('stopped');
        }
      }
    } catch (error) {
      throw failed(error);
    }
    result.ms = performance.now() - began;
    return result;
  }
}

/** SQLite's values in displayable form: large integers and blobs as text. */
function cellOf(value: unknown, maxText: number): Cell {
  if (value === null || typeof value === 'number') return value;
  if (typeof value === 'string')
    return value.length > maxText ? `${value.slice(0, maxText)}…` : value;
  if (typeof value === 'bigint') return String(value);
  const bytes = value as Uint8Array;
  const hex = Array.from(bytes.subarray(0, maxText / 2), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
  return `x'${hex}${bytes.length > maxText / 2 ? '…' : ''}'`;
}
