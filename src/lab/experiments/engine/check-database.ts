/**
 * Whether a file is an undamaged SQLite database, by SQLite's own check, before anything runs on
 * it.
 */
import type { SqliteApi } from './builds.ts';

const HEADER = 'SQLite format 3\0';
const MOST_TEXT = 300;

/** @returns why it isn't a database; null = its header is valid */
export async function noDatabase(file: Blob): Promise<string | null> {
  if (file.size === 0) return "This isn't a SQLite database: it is empty.";
  const start = new TextDecoder('latin1').decode(await file.slice(0, HEADER.length).arrayBuffer());
  return start === HEADER
    ? null
    : `This isn't a SQLite database: it doesn't begin with "SQLite format 3".`;
}

type Exec = Pick<SqliteApi, 'exec'>;

/**
 * The first line of PRAGMA quick_check, or why SQLite can't run it.
 * @returns null = the database is undamaged
 */
export async function damageOf(sqlite3: Exec, db: number): Promise<string | null> {
  return firstFault(sqlite3, db, 'quick_check').catch((e: unknown) =>
    e instanceof Error ? e.message : String(e),
  );
}

/**
 * The first line of PRAGMA integrity_check, which also checks indexes.
 * @returns null = the database is undamaged
 * @throws SQLite's errors
 */
export const integrityOf = (sqlite3: Exec, db: number): Promise<string | null> =>
  firstFault(sqlite3, db, 'integrity_check');

async function firstFault(sqlite3: Exec, db: number, check: string): Promise<string | null> {
  let said = '';
  await sqlite3.exec(db, `PRAGMA ${check}(1)`, (row) => void (said ||= String(row[0])));
  if (said === 'ok') return null;
  const [first = ''] = said.replace(/^\*\*\* in database main \*\*\*\n/, '').split('\n');
  return first.slice(0, MOST_TEXT);
}
