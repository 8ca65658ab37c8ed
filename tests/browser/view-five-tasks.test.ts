// The five questions of five-tasks.ts on stored recordings: with lock waits between two tabs, a
// cache that is too small, known tables.
import { expect, it } from 'vitest';
import { topTables } from '../../src/analysis/answer/top-tables.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { missRatios } from '../../src/analysis/cache/miss-ratio.ts';
import { headline } from '../../src/analysis/answer/headline.ts';
import { answersFiveTasks } from './five-tasks.ts';
import { id, viewHarness } from './view-harness.ts';

const panel = viewHarness(['idb-two-tabs', 'cache-thrash', 'idb-batch-atomic']);
const answered = async (name: string): Promise<Facts> => {
  const store = await panel.open(name, 'answer');
  const press = async (what: string): Promise<void> => {
    await panel.waitFor(id(what));
    await panel.click(id(what));
  };
  await answersFiveTasks({ press, frame: panel.page.mainFrame() }, store);
  return new Facts(store);
};

it('are answered if two tabs wait for each other', async () => {
  const facts = await answered('idb-two-tabs');
  expect(facts.get(headline).times!.lockWaitUs).toBeGreaterThan(0);
});

it('are answered if a larger cache would help', async () => {
  const facts = await answered('cache-thrash');
  expect(facts.get(missRatios)[0]!.goal).not.toBeNull();
});

it('are answered if it is known which table a page belongs to', async () => {
  const facts = await answered('idb-batch-atomic');
  expect(facts.get(topTables).length).toBeGreaterThan(1);
});
