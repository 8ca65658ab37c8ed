/**
 * Real recordings of 100,000 events and more are as small as synthetic ones: bytes per event, by
 * the clock's step.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { recordAll } from '../traces/golden/record.ts';
import { LARGE, MOST_BYTES_AN_EVENT } from '../traces/golden/scenarios.ts';
import { EXTENSION } from './extension-harness.ts';
import { longTest } from './long-test.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'vfscope-size-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The IndexedDB one takes minutes. tools/bench/analysis-files.bench.ts checks all of them. */
const QUICK = LARGE.filter(({ name }) => name.endsWith('isolated') && !name.includes('IDB'));

longTest.each(QUICK)('$name', async (scenario) => {
  await recordAll({ scenarios: [scenario], extension: EXTENSION, folder, say: () => {} });
  const bytes = await readFile(path.join(folder, `${scenario.name}.vfst`));
  const { events, environment } = summaryOf((await readTrace(bytes)).store);
  expect([environment.clockStepUs, events > 100_000]).toEqual([5, true]);
  expect(bytes.length / events).toBeLessThan(MOST_BYTES_AN_EVENT[5]!);
});
