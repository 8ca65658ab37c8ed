/**
 * Opens a copied database file in memory, in its own SQLite. Only vfscope's own queries run on it;
 * its views and triggers are just texts here.
 */
import { DATABASE_HEADER } from '../sqlite/page-size.ts';
import { OpenFlag } from '../sqlite/constants.ts';
import { loadSqlite, type WasmSource } from './load-sqlite.ts';

/** The part of wa-sqlite's in-memory VFS that is used here and isn't in its declarations. */
interface MemoryVfs {
  name: string;
  mapNameToFile: Map<string, { name: string; flags: number; size: number; data: ArrayBuffer }>;
}

/** A copied database and its write-ahead log. */
export interface CopiedDatabase {
  readonly main: Blob;
  readonly wal: Blob | null;
}
/** All rows of one of our queries. @throws Error of SQLite */
type RowsOf = (sql: string) => Promise<unknown[][]>;

const VFS = 'vfscope-schema';
const FILE = 'source.db';
const OPENED = OpenFlag.readWrite | OpenFlag.create;
/**
 * SQLite's steps between two checks of the clock, and how long reading may take: a forged file can
 * hold long lists.
 */
const STEPS = 20_000;
const MOST_MS = 5000;

/**
 * Read from the copy, and close it.
 * @param what is read, for an error
 * @throws Error with a message for the user
 */
export async function inCopy<T>(
  wasm: WasmSource,
  { main, wal }: CopiedDatabase,
  what: string,
  read: (rowsOf: RowsOf) => Promise<T>,
): Promise<T> {
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
  else if (data.byteLength >= DATABASE_HEADER) new Uint8Array(data).fill(1, 18, 20); // WAL mode would need shared memory
  sqlite3.vfs_register(vfs as unknown as SQLiteVFS);
  const db = await sqlite3.open_v2(FILE, OpenFlag.readWrite, VFS);
  const until = performance.now() + MOST_MS;
  sqlite3.progress_handler(db, STEPS, () => (performance.now() > until ? 1 : 0), null);
  try {
    await sqlite3.exec(db, 'PRAGMA trusted_schema=off; PRAGMA locking_mode=exclusive');
    return await read(async (sql) => {
      const rows: unknown[][] = [];
      await sqlite3.exec(db, sql, (row) => void rows.push(row));
      return rows;
    });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `SQLite ${sqlite3.libversion()} can't read ${what} of this copy: ${why}. Is the database encrypted, or in a newer format?`,
      { cause },
    );
  } finally {
    await sqlite3.close(db);
  }
}
