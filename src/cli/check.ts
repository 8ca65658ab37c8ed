/**
 * `vfscope check FILE --budget budget.json --baseline BASE.vfst`: checks a trace's numbers against
 * limits, for CI. Exits with 1 and prints a table if one is broken.
 */
import { readFile } from 'node:fs/promises';
import { Facts } from '../analysis/core/graph.ts';
import {
  type Budget,
  baselineBudget,
  BudgetError,
  checkBudget,
  parseBudgetText,
} from '../analysis/report/budget.ts';
import { summary } from '../analysis/report/summary.ts';
import { transactionStatements } from '../analysis/transactions/transaction-statements.ts';
import { budgetText as rowsText } from '../terminal/budget-text.ts';
import { wrongUse } from '../terminal/failure.ts';
import { cannotRead, complain, Exit, openTrace } from '../terminal/open-file.ts';
import { jsonText, print } from '../terminal/stdout.ts';

const budgetText = (path: string): Promise<string> =>
  readFile(path, 'utf8').catch((e: unknown) => {
    throw wrongUse(cannotRead(path, e, 'a budget file'));
  });

/** The limits that a recording sets for another recording of the same work. */
export const baselineOf = (before: Facts, after: Facts): Budget =>
  baselineBudget(
    before.get(summary),
    after.get(transactionStatements) - before.get(transactionStatements),
  );

/**
 * @returns the exit code: 0 all limits hold, 1 one is broken, 2 the budget or the trace can't be
 * used
 */
export async function checkCommand({
  file,
  budget: path,
  baseline,
  json = false,
}: {
  file: string;
  /** A budget's limits override those of a baseline. */
  budget?: string;
  /** A trace of the same work: no count may exceed the baseline's. */
  baseline?: string;
  json?: boolean;
}): Promise<number> {
  if (path === undefined && baseline === undefined)
    throw wrongUse('check needs --budget FILE.json, --baseline FILE.vfst, or both.');
  const text = path === undefined ? null : await budgetText(path);
  try {
    const own = text === null ? {} : parseBudgetText(text);
    const trace = await openTrace(file);
    const facts = new Facts(trace.store);
    const before = baseline === undefined ? null : new Facts((await openTrace(baseline)).store);
    const budget = { ...(before && baselineOf(before, facts)), ...own };
    const rows = checkBudget(facts.get(summary), budget);
    await print(json ? jsonText({ ok: rows.every(({ ok }) => ok), limits: rows }) : rowsText(rows));
    return rows.every((r) => r.ok) ? Exit.done : Exit.checkFailed;
  } catch (e) {
    if (!(e instanceof BudgetError)) throw e;
    for (const fault of e.faults) complain(`${path}: ${fault}`);
    return Exit.wrongUse;
  }
}
