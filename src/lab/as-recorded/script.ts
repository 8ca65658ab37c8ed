/**
 * Turns a recorded connection's statements into a script. It tries them once on a copy, in order.
 * Statements that SQLite rejects are left out, and values that the recording doesn't contain come
 * from the rows that exist at that point.
 */
import { pragmasIn } from '../../analysis/core/pragmas.ts';
import { recordedSchemas } from '../../analysis/statements/recorded-schema.ts';
import type { Facts } from '../../analysis/core/graph.ts';
import { opened } from '../../sqlite/folded-lists.ts';
import { unquoted, withStandIns } from '../../sqlite/schema-statement.ts';
import { tokens } from '../../sqlite/sql-text.ts';
import { statementKind } from '../../sqlite/statement-kind.ts';
import { countOf, formatBytes, formatCount } from '../../text/numbers.ts';
import type { Copy } from '../advisor/copy.ts';
import { Left } from '../advisor/recorded.ts';
import { isLiteral, numbersOf, SampleValues } from '../advisor/sample-values.ts';
import { readSchema, type Schema, type TableInfo } from '../advisor/schema.ts';
import type { Leaf } from '../advisor/sql-tree.ts';
import { usesOf } from '../advisor/uses.ts';
import type { Executed, RecordedConnection } from './executed.ts';
import { insertUse } from './insert.ts';
import { MadeUpRows, MOST_BYTES } from './rows.ts';
import { CONFIG_PRAGMAS } from './settings.ts';

const MOST_STATEMENTS = 2000;
/**
 * Limit of the trial's steps in SQLite's virtual machine, rounded to a million: each way runs the
 * script six times.
 */
const MOST_STEPS = 100_000_000;
/** Positions in a column's order. The runs of a statement take their values from them in turn. */
const PLACES = 64;
/**
 * Step size through the positions that visits all of them: it has no common divisor with PLACES.
 */
const STRIDE = 25;
const LIMIT_CAUSE = 'More than Try it runs';

export interface Script {
  /**
   * The setup before the app's statements, and these statements. Each ends with a semicolon and a
   * line feed.
   */
  readonly setup: string;
  readonly steps: string;
  /** How many statements read or change rows: 0 = none of the app's statements run. */
  readonly statements: number;
  /** Which parts are the app's own, and which are substitutes. Sentences. */
  readonly says: readonly string[];
}

/**
 * @param copy of the app's database, or empty
 * @param name of the copied database; null = none
 * @throws SQLite's errors about the copy
 */
export async function scriptOf(
  facts: Facts,
  recorded: RecordedConnection,
  copy: Copy,
  name: string | null,
): Promise<Script> {
  const trial = new Trial(copy);
  if (name === null) await trial.prepare(facts, recorded);
  await trial.run(recorded.statements);
  return trial.script(recorded, name);
}

/** For the workloads `own-sql` and `own-database`. */
export const sqlOf = ({ setup, steps }: Pick<Script, 'setup' | 'steps'>): string =>
  [
    ['setup', setup],
    ['step statements', steps],
  ]
    .map(([marker, sql]) => (sql ? `-- ${marker}\n${sql}` : ''))
    .join('');
const asSteps = (statements: readonly string[]): string =>
  statements.map((sql) => `${sql};\n`).join('');

const words = (error: unknown): string => (error instanceof Error ? error.message : String(error));
/** In lower case; names without quotes. */
const wordsOf = (sql: string): string[] =>
  [...tokens(sql)].flatMap(({ kind, text }) =>
    kind === 'space' || kind === 'comment' ? [] : [unquoted(text).toLowerCase()],
  );

class Trial {
  private readonly setup: string[] = [];
  private readonly lines: string[] = [];
  private readonly left = new Left();
  private readonly sample: SampleValues;
  private readonly rows: MadeUpRows;
  private schema: Schema | null = null;
  /** Number of runs of each text so far. */
  private readonly runs = new Map<string, number>();
  private statements = 0;
  /** Number of recorded statements that run. */
  private ran = 0;
  /** PRAGMAs that belong to the configuration. */
  private settings = 0;
  private madeUpValues = 0;
  private madeUpRows = 0;
  /** Queries with a recorded number of rows, and those that return the same number here. */
  private queries = { all: 0, sameRows: 0 };
  /** The last transaction was still open at the end of the statements. */
  private committed = false;

  constructor(private readonly copy: Copy) {
    this.sample = new SampleValues((sql) => copy.ask(sql));
    this.rows = new MadeUpRows(copy);
  }

