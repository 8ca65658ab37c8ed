/**
 * Statement executions: an execution begins with the first sqlite3_step of a statement after its
 * prepare, its reset, or the step that finished it, and lasts until the step that returns DONE or
 * an error. A sqlite3_exec call counts as one.
 */
import { executions, type Executions } from '../core/executions.ts';
import { getOrMake } from '../core/maps.ts';
import { hasSql } from '../core/layers.ts';
import { objectName } from '../../trace/describe.ts';
import { fingerprint } from '../../sqlite/sql-text.ts';
import type { TraceStore } from '../../trace/store.ts';
import { fact, type ByThread } from '../core/graph.ts';

export interface Statements {
  /** Executions; null if no SQL call was recorded. */
  count: number | null;
  /**
   * Distinct fingerprints among them, as in the table's rows; also null if executions were recorded
   * without any text.
   */
  distinct: number | null;
}

export const statements = fact('statements', 'statements', { executions }, statementsOf);

function statementsOf(
  store: TraceStore,
  { executions }: { executions: ByThread<Executions> },
): Statements {
  if (!store.threads.some(hasSql)) return { count: null, distinct: null };
  let count = 0;
  const texts = new Set<string>();
  for (const thread of store.threads) {
    const prints = new Map<number, string>(); // by id
    const printOf = (id: number): string =>
      getOrMake(prints, id, () => {
        const text = objectName(thread, id);
        return text && (fingerprint(text) || ' '); // of only blanks
      });
    const runs = executions.of(thread);
    count += runs.count;
    for (let i = 0; i < runs.count; i++) {
      const text = printOf(runs.text[i]!);
      if (text) texts.add(text);
    }
  }
  return { count, distinct: count > 0 && texts.size === 0 ? null : texts.size };
}
