// `npm run fuzz`: ten minutes of random stores, damaged files, files with changed contents, and
// forged messages, through everything that processes traces; bounded in time and memory.
// Built and started by tools/check/fuzz.mjs.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { sanitizeStore } from '../../src/analysis/privacy/sanitize.ts';
import { TraceFileError } from '../../src/trace/file/format.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { hostileStore } from '../traces/hostile.ts';
import { syntheticStore } from '../traces/synthetic.ts';
import { ANALYSES, runAll, type Analysis } from './analyses.ts';
import { runEverything } from './everything.ts';
import { contentOf, mutated, readMutated, type Outcome } from './files.ts';
import { forgedStore } from './messages.ts';
import { semantically } from './semantic.ts';
import { randomStore } from './stores.ts';
import { diffOf } from '../traces/analyses.ts';

/** Limits for a damaged file of a few kilobytes: its time, and the growth of the process. */
const MAX_MS = 2000;
const MAX_RSS_MB = 1024;
/**
 * Forged lengths don't make any file slow (MOST_SPAN in pages-touched.ts); the rest is tolerance
 * for a busy machine.
 */
const MAX_ANALYSIS_MS = 5000;

const option = { type: 'string' } as const;
const { values } = parseArgs({
  options: { minutes: option, stores: option, files: option, from: option },
});
const minutes = Number(values.minutes ?? 10);
/** Maximum seeds of each kind: given seeds run regardless of time. */
const [stores, files] = [Number(values.stores ?? Infinity), Number(values.files ?? Infinity)];
const from = Number(values.from ?? Date.now() % 1e9);
/**
 * Shares of the time: random stores, damaged files, files with changed contents, forged messages.
 */
const SHARES = { stores: 0.25, files: 0.2, semantic: 0.4, messages: 0.15 };
const endOf = (share: number): number => performance.now() + share * minutes * 60_000;

