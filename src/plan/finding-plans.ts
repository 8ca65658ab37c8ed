/** Query plans of the statements that findings are about: why SQLite scans, sorts, or builds an index. */
import type { Facts } from '../analysis/core/graph.ts';
import { findings } from '../analysis/findings/index.ts';
import { statementTable } from '../analysis/statements/statement-table.ts';
import { PLAN_NEEDS, type Planner } from './planner.ts';
import type { SchemaSource } from './schema-source.ts';
import type { StatementPlan } from './types.ts';

/** What is computed before plans are asked for. */
export const FINDING_PLAN_NEEDS = { findings, statementTable, ...PLAN_NEEDS };

/** By fingerprint. */
export type FindingPlans = ReadonlyMap<string, StatementPlan>;

/** @param readOf as in `Planner.planOf` @throws Error when SQLite can't be loaded */
export async function findingPlans(
  facts: Facts,
  planner: Planner,
  readOf: (database: string | null) => SchemaSource | null = () => null,
): Promise<FindingPlans> {
  const plans = new Map<string, StatementPlan>();
  for (const { statement } of facts.get(findings)) {
    if (statement === undefined || plans.has(statement)) continue;
    const row = facts.get(statementTable)?.rows.find(({ text }) => text === statement);
    const plan = row && (await planner.planOf(facts, row, {}, readOf));
    if (plan) plans.set(statement, plan);
  }
  return plans;
}
