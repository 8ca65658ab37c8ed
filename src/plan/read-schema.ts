/** The schema and statistics of a copied database file. Nothing of it runs: its views and triggers are texts here. */
import { DATABASE_HEADER } from '../sqlite/page-size.ts';
import { OpenFlag } from '../sqlite/constants.ts';
import { schemaStatementOf } from '../sqlite/schema-statement.ts';
import type { SchemaText } from '../analysis/statements/recorded-schema.ts';
import { loadSqlite, type WasmSource } from './load-sqlite.ts';
import type { SchemaSource, StatRow } from './schema-source.ts';

/** What is used of wa-sqlite's VFS in memory, beyond what its declarations say. */
interface MemoryVfs {
  name: string;
  mapNameToFile: Map<string, { name: string; flags: number; size: number; data: ArrayBuffer }>;
}

/** A copied database and its write-ahead log. */
interface CopiedDatabase {
  readonly main: Blob;
  readonly wal: Blob | null;
}

const VFS = 'vfscope-schema';
const FILE = 'source.db';
const OPENED = OpenFlag.readWrite | OpenFlag.create;
/** SQLite's steps between two looks at the clock, and what reading may take: a forged file can hold long lists. */
const STEPS = 20_000;
const MOST_MS = 5000;
const MOST_STATEMENTS = 20_000;
const MOST_STATISTICS = 100_000;
const LONGEST_STATEMENT = 1_000_000;
/** Tables first: a file may have them in any order. */
const ORDER = ['table', 'index', 'view', 'trigger'];

/** @throws Error with a message for the user */
export async function readSchema(
  wasm: WasmSource,
  { main, wal }: CopiedDatabase,
): Promise<Pick<SchemaSource, 'statements' | 'statistics' | 'samples'>> {
  const [{ sqlite3 }, { MemoryVFS }] = await Promise.all([
    loadSqlite(wasm),
    import('wa-sqlite/src/examples/MemoryVFS.js') as unknown as Promise<{
      MemoryVFS: new () => MemoryVfs;
    }>,
  ]);
  const vfs = new MemoryVFS();
  vfs.name = VFS;
  const put = async (name: string, flags: number, blob: Blob): Promise<ArrayBuffer> => {
    const data = await blob.arrayBuffer();
    vfs.mapNameToFile.set(name, { name, flags, size: data.byteLength, data });
    return data;
  };
  const data = await put(FILE, OPENED | OpenFlag.mainDb, main);
  if (wal) await put(`${FILE}-wal`, OPENED | OpenFlag.wal, wal);
  else if (data.byteLength >= DATABASE_HEADER) new Uint8Array(data).fill(1, 18, 20); // WAL mode, with no log left: it would need shared memory to be opened
  sqlite3.vfs_register(vfs as unknown as SQLiteVFS);
  const db = await sqlite3.open_v2(FILE, OpenFlag.readWrite, VFS);
  const until = performance.now() + MOST_MS;
  sqlite3.progress_handler(db, STEPS, () => (performance.now() > until ? 1 : 0), null);
  const rowsOf = async (sql: string): Promise<unknown[][]> => {
    const rows: unknown[][] = [];
    await sqlite3.exec(db, sql, (row) => void rows.push(row));
    return rows;
  };
  try {
    await sqlite3.exec(db, 'PRAGMA trusted_schema=off; PRAGMA locking_mode=exclusive');
    const all = await rowsOf(
      `SELECT type, name, rootpage, sql FROM sqlite_schema LIMIT ${MOST_STATEMENTS}`,
    );
    /** A view of such a name is no statistics: it would run. */
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
        if (typeof sql !== 'string' || sql.length > LONGEST_STATEMENT) return []; // an index of SQLite's own has none
        const statement = schemaStatementOf(sql);
        return statement?.verb === 'create' && !/^sqlite_/i.test(String(name))
          ? [{ ...statement, sql }]
          : [];
      });
    return { statements, statistics, samples: hasTable('sqlite_stat4') };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `SQLite ${sqlite3.libversion()} can't read the schema of this copy: ${why}. Is the database encrypted, or in a newer format?`,
      { cause },
    );
  } finally {
    await sqlite3.close(db);
  }
}
