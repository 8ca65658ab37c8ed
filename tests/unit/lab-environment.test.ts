/**
 * The environment of a result: every fact has a value or the cause why not, facts that differ
 * between runs name the runs, and saved files have all.
 */
import { expect, it } from 'vitest';
import { environmentFacts, factText } from '../../src/lab/experiments/model/environment.ts';
import { resultOf } from '../../src/lab/experiments/model/aggregate.ts';
import type {
  EngineFacts,
  Environment,
} from '../../src/lab/experiments/model/environment-types.ts';
import type { RunResult } from '../../src/lab/experiments/model/result-types.ts';
import type { Config } from '../../src/lab/experiments/model/types.ts';
import { runOf } from '../../src/lab/experiments/plan.ts';
import { isRunResult } from '../../src/lab/experiments/saved-result.ts';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';
import { nodeEnvironment } from '../../src/lab/command/node-environment.ts';

const workload = workloadOf('sequential-write');
const ENGINE: EngineFacts = {
  package: '@journeyapps/wa-sqlite',
  version: '2.0.6',
  variant: 'sync',
  sqlite: '3.50.4',
  wasmBytes: 1_107_738,
};
const BROWSER: Environment = {
  runtime: 'Chrome 156',
  userAgent: 'Mozilla/5.0 ... Chrome/156.0.0.0',
  platform: 'Linux',
  cores: 2,
  processor: null,
  disk: null,
  clockStepUs: 5,
  crossOriginIsolated: true,
  jspi: true,
};
const result = (
  config: Partial<Config>,
  environment: Environment,
  engine?: EngineFacts,
): RunResult =>
  resultOf(
    runOf(workload, { config }, { mode: 'time', repeats: 2 }),
    workload,
    [1, 2].map((ms) => ({
      steps: [{ id: 'run', title: 'r', counters: { ms } }],
      ...{ digest: 'd/1', notes: [] },
      settings: { page_size: '4096', page_count: '77' },
      ...(engine ? { engine } : {}),
    })),
    environment,
  );
const texts = (...results: RunResult[]): Record<string, string[]> =>
  Object.fromEntries(
    environmentFacts(results.map((each, i) => ({ name: 'AB'[i]!, result: each }))).map(
      ({ label, values }) => [label, values.map(factText)],
    ),
  );

it('of a browser: everything that it reports, and why the rest is unknown', () => {
  expect(texts(result({ vfs: 'BlockIDB', blockSize: 8192 }, BROWSER, ENGINE))).toEqual({
    Workload: ['sequential-write (version 1), transactions 200, items 100'],
    VFS: ['BlockIDB (IndexedDB), 8 KiB blocks'],
    Pragmas: ['page_size 4096'],
    SQLite: ['3.50.4'],
    Build: ['@journeyapps/wa-sqlite 2.0.6, sync'],
    'Wasm size': ['1.06 MiB (1,107,738 bytes)'],
    Passes: ['2'],
    Runtime: ['Chrome 156'],
    Platform: ['Linux'],
    Processor: ["n/a (the browser doesn't report it)"],
    Cores: ['2'],
    Disk: ["n/a (the browser doesn't report it)"],
    'Clock step': ['5 µs'],
    Isolated: ['yes'],
  });
});

it('facts that differ name their runs, and shared facts appear once', () => {
  const facts = texts(
    result({ vfs: 'MemoryVFS' }, BROWSER, ENGINE),
    result({ vfs: 'AccessHandlePool' }, BROWSER, { ...ENGINE, sqlite: '3.44.0' }),
  );
  expect(facts['VFS']).toEqual(['MemoryVFS (in memory) (A)', 'AccessHandlePool (OPFS) (B)']);
  expect(facts['SQLite']).toEqual(['3.50.4 (A)', '3.44.0 (B)']);
  expect(facts['Pragmas']).toEqual(['page_size 4096']);
  expect(facts['Runtime']).toEqual(['Chrome 156']);
});

it('pragmas that differ are named separately', () => {
  const one = result({}, BROWSER, ENGINE);
  const other = { ...one, settings: { page_size: '4096', synchronous: 'off' } };
  const first = { ...one, settings: { page_size: '4096', synchronous: 'full' } };
  expect(texts(first, other)['Pragmas']).toEqual([
    'page_size 4096',
    'synchronous full (A)',
    'synchronous off (B)',
  ]);
});

it('a file that was saved without it says so, and is still readable', () => {
  const old = JSON.parse(JSON.stringify(result({}, { cores: 4 }))) as unknown;
  expect(isRunResult(old)).toBe(true);
  const facts = texts(old as RunResult);
  expect(facts['SQLite']).toEqual(['n/a (not saved with this result)']);
  expect(facts['Disk']).toEqual(['n/a (not saved with this result)']);
  expect(facts['Cores']).toEqual(['4']);
  const saved = JSON.parse(JSON.stringify(result({}, BROWSER, ENGINE))) as RunResult;
  expect(isRunResult(saved)).toBe(true);
  expect([saved.environment, saved.engine]).toEqual([BROWSER, ENGINE]);
  expect(isRunResult({ ...saved, environment: { cores: 'many' } })).toBe(false);
  expect(isRunResult({ ...saved, engine: { sqlite: 3 } })).toBe(false);
});

it('in Node the machine is also known', () => {
  const environment = nodeEnvironment();
  expect(environment.runtime).toContain(process.versions.node);
  expect(environment.cores).toBeGreaterThan(0);
  const facts = texts(result({}, environment, ENGINE));
  expect(facts['Isolated']).toEqual(['n/a (of browsers only)']);
  expect(facts['Disk']![0]).toMatch(
    /^(?:SSD, as Linux reports it|hard disk, as Linux reports it|n\/a \(the system doesn't report it\))$/,
  );
});
