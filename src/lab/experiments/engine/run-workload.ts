/**
 * Runs one workload on an open database. The caller provides the wa-sqlite API, the connection, and
 * its counters. This runs the setup and the steps, and takes every counter's difference over each
 * step.
 */
import { applyConfig } from './apply-config.ts';
import type { Host } from './host.ts';
import { insist } from './insist.ts';
import { RowDigest } from './row-digest.ts';
import { runStep } from './run-step.ts';
import { parametersOf } from '../model/parameters.ts';
import type { Counters, Run, Workload } from '../model/types.ts';
import type { Sample, StepSample } from '../model/result-types.ts';

/** The part before the first step: settings of the connection. */
const OPEN = 'open';
/** The step in which all actors run. */
export const ACTORS = 'actors';
/**
 * Where a failure is a result: receives the failed step (`open` before the first) and adds to the
 * result why later steps didn't run.
 */
export type Ended = (step: string, error: unknown) => string;

/** @throws SQLite's errors, unless `ended` takes them; the message names the step */
export async function runWorkload(
  host: Host,
  workload: Workload,
  run: Pick<Run, 'parameters' | 'config' | 'readRows' | 'database'>,
  ended?: Ended,
): Promise<Sample> {
  const { config, readRows } = run;
  // a run saved by an older version may lack parameters that its workload has gained
  const parameters = parametersOf(workload, run.parameters);
  /** Why the remaining steps don't run. */
  let over = '';
  const attempt = async <T>(step: string, work: () => Promise<T>): Promise<T | null> => {
    if (over) return null;
    if (!ended) return step === OPEN ? work() : named(step, work);
    try {
      return await work();
    } catch (error) {
      over = ended(step, error);
      return null;
    }
  };
  const { notes, settings } = (await attempt(OPEN, () =>
    applyConfig(host, config, run.database !== undefined),
  )) ?? { notes: [], settings: {} };
  const digest = new RowDigest(readRows);
  for (const step of workload.setup(parameters))
    await attempt(step.id, () => runStep(host, step, digest));
  const steps: StepSample[] = [];
  if (workload.actors) {
    if (!host.runActors) throw new Error(`${workload.id} needs workers, which there are not here.`);
    const kept = workload.kept?.(parameters);
    const lost = async (): Promise<Counters> => {
      if (!kept) return {};
      // other connections' writes, which some VFSs report late to an open connection
      await host.reopen();
      return { 'rows.lost': kept.value - (await numberOf(host, kept.sql)) };
    };
    const actors = workload.actors(parameters);
    const run = (): Promise<Counters> => host.runActors!(actors, lost);
    const counters = await (ended ? attempt(ACTORS, run) : run());
    steps.push({
      id: ACTORS,
      title: 'all at once',
      ...(counters ? { counters } : { counters: {}, skipped: over }),
    });
  }
  for (const step of workload.steps(parameters)) {
    const outcome = await attempt(step.id, () => runStep(host, step, digest));
    steps.push({
      id: step.id,
      title: step.title,
      ...(outcome ?? { counters: {}, skipped: over }),
    });
  }
  return { steps, digest: digest.text(), notes, settings };
}

/** As a writer, because some VFSs show readers an older state for a while. */
async function numberOf(host: Host, sql: string): Promise<number> {
  let answer = NaN;
  await insist(host, 'BEGIN IMMEDIATE');
  await host.sqlite3.exec(host.db, sql, (row) => void (answer = Number(row[0])));
  await host.sqlite3.exec(host.db, 'ROLLBACK');
  return answer;
}

async function named<T>(step: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (e) {
    throw new Error(`step "${step}": ${e instanceof Error ? e.message : String(e)}`, { cause: e });
  }
}
