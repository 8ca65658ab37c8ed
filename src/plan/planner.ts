/**
 * Plans of recorded statements. The schema comes from a copy of the database if one was read, else
 * from the recording.
 */
import type { Facts } from '../analysis/core/graph.ts';
import { fingerprintsOf } from '../analysis/core/fingerprints.ts';
import { databasesByConnection } from '../analysis/core/connection-databases.ts';
import { executions } from '../analysis/core/executions.ts';
import type { TimeRange } from '../analysis/core/time-range.ts';
import { bTrees } from '../analysis/pages/b-trees.ts';
import { databaseFiles } from '../analysis/core/database-files.ts';
import { databaseName } from '../event/file-names.ts';
import { treeOf, treeUse, treeUseIn } from '../analysis/pages/tree-use.ts';
import {
  recordedSchemas,
  schemaOf,
  type RecordedSchema,
  type SchemaText,
} from '../analysis/statements/recorded-schema.ts';
import type { StatementRow } from '../analysis/statements/statement-table.ts';
import { depthsOf, namesIn, scanHint, type PlanStep } from '../sqlite/query-plan.ts';
import { statementKind } from '../sqlite/statement-kind.ts';
import { statementsIn } from '../sqlite/sql-text.ts';
import { countOf } from '../text/numbers.ts';
import { buildFor, loadSqlite, type SqliteBuild, type WasmSource } from './load-sqlite.ts';
import { noPlan, planNotes, type NoPlan } from './plan-notes.ts';
import { namedIn, SchemaCopy } from './schema-copy.ts';
import { sourceOfRecording, type SchemaSource } from './schema-source.ts';
import type { PlanLine, PlanRuns, StatementPlan } from './types.ts';

/** Must be computed before a plan is requested. */
export const PLAN_NEEDS = {
  ...{ executions, recordedSchemas, databasesByConnection },
  ...{ treeUse, bTrees, databaseFiles },
};

const HAS_PLAN: ReadonlySet<string> = new Set(['select', 'insert', 'update', 'delete']);

/** Where a statement ran. */
interface Where {
  /** Releases of SQLite, where they are known. */
  releases: string[];
  /** Literals of its text are folded. */
  folded: boolean;
  /** Names of other databases attached to its connections. */
  attached: ReadonlySet<string>;
}

export class Planner {
  /** Copies by their source; a growing recording needs new ones. */
  private readonly copies = new Map<string, SchemaCopy>();
  private readonly ids = new WeakMap<SchemaSource, number>();
  private lastId = 0;
  private readonly sqlite = new Map<SqliteBuild, Promise<SQLiteAPI>>();
  /** Plans are made one after another. */
  private last: Promise<unknown> = Promise.resolve();

  /** @param wasmOf loads a build of SQLite, on first use */
  constructor(private readonly wasmOf: (build: SqliteBuild) => WasmSource | Promise<WasmSource>) {}

  /**
   * @param row of the table of statements
   * @param readOf returns the schema read from a copy of a database, by its recorded name (null =
   * not known); null = no copy was read
   * @returns null if a statement can't have a plan: it neither reads nor changes rows, or its text
   * isn't known
   * @throws Error when SQLite can't be loaded
   */
  planOf(
    facts: Facts,
    row: StatementRow,
    range: TimeRange,
    readOf: (database: string | null) => SchemaSource | null,
  ): Promise<StatementPlan | null> {
    const plan = this.last.then(() => this.make(facts, row, range, readOf));
    this.last = plan.catch(() => undefined);
    return plan;
  }

