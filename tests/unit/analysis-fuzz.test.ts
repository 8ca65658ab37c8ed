// Analyses on stores that no recording would produce: 125 here, 500 in the long run, 10,000 with
// `npm run fuzz`. Also damaged files, read the way users' files are.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TraceFileError } from '../../src/trace/file/format.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import { sanitizeStore } from '../../src/analysis/privacy/sanitize.ts';
import { RULES } from '../../src/analysis/findings/index.ts';
import { part } from '../full.ts';
import { ANALYSES, runAll } from '../fuzz/analyses.ts';
import { runEverything } from '../fuzz/everything.ts';
import { forgedStore } from '../fuzz/messages.ts';
import { semantically } from '../fuzz/semantic.ts';
import { contentOf, mutated, readMutated, type Outcome } from '../fuzz/files.ts';
import { randomStore } from '../fuzz/stores.ts';
import { diffOf } from '../traces/analyses.ts';

const FOLDER = join(import.meta.dirname, '../../src/analysis');

test('every fact of every analysis is listed', () => {
  const declared = readdirSync(FOLDER, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.ts') && name !== 'graph.ts')
    .flatMap((name) => [
      ...readFileSync(join(FOLDER, name), 'utf8').matchAll(/\b(?:fact|threadFact)\(\s*'(\w+)'/g),
    ])
    .map(([, name]) => name!);
  const names = ANALYSES.map(({ name }) => name);
  expect(declared.length).toBeGreaterThan(50);
  expect(names).toEqual(expect.arrayContaining(declared));
  expect(names).toEqual(expect.arrayContaining(RULES.map(({ id }) => `finding ${id}`)));
});

test('no random store makes an analysis throw', () => {
  let [events, last] = [0, randomStore(0)];
  for (let seed = 1; seed <= part(500); seed++) {
    const store = randomStore(seed);
    runAll(ANALYSES, store, seed);
    diffOf(last, store);
    if (seed % 10 === 0) runAll(ANALYSES, sanitizeStore(store), seed);
    events += store.eventCount;
    last = store;
  }
  expect(events).toBeGreaterThan(part(20_000));
}, 120_000);

test('files whose meaning was changed, and forged messages, make nothing throw', async () => {
  const originals = [
    readFileSync('tests/traces/v1-sample.vfst'),
    new Uint8Array(await (await saveTrace(randomStore(3))).arrayBuffer()),
  ];
  const other = randomStore(5);
  let read = 0;
  for (let seed = 0; seed < part(60); seed++) {
    const store = await readTrace(semantically(originals[seed % 2]!, seed)).then(
      (result) => result.store,
      (e: unknown) => {
        if (e instanceof TraceFileError) return null;
        throw e;
      },
    );
    if (!store) continue;
    read++;
    await runEverything(store, other, { seed, analyses: [], sqlite: seed % 10 === 0 });
  }
  expect(read).toBeGreaterThan(part(40));
  let events = 0;
  for (let seed = 0; seed < part(60); seed++) {
    const store = forgedStore(seed);
    await runEverything(store, other, { seed, analyses: [], sqlite: false });
    events += store.eventCount;
  }
  expect(events).toBeGreaterThan(part(50));
}, 60_000);

test('an analysis that throws is named with its seed', () => {
  const broken = { name: 'brokenOf', run: () => (null as unknown as { at: 1 }).at };
  expect(() => runAll([broken], randomStore(7), 7)).toThrow(
    /^brokenOf on the store of seed 7: Cannot read properties/,
  );
});

test('a mutated file gives the whole trace, a part marked as such, or an error that names its cause', async () => {
  const original = readFileSync('tests/traces/v1-sample.vfst');
  const whole = contentOf((await readTrace(original)).store);
  const outcomes: Record<Outcome, number> = { whole: 0, partial: 0, refused: 0 };
  for (let seed = 0; seed < part(2000); seed++) {
    try {
      outcomes[await readMutated(mutated(original, seed), whole)]++;
    } catch (e) {
      throw new Error(`file of seed ${seed}: ${e instanceof Error ? e.message : String(e)}`, {
        cause: e,
      });
    }
  }
  expect(outcomes.partial).toBeGreaterThan(part(1000));
  expect(outcomes.refused).toBeGreaterThan(part(100));
}, 60_000);
