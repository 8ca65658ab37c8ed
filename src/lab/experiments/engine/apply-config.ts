/**
 * Applies a Config to a fresh connection with PRAGMAs, and reads back their answers. null settings
 * run no PRAGMA.
 */
import type { SqliteApi } from './builds.ts';
import type { Config } from '../model/types.ts';

/**
 * In the order that SQLite needs: page_size before the first write, locking_mode before
 * journal_mode=wal on a VFS without shared memory.
 */
export function pragmasOf(c: Config): readonly (readonly [name: string, value: string])[] {
  const all: [string, string | number | null][] = [
    ['page_size', c.pageSize],
    ['locking_mode', c.lockingMode],
    ['journal_mode', c.journalMode],
    ['synchronous', c.synchronous],
    ['cache_size', c.cacheSize],
    ['wal_autocheckpoint', c.walAutocheckpoint],
  ];
  return all.flatMap(([name, value]) => (value === null ? [] : [[name, String(value)] as const]));
}

const SYNCHRONOUS = ['off', 'normal', 'full', 'extra'];
/** SQLite takes a word for `synchronous` and returns a number. */
const inWords = (name: string, answer: string): string =>
  name === 'synchronous' ? (SYNCHRONOUS[Number(answer)] ?? answer) : answer;

/** A connection. */
interface Connection {
  readonly sqlite3: Pick<SqliteApi, 'exec'>;
  readonly db: number;
}
/**
 * @param existing whether the database exists already: then it has its own page size, and
 * IDBBatchAtomic fails when asked for one
 * @returns the connection's settings, and a note for each that differs from the request
 */
export async function applyConfig(
  host: Connection,
  config: Config,
  existing: boolean,
): Promise<{ notes: string[]; settings: Record<string, string> }> {
  const notes: string[] = [];
  const settings: Record<string, string> = {};
  const pragma = async (sql: string): Promise<string> => {
    let answer = '';
    await host.sqlite3.exec(host.db, sql, (row) => void (answer = String(row[0])));
    return answer;
  };
  for (const [name, value] of pragmasOf(config)) {
    if (!(existing && name === 'page_size')) await pragma(`PRAGMA ${name}=${value}`);
    const read = await pragma(`PRAGMA ${name}`);
    const now = inWords(name, read);
    settings[name] = now;
    if (now !== value)
      notes.push(`PRAGMA ${name}=${value} was asked, ${now || 'nothing'} was answered.`);
  }
  return { notes, settings };
}

/** The connection's settings after a run, read after measuring. */
export async function settingsOf(host: Connection): Promise<Record<string, string>> {
  const settings: Record<string, string> = {};
  for (const name of [
    'page_size',
    'page_count',
    'cache_size',
    'journal_mode',
    'synchronous',
    'locking_mode',
    'wal_autocheckpoint',
  ])
    await host.sqlite3.exec(
      host.db,
      `PRAGMA ${name}`,
      (row) => void (settings[name] = inWords(name, String(row[0]))),
    );
  return settings;
}
