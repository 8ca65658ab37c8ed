/** `vfscope check FILE --budget budget.json`: limits on a trace's numbers, for CI. Exit code 1 and a table where one is broken. */
import { readFile } from 'node:fs/promises';
import { BudgetError, checkBudget, parseBudgetText } from '../analysis/report/budget.ts';
import { summaryOf } from '../analysis/report/summary.ts';
import { budgetText } from '../terminal/budget-text.ts';
import { wrongUse } from '../terminal/failure.ts';
import { cannotRead, complain, Exit, openTrace } from '../terminal/open-file.ts';
import { jsonText, print } from '../terminal/stdout.ts';

/** @returns the exit code: 0 all limits hold, 1 one is broken, 2 the budget or the trace cannot be used */
export async function checkCommand({
  file,
  budget: path,
  json = false,
}: {
  file: string;
  budget: string;
  json?: boolean;
}): Promise<number> {
  const text = await readFile(path, 'utf8').catch((e: unknown) => {
    throw wrongUse(cannotRead(path, e, 'a budget file'));
  });
  try {
    const budget = parseBudgetText(text);
    const trace = await openTrace(file);
    const rows = checkBudget(summaryOf(trace.store), budget);
    await print(
      json ? jsonText({ ok: rows.every(({ ok }) => ok), limits: rows }) : budgetText(rows),
    );
    return rows.every((r) => r.ok) ? Exit.done : Exit.checkFailed;
  } catch (e) {
    if (!(e instanceof BudgetError)) throw e;
    for (const fault of e.faults) complain(`${path}: ${fault}`);
    return Exit.wrongUse;
  }
}