  /** The app's tables at the beginning of the recording, as far as it shows. */
  async prepare(
    facts: Facts,
    { statements, database, bytesAtStart }: RecordedConnection,
  ): Promise<void> {
    const makesTables = statements.some(({ sql }) => statementKind(sql) === 'schema');
    if (bytesAtStart === 0 && makesTables) return;
    const schema = facts.get(recordedSchemas).find((one) => one.database === database);
    for (const { sql } of schema?.statements ?? []) await this.attempt(plain(sql), sql, this.setup);
    const used = new Set([...new Set(statements.map(({ sql }) => sql))].flatMap(wordsOf));
    const tables = [...(await this.known()).tables.values()];
    const filled = tables.filter(({ name }) => used.has(name.toLowerCase()));
    for (const [i, table] of filled.entries())
      await this.fill(table, (bytesAtStart * (i + 1)) / filled.length, this.setup);
  }

  async run(all: readonly Executed[]): Promise<void> {
    for (const [i, executed] of all.entries()) {
      if (i < MOST_STATEMENTS && this.copy.steps < MOST_STEPS) await this.one(executed);
      else this.left.add(LIMIT_CAUSE, executed.sql);
    }
    if (!this.copy.inTransaction) return;
    await this.copy.exec('COMMIT');
    this.lines.push('COMMIT');
    this.committed = true;
  }

  script(
    { statements, connections, bytesAtStart }: RecordedConnection,
    name: string | null,
  ): Script {
    const of = connections > 1 ? ` of the busiest of ${connections} connections` : '';
    const { all, sameRows } = this.queries;
    const rows = `${countOf(this.madeUpRows, 'made-up row')}`;
    return {
      setup: asSteps(this.setup),
      steps: asSteps(this.lines),
      statements: this.statements,
      says: [
        `Statements are your app's: ${formatCount(this.ran)} of ${countOf(statements.length - this.settings, 'recorded statement')}${of} run, in their order.`,
        name === null
          ? "Your database isn't here: its tables come from your CREATE statements."
          : `They run on your copy of ${name}.`,
        ...(this.madeUpRows
          ? [
              `${rows} replace yours${bytesAtStart > MOST_BYTES ? `, up to ${formatBytes(MOST_BYTES)}` : ''}.`,
            ]
          : []),
        ...(this.madeUpValues
          ? [
              `The recording has no values of ${countOf(this.madeUpValues, 'statement')}. The Lab uses values from the tables, or made-up ones.`,
            ]
          : []),
        ...(all
          ? [
              `${formatCount(sameRows)} of ${countOf(all, 'query', 'queries')} return as many rows as in your app.`,
            ]
          : []),
        ...(this.committed
          ? ["Your app's last transaction has no end here, so this commits it."]
          : []),
        ...this.left
          .list(true)
          .map(
            ({ why, statements: n, example }) =>
              `Left out: ${countOf(n, 'statement')}, such as ${short(example)}. ${why}.`,
          ),
      ],
    };
  }

  private async one(executed: Executed): Promise<void> {
    const { sql, cut, failed } = executed;
    const why =
      whyNot(sql) ??
      (cut ? 'The recording cut the text' : failed ? 'It failed in your app, too' : null);
    if (why !== null) return this.left.add(why, sql);
    const [pragma] = pragmasIn(sql);
    if (pragma) {
      // those are the configuration
      if (CONFIG_PRAGMAS[pragma.name]) {
        this.settings++;
        return;
      }
      await this.attempt(plain(sql), sql, this.lines);
      return;
    }
    const kind = statementKind(sql);
    if (kind === 'schema' || kind === 'transaction') {
      await this.attempt(plain(sql), sql, this.lines);
      if (kind === 'schema') this.schema = null;
      return;
    }
    await this.query(executed, kind);
  }

  /** A statement that reads or changes rows. */
  private async query(executed: Executed, kind: string): Promise<void> {
    const { sql, bytes } = executed;
    const text = opened(sql);
    try {
      const filled =
        kind === 'insert' ? await this.insert(text, executed) : await this.reading(text, executed);
      const rows = await this.attempt(filled.sql, sql, this.lines);
      if (rows === null) return;
      this.statements++;
      if (filled.madeUp) this.madeUpValues++;
      if (kind === 'select' && executed.rows !== null) {
        this.queries.all++;
        if (rows === executed.rows) this.queries.sameRows++;
      }
      if (filled.grows && (await this.rows.size()) < bytes)
        await this.fill(filled.grows, bytes, this.lines);
    } catch (error) {
      this.left.add(`The Lab can't read it: ${words(error)}`, sql);
    }
  }

