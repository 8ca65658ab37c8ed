/**
 * A workload of the Lab with the Lab's own counter: the reference for the instructions of a live
 * app.
 */
import { nodeSurroundings } from '../../../src/lab/command/node.ts';
import type { Metering } from '../../../src/lab/experiments/engine/open-engine.ts';
import { openHost } from '../../../src/lab/experiments/engine/open-host.ts';
import { runWorkload } from '../../../src/lab/experiments/engine/run-workload.ts';
import { DEFAULT_CONFIG, type Config } from '../../../src/lab/experiments/model/types.ts';
import { workloadOf } from '../../../src/lab/experiments/workloads/index.ts';
import { seedRealm } from '../../../src/lab/meter/seeded-realm.ts';

const SEED = 12345;
const WORKLOAD = workloadOf('ac60');

/** The SQL of its setup and steps, in order. */
export const SCRIPTS: readonly string[] = [...WORKLOAD.setup({}), ...WORKLOAD.steps({})].map(
  (step) => {
    if (step.kind !== 'sql') throw new Error(`a step of ac60 is no SQL text: ${step.kind}`);
    return step.sql;
  },
);

/** On a fresh instance. @returns what was executed before its close, and in its steps; 0 where `metering` is none */
export async function inTheLab(
  config: Partial<Config>,
  metering: Metering,
): Promise<[atClose: number, inSteps: number]> {
  const full = { ...DEFAULT_CONFIG, ...config };
  const restore = seedRealm({ seed: SEED, clock: true });
  try {
    const { engines } = nodeSurroundings();
    const { host, close } = await openHost(engines, full, {
      ...{ metering, seed: SEED, pageCache: false },
    });
    const { steps } = await runWorkload(host, WORKLOAD, {
      ...{ parameters: {}, readRows: false, config: full },
    });
    const atClose = Number(host.instructions?.() ?? 0);
    await close();
    return [atClose, steps.reduce((sum, { counters }) => sum + (counters.instructions ?? 0), 0)];
  } finally {
    restore();
  }
}
