/**
 * A SQLite database file: tables events, threads, objects, statements and trace, and the view `calls` with the columns of the other
 * exports. wa-sqlite writes it into memory; it is loaded when an export runs, and the caller brings its wasm.
 */
import type { TraceStore } from '../trace/store.ts';
import { EVENT_COLUMNS, ThreadView, type Cell, type ColumnType } from './event-table.ts';
import {
  objectsTable,
  statementsTable,
  threadsTable,
  tracesTable,
  type SideTable,
} from './side-tables.ts';

const SQL_TYPE: Record<ColumnType, string> = {
  int32: 'INTEGER',
  int64: 'INTEGER',
  double: 'NUMERIC',
  text: 'TEXT',
};
/** Columns of an event that the tables beside it hold once for many events. */
const JOINED: Readonly<Record<string, string>> = {
  object: 'o.name',
  kind: 'coalesce(o.kind, o.definition)',
  statement: 's.statement',
};
const EVENT_TABLE = EVENT_COLUMNS.filter(({ name }) => !Object.hasOwn(JOINED, name));

/** What is used of wa-sqlite's VFS in memory, beyond what its declarations say. */
interface MemoryVfs {
  name: string;
  mapNameToFile: Map<string, { size: number; data: ArrayBuffer }>;
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const tableSql = (
  name: string,
  columns: readonly { name: string; type: ColumnType }[],
  key = '',
): string =>
  `CREATE TABLE ${name}(${columns.map((c) => `${quoted(c.name)} ${SQL_TYPE[c.type]}`).join(', ')}${key && `, PRIMARY KEY(${key})`})`;

/**
 * @param wasmBinary wa-sqlite's `dist/wa-sqlite.wasm`
 * @returns the bytes of the database
 * @throws Error with SQLite's message when it refuses a statement (out of memory, usually)
 */
export async function sqliteFile(store: TraceStore, wasmBinary: Uint8Array): Promise<Uint8Array> {
  const [{ default: load }, { Factory }, { MemoryVFS }] = await Promise.all([
    import('wa-sqlite/dist/wa-sqlite.mjs'),
    import('wa-sqlite'),
    import('wa-sqlite/src/examples/MemoryVFS.js') as unknown as Promise<{
      MemoryVFS: new () => MemoryVfs;
    }>,
  ]);
  const sqlite3 = Factory(await (load as (options: object) => Promise<object>)({ wasmBinary }));
  const vfs = new MemoryVFS();
  vfs.name = 'export';
  sqlite3.vfs_register(vfs as unknown as SQLiteVFS);
  const db = await sqlite3.open_v2('trace.db', undefined, vfs.name);

  async function insert(
    table: string,
    rows: Iterable<readonly Cell[]>,
    width: number,
  ): Promise<void> {
    const text = sqlite3.str_new(
      db,
      `INSERT INTO ${table} VALUES(${Array.from({ length: width }, () => '?').join(',')})`,
    );
    const prepared = await sqlite3.prepare_v2(db, sqlite3.str_value(text));
    if (!prepared) throw new Error(`nothing to prepare for ${table}`);
    for (const row of rows) {
      row.forEach((cell, i) => sqlite3.bind(prepared.stmt, i + 1, cell)); // the columns' affinity makes whole doubles integers
      await sqlite3.step(prepared.stmt);
      await sqlite3.reset(prepared.stmt);
    }
    await sqlite3.finalize(prepared.stmt);
    sqlite3.str_finish(text);
  }
  const side = (table: SideTable): Promise<void> =>
    insert(table.name, table.rows, table.columns.length);

  try {
    await sqlite3.exec(
      db,
      'PRAGMA page_size=16384; PRAGMA journal_mode=off; PRAGMA synchronous=off; BEGIN',
    );
    const statements = statementsTable(store);
    await sqlite3.exec(
      db,
      tableSql('events', [...EVENT_TABLE, { name: 'statement_id', type: 'int64' }]),
    );
    for (const table of [
      threadsTable(store),
      objectsTable(store),
      statements,
      tracesTable(store),
    ]) {
      await sqlite3.exec(
        db,
        tableSql(table.name, table.columns, table.name === 'objects' ? 'thread, object_id' : ''),
      );
      await side(table);
    }
    await insert('events', eventRows(store, statements), EVENT_TABLE.length + 1);
    await sqlite3.exec(
      db,
      `CREATE INDEX events_by_time ON events(ts_ns);
       CREATE VIEW calls AS SELECT ${EVENT_COLUMNS.map(({ name }) => `${JOINED[name] ?? `e.${quoted(name)}`} AS ${quoted(name)}`).join(', ')}
         FROM events e LEFT JOIN objects o USING(thread, object_id) LEFT JOIN statements s USING(statement_id);
       COMMIT`,
    );
    await sqlite3.close(db);
    const file = vfs.mapNameToFile.get('trace.db');
    if (!file) throw new Error('SQLite wrote no file');
    return new Uint8Array(file.data, 0, file.size).slice();
  } catch (e) {
    throw new Error(
      `the trace cannot be written as a SQLite database: ${e instanceof Error ? e.message : String(e)}`,
      { cause: e },
    );
  }
}

function* eventRows(store: TraceStore, statements: SideTable): Generator<Cell[]> {
  const text = EVENT_COLUMNS.find((c) => c.name === 'statement')!;
  const ids = new Map(statements.rows.map(([id, statement]) => [statement, id!]));
  for (const thread of store.threads) {
    const view = new ThreadView(thread);
    for (let row = 0; row < thread.events.count; row++) {
      const cells = EVENT_TABLE.map((c) => c.value(view, row));
      cells.push(ids.get(text.value(view, row)) ?? null);
      yield cells;
    }
  }
}
