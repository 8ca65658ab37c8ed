/**
 * An empty database in memory with a copied schema, on which SQLite explains statements. The
 * schema's texts come from the page, so an authorizer lets them make tables, indexes, and views
 * only. A statement is explained, but never runs.
 */
import { Rc } from '../sqlite/constants.ts';
import type { SchemaText } from '../analysis/statements/recorded-schema.ts';
import { opened } from '../sqlite/folded-lists.ts';
import type { PlanStep } from '../sqlite/query-plan.ts';
import { unquoted, withStandIns } from '../sqlite/schema-statement.ts';
import { statementsIn, tokens } from '../sqlite/sql-text.ts';
import type { SchemaSource } from './schema-source.ts';

/** Why a part of the schema is missing in the copy. */
export type LeftOutCause =
  /** Its text isn't plain SQL for this SQLite; `why` is SQLite's message. */
  | 'refused'
  /** Made from a query, which would have to run. */
  | 'query'
  | 'trigger'
  | 'virtual table';

export interface LeftOut {
  readonly cause: LeftOutCause;
  readonly statement: SchemaText;
  readonly why: string;
}
/** An index that SQLite uses only if a statement's text matches its condition or expression. */
export interface ExactIndex {
  readonly name: string;
  readonly table: string;
  readonly kind: 'partial' | 'expression';
}
export type Explained =
  | { readonly steps: readonly PlanStep[]; readonly standIns: readonly string[] }
  | { readonly refused: string };

/** SQLITE_* action codes of an authorizer: sqlite.org/c3ref/c_alter_table.html */
const Action = {
  createIndex: 1,
  createTable: 2,
  createTempIndex: 3,
  createTempTable: 4,
  createTempView: 6,
  createView: 8,
  delete: 9,
  dropIndex: 10,
  dropTable: 11,
  dropTempIndex: 12,
  dropTempTable: 13,
  dropTempView: 15,
  dropView: 17,
  insert: 18,
  read: 20,
  select: 21,
  update: 23,
  alterTable: 26,
  reindex: 27,
  function: 31,
  recursive: 33,
} as const;
const TO_EXPLAIN: ReadonlySet<number> = new Set([
  ...[Action.insert, Action.update, Action.delete, Action.read, Action.select],
  ...[Action.function, Action.recursive],
]);
const TO_MAKE: ReadonlySet<number> = new Set([
  ...[Action.createIndex, Action.createTable, Action.createTempIndex, Action.createTempTable],
  ...[Action.createTempView, Action.createView, Action.dropIndex, Action.dropTable],
  ...[Action.dropTempIndex, Action.dropTempTable, Action.dropTempView, Action.dropView],
  ...[Action.alterTable, Action.reindex],
  // the schema's own rows, as a new table is empty
  ...TO_EXPLAIN,
]);
const DENY = 1;
/** Whose SQL runs: `ours` may do anything. */
type At = 'ours' | 'schema' | 'plan';

const STEPS = 10_000;
/**
 * Time limit for one statement of the schema, and for one plan: nested views can grow without end.
 */
const MOST_MS = 2000;
const MOST_STAND_INS = 50;
/**
 * SQLITE_UTF8, DETERMINISTIC, and INNOCUOUS, so that a schema may use it anywhere. It is never
 * called.
 */
const STAND_IN = 0x200801;
const NO_FUNCTION = /^no such function: (.+)$/;

export class SchemaCopy {
  /** Names of tables and views by their name in lower case. */
  readonly names = new Map<string, string>();
  /** Names of indexes in lower case, of the schema and of SQLite's own. */
  readonly indexes = new Set<string>();
  /** Names that several of its databases have: a line of a plan doesn't show which one it means. */
  readonly ambiguous = new Set<string>();
  readonly exact: ExactIndex[] = [];
  readonly views = new Map<string, string>();
  /** Names of its databases in lower case. */
  readonly databases = new Set(['main', 'temp']);
  readonly leftOut: LeftOut[] = [];
  /** Names of the app's functions that have stand-ins here. */
  private readonly standIns = new Set<string>();
  private readonly explained = new Map<string, Explained>();
  private at: At = 'ours';
  private until = Infinity;

