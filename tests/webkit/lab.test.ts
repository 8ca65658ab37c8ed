/**
 * The Lab's page of Safari's build in WebKit: the golden counts, each the minimum of three passes,
 * because JavaScriptCore counts too many in about one run of seventy. Storage, and stored data
 * compared with the engine in memory.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LabDoor } from '../../src/lab/experiments/door.ts';
import { runOf } from '../../src/lab/experiments/plan.ts';
import { storedVerdicts } from '../../src/lab/experiments/storage-verdicts.ts';
import type { Config, Run } from '../../src/lab/experiments/model/types.ts';
import { countPasses } from '../../src/lab/experiments/worker/builds-here.ts';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';
import { IN_MEMORY, ON_MEMORY_VFS, ON_STORAGE } from '../contract/lab-counts.ts';
import { launchWebKit, type DrivenWebKit } from './minibrowser.ts';
import { openLabPage, servePanelBuild } from './panel-page.ts';

let driven: DrivenWebKit;
let server: Awaited<ReturnType<typeof servePanelBuild>>;
let passes: number;
beforeAll(async () => {
  [server, driven] = await Promise.all([servePanelBuild(), launchWebKit()]);
  await openLabPage(driven.page, server.url);
  passes = countPasses(await driven.page.evaluate(() => navigator.vendor));
});
afterAll(async () => {
  await driven?.close();
  await server?.close();
});

type Outcome = Awaited<ReturnType<LabDoor['run']>>[number];
const MINUTE = 60_000;

/** All runs by the page's own queue, which is polled because no single call may wait long. */
async function ran(runs: Run[]): Promise<Outcome[]> {
  await driven.page.evaluate((given: Run[]) => {
    const place = window as unknown as { labDone: Outcome[] | null };
    place.labDone = null;
    void globalThis.vfscopeLab!.run(given).then((done) => (place.labDone = done));
  }, runs);
  await driven.page.waitForFunction(
    () => (window as unknown as { labDone: unknown }).labDone !== null,
    { timeout: 4 * MINUTE },
  );
  return driven.page.evaluate(() => (window as unknown as { labDone: Outcome[] }).labDone);
}
const counted = (workload: string, config: Partial<Config> = {}, readRows = true): Run => ({
  ...runOf(workloadOf(workload), { config }, { mode: 'count', repeats: 1 }),
  ...{ repeats: passes, readRows },
});

test('a counted run is three passes here', () => expect(passes).toBe(3));

describe('instructions, the minimum of three', () => {
  test(
    'on :memory:',
    async () => {
      const outcomes = await ran(Object.keys(IN_MEMORY).map((workload) => counted(workload)));
      expect(outcomes.map(({ message }) => message).filter(Boolean)).toEqual([]);
      const counts = outcomes.map(({ result }) => [
        result!.run.workload,
        result!.totals['instructions'],
      ]);
      expect(counts).toEqual(
        Object.entries(IN_MEMORY).map(([workload, [current]]) => [workload, current]),
      );
    },
    5 * MINUTE,
  );
  test('the older build, and on VFSs', async () => {
    const vfs = [
      ...ON_MEMORY_VFS,
      ...ON_STORAGE.filter(([config]) => config.vfs !== 'AccessHandlePool'),
    ]; // WebKitGTK's workers have no access handles
    const outcomes = await ran([
      counted('ac60', { engine: 'wa-sqlite-1.0.0' }),
      ...vfs.map(([config]) => counted('ac60', config, false)),
    ]);
    expect(outcomes.map(({ message }) => message).filter(Boolean)).toEqual([]);
    expect(outcomes.map(({ result }) => result!.totals['instructions'])).toEqual([
      IN_MEMORY['ac60']![1],
      ...vfs.map(([, ac60]) => ac60),
    ]);
    expect(outcomes.flatMap(({ left }) => left)).toEqual([]);
    const stored = storedVerdicts(
      outcomes.map(({ result }, i) => ({ name: `${i}`, result: result! })),
    );
    expect(stored.map(({ holds }) => holds)).toEqual([true]);
  });
});
