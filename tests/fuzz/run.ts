// `npm run fuzz`: 10,000 random stores through every analysis, 100,000 damaged files through the reader; bounded in time and memory.
// Built and started by tools/fuzz.mjs, which adds the analyses' modules.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { diffOf } from '../../src/trace/analysis/diff.ts';
import { sanitizeStore } from '../../src/trace/analysis/sanitize.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import { syntheticStore } from '../traces/synthetic.ts';
import { analysesOf, runAll } from './analyses.ts';
import { contentOf, mutated, readMutated, type Outcome } from './files.ts';
import { randomStore } from './stores.ts';

/** A damaged file of a few kilobytes must not take longer than this, nor the process grow beyond that. */
const MAX_MS = 2000;
const MAX_RSS_MB = 1024;
/** No forged length makes one slow (MOST_SPAN in accesses.ts); the rest is room for a busy machine. */
const MAX_ANALYSIS_MS = 5000;

const { values } = parseArgs({ options: { stores: { type: 'string' }, files: { type: 'string' }, from: { type: 'string' } } });
const [stores, files, from] = [Number(values.stores ?? 10_000), Number(values.files ?? 100_000), Number(values.from ?? 1)];

const megabytes = (): number => process.resourceUsage().maxRSS / 1024;
const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(0)} s`;

/** Run by tools/fuzz.mjs. */
export async function fuzz(modules: Record<string, Record<string, unknown>>): Promise<void> {
  let start = performance.now();
  const times = new Map<string, number>();
  const analyses = analysesOf(modules).map((a) => ({
    name: a.name,
    run(store: Parameters<typeof a.run>[0]): void {
      const t = performance.now();
      a.run(store);
      const ms = performance.now() - t;
      times.set(a.name, (times.get(a.name) ?? 0) + ms);
      if (ms > MAX_ANALYSIS_MS) throw new Error(`it took ${ms.toFixed(0)} ms`);
    },
  }));
  let [events, last] = [0, randomStore(0)];
  for (let seed = from; seed < from + stores; seed++) {
    const store = randomStore(seed, seed % 50 ? 120 : 1500);
    runAll(analyses, store, seed);
    runAll([{ name: 'diff.diffOf', run: () => void diffOf(last, store) }], store, seed);
    if (seed % 10 === 0) runAll(analyses, sanitizeStore(store), seed);
    events += store.eventCount;
    last = store;
    if (seed % 1000 === 0) console.error(`${seed - from} stores, ${seconds(start)}`);
  }
  if (megabytes() > MAX_RSS_MB) throw new Error(`${megabytes().toFixed(0)} MB after the stores`);
  console.log(`${stores} stores (${events} events) through ${analyses.length} analyses: none threw, ${seconds(start)}`);
  const slowest = [...times].sort((a, b) => b[1] - a[1]).slice(0, 5);
  if (stores) console.log(`most time: ${slowest.map(([name, ms]) => `${name} ${(ms / stores).toFixed(2)} ms`).join(', ')} a store`);

  start = performance.now();
  const originals = [readFileSync('tests/traces/v1-sample.vfst'), await bytesOf(syntheticStore({ events: 400, threads: 3 }))];
  const wholes = await Promise.all(originals.map(async (bytes) => contentOf((await readTrace(bytes)).store)));
  const outcomes: Record<Outcome, number> = { whole: 0, partial: 0, refused: 0 };
  let slowestMs = 0;
  for (let seed = from; seed < from + files; seed++) {
    const which = seed % 4 === 0 ? 1 : 0;
    const file = mutated(originals[which]!, seed);
    const t = performance.now();
    try {
      outcomes[await readMutated(file, wholes[which]!)]++;
    } catch (e) {
      throw new Error(`file of seed ${seed}: ${e instanceof Error ? e.message : String(e)}`, { cause: e });
    }
    const ms = performance.now() - t;
    slowestMs = Math.max(slowestMs, ms);
    if (ms > MAX_MS) throw new Error(`file of seed ${seed} took ${ms.toFixed(0)} ms`);
    if (seed % 1000 === 0 && megabytes() > MAX_RSS_MB) throw new Error(`${megabytes().toFixed(0)} MB at the file of seed ${seed}`);
  }
  const { whole, partial, refused } = outcomes;
  console.log(
    `${files} damaged files: ${whole} whole, ${partial} in part with a warning, ${refused} refused by name; slowest ${slowestMs.toFixed(0)} ms, ` +
      `at most ${megabytes().toFixed(0)} MB, ${seconds(start)}`,
  );
}

async function bytesOf(store: ReturnType<typeof syntheticStore>): Promise<Uint8Array> {
  return new Uint8Array(await (await saveTrace(store, { savedAt: 0 })).arrayBuffer());
}
