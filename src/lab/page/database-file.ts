/**
 * Checks a user's database file before anything runs on it: undamaged, not too large, with its WAL
 * merged. In the Lab's worker.
 */
import { damageOf, noDatabase } from '../experiments/engine/check-database.ts';
import { openSource } from '../experiments/engine/load-database.ts';
import { Engines, type WasmLoader } from '../experiments/engine/open-engine.ts';
import { MAX_COPY_BYTES } from '../../protocol/page-copy.ts';

export interface DatabaseFacts {
  /** The file as SQLite sees it after merging its WAL. */
  file: Blob;
  /** bytes */
  pageSize: number;
  pages: number;
  /** Names of its tables, without SQLite's own. */
  tables: string[];
}
const MOST_TABLES = 1000;

/**
 * @param wal its write-ahead log, if it has one that isn't empty
 * @throws Error with a message for the user where it isn't a database, is too large, or is damaged
 */
export async function takeDatabase(
  wasm: WasmLoader,
  main: Blob,
  wal: Blob | null,
): Promise<DatabaseFacts> {
  if (main.size > MAX_COPY_BYTES)
    throw new Error(
      `The database has ${Math.round(main.size / 2 ** 20)} MiB; the Lab takes up to ${MAX_COPY_BYTES / 2 ** 20}.`,
    );
  const none = await noDatabase(main);
  if (none) throw new Error(none);
  const { sqlite3, module } = await new Engines(wasm).open(
    { engine: 'wa-sqlite-2.0.6', build: 'sync' },
    'none',
  );
  const source = await openSource(sqlite3, module, main, wal);
  try {
    const column = async (sql: string): Promise<string[]> => {
      const values: string[] = [];
      await sqlite3.exec(source.db, sql, (row) => void values.push(String(row[0])));
      return values;
    };
    const damage = await damageOf(sqlite3, source.db);
    if (damage !== null) throw new Error(`The database is damaged: ${damage}`);
    const tables = await column(
      `SELECT name FROM sqlite_schema WHERE type='table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' LIMIT ${MOST_TABLES}`,
    );
    const [pageSize, pages] = [
      Number((await column('PRAGMA page_size'))[0]),
      Number((await column('PRAGMA page_count'))[0]),
    ];
    return { file: new Blob([source.bytes()]), pageSize, pages, tables };
  } finally {
    await sqlite3.close(source.db);
  }
}

/** An initial script that counts the rows of every table. */
export function starterScript(tables: readonly string[]): string {
  const names = tables
    .slice(0, 20)
    .map((name) => `SELECT count(*) FROM "${name.replaceAll('"', '""')}";`);
  return `${names.join('\n') || 'PRAGMA page_count;'}\n`;
}
