/**
 * Experiments that findings suggest: every name leads to an experiment, whose expectations hold in
 * Node if it can run there.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodeSurroundings } from '../../src/lab/command/node.ts';
import { PATTERNS } from '../../src/lab/experiments/documents/patterns.ts';
import { onVfs } from '../../src/lab/experiments/on-vfs.ts';
import { runExperiment } from '../../src/lab/experiments/run-experiment.ts';
import { ALL_EXPERIMENTS, experimentFor } from '../../src/lab/experiments/documents/tries.ts';
import { WORKLOADS } from '../../src/lab/experiments/workloads/index.ts';
import { PATTERNS_OF_BROWSERS } from './lab-counts.ts';

const FINDINGS = join(import.meta.dirname, '..', '..', 'src', 'analysis');
const keys = [
  ...new Set(
    readdirSync(FINDINGS, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) =>
        [...readFileSync(join(FINDINGS, file), 'utf8').matchAll(/tryInLab: '([^']+)'/g)].map(
          ([, key]) => key!,
        ),
      ),
  ),
];

it('every name that a finding gives is an experiment with at least two variants', () => {
  expect(keys.length).toBeGreaterThanOrEqual(13);
  expect(keys.filter((key) => (experimentFor(key)?.variants.length ?? 0) < 2)).toEqual([]);
  expect(experimentFor('no such thing')).toBeUndefined();
  // one of the findings' own patterns that no finding names would never be found
  expect(PATTERNS.filter(({ id }) => !keys.some((key) => experimentFor(key)?.id === id))).toEqual(
    [],
  );
});

it('no experiment has the name of a workload, because the command line accepts both', () => {
  const ids = [...ALL_EXPERIMENTS, ...WORKLOADS].map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

describe('both ways, in Node', () => {
  const around = nodeSurroundings();
  const inNode = PATTERNS.filter(({ id }) => !PATTERNS_OF_BROWSERS.includes(id));
  it.each(inNode.map((e) => [e.id, e] as const))('%s', async (_, experiment) => {
    const { verdicts, results } = await runExperiment(
      onVfs(experiment, [], 'node'),
      {},
      { mode: 'count', repeats: 1 },
      around,
    );
    expect(verdicts.filter((v) => v.holds === false)).toEqual([]);
    expect(verdicts.filter((v) => v.holds).length).toBeGreaterThanOrEqual(2);
    expect(Object.keys(results).length).toBeGreaterThanOrEqual(2);
  });
});
