/**
 * What a workload stored, read back whole by a connection of its own when all is measured: two variants that were given the same
 * must have stored the same, whatever they did to get there. Digests only, no rows are kept.
 */
import type { Host } from './host.ts';
import { RowDigest } from './row-digest.ts';
import type { Stored } from '../model/result-types.ts';

/** Tables that are named apart; those beyond count together. */
const MOST_TABLES = 200;
const OTHERS = '(all other tables)';
/** By its name of today; SQLite before 3.33 knows `sqlite_master` alone. */
const SCHEMA = 'sqlite_schema';
const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/**
 * @param reopens whether the database is a file: what was not committed is not read, and nothing comes from a page cache
 * @throws what SQLite says where it cannot be read
 */
export async function readBack(host: Host, reopens: boolean): Promise<Stored> {
  if (reopens) await host.reopen();
  else if (!(await isCommitted(host))) await host.sqlite3.exec(host.db, 'ROLLBACK');
  const tables = await tablesOf(host);
  const digests = new Map([
    [
      SCHEMA,
      await digestOf(host, 'SELECT type,name,tbl_name,sql FROM sqlite_master ORDER BY type,name'),
    ],
  ]);
  const others = new RowDigest(true);
  for (const [i, { name, virtual }] of tables.entries()) {
    // in the order of its keys, not in that of an index that happens to hold all columns
    const sql = `SELECT * FROM ${quoted(name)}${virtual ? '' : ' NOT INDEXED'}`;
    if (i < MOST_TABLES) digests.set(name, await digestOf(host, sql));
    else others.add([name, await digestOf(host, sql)]);
  }
  if (others.rows) digests.set(OTHERS, others.text());
  const all = new RowDigest(true);
  for (const [name, digest] of digests) all.add([name, digest]);
  return { digest: all.text(), tables: Object.fromEntries(digests) };
}

interface Autocommit {
  get_autocommit(db: number): number;
  /** Of builds that don't export the former. */
  isAutocommit?(db: number): Promise<boolean>;
}
/** Whether no transaction is open. */
export async function isCommitted({ sqlite3, db }: Host): Promise<boolean> {
  const api = sqlite3 as unknown as Autocommit;
  return api.isAutocommit ? api.isAutocommit(db) : api.get_autocommit(db) !== 0;
}

/** Without SQLite's own and without what virtual tables keep their content in: that is another in every version. */
async function tablesOf({ sqlite3, db }: Host): Promise<{ name: string; virtual: boolean }[]> {
  const found: { name: string; virtual: boolean }[] = [];
  const sql =
    "SELECT name, sql LIKE 'create virtual%' FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
  await sqlite3.exec(
    db,
    sql,
    ([name, virtual]) => void found.push({ name: String(name), virtual: virtual === 1 }),
  );
  const prefixes = found.flatMap(({ name, virtual }) => (virtual ? [`${name}_`] : []));
  return found.filter(
    ({ name, virtual }) => virtual || !prefixes.some((prefix) => name.startsWith(prefix)),
  );
}

async function digestOf({ sqlite3, db }: Host, sql: string): Promise<string> {
  const digest = new RowDigest(true);
  await sqlite3.exec(db, sql, (row) => digest.add(row));
  return digest.text();
}
