/** A statement's instructions as the Lab's own count mode has them: anyone gets the same number by `vfscope lab run own-database --count`. */
import { runOf } from '../experiments/plan.ts';
import { sampleOf, type Surroundings } from '../experiments/run.ts';
import { workloadOf } from '../experiments/workloads/index.ts';

/** The script that counts a statement: its first step reads the schema, so that its second is the statement alone. */
export const countingScript = (sql: string): string =>
  `SELECT count(*) FROM sqlite_schema;\n-- step statement\n${sql};\n`;

/** @param file the database @returns instructions of the engine from prepare to finalize */
export async function instructionsOf(
  engines: Surroundings['engines'],
  file: Blob,
  sql: string,
): Promise<number> {
  const script = countingScript(sql);
  const run = runOf(
    workloadOf('own-database', script),
    {},
    { mode: 'count', repeats: 1, sql: script, database: { name: 'copy', file } },
  );
  const { steps } = await sampleOf({ ...run, readBack: false }, { engines, environment: {} });
  return steps[1]!.counters['instructions']!;
}