  private async make(
    facts: Facts,
    row: StatementRow,
    range: TimeRange,
    readOf: (database: string | null) => SchemaSource | null,
  ): Promise<StatementPlan | null> {
    const { text, sql } = row;
    if (text === null || sql === null || !HAS_PLAN.has(statementKind(text))) return null;
    const recorded = schemaOf(facts.get(recordedSchemas), text);
    const database = recorded?.database ?? null;
    const read = readOf(database);
    const { releases, folded, attached } = whereRan(facts, text, database);
    const build = buildFor(releases);
    const copy = await (read
      ? this.copyOf(build, besideAttached(read, recorded), this.idOf(read))
      : this.copyOf(build, recorded ? sourceOfRecording(recorded) : NO_SCHEMA));
    const runs = runsOf(row);
    const { release } = copy;
    const without = ({ cause, lacksSchema }: NoPlan): StatementPlan => ({
      ...{ lines: null, cause, lacksSchema, database, runs, release, notes: [] },
      source: sourceFacts(copy),
    });
    if (row.truncated) return without(never('The recording cut the text of this statement.'));
    const texts = statementsIn(sql);
    if (texts.length !== 1)
      return without(
        never(`This script has ${countOf(texts.length, 'statement')}. SQLite plans one at a time.`),
      );
    const explained = await copy.explain(sql);
    if ('refused' in explained) return without(noPlan(explained.refused, copy, [...attached]));
    const named = namedIn(sql, copy);
    const triggers = statementKind(text) !== 'select' && hasTrigger(copy, named.tables);
    const lines = linesOf(
      explained.steps,
      named.aliases,
      copy,
      readsOf(facts, text, range),
      triggers ? { ...runs, steps: null } : runs, // their scans are counted, too
    );
    return {
      lines: apart(lines),
      ...{ cause: '', lacksSchema: false, database, source: sourceFacts(copy), runs, release },
      notes: planNotes({
        ...{ sql, folded, releases, copy, standIns: explained.standIns, tables: named.tables },
        shared: [...sharedReads(lines)],
        unseen: unseenIndexes(
          facts,
          read || database === null ? attached : new Set([database, ...attached]),
          named.tables,
          copy,
        ),
        analyzed: recorded?.analyzed ?? false,
      }),
    };
  }

  /** Id of a schema that was read, because its texts may be long. */
  private idOf(read: SchemaSource): string {
    const id = this.ids.get(read) ?? ++this.lastId;
    this.ids.set(read, id);
    return String(id);
  }

  private async copyOf(build: SqliteBuild, source: SchemaSource, id = ''): Promise<SchemaCopy> {
    const { from, database, foreignKeys, statements } = source;
    const texts = id ? statements.filter(isAttached) : statements;
    const key = JSON.stringify([build, from, database, foreignKeys, id, texts.map((t) => t.sql)]);
    const known = this.copies.get(key);
    if (known) return known;
    const sqlite = this.sqlite.get(build) ?? this.load(build);
    this.sqlite.set(build, sqlite);
    sqlite.catch(() => this.sqlite.delete(build)); // the next one tries again
    const copy = await SchemaCopy.of(await sqlite, source);
    if (this.copies.size >= MOST_COPIES) {
      const oldest = this.copies.keys().next().value!;
      await this.copies.get(oldest)!.close();
      this.copies.delete(oldest);
    }
    this.copies.set(key, copy);
    return copy;
  }

  private async load(build: SqliteBuild): Promise<SQLiteAPI> {
    return (await loadSqlite(await this.wasmOf(build), build)).sqlite3;
  }
}
const MOST_COPIES = 4;
const never = (cause: string): NoPlan => ({ cause, lacksSchema: false });
const NO_SCHEMA: SchemaSource = {
  ...{ from: 'recording', database: null, statements: [], statistics: null },
  ...{ samples: false, foreignKeys: false },
};

const isAttached = ({ schema }: SchemaText): boolean =>
  schema !== null && !/^(?:main|temp)$/i.test(schema);
/**
 * A schema that was read covers one database. What the app made in attached ones comes from the
 * recording.
 */
const besideAttached = (read: SchemaSource, recorded: RecordedSchema | null): SchemaSource => ({
  ...read,
  statements: [...read.statements, ...(recorded?.statements.filter(isAttached) ?? [])],
  foreignKeys: recorded?.foreignKeys ?? false,
});

const sourceFacts = ({ source, size }: SchemaCopy): StatementPlan['source'] =>
  size === 0 ? null : { from: source.from, database: source.database, tables: size };

/** What all runs of a statement took. */
export const runsOf = ({
  executions: runs,
  rows,
  query,
  statementsInScript,
}: StatementRow): PlanRuns => ({
  runs,
  rows: statementsInScript !== null && rows === 0 ? null : rows,
  steps: query && { runs: query.runs, scan: query.scanned, vm: query.vmSteps },
});

