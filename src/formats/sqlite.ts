/**
 * A SQLite database file: tables `events`, `traces` and those of the catalog, and the view `calls`
 * with the columns of the other exports. wa-sqlite writes it into memory. It is loaded when an
 * export runs, from the wasm that the caller names.
 */
import type { TraceStore } from '../trace/store.ts';
import { ThreadView } from '../analysis/events/table.ts';
import type { Cell } from '../analysis/core/table.ts';
import { EVENT_COLUMNS, fileTables, type ColumnType, type FileTable } from './tables.ts';

const SQL_TYPE: Record<ColumnType, string> = {
  int32: 'INTEGER',
  int64: 'INTEGER',
  double: 'NUMERIC',
  text: 'TEXT',
};
/** Columns of an event that `objects` stores once for many events. */
const JOINED: Readonly<Record<string, string>> = {
  object: 'o.name',
  kind: 'coalesce(o.kind, o.definition)',
  statement: 's.name',
};
const EVENT_TABLE = EVENT_COLUMNS.filter(({ name }) => !Object.hasOwn(JOINED, name));

/** The part of wa-sqlite's in-memory VFS that is used here and isn't in its declarations. */
interface MemoryVfs {
  name: string;
  mapNameToFile: Map<string, { size: number; data: ArrayBuffer }>;
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const tableSql = (name: string, columns: FileTable['columns'], key = ''): string =>
  `CREATE TABLE ${name}(${columns.map((c) => `${quoted(c.name)} ${SQL_TYPE[c.type]}`).join(', ')}${key && `, PRIMARY KEY(${key})`})`;

/** Rows between two pauses for other work: about 0.1 s. */
const ROWS_AT_ONCE = 1 << 14;

/** wa-sqlite's `dist/wa-sqlite.wasm`: its bytes, or its address. */
type Wasm = { wasmBinary: Uint8Array } | { locateFile: (name: string) => string };

/** @returns the bytes of the database @throws Error as `sqliteSteps` does */
export async function sqliteFile(store: TraceStore, wasmBinary: Uint8Array): Promise<Uint8Array> {
  const steps = sqliteSteps(store, { wasmBinary });
  let step = await steps.next();
  while (!step.done) step = await steps.next();
  return step.value;
}

/**
 * Like `sqliteFile`, in steps with pauses.
 * @throws Error with SQLite's message when it refuses a statement (out of memory, usually)
 */
export async function* sqliteSteps(
  store: TraceStore,
  wasm: Wasm,
): AsyncGenerator<void, Uint8Array> {
  const [{ default: load }, { Factory }, { MemoryVFS }] = await Promise.all([
    import('wa-sqlite/dist/wa-sqlite.mjs'),
    import('wa-sqlite'),
    import('wa-sqlite/src/examples/MemoryVFS.js') as unknown as Promise<{
      MemoryVFS: new () => MemoryVfs;
    }>,
  ]);
  const sqlite3 = Factory(await (load as (options: object) => Promise<object>)({ ...wasm }));
  const vfs = new MemoryVFS();
  vfs.name = 'export';
  sqlite3.vfs_register(vfs as unknown as SQLiteVFS);
  const db = await sqlite3.open_v2('trace.db', undefined, vfs.name);

  async function* insert(
    table: string,
    rows: Iterable<readonly Cell[]>,
    width: number,
  ): AsyncGenerator<void> {
    const text = sqlite3.str_new(
      db,
      `INSERT INTO ${table} VALUES(${Array.from({ length: width }, () => '?').join(',')})`,
    );
    const prepared = await sqlite3.prepare_v2(db, sqlite3.str_value(text));
    if (!prepared) throw new Error(`nothing to prepare for ${table}`);
    let left = ROWS_AT_ONCE;
    for (const row of rows) {
      if (--left === 0) {
        left = ROWS_AT_ONCE;
        yield;
      }
      // the columns' affinity turns whole doubles into integers
      row.forEach((cell, i) => sqlite3.bind(prepared.stmt, i + 1, cell));
      await sqlite3.step(prepared.stmt);
      await sqlite3.reset(prepared.stmt);
    }
    await sqlite3.finalize(prepared.stmt);
    sqlite3.str_finish(text);
  }
  try {
    await sqlite3.exec(
      db,
      'PRAGMA page_size=16384; PRAGMA journal_mode=off; PRAGMA synchronous=off; BEGIN',
    );
    for (const table of [...fileTables(store), eventRows(store)]) {
      const key = table.name === 'objects' ? 'thread, object_id' : '';
      await sqlite3.exec(db, tableSql(table.name, table.columns, key));
      yield* insert(table.name, table.rows, table.columns.length);
    }
    await sqlite3.exec(
      db,
      `CREATE INDEX events_by_time ON events(ts_ns);
       CREATE VIEW calls AS SELECT ${EVENT_COLUMNS.map(({ name }) => `${JOINED[name] ?? `e.${quoted(name)}`} AS ${quoted(name)}`).join(', ')}
         FROM events e LEFT JOIN objects o USING(thread, object_id)
         LEFT JOIN objects s ON s.thread = e.thread AND s.object_id = e.statement_id;
       COMMIT`,
    );
    await sqlite3.close(db);
    const file = vfs.mapNameToFile.get('trace.db');
    if (!file) throw new Error('SQLite wrote no file');
    return new Uint8Array(file.data, 0, file.size).slice();
  } catch (e) {
    throw new Error(
      `the trace can't be written as a SQLite database: ${e instanceof Error ? e.message : String(e)}`,
      { cause: e },
    );
  }
}

function eventRows(store: TraceStore): FileTable {
  function* rows(): Generator<Cell[]> {
    for (const view of store.threads.map((thread) => new ThreadView(thread)))
      for (let row = 0; row < view.count; row++)
        yield EVENT_TABLE.map((c) => c.value(view.at(row)));
  }
  return { name: 'events', columns: EVENT_TABLE, rows: rows() };
}
