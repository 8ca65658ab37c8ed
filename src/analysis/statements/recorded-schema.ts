/**
 * The schema of each database as far as the app created it during the recording: its successful
 * CREATE, DROP, and ALTER statements, in the order of running, on any connection. What existed
 * before the recording isn't included.
 */
import { ById } from '../core/by-id.ts';
import { databasesByConnection } from '../core/connection-databases.ts';
import { executions, ExecutionState } from '../core/executions.ts';
import { fingerprintsOf } from '../core/fingerprints.ts';
import { fact } from '../core/graph.ts';
import { getOrMake } from '../core/maps.ts';
import { pragmas } from '../core/pragmas.ts';
import { schemaStatementOf, type SchemaStatement } from '../../sqlite/schema-statement.ts';
import { statementsIn } from '../../sqlite/sql-text.ts';
import { statementKind } from '../../sqlite/statement-kind.ts';
import type { ThreadStore } from '../../trace/store.ts';

export interface SchemaText extends SchemaStatement {
  readonly sql: string;
}
export interface RecordedSchema {
  /** From `databaseName`; null: no VFS call shows it. */
  readonly database: string | null;
  readonly statements: readonly SchemaText[];
  /** A schema statement's text was cut in the recording. */
  readonly cut: boolean;
  /** Statistics were made during the recording. */
  readonly analyzed: boolean;
  /** Its connections check foreign keys. */
  readonly foreignKeys: boolean;
  /** By fingerprint: how often a statement ran on it. */
  readonly runs: ReadonlyMap<string, number>;
}

/** If there are more, the page made them up. */
const MOST_STATEMENTS = 5000;
const ON = /^(?:1|on|true|yes)$/i;

interface Growing {
  database: string | null;
  statements: { us: number; text: SchemaText }[];
  cut: boolean;
  analyzed: boolean;
  foreignKeys: boolean;
  runs: Map<string, number>;
}

/** What a text does. */
interface TextKind {
  schema: SchemaText[];
  cut: boolean;
  analyzes: boolean;
}
const NOTHING: TextKind = { schema: [], cut: false, analyzes: false };
const MAY_MATTER = /\b(?:create|drop|alter|analyze|optimize)\b/i;

function kindsOf({ definitions }: ThreadStore): (id: number) => TextKind {
  const known = new ById<TextKind>();
  return (id) => {
    const found = known.get(id);
    if (found) return found;
    const d = definitions.get(id);
    if (d?.kind !== 'sql' || !MAY_MATTER.test(d.text)) return known.set(id, NOTHING);
    const texts = statementsIn(d.text);
    const schema = texts.flatMap((sql) => {
      const statement = schemaStatementOf(sql);
      return statement ? [{ ...statement, sql }] : [];
    });
    const analyzes = texts.some((sql) => /^(?:analyze\b|pragma\s+(?:\S+\.)?optimize\b)/i.test(sql));
    const cut = d.truncated === true && statementKind(texts.at(-1) ?? '') === 'schema';
    return known.set(id, { schema: cut ? schema.slice(0, -1) : schema, cut, analyzes });
  };
}

/** Databases with the statements that ran on them; those without a known name are one. */
export const recordedSchemas = fact(
  'recordedSchemas',
  'schemas',
  { executions, databasesByConnection, pragmas },
  (store, known): RecordedSchema[] => {
    const all = new Map<string | null, Growing>();
    const of = (thread: ThreadStore, connection: number): Growing => {
      // the first one that it opened is its main database
      const [database = null] = known.databasesByConnection.of(thread).get(connection) ?? [];
      return getOrMake(all, database, () => ({
        database,
        statements: [],
        cut: false,
        analyzed: false,
        foreignKeys: false,
        runs: new Map(),
      }));
    };
    for (const thread of store.threads) {
      const { events } = thread;
      const printOf = fingerprintsOf(thread);
      const kindOf = kindsOf(thread);
      const { count, firstRow, text, state } = known.executions.of(thread);
      for (let i = 0; i < count; i++) {
        const row = firstRow[i]!;
        const schema = of(thread, events.context[row]!);
        const print = printOf(text[i]!);
        if (print !== null) schema.runs.set(print, (schema.runs.get(print) ?? 0) + 1);
        if (state[i] !== ExecutionState.done) continue;
        const kind = kindOf(text[i]!);
        schema.cut ||= kind.cut;
        schema.analyzed ||= kind.analyzes;
        for (const one of kind.schema)
          if (schema.statements.length < MOST_STATEMENTS)
            schema.statements.push({ us: events.t0[row]!, text: one });
      }
    }
    for (const { thread, context, name, value } of known.pragmas)
      if (name === 'foreign_keys') of(store.threads[thread]!, context).foreignKeys = ON.test(value);
    return [...all.values()].map(({ statements, ...rest }) => ({
      ...rest,
      statements: statements.sort((a, b) => a.us - b.us).map(({ text }) => text), // stable
    }));
  },
);

/**
 * The schema of the database on which a statement ran most often; null = it never ran.
 * @param text its fingerprint
 */
export function schemaOf(schemas: readonly RecordedSchema[], text: string): RecordedSchema | null {
  let best: RecordedSchema | null = null;
  for (const schema of schemas)
    if ((schema.runs.get(text) ?? 0) > (best?.runs.get(text) ?? 0)) best = schema;
  return best;
}
