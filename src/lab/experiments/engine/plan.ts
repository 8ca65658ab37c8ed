/** EXPLAIN QUERY PLAN of one statement. */
import type { SqliteApi } from './builds.ts';

/** A statement in a recording, over all of its runs. */
export interface RecordedRuns {
  runs: number;
  recordedRows: number;
  /** Database and WAL; null: no VFS call was recorded. */
  recordedPages: number | null;
}
export interface PlanRow {
  /** The statement that it belongs to. */
  sql: string;
  /** Of a recorded statement that ran. */
  recorded?: RecordedRuns;
  id: number;
  parent: number;
  detail: string;
}

/** @throws SQLite's errors */
export async function planOf(sqlite3: SqliteApi, db: number, sql: string): Promise<PlanRow[]> {
  const rows: PlanRow[] = [];
  await sqlite3.exec(
    db,
    `EXPLAIN QUERY PLAN ${sql}`,
    ([id, parent, , detail]) =>
      void rows.push({ sql, id: Number(id), parent: Number(parent), detail: String(detail) }),
  );
  return rows;
}
