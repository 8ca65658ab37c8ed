/**
 * Query plans of the statements that findings are about: why SQLite scans, sorts, or builds an
 * index.
 */
import type { Facts } from '../analysis/core/graph.ts';
import { findings } from '../analysis/findings/index.ts';
import { statementTable, type StatementRow } from '../analysis/statements/statement-table.ts';
import { PLAN_NEEDS, runsOf, type Planner } from './planner.ts';
import type { SchemaSource } from './schema-source.ts';
import type { StatementPlan } from './types.ts';

/** Must be computed before plans are requested. */
export const FINDING_PLAN_NEEDS = { findings, statementTable, ...PLAN_NEEDS };

/** By fingerprint. */
export type FindingPlans = ReadonlyMap<string, StatementPlan>;

/**
 * @param readOf as in `Planner.planOf`
 * @returns plans without lines if SQLite can't be loaded, so that the report still works
 */
export async function findingPlans(
  facts: Facts,
  planner: Planner,
  readOf: (database: string | null) => SchemaSource | null = () => null,
): Promise<FindingPlans> {
  const plans = new Map<string, StatementPlan>();
  for (const { statement } of facts.get(findings)) {
    if (statement === undefined || plans.has(statement)) continue;
    const row = facts.get(statementTable)?.rows.find(({ text }) => text === statement);
    if (!row) continue;
    const plan = await planner
      .planOf(facts, row, {}, readOf)
      .catch((error: unknown) => withoutSqlite(row, error));
    if (plan) plans.set(statement, plan);
  }
  return plans;
}

const withoutSqlite = (row: StatementRow, error: unknown): StatementPlan => ({
  ...{ lines: null, lacksSchema: false, database: null, source: null, release: '', notes: [] },
  cause: `SQLite couldn't be loaded: ${error instanceof Error ? error.message : String(error)}`,
  runs: runsOf(row),
});
