// Several connections at once, each in a separate worker: nothing is lost, waits are counted, and
// what can't be shared is reported.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { some } from '../full.ts';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { openLab } from '../../src/lab/drive/lab.ts';
import type { LabPage } from '../../src/lab/drive/lab-page.ts';
import { runOf } from '../../src/lab/experiments/plan.ts';
import type { Config, Run } from '../../src/lab/experiments/model/types.ts';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';
import { launch } from './extension-harness.ts';

let driven: DrivenBrowser;
let lab: LabPage;
beforeAll(async () => {
  driven = await launch();
  lab = await openLab(await driven.firstPage(), driven.extensionId);
});
afterAll(() => driven.close());

const contention = (config: Partial<Config>, parameters: Record<string, number>): Run =>
  runOf(workloadOf('contention'), { config, parameters }, { mode: 'count', repeats: 1 });

it.each(
  some(
    [
      'OPFSCoopSync',
      'IDBBatchAtomic',
      'OPFSAdaptive',
      'OPFSAnyContext',
      'OPFSPermuted',
      'OPFSWriteAhead',
      'IDBMirror',
    ] as const,
    2,
  ),
)('%s: two writers and a reader, no increment lost', async (vfs) => {
  const [outcome] = await lab.run(
    [contention({ vfs }, { writers: 2, readers: 1, iterations: 25 })],
    { patienceMs: 60_000 },
  );
  expect(outcome!.message).toBe('');
  const { steps, verdicts } = outcome!.result!;
  const { counters } = steps.find((s) => s.id === 'actors')!;
  expect(counters).toMatchObject({
    'rows.lost': 0,
    'writer.transactions': 50,
    'reader.transactions': 25,
  });
  expect(verdicts).toEqual([expect.objectContaining({ holds: true })]);
  // each of a writer's transactions took the lock at least once
  expect(counters['vfs.xLock']).toBeGreaterThanOrEqual(100);
  expect(counters['busy.retries']).toBe(counters['writer.retries']! + counters['reader.retries']!);
  expect(counters['writer-1.waitedFor.writer-2']! + counters['writer-2.waitedFor.writer-1']!).toBe(
    counters['writer.waited'],
  );
  expect(outcome!.left).toEqual([]);
  expect(await lab.storage()).toEqual([]);
});

it('a single writer never waits', async () => {
  const [outcome] = await lab.run([contention({}, { writers: 1, readers: 0, iterations: 25 })], {
    patienceMs: 60_000,
  });
  expect(outcome!.message).toBe('');
  const { counters } = outcome!.result!.steps[0]!;
  expect(counters).toMatchObject({
    'rows.lost': 0,
    'busy.retries': 0,
    'writer.waited': 0,
    'writer.transactions': 25,
  });
});

it("reports why something can't be shared", async () => {
  const each = { writers: 2, readers: 0, iterations: 2 };
  const runs = [
    contention({ vfs: 'AccessHandlePool' }, each),
    contention({ vfs: 'BlockIDB' }, each),
    contention({ lockingMode: 'exclusive' }, each),
  ];
  const messages = (await lab.run(runs, { patienceMs: 30_000 })).map(({ message }) => message);
  expect(messages[0]).toMatch(/AccessHandlePool cannot be shared: it holds the access handles/);
  expect(messages[1]).toMatch(/BlockIDB cannot be shared: it takes no locks/);
  expect(messages[2]).toMatch(/keeps every other connection out/);
});
