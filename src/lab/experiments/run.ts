/**
 * Runs: one pass of a workload on a fresh database (`sampleOf`), and whole runs with interleaved
 * repeats (`measure`), so that a slow minute of the machine affects all of them equally. Count mode
 * and time mode are never mixed in one result.
 */
import { settingsOf } from './engine/apply-config.ts';
import { asText } from './engine/as-text.ts';
import { openHost, type HostOptions, type OpenHost } from './engine/open-host.ts';
import type { Engines, Metering } from './engine/open-engine.ts';
import { passesOf, passOf, resultSoFar } from './passes.ts';
import { readBack } from './engine/read-back.ts';
import { isOutside } from './model/engine-names.ts';
import { needsAsync, whyNotOn, whyNotShared } from './model/vfs-facts.ts';
import { runWorkload, type Ended } from './engine/run-workload.ts';
import {
  checkStored,
  sampleUnderFaults,
  type FaultyDevice,
  type Found,
} from './engine/fault-run.ts';
import { hasFaults, whyNoFaults } from './model/faults.ts';
import type { Config, Run, VfsName, Workload } from './model/types.ts';
import type { Environment } from './model/environment-types.ts';
import type { RunResult, Sample } from './model/result-types.ts';
import { workloadOf } from './workloads/index.ts';

/** One pass of a workload on a native SQLite. */
export type NativeSampler = (run: Run, workload: Workload) => Promise<Sample>;

export interface Surroundings {
  readonly engines: Engines;
  readonly nodeCrypto?: HostOptions['nodeCrypto'];
  readonly makeVfs?: HostOptions['makeVfs'];
  readonly rawStep?: HostOptions['rawStep'];
  readonly runActors?: HostOptions['runActors'];
  /** Available VFSs and builds; absent: all. */
  readonly vfs?: readonly VfsName[];
  readonly builds?: readonly Config['build'][];
  /** Why an external engine can't run; null: it can. Absent: none can. */
  readonly refused?: (config: Config) => string | null;
  /** Runs for `engine=native`. */
  readonly native?: NativeSampler;
  readonly environment: Environment;
  /** Applies a fault profile. Absent: no storage here could fail. */
  readonly faults?: (config: Config) => FaultyDevice;
  /** Empties the storage for the next sample. Does nothing in memory. */
  readonly clean?: (run: Run) => Promise<void>;
  /** Called before each sample: true = stop. The finished samples are the result. */
  readonly interrupted?: () => Promise<boolean>;
  /**
   * Called before each sample: which run, which repeat; -1 = the first pass of a timed run, which
   * doesn't count.
   */
  readonly progress?: (run: Run, repeat: number) => void;
}

const NO_FAULTS = 'a fault profile runs in a browser, on OPFS or IndexedDB';

function workloadFor(run: Run): Workload {
  const workload = workloadOf(run.workload, run.sql);
  return run.asText ? asText(workload) : workload;
}

/** @returns why the run can't be made anywhere, or null */
export function impossible(run: Run): string | null {
  const { engine, vfs, build } = run.config;
  const workload = workloadFor(run);
  if (workload.needs?.includes('database') && !run.database) return 'it needs a database file';
  if (run.database && vfs === 'memory')
    return 'vfs=memory has no file that a database could be copied to; MemoryVFS has';
  const notOn = whyNotOn(vfs, engine);
  if (notOn) return notOn;
  if (build === 'sync' && needsAsync(vfs))
    return `${vfs} is asynchronous and needs the asyncify or the jspi build`;
  return (
    whyNoFaults(run.config, !!workload.actors) ??
    (workload.actors ? whyNotShared(run.config) : null)
  );
}

/** @returns why the run cannot be made here, or null */
export function hindrance(run: Run, around: Surroundings): string | null {
  const { engine, vfs, build } = run.config;
  const needs = workloadFor(run).needs ?? [];
  if (needs.includes('workers') && !around.runActors) return 'it needs workers';
  if (around.vfs && !around.vfs.includes(vfs))
    return `${vfs} isn't available here, only ${around.vfs.join(', ')}`;
  if (around.builds && !around.builds.includes(build))
    return `the ${build} build does not run here: ${around.builds.join(', ')}`;
  const nowhere = impossible(run);
  if (nowhere !== null) return nowhere;
  if (isOutside(engine)) {
    const why = around.refused ? around.refused(run.config) : 'engines from outside run in Node';
    if (why !== null) return why;
  }
  if (hasFaults(run.config) && !around.faults) return NO_FAULTS;
  if (needs.includes('indexeddb') && !around.rawStep) return 'it needs IndexedDB';
  return null;
}

