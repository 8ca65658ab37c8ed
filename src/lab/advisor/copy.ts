/**
 * An in-memory copy of the user's database, on a metered engine. It runs and counts statements, and
 * undoes their changes.
 */
import { pageCacheReader } from '../experiments/engine/page-cache.ts';
import { openSource } from '../experiments/engine/load-database.ts';
import { settingsOf } from '../experiments/engine/apply-config.ts';
import { engineFacts, type Engines } from '../experiments/engine/open-engine.ts';
import type { EngineModule, SqliteApi } from '../experiments/engine/builds.ts';
import type { EngineFacts } from '../experiments/model/environment-types.ts';
import { planOf } from '../experiments/engine/plan.ts';
import { depthsOf } from '../../sqlite/query-plan.ts';
import type { RunCounts } from './advice.ts';
import type { InsertProbe } from './insert-probe.ts';

/** SQLITE_STMTSTATUS_* (sqlite3.h). */
const STATUS = { scanSteps: 1, sorts: 2, autoIndexRows: 3, vmSteps: 4 } as const;
/** A statement that needs more opcodes than this is stopped, unless a call sets another limit. */
export const MOST_VM_STEPS = 200_000_000;
const STEPS_BETWEEN_LOOKS = 1_000_000;
const ROW = 100;
/** Rows may refer to missing rows, because the change is undone. */
export const BEGIN = 'BEGIN; PRAGMA defer_foreign_keys=ON;';

interface StatusModule extends EngineModule {
  _sqlite3_stmt_status(stmt: number, op: number, reset: number): number;
  _sqlite3_db_release_memory(db: number): number;
  _sqlite3_db_cacheflush(db: number): number;
}
type Api = SqliteApi & {
  get_autocommit(db: number): number;
  progress_handler(db: number, n: number, handler: () => number, data: unknown): void;
};
/**
 * Instructions of this instance. Use them only for choices, because they depend on what ran before.
 */
export type RoughCounts = RunCounts & { readonly instructions: number };

export class Copy {
  private looks = 0;
  /** How many checks the running statement may still take. */
  private mostLooks = 0;
  private allSteps = 0;

  private constructor(
    private readonly sqlite3: Api,
    private readonly module: StatusModule,
    private readonly db: number,
    private readonly executed: () => bigint,
    private readonly cache: (db: number) => Readonly<Record<string, number>>,
    private readonly file: () => Uint8Array<ArrayBuffer>,
    /** The SQLite version that runs it. */
    readonly engine: EngineFacts,
  ) {
    sqlite3.progress_handler(
      db,
      STEPS_BETWEEN_LOOKS,
      () => Number(++this.looks > this.mostLooks),
      null,
    );
  }

  /** @param file a database, with its WAL merged @throws SQLite's errors */
  static async open(engines: Engines, file: Blob): Promise<Copy> {
    const build = 'sync';
    const engine = await engines.open({ engine: 'wa-sqlite-2.0.6', build }, 'total');
    const source = await openSource(engine.sqlite3, engine.module, file, null);
    const copy = new Copy(
      engine.sqlite3 as Api,
      engine.module as StatusModule,
      source.db,
      engine.instructions!,
      pageCacheReader(engine.module)!,
      source.bytes,
      engineFacts(engine, build),
    );
    await copy.exec('PRAGMA foreign_keys=OFF');
    return copy;
  }

  /** The settings of its connection. */
  settings(): Promise<Record<string, string>> {
    const { sqlite3, db } = this;
    return settingsOf({ sqlite3, db });
  }
  exec(sql: string): Promise<unknown> {
    return this.rowsOf(sql);
  }
  async ask(sql: string): Promise<unknown[][]> {
    const rows: unknown[][] = [];
    await this.each(sql, (stmt) => void rows.push(this.sqlite3.row(stmt)));
    return rows;
  }
  /** Steps of SQLite's virtual machine so far, including statements that failed or were stopped. */
  get steps(): number {
    return this.allSteps;
  }
  get inTransaction(): boolean {
    return this.sqlite3.get_autocommit(this.db) === 0;
  }
  /** Pages that its connection has read so far. */
  misses(): number {
    return this.cache(this.db)['cache.miss']!;
  }
  /**
   * @param most limit of a statement's steps, rounded to a million
   * @returns number of rows
   * @throws SQLite's errors, also when stopped
   */
  async rowsOf(sql: string, most = MOST_VM_STEPS): Promise<number> {
    let rows = 0;
    await this.each(sql, () => void rows++, undefined, most);
    return rows;
  }
  /** Lines of its plan, indented. @throws SQLite's errors */
  async plan(sql: string): Promise<string[]> {
    const rows = await planOf(this.sqlite3, this.db, sql);
    const depths = depthsOf(rows);
    return rows.map(({ detail }, i) => `${'  '.repeat(depths[i]!)}${detail}`);
  }

