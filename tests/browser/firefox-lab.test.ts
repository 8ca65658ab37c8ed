// The Lab in Firefox: instructions and calls exactly match Node's.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchFirefox, type DrivenFirefox } from '../../src/drive/firefox.ts';
import { openFirefoxLab } from '../../src/lab/drive/firefox-lab.ts';
import type { LabPage } from '../../src/lab/drive/lab-page.ts';
import { Engines } from '../../src/lab/experiments/engine/open-engine.ts';
import { SQLITE_ORG } from '../../src/lab/experiments/model/engine-names.ts';
import { runOf } from '../../src/lab/experiments/plan.ts';
import { sampleOf } from '../../src/lab/experiments/run.ts';
import type { Config, Run } from '../../src/lab/experiments/model/types.ts';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';
import {
  IN_MEMORY,
  ON_MEMORY_VFS,
  ON_SQLITE_ORG,
  ON_SQLITE_ORG_ISOLATED,
  ON_STORAGE,
  ON_STORAGE_JSPI,
} from '../contract/lab-counts.ts';
import { FIREFOX_EXTENSION } from './firefox-harness.ts';

let driven: DrivenFirefox;
let lab: LabPage;
beforeAll(async () => {
  driven = await launchFirefox({ extension: FIREFOX_EXTENSION });
  lab = await openFirefoxLab(driven);
}, 90_000);
afterAll(() => driven.close());

const counted = (workload: string, config = {}, parameters = {}): ReturnType<typeof runOf> =>
  runOf(workloadOf(workload), { config, parameters }, { mode: 'count', repeats: 1 });

it('MemoryVFS: the golden counts', async () => {
  const require = createRequire(import.meta.url);
  const engines = new Engines((path) =>
    Promise.resolve(new Uint8Array(readFileSync(require.resolve(path)))),
  );
  const runs = [
    counted('ac60'),
    counted('mix'),
    counted('ac60', { vfs: 'MemoryVFS' }),
    counted('read-poll'),
  ];
  const outcomes = await lab.run(runs);
  expect(outcomes.map(({ message }) => message)).toEqual(['', '', '', '']);
  const steps = outcomes.map(({ result }) => result!.steps.map((s) => s.counters));
  expect([steps[0]![0]!['instructions'], steps[1]![0]!['instructions']]).toEqual([
    1_491_318, 75_164_869,
  ]);
  for (const [i, run] of runs.entries())
    expect(steps[i]).toEqual(
      (await sampleOf(run, { engines, environment: {} })).steps.map((s) => s.counters),
    );
  expect(await lab.storage()).toEqual([]);
}, 90_000);

it('every text on :memory:, and VFSs in memory and on storage, exactly', async () => {
  const jspi = (await driven.chrome.inView('tab', `return 'Suspending' in WebAssembly;`)) === true;
  const onVfs = [...ON_MEMORY_VFS, ...ON_STORAGE, ...(jspi ? ON_STORAGE_JSPI : [])];
  const texts = Object.entries(IN_MEMORY);
  const unread = (workload: string, config: Partial<Config>): Run => ({
    ...counted(workload, config),
    readRows: false,
  });
  const outcomes = await lab.run([
    ...texts.map(([id]) => counted(id)),
    ...onVfs.flatMap(([config]) => [unread('ac60', config), unread('mix', config)]),
  ]);
  expect(outcomes.map(({ message }) => message).filter(Boolean)).toEqual([]);
  expect(outcomes.map(({ result }) => result!.totals['instructions'])).toEqual([
    ...texts.map(([, [current]]) => current),
    ...onVfs.flatMap(([, ...counts]) => counts),
  ]);
}, 240_000);

it("sqlite.org's build and its VFSs: Node's counts, and why those that need shared memory can't run", async () => {
  const all = [...ON_SQLITE_ORG, ...ON_SQLITE_ORG_ISOLATED];
  const outcomes = await lab.run(all.map(([vfs]) => counted('ac60', { engine: SQLITE_ORG, vfs })));
  expect(outcomes.flatMap(({ result }) => result?.totals['instructions'] ?? [])).toEqual(
    ON_SQLITE_ORG.map(([, ac60]) => ac60),
  );
  for (const { message } of outcomes.slice(ON_SQLITE_ORG.length))
    expect(message).toMatch(
      /^opfs(?:-wl)? could not be installed\. It needs SharedArrayBuffer, which this browser gives to cross-origin isolated pages alone\.$/,
    );
  expect(await lab.storage()).toEqual([]);
}, 90_000);

it("the browser's storage: IndexedDB, OPFS, and actors in workers", async () => {
  const two = { writers: 2, readers: 0, iterations: 10 };
  const runs = [
    counted('sequential-write', { vfs: 'AccessHandlePool' }, { transactions: 5, items: 5 }),
    counted('sequential-write', { vfs: 'IDBBatchAtomic' }, { transactions: 5, items: 5 }),
    counted('contention', {}, two),
  ];
  const outcomes = await lab.run(runs, { patienceMs: 60_000 });
  expect(outcomes.map(({ message }) => message)).toEqual(['', '', '']);
  expect(outcomes[0]!.result!.totals['opfs.writes']).toBeGreaterThan(5);
  expect(outcomes[1]!.result!.totals['idb.put']).toBeGreaterThan(5);
  expect(outcomes[2]!.result!.steps[0]!.counters).toMatchObject({
    'rows.lost': 0,
    'writer.transactions': 20,
  });
  expect(await lab.storage()).toEqual([]);
}, 90_000);

it("the Lab's page by its own controls: a run, its counts, and its trace in the viewer", async () => {
  /** Resolves when it is truthy in the Lab's page. */
  const until = async (expression: string): Promise<unknown> => {
    const found = await driven.chrome.inView(
      'tab',
      `for (const end = Date.now() + 45000; ; await new Promise((done) => setTimeout(done, 50))) {
         const found = (${expression});
         if (found || Date.now() > end) return found;
       }`,
    );
    if (!found)
      throw new Error(
        `the Lab didn't reach this state: ${expression}. It shows: ${String(await driven.chrome.inView('tab', 'return document.body.innerText'))}`,
      );
    return found;
  };
  const press = (id: string): Promise<unknown> =>
    until(
      `((e) => e && (e.click(), true))(document.querySelector('[data-testid="${id}"]:not(:disabled)'))`,
    );
  await press('offer-own-sql');
  await press('knob-vfs-BlockIDB');
  await press('lab-run');
  await until(`document.querySelector('[data-testid="open-trace"]:not(:disabled)') !== null`);
  const puts = `[...document.querySelectorAll('[data-testid="results"] tbody tr')]
    .filter((row) => row.querySelector('th').textContent === 'block.put').map((row) => Number(row.querySelector('.number').textContent.replace(/,/g, '')))[0]`;
  expect(await until(puts)).toBeGreaterThan(0);
  await press('open-trace');
  await until(
    `Number(document.querySelector('[data-testid="live-events"]')?.textContent?.replace(/\\D/g, '') ?? 0) > 100`,
  );
  await press('lab-back');
  await until(`document.querySelector('[data-testid="lab-trace"]') === null`);
  expect(await lab.storage()).toEqual([]);
}, 120_000);