const megabytes = (): number => process.resourceUsage().maxRSS / 1024;
/** CPU time of this process, milliseconds, which doesn't depend on other load. */
const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(0)} s`;

/** Run by tools/check/fuzz.mjs. */
export async function fuzz(): Promise<void> {
  console.log(`seeds from ${from}: npm run fuzz -- --from ${from} repeats them`);
  let start = performance.now();
  let end = endOf(SHARES.stores);
  const times = new Map<string, number>();
  const analyses = ANALYSES.map((a): Analysis => ({
    name: a.name,
    run(facts) {
      const t = cpuMs();
      a.run(facts);
      const ms = cpuMs() - t;
      times.set(a.name, (times.get(a.name) ?? 0) + ms);
      if (ms > MAX_ANALYSIS_MS) throw new Error(`it took ${ms.toFixed(0)} ms`);
    },
  }));
  let [events, last] = [0, randomStore(0)];
  let ran = 0;
  for (
    let seed = from;
    seed < from + stores && (values.stores !== undefined || performance.now() < end);
    seed++, ran++
  ) {
    const store = randomStore(seed, seed % 50 ? 120 : 1500);
    runAll(analyses, store, seed);
    runAll([{ name: 'diff.diffOf', run: () => void diffOf(last, store) }], store, seed);
    if (seed % 10 === 0) runAll(analyses, sanitizeStore(store), seed);
    events += store.eventCount;
    last = store;
    if (seed % 1000 === 0) console.error(`${seed - from} stores, ${seconds(start)}`);
  }
  if (megabytes() > MAX_RSS_MB) throw new Error(`${megabytes().toFixed(0)} MB after the stores`);
  console.log(
    `${ran} stores (${events} events) through ${analyses.length} analyses: none threw, ${seconds(start)}`,
  );
  const slowest = [...times].sort((a, b) => b[1] - a[1]).slice(0, 5);
  if (ran)
    console.log(
      `most time: ${slowest.map(([name, ms]) => `${name} ${(ms / ran).toFixed(2)} ms`).join(', ')} a store`,
    );

  start = performance.now();
  end = endOf(SHARES.files);
  ran = 0;
  const originals = [
    readFileSync('tests/traces/v1-sample.vfst'),
    await bytesOf(syntheticStore({ events: 400, threads: 3 })),
  ];
  const wholes = await Promise.all(
    originals.map(async (bytes) => contentOf((await readTrace(bytes)).store)),
  );
  const outcomes: Record<Outcome, number> = { whole: 0, partial: 0, refused: 0 };
  let slowestMs = 0;
  for (
    let seed = from;
    seed < from + files && (values.files !== undefined || performance.now() < end);
    seed++, ran++
  ) {
    const which = seed % 4 === 0 ? 1 : 0;
    const file = mutated(originals[which]!, seed);
    const t = cpuMs();
    try {
      outcomes[await readMutated(file, wholes[which]!)]++;
    } catch (e) {
      throw new Error(`file of seed ${seed}: ${e instanceof Error ? e.message : String(e)}`, {
        cause: e,
      });
    }
    const ms = cpuMs() - t;
    slowestMs = Math.max(slowestMs, ms);
    if (ms > MAX_MS) throw new Error(`file of seed ${seed} took ${ms.toFixed(0)} ms`);
    if (seed % 1000 === 0 && megabytes() > MAX_RSS_MB)
      throw new Error(`${megabytes().toFixed(0)} MB at the file of seed ${seed}`);
  }
  const { whole, partial, refused } = outcomes;
  console.log(
    `${ran} damaged files: ${whole} whole, ${partial} in part with a warning, ${refused} refused by name; slowest ${slowestMs.toFixed(0)} ms, ` +
      `at most ${megabytes().toFixed(0)} MB, ${seconds(start)}`,
  );
  if (values.stores !== undefined || values.files !== undefined) return;
  await fuzzSemantic(analyses, last);
  await fuzzMessages(analyses, last);
}

/** Files with valid checksums and invalid numbers and JSON. */
async function fuzzSemantic(analyses: readonly Analysis[], other: TraceStore): Promise<void> {
  const start = performance.now();
  const end = endOf(SHARES.semantic);
  const originals = [
    readFileSync('tests/traces/v1-sample.vfst'),
    await bytesOf(syntheticStore({ events: 400, threads: 3 })),
    await bytesOf(hostileStore()),
  ];
  let [ran, refused, events] = [0, 0, 0];
  for (let seed = from; performance.now() < end; seed++, ran++) {
    const file = semantically(originals[seed % originals.length]!, seed);
    const t = cpuMs();
    try {
      const { store } = await readTrace(file);
      await runEverything(store, other, { seed, analyses, sqlite: seed % 10 === 0 });
      events += store.eventCount;
    } catch (e) {
      if (!(e instanceof TraceFileError))
        throw new Error(
          `changed file of seed ${seed}: ${e instanceof Error ? e.message : String(e)}`,
          { cause: e },
        );
      refused++;
    }
    checkCost(`changed file of seed ${seed}`, cpuMs() - t);
  }
  console.log(
    `${ran} changed files with right checksums (${events} events, ${refused} refused by name) through everything: none threw, ${seconds(start)}`,
  );
}

async function fuzzMessages(analyses: readonly Analysis[], other: TraceStore): Promise<void> {
  const start = performance.now();
  const end = endOf(SHARES.messages);
  let [ran, events] = [0, 0];
  for (let seed = from; performance.now() < end; seed++, ran++) {
    const t = cpuMs();
    const store = forgedStore(seed);
    await runEverything(store, other, { seed, analyses, sqlite: seed % 50 === 0 });
    events += store.eventCount;
    checkCost(`forged messages of seed ${seed}`, cpuMs() - t);
  }
  console.log(
    `${ran} times 40 forged messages (${events} events stored) through everything: none threw, ${seconds(start)}`,
  );
}

/**
 * Everything of a small trace: each of a hundred analyses and exports may be slow once on a busy
 * machine.
 */
const MAX_EVERYTHING_MS = 30_000;
function checkCost(what: string, ms: number): void {
  if (ms > MAX_EVERYTHING_MS) throw new Error(`${what} took ${ms.toFixed(0)} ms`);
  if (megabytes() > 2 * MAX_RSS_MB) throw new Error(`${megabytes().toFixed(0)} MB at the ${what}`);
}

async function bytesOf(store: ReturnType<typeof syntheticStore>): Promise<Uint8Array> {
  return new Uint8Array(await (await saveTrace(store, { savedAt: 0 })).arrayBuffer());
}
