/**
 * `vfscope plans FILE [--database DATABASE] [--json]`: how SQLite reads tables for each statement,
 * and how long its runs took.
 */
import { Facts } from '../analysis/core/graph.ts';
import { statementTable } from '../analysis/statements/statement-table.ts';
import type { Block, Report } from '../analysis/report/blocks.ts';
import { databaseFrom } from '../lab/command/database.ts';
import { planLines, runFacts, sourceText } from '../plan/plan-words.ts';
import { readSchema } from '../plan/read-schema.ts';
import type { SchemaSource } from '../plan/schema-source.ts';
import type { StatementPlan } from '../plan/types.ts';
import { planner, readWasm } from './plan-wasm.ts';
import { reportText } from '../terminal/report-text.ts';
import { wrongUse } from '../terminal/failure.ts';
import { Exit, openTrace } from '../terminal/open-file.ts';
import { jsonText, print } from '../terminal/stdout.ts';
import { cut, oneLine } from '../text/clean.ts';
import { formatCount } from '../text/numbers.ts';

interface PlannedStatement extends StatementPlan {
  fingerprint: string;
  /** As displayed. */
  sql: string;
}

/** Maximum plans in the text. --json has all. */
const MOST_STATEMENTS = 30;
const WIDEST = 100;

/**
 * @param database use its schema and statistics instead of the recorded CREATE statements @returns
 * the exit code
 */
export async function plansCommand({
  file,
  database,
  json,
}: {
  file: string;
  database: string | undefined;
  json: boolean;
}): Promise<number> {
  const { store } = await openTrace(file);
  const schema =
    database === undefined ? null : await schemaFrom({ wasmBinary: await readWasm() }, database);
  const facts = new Facts(store);
  const planned = planner();
  const plans: PlannedStatement[] = [];
  for (const row of facts.get(statementTable)?.rows ?? []) {
    if (row.executions === 0) continue;
    const plan = await planned.planOf(facts, row, {}, () => schema);
    if (plan) plans.push({ fingerprint: row.text!, sql: row.sql!, ...plan });
  }
  await print(json ? jsonText({ plans }) : reportText(plansReport(plans, schema !== null)));
  return Exit.done;
}

async function schemaFrom(wasm: { wasmBinary: Uint8Array }, path: string): Promise<SchemaSource> {
  try {
    const { name, file } = await databaseFrom(path);
    const schema = await readSchema(wasm, { main: file, wal: null });
    return { from: 'file', database: name, foreignKeys: false, ...schema };
  } catch (e) {
    if (e instanceof Error && e.name === 'Error') throw wrongUse(e.message);
    throw e;
  }
}

/** One block for each statement, the longest time first. @param hasDatabase a database was given */
function plansReport(plans: readonly PlannedStatement[], hasDatabase: boolean): Report {
  const blocks = plans.slice(0, MOST_STATEMENTS).map((plan, i): Block => {
    const heading = `${i + 1}. ${cut(oneLine(plan.sql), WIDEST)}`;
    const facts: [string, string][] = [['Runs', runFacts(plan.runs)]];
    if (!plan.lines)
      return {
        heading,
        facts,
        lines: planLines(plan).map(
          (line) =>
            `${line}${plan.lacksSchema && !hasDatabase ? ' Give the database: --database FILE.' : ''}`,
        ),
      };
    return {
      heading,
      facts,
      lines: [
        ...planLines(plan),
        ...(plan.source ? [`${sourceText(plan.source)}.`] : []),
        ...plan.notes,
      ],
    };
  });
  const more = plans.length - MOST_STATEMENTS;
  return {
    title: `Query plans: ${formatCount(plans.length)}`,
    blocks: [
      ...(plans.length
        ? blocks
        : [{ heading: 'No statement with a known text reads or changes rows.' }]),
      ...(more > 0 ? [{ heading: `... and ${formatCount(more)} more: --json has them` }] : []),
    ],
  };
}
