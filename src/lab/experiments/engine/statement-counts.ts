/**
 * Count mode by statement: every instruction of a step counts for the statement that it was
 * executed for, from its prepare to its finalize, or for none (copying the script's text, finding
 * its end). So the counts of a step's statements and the rest sum exactly to the step's count.
 */
import { foldLiterals } from '../../../sqlite/sql-text.ts';
import type { SqliteApi } from './builds.ts';
import type { StatementCount } from '../model/result-types.ts';

/**
 * Distinct statements above this number are counted together: a script with generated names has as
 * many as lines.
 */
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
  /** The cost of reading a statement's text, which isn't part of the measurement. */
  private hidden = 0n;
  private accounts = new Map<string, Account>();
  private rest = none();
  private current = this.rest;
  private instructionsAt = 0n;
  private callsAt = 0;

  /**
   * @param sqlite3 its `finalize` is overridden, so that finalizing counts for its statement
   * @param executed instructions of the engine so far
   * @param calls VFS calls so far
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

  /** Executed instructions so far, without the cost of reading texts. */
  readonly instructions = (): bigint => this.executed() - this.hidden;

  /** A step begins. @param at the value of `instructions` */
  start(at: bigint): void {
    this.accounts = new Map();
    this.rest = this.current = none();
    this.instructionsAt = at;
    this.callsAt = this.calls();
  }

  /** The statements of a script from the API. Each is charged from its prepare. */
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

  /**
   * A step has ended.
   * @returns its statements in order of their first appearance; the last one, '', has what belongs
   * to none
   */
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
