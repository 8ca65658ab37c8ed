/** A schema for plans, where it comes from, and what it lacks. */
import type { RecordedSchema, SchemaText } from '../analysis/statements/recorded-schema.ts';

/** A row of sqlite_stat1. */
export type StatRow = readonly [table: string, index: string | null, stat: string];

export interface SchemaSource {
  /** `page`: read from a copy of the page's database. `file`: read from a database file. */
  readonly from: 'page' | 'file' | 'recording';
  /** Name of the database; null = not known. */
  readonly database: string | null;
  /** In the order in which they must run. */
  readonly statements: readonly SchemaText[];
  /** null: it has none, or comes from a recording, which can't have them. */
  readonly statistics: readonly StatRow[] | null;
  /** The database also has sqlite_stat4. */
  readonly samples: boolean;
  readonly foreignKeys: boolean;
}

export const sourceOfRecording = ({
  database,
  statements,
  foreignKeys,
}: RecordedSchema): SchemaSource => ({
  from: 'recording',
  ...{ database, statements, foreignKeys },
  statistics: null,
  samples: false,
});
