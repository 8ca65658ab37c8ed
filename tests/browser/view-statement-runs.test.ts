// The details of a statement: durations of its runs, why the slowest took longer, and which tables
// it touched.
import { describe, expect, it } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { statementTableIn } from '../../src/analysis/statements/statement-table.ts';
import { slowRuns } from '../../src/analysis/statements/slow-runs.ts';
import { statementKey } from '../../src/viewer/ui/row-keys.ts';
import { causeText, differenceText } from '../../src/viewer/ui/views/statements/run-words.ts';
import { statementTable } from '../traces/analyses.ts';
import { id, viewHarness } from './view-harness.ts';

const viewer = viewHarness(['checkpoint-storm', 'idb-batch-atomic']);
const { open, waitFor, click } = viewer;

async function openStatement(trace: string, part: string) {
  const store = await open(trace, 'statements', 1400);
  await waitFor(id('statements-row'));
  const row = statementTable(store)!.rows.find(({ text }) => text?.startsWith(part))!;
  await click(`${id('statements-row')}[data-key="0${row.text}"]`);
  await waitFor(id('run-histogram'));
  return { row, facts: new Facts(store) };
}
const textsOf = (selector: string): Promise<string[]> =>
  viewer.page.$$eval(selector, (all) => all.map((e) => e.textContent.replace(/\s+/g, ' ').trim()));

describe('runs of a statement', () => {
  it('are compared with the median run', async () => {
    const { row, facts } = await openStatement('checkpoint-storm', 'update t');
    await waitFor(`${id('slow-runs')} li`);
    const slow = slowRuns(facts, row.text);
    expect(slow.median!.us).toBe(row.p50Us);
    const lines = await textsOf(`${id('slow-runs')} li`);
    expect(lines).toHaveLength(slow.runs.length);
    slow.runs.forEach((run, i) => {
      expect(lines[i]).toContain(differenceText(run));
      for (const cause of run.causes) expect(lines[i]).toContain(causeText(cause));
      if (!run.causes.length) expect(lines[i]).toContain('No cause found');
    });
  });

  it('are those of the visible range, and labeled so', async () => {
    const facts = new Facts(viewer.store('checkpoint-storm'));
    const row = statementTable(facts.store)!.rows.find(({ text }) => text?.startsWith('update t'))!;
    const [from, to] = facts.store.extent();
    const part = [0.5, 0.6, 0.7, 0.8, 0.9]
      .map((share) => {
        const range = { fromUs: Math.round(from + (to - from) * share), toUs: Math.ceil(to) };
        const own = statementTableIn(facts, range)!.rows.find(({ text }) => text === row.text);
        return { ...range, runs: own ? own.executions - own.running : 0 };
      })
      .find(({ runs }) => runs > 0 && runs < row.executions);
    expect(part).toBeDefined();
    await viewer.page.setViewport({ width: 1400, height: 700 });
    await viewer.load(
      'checkpoint-storm',
      `#tab=statements&from=${part!.fromUs}&to=${part!.toUs}&filter.range=1&statements.chosen=${encodeURIComponent(statementKey(row))}`,
    );
    await waitFor(id('runs-filter'));
    await viewer.page.waitForFunction(
      (s: string, runs: number) =>
        [...document.querySelectorAll(s)].reduce(
          (n, bar) => n + Number(/: (\d+) runs?$/.exec(bar.getAttribute('aria-label')!)![1]),
          0,
        ) === runs,
      {},
      id('run-bucket'),
      part!.runs,
    );
    expect((await textsOf(id('runs-filter')))[0]).toMatch(/^· only .* – /);
  });

  it('are selected by a bar of the histogram', async () => {
    const { row } = await openStatement('checkpoint-storm', 'update t');
    const counts = await viewer.page.$$eval(id('run-bucket'), (bars) =>
      bars.map((bar) => Number(/: (\d+) runs?$/.exec(bar.getAttribute('aria-label')!)![1])),
    );
    expect(counts.reduce((a, b) => a + b, 0)).toBe(row.executions - row.running);
    const last = counts.length - 1;
    expect(counts[last]).toBeGreaterThan(0);
    await click(`${id('run-bucket')}[data-bucket="${last}"]`);
    await viewer.page.waitForFunction(
      (s: string, n: number) => document.querySelectorAll(s).length === n,
      {},
      `${id('slow-runs')} li`,
      counts[last]!,
    );
    expect(await textsOf(id('bucket-runs'))).toEqual([
      `· ${counts[last]} run${counts[last] === 1 ? '' : 's'} chosen`,
    ]);
    await viewer.page.focus(`${id('run-bucket')}[data-bucket="${last}"]`);
    await viewer.page.keyboard.press('Escape');
    await viewer.page.waitForFunction(
      (s: string) => document.querySelector(s) === null,
      {},
      id('bucket-runs'),
    );
  });
});

describe('tables of a statement', () => {
  it('link to the table, and the table links to its statements', async () => {
    await openStatement('idb-batch-atomic', 'insert into t');
    await waitFor(`${id('statement-trees')} li`);
    const [first] = await textsOf(`${id('statement-trees')} button`);
    await click(`${id('statement-trees')} button`);
    await waitFor(`${id('tab-files')}[aria-selected=true]`);
    await waitFor(id('tree-use-title'));
    expect((await textsOf(id('tree-use-title')))[0]).toContain(`touched ${first}`);
    const statements = await textsOf(id('tree-statement'));
    expect(statements.some((text) => text.startsWith('INSERT INTO t'))).toBe(true);
    await click(id('tree-statement'));
    await waitFor(`${id('tab-statements')}[aria-selected=true]`);
    await waitFor(id('statement-details'));
    expect(await textsOf(id('statement-text'))).toEqual([statements[0]]);
  });
});
