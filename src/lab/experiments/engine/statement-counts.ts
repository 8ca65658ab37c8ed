/**
 * Count mode, statement by statement: every instruction of a step belongs to the statement that it was executed for, from its prepare
 * to its finalize, or to none (the script's text is copied, the end of it is found). So the counts of a step's statements and the
 * rest are the step's count, to the last instruction.
 */
import { foldLiterals } from '../../../sqlite/sql-text.ts';
import type { SqliteApi } from './builds.ts';
import type { StatementCount } from '../model/result-types.ts';

/** More distinct statements than this are counted together: a script of generated names has as many as lines. */
const MOST = 500;
const OTHERS = '(all other statements)';

type Api = Pick<SqliteApi, 'statements'> & {
  sql(stmt: number): string;
  finalize(stmt: number): unknown;
};
interface Account {
  runs: number;
  instructions: bigint;
  calls: number;
}
const none = (): Account => ({ runs: 0, instructions: 0n, calls: 0 });

export class StatementCounts {
  /** What asking for a statement's text has cost: it isn't part of what is measured. */
  private hidden = 0n;
  private accounts = new Map<string, Account>();
  private rest = none();
  private current = this.rest;
  private instructionsAt = 0n;
  private callsAt = 0;

  /**
   * @param sqlite3 its `finalize` is laid over, so that a statement's own finalizing counts for it
   * @param executed instructions of the engine so far @param calls VFS calls so far
   */
  constructor(
    private readonly sqlite3: SqliteApi,
    private readonly executed: () => bigint,
    private readonly calls: () => number,
  ) {
    const api = sqlite3 as unknown as Api;
    const finalize = api.finalize;
    api.finalize = (stmt) => {
      const done = Reflect.apply(finalize, api, [stmt]) as unknown;
      this.charge();
      this.current = this.rest;
      return done;
    };
  }

  /** Executed instructions so far, without those of looking. */
  readonly instructions = (): bigint => this.executed() - this.hidden;

  /** A step begins. @param at what `instructions` said */
  start(at: bigint): void {
    this.accounts = new Map();
    this.rest = this.current = none();
    this.instructionsAt = at;
    this.callsAt = this.calls();
  }

  /** The statements of a script, as the API gives them, each charged from its prepare on. */
  async *over(db: number, sql: string): AsyncGenerator<number, void> {
    this.charge();
    const outer = this.current;
    this.current = this.rest;
    try {
      for await (const stmt of this.sqlite3.statements(db, sql)) {
        this.current = this.accountOf(stmt);
        this.charge();
        yield stmt;
      }
    } finally {
      this.charge();
      this.current = outer;
    }
  }

  /** The current statement has run. */
  ran(times = 1): void {
    this.current.runs += times;
  }

  /** A step has ended. @returns its statements in the order in which they first came; the last, '', is what belongs to none */
  stop(): StatementCount[] {
    this.charge();
    const all = [...this.accounts, ['', this.rest] as const];
    return all.map(([sql, { runs, instructions, calls }]) => ({
      sql,
      runs,
      instructions: Number(instructions),
      calls,
    }));
  }

  private charge(): void {
    const [instructions, calls] = [this.instructions(), this.calls()];
    this.current.instructions += instructions - this.instructionsAt;
    this.current.calls += calls - this.callsAt;
    this.instructionsAt = instructions;
    this.callsAt = calls;
  }

  private accountOf(stmt: number): Account {
    const before = this.executed();
    const text = (this.sqlite3 as unknown as Api).sql(stmt);
    this.hidden += this.executed() - before;
    const folded = foldLiterals(text).trim();
    const sql = this.accounts.has(folded) || this.accounts.size < MOST ? folded : OTHERS;
    let account = this.accounts.get(sql);
    if (!account) this.accounts.set(sql, (account = none()));
    return account;
  }
}
