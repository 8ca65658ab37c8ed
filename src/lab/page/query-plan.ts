/**
 * EXPLAIN QUERY PLAN of every statement of a script, in memory: on the tables created by the
 * script's own DDL, or on a copy of the user's database.
 */
import type { SqliteApi } from '../experiments/engine/builds.ts';
import { openSource } from '../experiments/engine/load-database.ts';
import { Engines, type WasmLoader } from '../experiments/engine/open-engine.ts';
import { planOf, type PlanRow, type RecordedRuns } from '../experiments/engine/plan.ts';
import { recordedRuns } from '../advisor/recorded.ts';
import { opened as openedLists } from '../../sqlite/folded-lists.ts';
import { Facts } from '../../analysis/core/graph.ts';
import { statementTable } from '../../analysis/statements/statement-table.ts';
import { fingerprint } from '../../sqlite/sql-text.ts';
import { readTrace } from '../../trace/file/read.ts';

/**
 * Runs the script statement by statement, so that a plan sees the tables created before it.
 * @param database a copy of it is the script's database; null: an empty one
 * @throws SQLite's errors about the script
 */
export async function explainSql(
  wasm: WasmLoader,
  database: Blob | null,
  sql: string,
): Promise<PlanRow[]> {
  const { sqlite3, db } = await opened(wasm, database);
  const rows: PlanRow[] = [];
  try {
    const { sql: textOf } = sqlite3 as unknown as { sql(stmt: number): string };
    for await (const stmt of sqlite3.statements(db, sql)) {
      const text = textOf.call(sqlite3, stmt).trim();
      if (/^explain\b/i.test(text)) continue;
      if (EXPLAINED.test(text)) rows.push(...(await planOf(sqlite3, db, text)));
      while ((await sqlite3.step(stmt)) === 100) continue;
    }
  } finally {
    await sqlite3.close(db);
  }
  return rows;
}

async function opened(
  wasm: WasmLoader,
  database: Blob | null,
): Promise<{ sqlite3: SqliteApi; db: number }> {
  const { sqlite3, module } = await new Engines(wasm).open(
    { engine: 'wa-sqlite-2.0.6', build: 'sync' },
    'none',
  );
  return {
    sqlite3,
    db: database
      ? (await openSource(sqlite3, module, database, null)).db
      : await sqlite3.open_v2(':memory:'),
  };
}

const EXPLAINED = /^\s*(?:select|insert|update|delete|replace|with|values)\b/i;
const MOST_STATEMENTS = 2000;

/** A recorded statement, with its runs if any. */
export interface RecordedText {
  sql: string;
  recorded: RecordedRuns | undefined;
}

/**
 * The distinct statements of a recording, in order, without cut ones.
 * @throws Error with a message for the user where it has none
 */
export async function statementsOf(file: Blob): Promise<RecordedText[]> {
  const { store } = await readTrace(file);
  const texts = store.threads.flatMap(({ said }) =>
    said.flatMap((d) => (d.kind === 'sql' && d.truncated !== true ? [d.text.trim()] : [])),
  );
  const runs = new Map(
    new Facts(store)
      .get(statementTable)
      ?.rows.filter(({ executions }) => executions > 0)
      .map((row) => [row.text, row]),
  );
  const statements = [...new Set(texts)]
    .filter((text) => EXPLAINED.test(text))
    .slice(0, MOST_STATEMENTS)
    .map((sql): RecordedText => {
      const row = runs.get(fingerprint(sql));
      return { sql, recorded: row && recordedRuns(row) };
    });
  if (statements.length === 0)
    throw new Error(
      'The recording has no statement with a plan. Record again with SQL text captured.',
    );
  return statements;
}

/**
 * Plans of statements that don't run. Where planning fails on this database, the entry has the
 * reason, and the others continue.
 */
export async function explainOnly(
  wasm: WasmLoader,
  database: Blob | null,
  statements: readonly RecordedText[],
): Promise<PlanRow[]> {
  const { sqlite3, db } = await opened(wasm, database);
  const rows: PlanRow[] = [];
  try {
    for (const { sql, recorded } of statements) {
      const plan = await planOf(sqlite3, db, openedLists(sql)).catch((error: unknown) => [
        {
          id: 0,
          parent: 0,
          detail: `no plan: ${error instanceof Error ? error.message : String(error)}`,
        },
      ]);
      rows.push(...plan.map((row) => ({ ...row, sql, ...(recorded ? { recorded } : {}) })));
    }
  } finally {
    await sqlite3.close(db);
  }
  return rows;
}
