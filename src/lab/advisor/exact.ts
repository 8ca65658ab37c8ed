/**
 * A statement's instructions as in the Lab's count mode, so that anyone gets the same number with
 * `vfscope lab run own-database --count`.
 */
import { runOf } from '../experiments/plan.ts';
import { sampleOf, type Surroundings } from '../experiments/run.ts';
import { BEGIN } from './copy.ts';
import { workloadOf } from '../experiments/workloads/index.ts';

/**
 * The script that counts a statement. Its first step reads the schema, so its second step is only
 * the statement.
 * @param foreignKeys whether they are checked
 */
export const countingScript = (sql: string, foreignKeys = false): string => {
  const before = foreignKeys ? `PRAGMA foreign_keys=ON;\n${BEGIN}\n` : '';
  const behind = foreignKeys ? '-- step undo\nROLLBACK;\n' : '';
  return `${before}SELECT count(*) FROM sqlite_schema;\n-- step statement\n${sql};\n${behind}`;
};

/** @param file the database @returns instructions of the engine from prepare to finalize */
export async function instructionsOf(
  engines: Surroundings['engines'],
  file: Blob,
  sql: string,
  foreignKeys: boolean,
): Promise<number> {
  const script = countingScript(sql, foreignKeys);
  const run = runOf(
    workloadOf('own-database', script),
    {},
    { mode: 'count', repeats: 1, sql: script, database: { name: 'copy', file } },
  );
  const { steps } = await sampleOf({ ...run, readBack: false }, { engines, environment: {} });
  return steps[1]!.counters['instructions']!;
}