  /** @param changes it changes rows, which is undone @throws SQLite's errors, also when stopped */
  async run(sql: string, changes: boolean): Promise<RoughCounts> {
    if (changes) await this.exec(BEGIN);
    try {
      return await this.counted(sql);
    } finally {
      if (changes) await this.exec('ROLLBACK');
    }
  }

  /** Bytes of all pages in use. */
  async usedBytes(): Promise<number> {
    const [[pages, free, size] = []] = await this.ask(
      'SELECT page_count, freelist_count, page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size',
    );
    return (Number(pages) - Number(free)) * Number(size);
  }

  /**
   * Average writes and instructions of one INSERT, with each written before the next; undone.
   * @throws SQLite's errors
   */
  async inserts({ first, counted }: InsertProbe): Promise<{ bytes: number; instructions: number }> {
    const [[size] = []] = await this.ask('PRAGMA page_size');
    const flush = (): number => this.module._sqlite3_db_cacheflush(this.db);
    const written = (): number => this.cache(this.db)['cache.write']!;
    let instructions = 0;
    await this.exec(BEGIN);
    try {
      for (const sql of first) {
        await this.exec(sql);
        flush();
      }
      const before = written();
      for (const sql of counted) {
        instructions += (await this.counted(sql)).instructions;
        flush();
      }
      const n = counted.length;
      return {
        bytes: Math.round(((written() - before) * Number(size)) / n),
        instructions: Math.round(instructions / n),
      };
    } finally {
      await this.exec('ROLLBACK');
    }
  }

  /** The current file. */
  bytes(): Blob {
    return new Blob([this.file()]);
  }
  close(): Promise<number> {
    return this.sqlite3.close(this.db);
  }

  private async counted(sql: string): Promise<RoughCounts> {
    this.module._sqlite3_db_release_memory(this.db);
    // its pages are warm, as in the Lab's second step
    await this.ask('SELECT count(*) FROM sqlite_schema');
    const { module, db } = this;
    const misses = this.cache(db)['cache.miss']!;
    const before = this.executed();
    let rows = 0;
    const counts = { scanSteps: 0, sorts: 0, autoIndexRows: 0, vmSteps: 0 };
    await this.each(
      sql,
      () => void rows++,
      (stmt) => {
        for (const name of Object.keys(STATUS) as (keyof typeof STATUS)[])
          counts[name] += module._sqlite3_stmt_status(stmt, STATUS[name], 0);
      },
    );
    const instructions = Number(this.executed() - before);
    return { ...counts, rows, instructions, pagesRead: this.cache(db)['cache.miss']! - misses };
  }

  /**
   * Runs statement by statement.
   * @param row called for each row of the current statement
   * @param done called after each statement
   * @param most as in `rowsOf`
   */
  private async each(
    sql: string,
    row: (stmt: number) => void,
    done?: (stmt: number) => void,
    most = MOST_VM_STEPS,
  ): Promise<void> {
    const { sqlite3, db } = this;
    this.mostLooks = Math.floor(most / STEPS_BETWEEN_LOOKS);
    this.looks = 0; // preparing runs checks, too
    for await (const stmt of sqlite3.statements(db, sql)) {
      try {
        while ((await sqlite3.step(stmt)) === ROW) row(stmt);
        done?.(stmt);
      } finally {
        this.allSteps += this.module._sqlite3_stmt_status(stmt, STATUS.vmSteps, 0);
        this.looks = 0;
      }
    }
  }
}
