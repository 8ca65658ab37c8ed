/**
 * A user's database file as the starting point of a run. The file is in memory on a separate VFS.
 * SQLite's backup API copies it page by page into the run's database, on any VFS. Free pages,
 * order, and statistics don't change.
 */
import { OpenFlag, Rc } from '../../../sqlite/constants.ts';
import { DATABASE_HEADER } from '../../../sqlite/page-size.ts';
import type { EngineModule, SqliteApi } from './builds.ts';

export interface CopyModule extends EngineModule {
  cwrap?(
    name: string,
    returns: 'number',
    takes: string[],
    options: { async: true },
  ): (...args: unknown[]) => Promise<number>;
  _sqlite3_backup_init?: unknown;
  retryOps?: Promise<unknown>[];
}
interface MemoryFile {
  pathname: string;
  flags: number;
  size: number;
  data: ArrayBuffer;
}
/** A database in memory, open. */
interface SourceDatabase {
  readonly db: number;
  /** The current bytes of the file. */
  bytes(): Uint8Array<ArrayBuffer>;
}

const OPENED = OpenFlag.readWrite | OpenFlag.create;
const MOST_TRIES = 1000;
const FILE = 'source.db';

/**
 * Opens a file's bytes on a VFS in memory, which isn't the default VFS.
 * @param wal its write-ahead log, which is recovered and merged into the file
 * @throws SQLite's errors
 */
export async function openSource(
  sqlite3: SqliteApi,
  module: EngineModule,
  main: Blob,
  wal: Blob | null,
): Promise<SourceDatabase> {
  const { MemoryVFS } =
    (await import('@journeyapps/wa-sqlite/src/examples/MemoryVFS.js')) as unknown as {
      MemoryVFS: { create(name: string, module: object): Promise<object> };
    };
  const vfs = (await MemoryVFS.create('vfscope-source', module)) as {
    mapNameToFile: Map<string, MemoryFile>;
  };
  const put = async (name: string, flags: number, blob: Blob): Promise<MemoryFile> => {
    const data = await blob.arrayBuffer();
    const file = { pathname: name, flags, size: data.byteLength, data };
    vfs.mapNameToFile.set(name, file);
    return file;
  };
  const file = await put(`/${FILE}`, OPENED | OpenFlag.mainDb, main);
  if (wal) await put(`/${FILE}-wal`, OPENED | OpenFlag.wal, wal);
  else if (file.size >= DATABASE_HEADER) new Uint8Array(file.data).fill(1, 18, 20); // clears WAL mode, which needs shared memory
  (sqlite3 as unknown as { vfs_register(vfs: object, asDefault: boolean): number }).vfs_register(
    vfs,
    false,
  );
  const db = await sqlite3.open_v2(FILE, OpenFlag.readWrite, 'vfscope-source');
  if (wal) {
    await sqlite3.exec(db, 'PRAGMA locking_mode=exclusive');
    await sqlite3.exec(db, 'PRAGMA journal_mode=delete');
  }
  return {
    db,
    bytes: () =>
      new Uint8Array(vfs.mapNameToFile.get(`/${FILE}`)!.data).slice(
        0,
        vfs.mapNameToFile.get(`/${FILE}`)!.size,
      ),
  };
}

type Exported = (name: string) => unknown;
type BackupCall = (name: 'init' | 'step' | 'finish', ...args: number[]) => Promise<number>;

/**
 * A JSPI build only lets those exports wait that its API uses. The backup functions are wrapped
 * here. Asyncify's and sync ones are called like all others.
 */
function backupCall(module: CopyModule, exported: Exported): BackupCall {
  const { promising } = WebAssembly as {
    promising?: (f: unknown) => (...args: number[]) => Promise<number>;
  };
  return async (name, ...args) => {
    const full = `sqlite3_backup_${name}`;
    const raw = exported(full); // other builds shorten their exports' names
    if (promising && typeof raw === 'function') return promising(raw)(...args);
    return module.cwrap!(
      full,
      'number',
      args.map(() => 'number'),
      { async: true },
    )(...args);
  };
}

/**
 * Makes a fresh, open database a copy of a file. This happens before the first step, so nothing is
 * counted.
 * @param exported wasm exports of the instance by name
 * @param pageSize of the copy, bytes; null = the file's own
 * @throws Error with a message for the user where this build can't copy
 */
export async function loadDatabase(
  sqlite3: SqliteApi,
  module: CopyModule,
  db: number,
  file: Blob,
  pageSize: number | null,
  exported: Exported,
): Promise<void> {
  if (!module._sqlite3_backup_init || !module.cwrap)
    throw new Error(
      'This build of SQLite has no backup API, by which your database would be copied: choose wa-sqlite-2.0.6.',
    );
  const source = await openSource(sqlite3, module, file, null);
  try {
    if (pageSize !== null) await sqlite3.exec(source.db, `PRAGMA page_size=${pageSize}; VACUUM`);
    let size = '';
    await sqlite3.exec(source.db, 'PRAGMA page_size', (row) => void (size = String(row[0])));
    await sqlite3.exec(db, `PRAGMA page_size=${size}`); // :memory: takes no other
    const call = backupCall(module, exported);
    const main = module._sqlite3_malloc!(8);
    module.HEAPU8.set(
      [...'main\0'].map((c) => c.charCodeAt(0)),
      main,
    );
    const backup = await call('init', db, main, source.db, main);
    if (!backup) throw new Error('Your database could not be copied onto this VFS.');
    let rc = 0;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      rc = await call('step', backup, -1);
      const waiting = module.retryOps?.splice(0) ?? [];
      if (rc === Rc.done || waiting.length === 0) break;
      await Promise.all(waiting);
    }
    const finished = await call('finish', backup);
    if (rc !== Rc.done || finished !== 0)
      throw new Error(
        `Your database could not be copied onto this VFS (SQLite's result ${finished || rc}).`,
      );
  } finally {
    await sqlite3.close(source.db);
  }
}
