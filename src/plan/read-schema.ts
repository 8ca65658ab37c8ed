/**
 * The schema and statistics of a copied database file. Nothing in it runs: its views and triggers
 * are just texts here.
 */
import { schemaStatementOf } from '../sqlite/schema-statement.ts';
import type { SchemaText } from '../analysis/statements/recorded-schema.ts';
import { inCopy, type CopiedDatabase } from './open-copy.ts';
import type { WasmSource } from './load-sqlite.ts';
import type { SchemaSource, StatRow } from './schema-source.ts';

const MOST_STATEMENTS = 20_000;
const MOST_STATISTICS = 100_000;
const LONGEST_STATEMENT = 1_000_000;
/** Tables first, because a file may have them in any order. */
const ORDER = ['table', 'index', 'view', 'trigger'];

/** @throws Error with a message for the user */
export const readSchema = (
  wasm: WasmSource,
  copy: CopiedDatabase,
): Promise<Pick<SchemaSource, 'statements' | 'statistics' | 'samples'>> =>
  inCopy(wasm, copy, 'the schema', async (rowsOf) => {
    const all = await rowsOf(
      `SELECT type, name, rootpage, sql FROM sqlite_schema LIMIT ${MOST_STATEMENTS}`,
    );
    /** A view of this name isn't statistics, and reading it would run its SQL. */
    const hasTable = (wanted: string): boolean =>
      all.some(([type, name, root]) => type === 'table' && name === wanted && Number(root) > 0);
    const statistics = hasTable('sqlite_stat1')
      ? (await rowsOf(`SELECT tbl, idx, stat FROM sqlite_stat1 LIMIT ${MOST_STATISTICS}`)).map(
          ([table, index, stat]): StatRow => [
            String(table),
            index === null ? null : String(index),
            String(stat),
          ],
        )
      : null;
    const statements = all
      .sort(([a], [b]) => ORDER.indexOf(String(a)) - ORDER.indexOf(String(b))) // stable
      .flatMap(([, name, , sql]): SchemaText[] => {
        // SQLite's own indexes have none
        if (typeof sql !== 'string' || sql.length > LONGEST_STATEMENT) return [];
        const statement = schemaStatementOf(sql);
        return statement?.verb === 'create' && !/^sqlite_/i.test(String(name))
          ? [{ ...statement, sql }]
          : [];
      });
    return { statements, statistics, samples: hasTable('sqlite_stat4') };
  });
