/**
 * INSERTs of rows like those in a table. The difference between two such probes is an index's cost
 * per INSERT.
 */
import { quotedName } from './sql-tree.ts';
import type { TableInfo } from './schema.ts';

type Ask = (sql: string) => Promise<unknown[][]>;
/** Rows, spread over the table. */
const ROWS = 40;

export interface InsertProbe {
  /** Warm-up rows: a new index has full pages, which the first INSERTs split. */
  readonly first: readonly string[];
  /** Rows that are counted. */
  readonly counted: readonly string[];
}

/** INSERTs, each a copy of a stored row with a new key; null where the table has no row. */
export async function insertsLike(ask: Ask, table: TableInfo): Promise<InsertProbe | null> {
  const t = quotedName(table.name);
  const [[count] = []] = await ask(`SELECT count(*) FROM ${t}`);
  const rows = Math.min(ROWS, Number(count));
  const names = table.stored.map(quotedName);
  // the last column of a unique index makes the whole key different
  const unique = new Set(
    table.indexes.flatMap(({ unique: is, columns }) =>
      is && columns?.length ? [columns.at(-1)!.column] : [],
    ),
  );
  if (rows === 0) return null;
  const insertOf = async (place: number, copy: number): Promise<string> => {
    const values = table.stored.map((column, i) => {
      const name = names[i]!;
      if (column.toLowerCase() === table.rowid) return "'NULL'";
      if (!unique.has(column.toLowerCase())) return `quote(${name})`;
      return `quote(CASE typeof(${name}) WHEN 'text' THEN ${name} || '-copy${copy}' WHEN 'blob' THEN CAST(${name} || 'copy${copy}' AS BLOB) WHEN 'null' THEN NULL ELSE (SELECT max(${name}) FROM ${t}) + ${copy + 1} END)`;
    });
    const [row = []] = await ask(`SELECT ${values.join(', ')} FROM ${t} LIMIT 1 OFFSET ${place}`);
    return `INSERT INTO ${t}(${names.join(', ')}) VALUES (${row.map(String).join(', ')})`;
  };
  const [first, counted]: [string[], string[]] = [[], []];
  for (let i = 0; i < rows; i++) {
    const place = Math.floor((Number(count) * i) / rows);
    first.push(await insertOf(place, i));
    counted.push(await insertOf(place, rows + i));
  }
  return { first, counted };
}
