/** A small workload with known answers, the same for every engine. */
import type { Sqlite } from './wa-sqlite.ts';

export const ROWS = 300;
/** A table with an index, inserts in one transaction and alone, reads, an update and a check. */
export const SCRIPT = [
  'CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT, v BLOB)',
  'CREATE INDEX tk ON t(k)',
  'BEGIN',
  ...Array.from(
    { length: ROWS },
    (_, i) => `INSERT INTO t VALUES(${i}, 'key${(i * 7919) % ROWS}', zeroblob(${50 + (i % 100)}))`,
  ),
  'COMMIT',
  ...Array.from({ length: 20 }, (_, i) => `INSERT INTO t VALUES(${ROWS + i}, 'x', x'00ff')`),
  'UPDATE t SET v = zeroblob(200) WHERE id % 10 = 0',
  'SELECT count(*), sum(length(v)), max(k) FROM t',
  'PRAGMA integrity_check',
];

export async function runScript(sqlite3: Sqlite, name = 'app.db'): Promise<unknown[]> {
  const db = await sqlite3.open_v2(name);
  const answers: unknown[] = [];
  for (const sql of SCRIPT) await sqlite3.exec(db, sql, (row) => answers.push([...row]));
  await sqlite3.close(db);
  return answers;
}
