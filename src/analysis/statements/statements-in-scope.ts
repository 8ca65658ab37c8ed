/** The statements in a scope: one, or those that read or wrote a table. */
import { fingerprintsOf } from '../core/fingerprints.ts';
import type { Facts } from '../core/graph.ts';
import type { Scope } from '../core/scope.ts';
import { bTrees } from '../pages/b-trees.ts';
import { statementsOfTable, treeUse } from '../pages/tree-use.ts';
import type { ThreadStore } from '../../trace/store.ts';

/** Whether a statement is in scope, by its fingerprint; null = its text is unknown. */
export type StatementTest = (text: string | null) => boolean;

/** @returns null = all statements are in scope */
export function statementsIn(
  facts: Facts,
  { statement, table }: Pick<Scope, 'statement' | 'table'>,
): StatementTest | null {
  if (table === undefined) return statement === undefined ? null : (text) => text === statement;
  const touched = statementsOfTable(facts.get(treeUse), facts.get(bTrees), table);
  return (text) => touched.has(text) && (statement === undefined || text === statement);
}

/** The same by id of a thread's `sql` definitions; 0 = unknown. */
export function testOfTexts(
  thread: ThreadStore,
  test: StatementTest | null,
): ((id: number) => boolean) | null {
  const textOf = fingerprintsOf(thread);
  return test && ((id) => test(textOf(id)));
}
