/**
 * Statement executions: an execution begins with the first sqlite3_step of a statement after its prepare, its reset, or the step
 * that finished it, and lasts until the step that answers DONE or an error. A sqlite3_exec call counts as one.
 */
import { Op } from '../../event/event.ts';
import { isSqlOp } from '../../event/operations.ts';
import { objectName } from '../../trace/describe.ts';
import { foldLiterals } from '../../sqlite/sql-text.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { fact } from '../graph.ts';

export interface Statements {
  /** Executions; null where no SQL call was recorded. */
  count: number | null;
  /** Distinct texts among them, literals folded; null too where executions were recorded without any text. */
  distinct: number | null;
  /** Executed ROLLBACK statements (not ROLLBACK TO). */
  rollbacks: number | null;
}

const SQLITE_ROW = 100;
const ROLLBACK = /^\s*rollback\b(?!(\s+transaction)?\s+to\b)/i;

export function hasSql(thread: ThreadStore): boolean {
  if (thread.engines.some((e) => e.layers.sql)) return true;
  const { op, count } = thread.events;
  for (let i = 0; i < count; i++) if (isSqlOp(op[i]!)) return true;
  return false;
}

/** @param each called with the row of every execution's first call */
export function eachExecution(thread: ThreadStore, each: (row: number) => void): void {
  const { events } = thread;
  const running = new Set<number>();
  for (let i = 0; i < events.count; i++) {
    const op = events.op[i]!;
    if (!isSqlOp(op)) continue;
    const statement = events.aux[i]!;
    if (op === Op.sqlExec) each(i);
    else if (op === Op.sqlStep) {
      if (!running.has(statement)) each(i);
      if (events.result[i] === SQLITE_ROW || events.endSeq[i] === 0) running.add(statement);
      else running.delete(statement);
    } else if (op !== Op.sqlOpen && op !== Op.sqlClose) running.delete(statement);
  }
}

export const statements = fact('statements', 'statements', {}, statementsOf);

function statementsOf(store: TraceStore): Statements {
  if (!store.threads.some(hasSql)) return { count: null, distinct: null, rollbacks: null };
  let count = 0;
  let rollbacks = 0;
  const texts = new Set<string>();
  for (const thread of store.threads) {
    const folded = new Map<number, string>(); // by id: texts come with their literals where the user asked for them
    const textOf = (id: number): string => {
      let text = folded.get(id);
      if (text === undefined) folded.set(id, (text = foldLiterals(objectName(thread, id))));
      return text;
    };
    eachExecution(thread, (row) => {
      count++;
      const text = textOf(thread.events.object[row]!);
      if (text) texts.add(text);
      if (ROLLBACK.test(text)) rollbacks++;
    });
  }
  return { count, distinct: count > 0 && texts.size === 0 ? null : texts.size, rollbacks };
}
