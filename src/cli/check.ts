/** `vfscope check FILE --budget budget.json`: limits on a trace's numbers, for CI. Exit code 1 and a table where one is broken. */
import { readFile } from 'node:fs/promises';
import {
  BudgetError,
  checkBudget,
  parseBudget,
  type BudgetRow,
} from '../analysis/report/budget.ts';
import { summaryOf } from '../analysis/report/summary.ts';
import { wrongUse } from '../terminal/failure.ts';
import { cannotRead, complain, Exit, openTrace } from '../terminal/open-file.ts';
import { print } from '../terminal/stdout.ts';
import { table } from '../terminal/report-text.ts';
import { plain } from '../text/clean.ts';
import { formatExact } from '../text/numbers.ts';

/** @returns the exit code: 0 all limits hold, 1 one is broken, 2 the budget or the trace cannot be used */
export async function checkCommand({
  file,
  budget: path,
}: {
  file: string;
  budget: string;
}): Promise<number> {
  const text = await readFile(path, 'utf8').catch((e: unknown) => {
    throw wrongUse(cannotRead(path, e, 'a budget file'));
  });
  try {
    const budget = parseBudget(parseJson(text));
    const trace = await openTrace(file);
    const rows = checkBudget(summaryOf(trace.store), budget);
    await print(checkText(rows));
    return rows.every((r) => r.ok) ? Exit.done : Exit.checkFailed;
  } catch (e) {
    if (!(e instanceof BudgetError)) throw e;
    for (const fault of e.faults) complain(`${path}: ${fault}`);
    return Exit.wrongUse;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (e) {
    throw new BudgetError([`it is no JSON: ${e instanceof Error ? e.message : String(e)}`]);
  }
}

/** The limits as a table, the broken ones first. */
export function checkText(rows: readonly BudgetRow[]): string {
  const broken = rows.filter((r) => !r.ok);
  const limit = (n: number | undefined): string => (n === undefined ? '' : formatExact(n));
  const cells = (r: BudgetRow): string[] => [
    plain(r.path),
    formatExact(r.value),
    limit(r.limit.min),
    limit(r.limit.max),
    r.ok ? 'ok' : 'BROKEN',
    plain(r.cause ?? ''),
  ];
  const order = [...broken, ...rows.filter((r) => r.ok)];
  const head = broken.length
    ? `${broken.length} of ${rows.length} limits broken`
    : `All ${rows.length} limits hold`;
  return `${[head, ...table(['number', 'value', 'min', 'max', '', 'why'], order.map(cells))].join('\n')}\n`;
}
