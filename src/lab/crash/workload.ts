/**
 * The workload of a crash test: commits that can be distinguished afterwards. Each adds rows,
 * changes an old row, and updates a counter, a row count, and a checksum of all rows, so half a
 * transaction is inconsistent.
 */
import { applyConfig } from '../experiments/engine/apply-config.ts';
import type { EngineFacts } from '../experiments/model/environment-types.ts';
import type { Config } from '../experiments/model/types.ts';
import { failureText, type Opener, type Session } from './open.ts';
import type { StorageLog } from './storage/calls.ts';

const ROWS_A_COMMIT = 3;
const BODY = "printf('%d:%0700d', id, made)";

/** The n-th commit; the first makes the tables. */
function commitSql(n: number): string {
  const first = n === 1;
  return `BEGIN;
${first ? 'CREATE TABLE ledger(id INTEGER PRIMARY KEY, made INTEGER NOT NULL, body TEXT NOT NULL); CREATE INDEX by_made ON ledger(made); CREATE TABLE state(n INTEGER, row_count INTEGER, checksum INTEGER); INSERT INTO state VALUES(0, 0, 0);' : ''}
WITH RECURSIVE x(id) AS (VALUES(${(n - 1) * ROWS_A_COMMIT + 1}) UNION ALL SELECT id + 1 FROM x WHERE id < ${n * ROWS_A_COMMIT})
INSERT INTO ledger SELECT id, made, ${BODY} FROM (SELECT id, ${n} AS made FROM x);
UPDATE ledger SET made = ${n}, body = (SELECT ${BODY} FROM (SELECT ledger.id AS id, ${n} AS made)) WHERE id = ${n};
UPDATE state SET n = ${n}, row_count = (SELECT count(*) FROM ledger), checksum = (SELECT sum(id * made) FROM ledger);
COMMIT;`;
}

/**
 * Runs it on the current storage and logs when each commit was acknowledged.
 * @returns the engine, and the settings whose values differ from the requested ones
 */
export async function runWorkload(
  open: Opener,
  config: Config,
  commits: number,
  log: StorageLog,
): Promise<{ engine: EngineFacts; notes: string[] }> {
  const session = await open();
  const { engine } = session;
  try {
    return { engine, notes: await commitAll(session, config, commits, log) };
  } catch (error) {
    throw new Error(failureText(error, session.lastError()), { cause: error });
  }
}

async function commitAll(
  session: Session,
  config: Config,
  commits: number,
  log: StorageLog,
): Promise<string[]> {
  log.phase = 'settings';
  const { notes } = await applyConfig(session, config, false);
  for (let n = 1; n <= commits; n++) {
    log.phase = `commit ${n}`;
    await session.sqlite3.exec(session.db, commitSql(n));
    log.acknowledge();
    // a WAL that restarts contains old frames of its first run
    if (config.journalMode === 'wal' && n === Math.ceil(commits / 2)) {
      log.phase = `checkpoint after commit ${n}`;
      await session.sqlite3.exec(session.db, 'PRAGMA wal_checkpoint');
    }
  }
  log.phase = 'close';
  await session.close();
  return notes;
}

/** What a database holds after a crash. */
export interface Found {
  /** Commits that survived; null where the database is damaged. */
  readonly commits: number | null;
  /** null: everything is consistent. */
  readonly fault: string | null;
}

/**
 * Recovers the database, as SQLite does at the first read, and checks it.
 * @throws SQLite's errors
 */
export async function inspect({ sqlite3, db }: Session): Promise<Found> {
  const rows = async (sql: string): Promise<unknown[][]> => {
    const all: unknown[][] = [];
    await sqlite3.exec(db, sql, (row) => void all.push([...row]));
    return all;
  };
  const check = (await rows('PRAGMA integrity_check')).map(String);
  if (check.join() !== 'ok') return { commits: null, fault: `integrity_check: ${check[0]}` };
  const tables = await rows("SELECT name FROM sqlite_schema WHERE type = 'table'");
  if (tables.length === 0) return { commits: 0, fault: null };
  const [state] = await rows('SELECT n, row_count, checksum FROM state');
  const [ledger] = await rows(
    `SELECT max(made), count(*), sum(id * made), sum(body <> ${BODY}) FROM ledger`,
  );
  const [n, count, checksum] = (state ?? []).map(Number);
  const [made, counted, summed, wrong] = (ledger ?? []).map(Number);
  const whole =
    n !== undefined &&
    n > 0 &&
    n === made &&
    count === counted &&
    count === n * ROWS_A_COMMIT &&
    checksum === summed &&
    wrong === 0;
  return {
    commits: n ?? 0,
    fault: whole
      ? null
      : `half a transaction: the counter is ${n}, the newest row is of commit ${made}, ${counted} of ${count} rows are there, ${wrong} with wrong text, and the checksum is ${summed} instead of ${checksum}`,
  };
}
