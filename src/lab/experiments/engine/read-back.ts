/**
 * A workload's stored data, read back completely by a separate connection after all measurements.
 * Two variants with the same input must have stored the same, whatever they did. Only digests, no
 * rows, are saved.
 */
import type { Host } from './host.ts';
import { RowDigest } from './row-digest.ts';
import type { Stored } from '../model/result-types.ts';

/** Tables that are listed by name; further ones count together. */
const MOST_TABLES = 200;
const OTHERS = '(all other tables)';
/** The current name. SQLite before 3.33 only has `sqlite_master`. */
const SCHEMA = 'sqlite_schema';
const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/**
 * @param reopens whether the database is a file: then uncommitted data isn't read, and nothing
 * comes from a page cache
 * @throws SQLite's errors where it can't be read
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
    // ordered by keys, not by an index that happens to have all columns
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
  /** Builds that don't export the function. */
  isAutocommit?(db: number): Promise<boolean>;
}
/** Whether no transaction is open. */
export async function isCommitted({ sqlite3, db }: Host): Promise<boolean> {
  const api = sqlite3 as unknown as Autocommit;
  return api.isAutocommit ? api.isAutocommit(db) : api.get_autocommit(db) !== 0;
}

/**
 * Without SQLite's own tables and the shadow tables of virtual tables, whose content differs
 * between versions.
 */
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
