/** BEGIN, COMMIT, SAVEPOINT, ...: executions that only open and close transactions. */
import { fingerprint } from '../../sqlite/sql-text.ts';
import { objectName } from '../../trace/describe.ts';
import type { TraceStore } from '../../trace/store.ts';
import { executions, type Executions } from '../core/executions.ts';
import { fact, type ByThread } from '../core/graph.ts';
import { getOrMake } from '../core/maps.ts';
import { effectsOf } from './explicit-transactions.ts';

/** Their number, without those whose text wasn't recorded. */
export const transactionStatements = fact(
  'transactionStatements',
  'statements of transactions',
  { executions },
  (store: TraceStore, known: { executions: ByThread<Executions> }): number => {
    let count = 0;
    for (const thread of store.threads) {
      const answers = new Map<number, boolean>(); // by id of the text
      const runs = known.executions.of(thread);
      for (let i = 0; i < runs.count; i++) {
        const id = runs.text[i]!;
        if (getOrMake(answers, id, () => opensOrCloses(objectName(thread, id)))) count++;
      }
    }
    return count;
  },
);

/** @param text if it is a script with other statements, too, its single execution did their work */
const opensOrCloses = (text: string): boolean =>
  effectsOf(text, false).length > 0 && !/;\s*\S/.test(fingerprint(text));
