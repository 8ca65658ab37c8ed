/**
 * Tables of a copied database, and a table's first rows. The values are the user's own data, so
 * they only go to the screen.
 */
import { inCopy, type CopiedDatabase } from './open-copy.ts';
import type { WasmSource } from './load-sqlite.ts';

/** A table, index, view or trigger, as sqlite_schema has it. */
export interface CopiedObject {
  readonly type: string;
  readonly name: string;
  /** The beginning of its CREATE statement; '' = SQLite made it itself. */
  readonly sql: string;
  /** The statement is longer. */
  readonly sqlCut: boolean;
  /** Its rows can be read. Views and virtual tables can't: their SQL would have to run. */
  readonly hasRows: boolean;
}
export interface CopiedSchema {
  readonly objects: readonly CopiedObject[];
  /** The database has more objects. */
  readonly more: boolean;
}
export interface CopiedRows {
  readonly columns: readonly string[];
  /** Values as text, cut; null = NULL. */
  readonly rows: readonly (readonly (string | null)[])[];
  /** The table has more rows. */
  readonly more: boolean;
}

/** Maximum objects of a schema that are shown. */
export const MOST_OBJECTS = 1000;
const MOST_COLUMNS = 100;
/** Maximum rows of a table that are shown. */
export const MOST_ROWS = 100;
/** Maximum characters of a value. */
const LONGEST_VALUE = 200;
/** Maximum characters of a CREATE statement that are shown. */
export const LONGEST_SQL = 5000;

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** In the order in which they were created. @throws Error with a message for the user */
export const readObjects = (wasm: WasmSource, copy: CopiedDatabase): Promise<CopiedSchema> =>
  inCopy(wasm, copy, 'the schema', async (rowsOf) => {
    const all = await rowsOf(
      `SELECT type, name, substr(sql, 1, ${LONGEST_SQL}), rootpage, length(sql) FROM sqlite_schema ORDER BY rowid LIMIT ${MOST_OBJECTS + 1}`,
    );
    const objects = all.slice(0, MOST_OBJECTS).map(([type, name, sql, root, length]) => ({
      type: String(type),
      name: String(name),
      sql: typeof sql === 'string' ? sql : '',
      sqlCut: Number(length) > LONGEST_SQL,
      hasRows: type === 'table' && Number(root) > 0,
    }));
    return { objects, more: all.length > MOST_OBJECTS };
  });

/**
 * The first rows of a table.
 * @param table as `readObjects` names it
 * @throws Error with a message for the user
 */
export const readRows = (
  wasm: WasmSource,
  copy: CopiedDatabase,
  table: string,
): Promise<CopiedRows> =>
  inCopy(wasm, copy, 'the rows', async (rowsOf) => {
    const known = await rowsOf(
      `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name = '${table.replaceAll("'", "''")}'`,
    );
    if (known.length === 0) throw new Error(`there is no table ${table}`);
    // generated columns are left out: they would have to be computed
    const all = await rowsOf(`PRAGMA table_info(${quoted(table)})`);
    const columns = all.slice(0, MOST_COLUMNS).map(([, name]) => String(name));
    const values = columns.map((column) => {
      const value = quoted(column);
      return `CASE typeof(${value}) WHEN 'blob' THEN 'blob, ' || length(${value}) || ' bytes' ELSE substr(${value}, 1, ${LONGEST_VALUE}) END`;
    });
    const rows = await rowsOf(
      `SELECT ${values.join(', ')} FROM ${quoted(table)} LIMIT ${MOST_ROWS + 1}`,
    );
    return {
      columns,
      rows: rows
        .slice(0, MOST_ROWS)
        .map((row) => row.map((value) => (value === null ? null : String(value)))),
      more: rows.length > MOST_ROWS,
    };
  });
