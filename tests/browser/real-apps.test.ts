/**
 * PowerSync and a bundle by Vite recorded in Chromium, compared with Chromium's own tracing of the
 * same run. The long tests also include Actual Budget. The other apps, and Firefox:
 * tests/long/real-apps.test.ts.
 */
import { expect, test } from 'vitest';
import { topTables } from '../../src/analysis/answer/top-tables.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { realApp } from '../oracle/real-apps.ts';
import { answersFiveTasks } from './five-tasks.ts';
import { longTest } from './long-test.ts';
import { recordTraced, storedBy } from './record-real.ts';

longTest(
  'Actual Budget, from its demo to its reports: each storage call as Chromium traced it, and five questions answered in two steps each',
  async () => {
    const store = await recordTraced(realApp('actual'), answersFiveTasks);
    expect(new Facts(store).get(topTables).length).toBeGreaterThan(0);
    const { engines, files, web } = summaryOf(store);
    // one in each load of the page
    expect(engines.map(({ name, sqliteVersion }) => [name, sqliteVersion])).toEqual([
      ['absurd-sql', '3.35.0'],
      ['absurd-sql', '3.35.0'],
    ]);
    expect(files.filter(({ kind }) => kind === 'main-db')).toHaveLength(1);
    expect(web.idb.put).toBeGreaterThan(500);
  },
);

test('an unmodified PowerSync in two tabs: each storage call of its SharedWorker as Chromium traced it', async () => {
  const { engines, threads, web } = summaryOf(await recordTraced(realApp('powersync')));
  expect(engines.map(({ name, sqliteVersion }) => [name, sqliteVersion])).toEqual([
    ['@journeyapps/wa-sqlite', '3.53.0'],
  ]);
  expect(threads.filter(({ kind }) => kind === 'shared-worker')).toHaveLength(1);
  expect(web.idb.put).toBeGreaterThan(100);
});

test('a bundle by Vite, whose worker and wasm are texts in its script: each storage call as Chromium traced it', async () => {
  const { engines, threads } = summaryOf(await recordTraced(realApp('vite')));
  // its worker, and the worker of the reopened page
  expect(threads.filter(({ kind }) => kind === 'worker')).toHaveLength(2);
  const engine = ['@journeyapps/wa-sqlite', ['groceries']];
  const layers = { web: true, vfs: true, sql: true, counters: true, query: true };
  expect(engines.map(({ name, vfs, layers }) => [name, vfs, layers])).toEqual([
    [...engine, layers],
    [...engine, layers],
  ]);
});

longTest('PowerSync stores the same bytes, recorded or not', async () => {
  const alone = await storedBy(realApp('powersync'), false);
  expect(alone).toMatchObject({ idb: { 'todos.db/blocks': expect.any(String) } });
  expect(await storedBy(realApp('powersync'), true)).toEqual(alone);
});