  private constructor(
    private readonly sqlite3: SQLiteAPI,
    private readonly db: number,
    readonly source: SchemaSource,
  ) {}

  /** @throws Error where SQLite itself fails */
  static async of(sqlite3: SQLiteAPI, source: SchemaSource): Promise<SchemaCopy> {
    const copy = new SchemaCopy(sqlite3, await sqlite3.open_v2(':memory:'), source);
    const { db } = copy;
    sqlite3.set_authorizer(db, (_, action) => (copy.allows(action) ? 0 : DENY), null);
    sqlite3.progress_handler(db, STEPS, () => (performance.now() > copy.until ? 1 : 0), null);
    await copy.exec('PRAGMA trusted_schema=off; PRAGMA temp_store=memory');
    for (const statement of source.statements) await copy.make(statement);
    if (source.statistics) await copy.takeStatistics(source.statistics);
    if (source.foreignKeys) await copy.exec('PRAGMA foreign_keys=on');
    await copy.look();
    return copy;
  }

  /** The release of SQLite that makes these plans. */
  get release(): string {
    return this.sqlite3.libversion();
  }
  get size(): number {
    return this.names.size;
  }

  /** @param sql one statement that reads or changes rows; it isn't run */
  async explain(sql: string): Promise<Explained> {
    const known = this.explained.get(sql);
    if (known) return known;
    const answer = await this.during('plan', async (): Promise<Explained> => {
      const steps: PlanStep[] = [];
      const why = await this.attempt(`EXPLAIN QUERY PLAN ${opened(sql)}`, (row) => {
        const [id, parent, , detail] = row;
        steps.push({ id: Number(id), parent: Number(parent), detail: String(detail) });
      });
      if (why !== null) return { refused: why };
      const words = new Set([...tokens(sql)].map(({ text }) => unquoted(text).toLowerCase()));
      return { steps, standIns: [...this.standIns].filter((f) => words.has(f.toLowerCase())) };
    });
    this.explained.set(sql, answer);
    return answer;
  }

  async close(): Promise<void> {
    await this.sqlite3.close(this.db);
  }

  private allows(action: number): boolean {
    if (this.at === 'ours') return true;
    return (this.at === 'schema' ? TO_MAKE : TO_EXPLAIN).has(action);
  }
  /** @param values of its parameters */
  private async exec(sql: string, values: SQLiteCompatibleType[] = []): Promise<void> {
    const { sqlite3, db } = this;
    for await (const statement of sqlite3.statements(db, sql)) {
      if (values.length) sqlite3.bind_collection(statement, values);
      while ((await sqlite3.step(statement)) === Rc.row) continue;
    }
  }
  private async during<T>(at: At, work: () => Promise<T>): Promise<T> {
    this.at = at;
    this.until = performance.now() + MOST_MS;
    try {
      return await work();
    } finally {
      this.at = 'ours';
      this.until = Infinity;
    }
  }

  /**
   * Runs one statement; functions that SQLite doesn't have get stand-ins.
   * @returns SQLite's error message; null = no error
   */
  private async attempt(sql: string, row?: (row: unknown[]) => void): Promise<string | null> {
    for (;;)
      try {
        await this.sqlite3.exec(this.db, sql, row);
        return null;
      } catch (e) {
        const why = e instanceof Error ? e.message : String(e);
        const name = NO_FUNCTION.exec(why)?.[1];
        if (name === undefined || this.standIns.size >= MOST_STAND_INS || this.standIns.has(name))
          return why;
        this.standIns.add(name);
        const { sqlite3, db } = this;
        sqlite3.create_function(db, name, -1, STAND_IN, 0, (context) =>
          sqlite3.result(context, null),
        );
      }
  }

