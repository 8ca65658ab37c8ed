/** The advisor's view of a database: tables, their columns and indexes, and the text of views. */
import { quotedName } from './sql-tree.ts';

/** A column of an index. */
export interface KeyColumn {
  readonly column: string;
  /** null = the column's own collation */
  readonly collation: string | null;
  readonly descending: boolean;
}
export interface IndexInfo {
  readonly name: string;
  /** null: it indexes an expression. */
  readonly columns: readonly KeyColumn[] | null;
  readonly unique: boolean;
  readonly partial: boolean;
}
/** Columns that refer to a key of another table, or of the same one. All names in lower case. */
export interface ForeignKey {
  readonly columns: readonly string[];
  readonly parent: string;
  readonly key: readonly string[];
  /** Deleting a parent deletes its rows. */
  readonly cascades: boolean;
}
export interface TriggerInfo {
  readonly name: string;
  /** Of a table or view; in lower case. */
  readonly table: string;
  readonly sql: string;
}
export interface TableInfo {
  readonly name: string;
  /** By lower-case name: the name as in the schema, including generated columns. */
  readonly columns: ReadonlyMap<string, string>;
  /** Columns that an INSERT can set. */
  readonly stored: readonly string[];
  /** The column that is the rowid, in lower case; null = none. */
  readonly rowid: string | null;
  readonly hasRowid: boolean;
  readonly indexes: readonly IndexInfo[];
  readonly references: readonly ForeignKey[];
}
export interface Schema {
  /** By lower-case name, without virtual tables and SQLite's own tables. */
  readonly tables: ReadonlyMap<string, TableInfo>;
  /** CREATE VIEW texts by name in lower case. */
  readonly views: ReadonlyMap<string, string>;
  readonly triggers: readonly TriggerInfo[];
  /** All names in use, in lower case: a new index needs a different one. */
  readonly names: ReadonlySet<string>;
}

type Ask = (sql: string) => Promise<unknown[][]>;
const text = (value: unknown): string => String(value);
const literal = (name: string): string => `'${name.replaceAll("'", "''")}'`;

/** @param ask runs a query on the database */
export async function readSchema(ask: Ask): Promise<Schema> {
  const all = await ask('SELECT type, name, sql, tbl_name FROM sqlite_schema');
  const tables = new Map<string, TableInfo>();
  for (const [name, wr] of await ask(
    "SELECT name, wr FROM pragma_table_list WHERE schema='main' AND type='table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
  ))
    tables.set(text(name).toLowerCase(), await tableOf(ask, text(name), wr === 0));
  return {
    tables,
    views: new Map(
      all
        .filter(([type, , sql]) => type === 'view' && typeof sql === 'string')
        .map(([, name, sql]) => [text(name).toLowerCase(), text(sql)]),
    ),
    triggers: all
      .filter(([type, , sql]) => type === 'trigger' && typeof sql === 'string')
      .map(([, name, sql, table]) => ({
        name: text(name),
        table: text(table).toLowerCase(),
        sql: text(sql),
      })),
    names: new Set(all.map(([, name]) => text(name).toLowerCase())),
  };
}

async function tableOf(ask: Ask, name: string, hasRowid: boolean): Promise<TableInfo> {
  const columns = await ask(
    `SELECT name, type, pk, hidden FROM pragma_table_xinfo(${literal(name)})`,
  );
  const indexes: IndexInfo[] = [];
  for (const [index, unique, partial] of await ask(
    `SELECT name, "unique", partial FROM pragma_index_list(${literal(name)})`,
  )) {
    const keys = await ask(
      `SELECT name, coll, desc FROM pragma_index_xinfo(${literal(text(index))}) WHERE key ORDER BY seqno`,
    );
    indexes.push({
      name: text(index),
      columns: keys.some(([column]) => column === null)
        ? null
        : keys.map(([column, collation, desc]) => ({
            column: text(column).toLowerCase(),
            collation: text(collation).toUpperCase(),
            descending: desc === 1,
          })),
      unique: unique === 1,
      partial: partial === 1,
    });
  }
  const keys = columns.filter(([, , pk]) => Number(pk) > 0);
  // if the primary key has a separate index, it isn't the rowid (INTEGER PRIMARY KEY DESC)
  const [key] = keys.length === 1 && hasRowid ? keys : [];
  const indexed = indexes.some(
    ({ unique, columns }) =>
      unique && columns?.length === 1 && columns[0]!.column === text(key?.[0]).toLowerCase(),
  );
  return {
    name,
    columns: new Map(columns.map(([column]) => [text(column).toLowerCase(), text(column)])),
    stored: columns.filter(([, , , hidden]) => hidden === 0).map(([column]) => text(column)),
    rowid:
      key && text(key[1]).toUpperCase() === 'INTEGER' && !indexed
        ? text(key[0]).toLowerCase()
        : null,
    hasRowid,
    indexes,
    references: await referencesOf(ask, name),
  };
}

async function referencesOf(ask: Ask, name: string): Promise<ForeignKey[]> {
  const found = new Map<
    unknown,
    { columns: string[]; parent: string; key: string[]; cascades: boolean }
  >();
  // without a list of columns it refers to the primary key
  for (const [id, parent, from, to, onDelete] of await ask(
    `SELECT f.id, f."table", f."from", coalesce(f."to", (SELECT name FROM pragma_table_xinfo(f."table") WHERE pk = f.seq + 1)), f.on_delete
     FROM pragma_foreign_key_list(${literal(name)}) f ORDER BY f.id, f.seq`,
  )) {
    const one = found.get(id) ?? {
      columns: [],
      parent: text(parent).toLowerCase(),
      key: [],
      cascades: onDelete === 'CASCADE',
    };
    found.set(id, one);
    one.columns.push(text(from).toLowerCase());
    one.key.push(text(to).toLowerCase());
  }
  return [...found.values()];
}

/** `CREATE INDEX` of these columns. */
export function createIndex(name: string, table: TableInfo, columns: readonly KeyColumn[]): string {
  const keys = columns.map(
    ({ column, collation, descending }) =>
      quotedName(table.columns.get(column) ?? column) +
      (collation === null ? '' : ` COLLATE ${quotedName(collation)}`) +
      (descending ? ' DESC' : ''),
  );
  return `CREATE INDEX ${quotedName(name)} ON ${quotedName(table.name)}(${keys.join(', ')});`;
}
