/**
 * `vfscope lab check RESULT.json --budget budget.json`: limits on the counts of a saved result, for
 * CI.
 */
import { readFile } from 'node:fs/promises';
import {
  BudgetError,
  limitRow,
  parseBudgetText,
  type BudgetRow,
} from '../../analysis/report/budget.ts';
import { isTime, placed } from '../experiments/model/aggregate.ts';
import { environmentFacts } from '../experiments/model/environment.ts';
import { runsByName, type LabOutcome } from '../experiments/outcome.ts';
import { budgetText } from '../../terminal/budget-text.ts';
import { wrongUse } from '../../terminal/failure.ts';
import { cannotRead, complain, Exit } from '../../terminal/open-file.ts';
import { jsonText, print } from '../../terminal/stdout.ts';
import { readOutcome } from './diff.ts';
import { factLines } from './run-text.ts';

/**
 * @returns the exit code: 0 all limits hold, 1 one is exceeded, 2 the budget can't be used
 * @throws CommandFailure (2) with what is wrong with a file
 */
export async function checkResultCommand({
  file,
  budget: path,
  json = false,
}: {
  readonly file: string;
  readonly budget: string;
  readonly json?: boolean;
}): Promise<number> {
  const text = await readFile(path, 'utf8').catch((e: unknown) => {
    throw wrongUse(cannotRead(path, e, 'a budget file'));
  });
  const outcome = await readOutcome(file);
  try {
    const rows = checkResult(outcome, text);
    const ran = environmentFacts(runsByName(outcome));
    await print(
      json
        ? jsonText({ ok: rows.every(({ ok }) => ok), limits: rows, environment: ran })
        : `${[budgetText(rows).trimEnd(), ...factLines(ran)].join('\n')}\n`,
    );
    return rows.every(({ ok }) => ok) ? Exit.done : Exit.checkFailed;
  } catch (e) {
    if (!(e instanceof BudgetError)) throw e;
    for (const fault of e.faults) complain(`${path}: ${fault}`);
    return Exit.wrongUse;
  }
}

/**
 * Paths are `run/step/counter`, or `step/counter` for a single run. The step `total` is the sum.
 * @throws BudgetError naming each path that doesn't exist, and each that is a time
 */
export function checkResult(outcome: LabOutcome, budget: string): BudgetRow[] {
  const named = runsByName(outcome);
  const faults: string[] = [];
  const rows = Object.entries(parseBudgetText(budget)).map(([path, limit]): BudgetRow => {
    const parts = path.split('/');
    if (parts.length === 2 && named.length === 1) parts.unshift(named[0]!.name);
    const [name, step, counter] = parts as [string, string?, string?];
    const run = named.find((each) => each.name === name);
    if (parts.length !== 3 || step === undefined || counter === undefined)
      faults.push(
        `"${path}": expected ${named.length > 1 ? 'run/' : ''}step/counter, as in ${named.length > 1 ? `${named[0]!.name}/` : ''}total/vfs.xSync.`,
      );
    else if (!run)
      faults.push(
        `"${path}": there is no run "${name}"; there are ${named.map((n) => n.name).join(', ')}.`,
      );
    else if (step !== 'total' && !run.result.steps.some(({ id }) => id === step))
      faults.push(
        `"${path}": there is no step "${step}"; there are total, ${run.result.steps.map(({ id }) => id).join(', ')}.`,
      );
    else if (isTime(counter))
      faults.push(`"${path}": a time can't have a budget, because it differs by machine.`);
    const value =
      run && step !== undefined && counter !== undefined
        ? placed(run.result, { step, counter })?.value
        : undefined;
    return limitRow(path, limit, value ?? null, `${counter} was not counted in this run`);
  });
  if (faults.length) throw new BudgetError(faults);
  return rows;
}
