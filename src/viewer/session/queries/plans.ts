/**
 * Plans of statements, and the schema that was read from the page for them. The Query view's SQLite
 * makes them, on a copy of the schema.
 */
import type { Facts } from '../../../analysis/core/graph.ts';
import { originOfThread } from '../../../analysis/core/thread-origin.ts';
import { statementTable } from '../../../analysis/statements/statement-table.ts';
import { Planner, PLAN_NEEDS } from '../../../plan/planner.ts';
import { findingPlans } from '../../../plan/finding-plans.ts';
import { textsOf } from '../../../plan/plan-words.ts';
import { readSchema } from '../../../plan/read-schema.ts';
import type { SchemaSource } from '../../../plan/schema-source.ts';
import type { StatementPlan } from '../../../plan/types.ts';
import type { PlanRequest, SchemaRequest } from '../../../protocol/answers/plans.ts';
import type { TraceStore } from '../../../trace/store.ts';
import { wasmSource } from './wasm-source.ts';
import { needing, type QueryContext } from './context.ts';
import { statementsOf } from './statements.ts';

/** Of each trace. */
interface Plans {
  planner: Planner;
  /** By recorded name of the database. */
  read: Map<string | null, SchemaSource>;
}
const traces = new WeakMap<TraceStore, Plans>();
function plansOf(store: TraceStore): Plans {
  const found = traces.get(store) ?? {
    planner: new Planner((build) => wasmSource.of(build)),
    read: new Map(),
  };
  traces.set(store, found);
  return found;
}

/** For statements in findings, by fingerprint, as a report shows them. */
export async function planTexts(facts: Facts): Promise<ReadonlyMap<string, string>> {
  const { planner, read } = plansOf(facts.store);
  return textsOf(await findingPlans(facts, planner, (name) => read.get(name) ?? null));
}

export const planQueries = {
  /** null if the statement has none. */
  statementPlan: needing(
    [statementTable, ...Object.values(PLAN_NEEDS)],
    async (context: QueryContext, { text, scope }: PlanRequest): Promise<StatementPlan | null> => {
      const row = statementsOf(context, scope)?.rows.find((one) => one.text === text);
      if (!row) return null;
      const { planner, read } = plansOf(context.store);
      return planner.planOf(context.facts, row, scope, (name) => read.get(name) ?? null);
    },
  ),

  /**
   * Take the schema of a copied database for this trace's plans.
   * @throws Error with a message for the user
   */
  async readSchema(
    { store }: QueryContext,
    { database, origin, recorded, main, wal }: SchemaRequest,
  ): Promise<null> {
    const own = new Set(store.threads.map(originOfThread).filter((one) => one !== ''));
    if (own.size > 0 && !own.has(origin))
      throw new Error(`The tab now shows ${origin}. Your recording is of ${[...own].join(', ')}.`);
    const schema = await readSchema(wasmSource.at, { main, wal });
    plansOf(store).read.set(recorded, { from: 'page', database, foreignKeys: false, ...schema });
    return null;
  },
};