  private async reading(text: string, { values, rows }: Executed): Promise<Filled> {
    const use = usesOf(text, await this.known());
    if (!use) throw new Error("it isn't a statement that reads or changes rows");
    const filled = await this.sample.fill(
      text,
      use,
      { values, recordedRows: rows ?? 1, runs: 1 },
      this.standIn(text),
    );
    return { sql: filled.sql, madeUp: filled.values !== 'none' && filled.values !== 'recorded' };
  }

  private async insert(text: string, { sql, values }: Executed): Promise<Filled> {
    const { table, byQuery, parameters } = insertUse(text, await this.known());
    const numbers = numbersOf(parameters);
    const own =
      values?.length === Math.max(0, ...numbers) && values.every(isLiteral) ? values : null;
    const chosen = new Map<number, string>();
    const { unknown } = this.standIn(text);
    for (const [i, { column }] of parameters.entries()) {
      const number = numbers[i]!;
      const made = column !== null && table ? await this.rows.literal(table, column) : unknown;
      if (!chosen.has(number)) chosen.set(number, own?.[number - 1] ?? made);
    }
    const madeUp = parameters.length > 0 && !own;
    const cutRows = FOLDED_ROWS.test(sql);
    return {
      sql: replaced(
        text,
        parameters.map(({ leaf }, i) => [leaf, chosen.get(numbers[i]!)!]),
      ),
      madeUp: madeUp || cutRows,
      ...(table && ((madeUp && byQuery) || cutRows) ? { grows: table } : {}),
    };
  }

  /** Each run of a text uses different values, as an app would. */
  private standIn(text: string): { place: number; unknown: string } {
    const run = this.runs.get(text) ?? 0;
    this.runs.set(text, run + 1);
    return { place: ((run * STRIDE) % PLACES) / PLACES, unknown: String(run + 1) };
  }

  private async fill(table: TableInfo, bytes: number, lines: string[]): Promise<void> {
    try {
      const { sql, rows } = await this.rows.fill(table, bytes);
      lines.push(...sql);
      this.madeUpRows += rows;
    } catch (error) {
      this.left.add(
        `Made-up rows don't fit ${table.name}: ${words(error)}`,
        `INSERT INTO ${table.name}`,
      );
    }
  }

  /** @returns number of rows; null: SQLite rejects it, and it is left out */
  private async attempt(text: string, recorded: string, lines: string[]): Promise<number | null> {
    const open = this.copy.inTransaction;
    try {
      const rows = await this.copy.rowsOf(text, MOST_STEPS - this.copy.steps);
      lines.push(text);
      if (lines === this.lines) this.ran++;
      return rows;
    } catch (error) {
      if (open && !this.copy.inTransaction) lines.push('ROLLBACK'); // as SQLite did
      this.left.add(
        this.copy.steps < MOST_STEPS ? `SQLite refuses it here: ${words(error)}` : LIMIT_CAUSE,
        recorded,
      );
      return null;
    }
  }

  private async known(): Promise<Schema> {
    return (this.schema ??= await readSchema((sql) => this.copy.ask(sql)));
  }
}

interface Filled {
  readonly sql: string;
  /** Some of its values aren't the app's. */
  readonly madeUp: boolean;
  /** It inserts fewer rows here. The table is filled up to the recorded size. */
  readonly grows?: TableInfo;
}

/** The form in which a recording folds the rows of VALUES after the first. */
const FOLDED_ROWS = /\)\s*,\s*\.\.\./;
const MOST_CHARACTERS = 60;
const short = (sql: string): string =>
  sql.length > MOST_CHARACTERS ? `${sql.slice(0, MOST_CHARACTERS - 1)}…` : sql;

/** Without comments, which could contain a step marker. */
const plain = (sql: string): string => opened(withStandIns(sql).sql);

/** Why a statement isn't tried, by its first word; null = it is tried. */
function whyNot(sql: string): string | null {
  const [pragma] = pragmasIn(sql);
  if (pragma)
    return pragma.value?.includes('?') && !CONFIG_PRAGMAS[pragma.name]
      ? 'The recording folded the value'
      : null;
  const [first = '', ...rest] = wordsOf(sql);
  if (first === 'attach' || first === 'detach' || (first === 'vacuum' && rest.includes('into')))
    return 'Try it runs on one database';
  return statementKind(sql) === 'other' || first === 'explain'
    ? 'It neither reads nor changes rows'
    : null;
}

/** A text with some of its words, in order, replaced. */
function replaced(text: string, by: readonly (readonly [Leaf, string])[]): string {
  let [out, at] = ['', 0];
  for (const [leaf, word] of by) {
    out += text.slice(at, leaf.at) + word;
    at = leaf.at + leaf.text.length;
  }
  return out + text.slice(at);
}