  private async make(statement: SchemaText): Promise<void> {
    const { what, verb, fromQuery, name, schema } = statement;
    const leave = (cause: LeftOutCause, why = ''): void =>
      void this.leftOut.push({ cause, statement, why });
    if (what === 'trigger' || what === 'virtual table') return leave(what);
    if (fromQuery) return leave('query');
    const texts = statementsIn(statement.sql);
    if (texts.length !== 1) return leave('refused', 'more than one statement');
    if (schema !== null && !this.databases.has(schema.toLowerCase())) {
      this.databases.add(schema.toLowerCase());
      await this.exec("ATTACH ':memory:' AS ?", [schema]);
    }
    const { sql, folded } = withStandIns(opened(texts[0]!));
    const why = await this.during('schema', () => this.attempt(sql));
    // created twice: in two recorded databases of one name, or after a ROLLBACK
    const isDone = verb === 'drop' ? /^no such/ : /already exists|duplicate column name/;
    if (why !== null && !isDone.test(why)) leave('refused', why);
    if (why !== null || verb !== 'create') return;
    if (what === 'view') this.views.set(name.toLowerCase(), sql);
    if (what === 'index') this.takeIndex(statement, folded);
  }

  /** Remember an index that may depend on a statement's values. */
  private takeIndex({ name, table, sql }: SchemaText, folded: boolean): void {
    const words = [...tokens(sql)];
    const holdsValue =
      folded || words.some(({ kind }) => kind === 'string' || kind === 'number' || kind === 'blob');
    if (!holdsValue) return;
    const isPartial = words.some(({ kind, text }) => kind === 'word' && /^where$/i.test(text));
    this.exact.push({ name, table: table ?? '', kind: isPartial ? 'partial' : 'expression' });
  }

  private async takeStatistics(rows: NonNullable<SchemaSource['statistics']>): Promise<void> {
    await this.exec('ANALYZE'); // on empty tables, it makes sqlite_stat1 without rows
    for (const row of rows) await this.exec('INSERT INTO sqlite_stat1 VALUES(?,?,?)', [...row]);
    await this.exec('ANALYZE sqlite_schema');
  }

  /** Read what the finished copy holds. */
  private async look(): Promise<void> {
    for (const name of this.databases)
      await this.sqlite3.exec(
        this.db,
        `SELECT type, name FROM "${name.replaceAll('"', '""')}".sqlite_schema`,
        ([type, found]) => {
          const of = String(found);
          const lower = of.toLowerCase();
          if (this.indexes.has(lower) || this.names.has(lower)) this.ambiguous.add(lower);
          if (type === 'index') this.indexes.add(lower);
          else if (!/^sqlite_stat/.test(of)) this.names.set(lower, of);
        },
      );
  }
}

/**
 * Tables and views of the copy that a statement names, directly or through its views, and the
 * tables that an alias stands for, in lower case.
 */
export function namedIn(
  sql: string,
  { names, views }: Pick<SchemaCopy, 'names' | 'views'>,
): { tables: Set<string>; aliases: Map<string, string> } {
  const tables = new Set<string>();
  const aliases = new Map<string, string>();
  const visit = (text: string): void => {
    const words = [...tokens(text)]
      .filter(({ kind }) => kind !== 'space' && kind !== 'comment')
      .map(({ kind, text: word }) => ({
        kind,
        isName: kind === 'word' || kind === 'quoted' || kind === 'string',
        lower: unquoted(word).toLowerCase(),
      }));
    words.forEach(({ isName, lower }, i) => {
      if (!isName || !names.has(lower)) return;
      const next = words[i + 1]?.lower === 'as' ? words[i + 2] : words[i + 1];
      if (next?.isName && !(next.kind === 'word' && BEHIND_TABLE.has(next.lower)))
        aliases.set(next.lower, lower);
      if (tables.has(lower)) return;
      tables.add(lower);
      const view = views.get(lower);
      if (view !== undefined) visit(view);
    });
  };
  visit(sql);
  return { tables, aliases };
}
/** Words after a table's name that aren't an alias. */
const BEHIND_TABLE = new Set(
  'where on using join inner left right full cross natural outer order group having limit offset union except intersect set values select default indexed not window returning as from and or'.split(
    ' ',
  ),
);