/** One pass on a fresh instance. @throws when it can't run here, or SQLite fails */
export async function sampleOf(run: Run, around: Surroundings): Promise<Sample> {
  const workload = workloadFor(run);
  if (run.config.engine === 'native') {
    if (!around.native) throw new Error('there is no native SQLite here');
    return around.native(run, workload);
  }
  await around.clean?.(run);
  const opened = (how: Run): Promise<OpenHost> =>
    openHost(around.engines, how.config, {
      metering: meteringOf(how),
      seed: how.seed,
      nodeCrypto: around.nodeCrypto,
      makeVfs: around.makeVfs,
      rawStep: around.rawStep,
      runActors: around.runActors,
      ...(how.database ? { database: how.database.file } : {}),
      pageCache: workload.watch.some((name) => name.startsWith('cache.')),
    });
  if (hasFaults(run.config)) {
    const why = whyNoFaults(run.config, !!workload.actors);
    if (why !== null || !around.faults) throw new Error(why ?? NO_FAULTS);
    const device = around.faults(run.config);
    return sampleUnderFaults(run, device, opened, (host, ended) =>
      sampleIn(host, workload, run, { ended, lift: () => device.lift() }),
    );
  }
  const open = await opened(run);
  let sample: Sample;
  try {
    sample = await sampleIn(open, workload, run);
  } catch (e) {
    const told =
      run.mode === 'count' && trapped(e) ? new Error(`${words(e)}. ${TRAPPED}`, { cause: e }) : e;
    // after a trap, closing usually fails: report the trap
    await open.close().catch((closing: unknown) => {
      throw new Error(`${words(told)} Closing the database failed as well: ${words(closing)}`, {
        cause: told,
      });
    });
    throw told;
  }
  await open.close();
  return sample;
}

/** Whether what a run with faults stored is undamaged, where its own worker couldn't check. */
export const storedWhole = (run: Run, around: Surroundings): Promise<Found> =>
  checkStored(run, (how) =>
    openHost(around.engines, how.config, {
      metering: 'none',
      seed: how.seed,
      makeVfs: around.makeVfs,
      pageCache: false,
    }),
  );

const meteringOf = ({ mode, functions, memory }: Run): Metering =>
  mode === 'time' ? 'none' : functions ? 'functions' : memory ? 'memory' : 'total';

/**
 * @param faults of a device with faults: a failure ends the workload, and later reads have no
 * faults
 */
async function sampleIn(
  { host, engine }: OpenHost,
  workload: Workload,
  run: Run,
  faults?: { ended: Ended; lift: () => void },
): Promise<Sample> {
  let failed = false;
  const ended: Ended = (...failure) => {
    failed = true;
    return faults!.ended(...failure);
  };
  const sample = await runWorkload(host, workload, run, faults && ended);
  faults?.lift();
  // the failed connection's state can't be trusted
  if (failed) return { ...sample, engine: engine() };
  const settings = { ...(await settingsOf(host)), ...sample.settings };
  const measured = { ...sample, settings, engine: engine() };
  if (run.readBack === false) return measured;
  try {
    return { ...measured, stored: await readBack(host, run.config.vfs !== 'memory') };
  } catch (e) {
    if (trapped(e)) throw e;
    return {
      ...measured,
      notes: [...sample.notes, `What was stored could not be read back: ${words(e)}`],
    };
  }
}

const words = (e: unknown): string => (e instanceof Error ? e.message : String(e));
const TRAPPED =
  'The engine trapped, so there is no count: functions on the stack had not reported theirs yet.';
/** Whether wasm itself ended the call. */
function trapped(error: unknown): boolean {
  for (let e = error; e instanceof Error; e = e.cause)
    if (e instanceof WebAssembly.RuntimeError) return true;
  return false;
}

/**
 * All runs, alternating pass by pass. A failed run has no more passes, and its result is its error.
 * The others continue.
 */
export async function measureEach(
  runs: readonly Run[],
  around: Surroundings,
): Promise<(RunResult | Error)[]> {
  const samples = runs.map((): Sample[] => []);
  const failed: (Error | undefined)[] = [];
  const most = Math.max(0, ...runs.map(passesOf));
  for (let pass = 0; pass < most; pass++)
    for (const [i, run] of runs.entries())
      if (pass < passesOf(run) && !failed[i] && !(await around.interrupted?.())) {
        around.progress?.(run, run.mode === 'time' ? pass - 1 : pass);
        try {
          samples[i]!.push(await sampleOf(passOf(run, pass), around));
        } catch (e) {
          failed[i] = e instanceof Error ? e : new Error(String(e));
        }
      }
  return runs.map(
    (run, i) =>
      failed[i] ??
      resultSoFar(run, samples[i]!, around.environment) ??
      new Error('interrupted before a pass was done'),
  );
}

/** The same, for runs that are useless without each other. @throws when a run fails */
export async function measure(runs: readonly Run[], around: Surroundings): Promise<RunResult[]> {
  return (await measureEach(runs, around)).map((done) => {
    if (done instanceof Error) throw done;
    return done;
  });
}
