/**
 * Tables that a query of a connection reads, from its text and from the known tables of its
 * database (`pages.b_tree`).
 *
 *   SELECT .. FROM notes JOIN tags      notes, tags
 *   SELECT .. FROM pinned               pinned isn't a table there, so it may be a view: not known
 */
import { databaseName } from '../../event/file-names.ts';
import { tablesRead } from '../../sqlite/tables-read.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { databasesByConnection } from '../core/connection-databases.ts';
import { databaseFiles } from '../core/database-files.ts';
import { fact, type Known } from '../core/graph.ts';
import { bTrees } from '../pages/b-trees.ts';
import { recordedSchemas } from './recorded-schema.ts';

/** A database's name and a table's name in lower case. */
export const tableKey = (database: string, table: string): string =>
  `${database}\0${table.toLowerCase()}`;

const NEEDS = { bTrees, databaseFiles, databasesByConnection, recordedSchemas };

class TablesReadBy {
  /** By name of a database: names of its tables, if known. */
  private readonly tables = new Map<string, ReadonlySet<string> | null>();
  /** A temporary table or view hides a table of the same name. */
  private readonly temporary = new Set<string>();

  constructor(private readonly known: Known<typeof NEEDS>) {
    known.databaseFiles.list.forEach(({ path }, i) => {
      const name = databaseName(path);
      const { list } = known.bTrees[i]!;
      const names = list.filter(({ kind }) => kind === 'table').map((t) => t.name.toLowerCase());
      // two VFSs may use one name for two files
      this.tables.set(name, this.tables.has(name) ? null : new Set(names));
    });
    for (const { statements } of known.recordedSchemas)
      for (const { temporary, schema, name } of statements)
        if (temporary || schema?.toLowerCase() === 'temp') this.temporary.add(name.toLowerCase());
  }

  /** @param sql a fingerprint @returns keys of tables (`tableKey`); null = not known */
  of(thread: ThreadStore, connection: number, sql: string): readonly string[] | null {
    const database = this.databaseOf(thread, connection);
    const read = database && this.read(database, sql);
    return read ? [...read].map((table) => tableKey(database, table)) : null;
  }

  /**
   * Whether a query only names tables, and no view, virtual table, or table-valued function; null =
   * the tables of its database aren't known.
   */
  namesTables(thread: ThreadStore, connection: number, sql: string): boolean | null {
    const database = this.databaseOf(thread, connection);
    if (!database || !this.tables.get(database)?.size) return null;
    return this.read(database, sql) !== null;
  }

  /** The only database of a connection: with several, a name may be a table in any of them. */
  private databaseOf(thread: ThreadStore, connection: number): string | null {
    const names = [...(this.known.databasesByConnection.of(thread).get(connection) ?? [])];
    return names.length === 1 ? names[0]! : null;
  }

  private read(database: string, sql: string): ReadonlySet<string> | null {
    const tables = this.tables.get(database);
    if (!tables) return null;
    return tablesRead(sql, (name) => tables.has(name) && !this.temporary.has(name));
  }
}

export const tablesReadBy = fact(
  'tablesReadBy',
  'tables that queries read',
  NEEDS,
  (_, known) => new TablesReadBy(known),
);