function whereRan(facts: Facts, text: string, database: string | null): Where {
  const releases = new Set<string>();
  const attached = new Set<string>();
  let folded = false;
  for (const thread of facts.store.threads) {
    const printOf = fingerprintsOf(thread);
    const { count, text: id, firstRow } = facts.get(executions).of(thread);
    const connections = new Set<number>();
    for (let i = 0; i < count; i++)
      if (printOf(id[i]!) === text) connections.add(thread.events.context[firstRow[i]!]!);
    if (connections.size === 0) continue;
    const databases = facts.get(databasesByConnection).of(thread);
    for (const connection of connections) {
      const names = databases.get(connection);
      if (database !== null && names?.has(database)) names.forEach((name) => attached.add(name));
    }
    folded ||= (thread.environment?.capture.capture ?? 1) < 2;
    for (const { sqliteVersion } of thread.engines) if (sqliteVersion) releases.add(sqliteVersion);
  }
  if (database !== null) attached.delete(database);
  return { releases: [...releases], folded, attached };
}

/** Pages read, by the lower-case name of a table or index that the recording knows. */
function readsOf(facts: Facts, text: string, range: TimeRange): Map<string, number> {
  const trees = facts.get(bTrees);
  const reads = new Map<string, number>();
  for (const { list } of trees) for (const { name } of list) reads.set(name.toLowerCase(), 0);
  for (const use of treeUseIn(facts, range)) {
    const name = treeOf(trees, use)?.name.toLowerCase();
    if (use.statement === text && name !== undefined)
      reads.set(name, (reads.get(name) ?? 0) + use.reads);
  }
  return reads;
}

const IS_SCAN = /^SCAN (?!CONSTANT|\d+-ROW VALUES)/;

function linesOf(
  steps: readonly PlanStep[],
  aliases: ReadonlyMap<string, string>,
  { names, views, ambiguous, databases }: SchemaCopy,
  reads: ReadonlyMap<string, number>,
  { steps: counted }: PlanRuns,
): PlanLine[] {
  const depths = depthsOf(steps);
  const qualified = new Map(
    [...databases].flatMap((of) => [...names.keys()].map((name) => [`${of}.${name}`, name])),
  );
  const known = new Set([...names.keys(), ...aliases.keys(), ...qualified.keys()]);
  const scans = steps.filter(({ detail }) => IS_SCAN.test(detail)).length;
  return steps.map(({ detail }, i): PlanLine => {
    const { table, index, covering } = namesIn(detail, known);
    const of = table === null ? null : (qualified.get(table) ?? aliases.get(table) ?? table);
    const read = of === null || views.has(of) ? [] : covering ? [] : [of];
    if (index !== null) read.push(index);
    const isKnown =
      read.length > 0 && read.every((name) => reads.has(name) && !ambiguous.has(name));
    return {
      ...{ depth: depths[i]!, detail, hint: scanHint(detail) },
      pages: isKnown
        ? read.map((name) => ({ name: names.get(name) ?? name, reads: reads.get(name)! }))
        : null,
      scanSteps: counted && scans === 1 && IS_SCAN.test(detail) ? counted.scan : null,
    };
  });
}

const hasTrigger = ({ leftOut }: SchemaCopy, tables: ReadonlySet<string>): boolean =>
  leftOut.some(
    ({ cause, statement: { table } }) =>
      cause === 'trigger' && table !== null && tables.has(table.toLowerCase()),
  );

/** Tables and indexes that several lines read, with the pages of all of them. */
function sharedReads(lines: readonly PlanLine[]): Map<string, number> {
  const seen = new Set<string>();
  const shared = new Map<string, number>();
  for (const { name, reads } of lines.flatMap(({ pages }) => pages ?? []))
    if (seen.has(name)) shared.set(name, reads);
    else seen.add(name);
  return shared;
}
/** The same lines, without pages that may belong to another line. */
function apart(lines: readonly PlanLine[]): PlanLine[] {
  const shared = sharedReads(lines);
  return lines.map((line) => {
    const pages = line.pages?.filter(({ name }) => !shared.has(name)) ?? [];
    return { ...line, pages: pages.length ? pages : null };
  });
}

/**
 * Indexes of a statement's tables that the recording saw in these databases, but that the copy
 * doesn't have.
 */
function unseenIndexes(
  facts: Facts,
  databases: ReadonlySet<string>,
  tables: ReadonlySet<string>,
  { indexes, names }: SchemaCopy,
): string[] {
  const trees = facts.get(bTrees);
  return facts.get(databaseFiles).list.flatMap(({ path }, i) =>
    !databases.has(databaseName(path))
      ? []
      : trees[i]!.list.filter(({ kind, name, table }) => {
          const of = table.toLowerCase();
          return (
            kind === 'index' && tables.has(of) && names.has(of) && !indexes.has(name.toLowerCase())
          );
        }).map(({ name }) => name),
  );
}
