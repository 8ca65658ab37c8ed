/**
 * Turns samples into a result: counters that must be equal in all samples, times as median and
 * spread, and assertions as verdicts.
 */
import { decide, undecided } from './assertions.ts';
import { endedWhy, faultVerdict } from './fault-verdict.ts';
import type { Counters, Run, Workload } from './types.ts';
import type { Environment } from './environment-types.ts';
import type { Placed, RunResult, Sample, Spread, StepResult } from './result-types.ts';

/**
 * @param passes with at least one that isn't left out
 * @param isOut whether the pass with this index is left out
 */
export function spreadOf(
  passes: readonly number[],
  isOut: (index: number) => boolean = () => false,
): Spread {
  const values = passes.filter((_, i) => !isOut(i));
  const median = medianOf(values);
  return {
    median,
    least: Math.min(...values),
    most: Math.max(...values),
    mad: medianOf(values.map((v) => Math.abs(v - median))),
    n: values.length,
    passes,
  };
}
/**
 * The mean of the middle two for an even number: passes are few, and with the lower one, two passes
 * would have no deviation.
 */
function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

/**
 * Counters of the storage below a VFS, and of the engine's memory: shown wherever they aren't zero.
 */
export const ALWAYS_SHOWN = /^(?:block|idb|opfs|memory)\./;
/** Times end in `ms`; everything else is a count. */
export const isTime = (counter: string): boolean => counter === 'ms' || counter.endsWith('.ms');

const msOf = (sample: Sample): number =>
  sample.steps
    .flatMap((step) => (step.twin ? [] : (step.counters.ms ?? [])))
    .reduce((a, b) => a + b, 0);

/**
 * @param samples at least one, all of the same run
 * @param warmUp the pass before them, which doesn't count; what it stored stands for all
 */
export function resultOf(
  run: Run,
  workload: Workload,
  samples: readonly Sample[],
  environment: Environment,
  warmUp: Sample | null = null,
): RunResult {
  const first = samples[0]!;
  const steps = first.steps.map((_, i): StepResult => stepResult(samples.map((s) => s.steps[i]!)));
  const totals: Record<string, number> = {};
  for (const step of steps.filter(({ twin }) => !twin))
    for (const [name, value] of Object.entries(step.counters))
      totals[name] = (totals[name] ?? 0) + value;
  const all = warmUp ? [warmUp, ...samples] : samples;
  const digests = new Set(all.map((s) => s.digest));
  const stored = all.flatMap((s) => s.stored ?? []);
  const result: Omit<RunResult, 'verdicts'> = {
    run,
    version: workload.version,
    environment,
    ...(first.engine ? { engine: first.engine } : {}),
    ...(first.fault ? { fault: first.fault } : {}),
    steps,
    totals,
    // a pass that a fault ended early isn't complete: its time would look like a fast run
    totalMs: run.mode === 'time' && !endedWhy(first) ? spreadOf(samples.map(msOf)) : null,
    warmUpMs: warmUp && !endedWhy(first) ? msOf(warmUp) : null,
    leftOut: [],
    stored: stored[0] ?? null,
    settings: first.settings,
    digest: first.digest,
    notes: [
      ...new Set(all.flatMap((s) => s.notes)),
      ...(digests.size > 1 ? ['The rows that came back differ between the repeats.'] : []),
      ...(new Set(stored.map(({ digest }) => digest)).size > 1
        ? ['What was stored differs between the repeats.']
        : []),
      ...steps.flatMap((s) =>
        s.unstable.length ? [`Step ${s.id}: ${differed(s.unstable, run.mode)}`] : [],
      ),
    ],
  };
  return decideAll(result, workload);
}

/**
 * Adds the verdicts on the workload's expectations of every result, and on the effect of a fault
 * profile.
 */
export function decideAll(result: Omit<RunResult, 'verdicts'>, workload: Workload): RunResult {
  const why = endedWhy(result);
  const fault = faultVerdict(result);
  const own = workload.assertions.map((a) =>
    why ? undecided(a, why) : decide(a, (place) => placed(result, place)),
  );
  return { ...result, verdicts: [...(fault ? [fault] : []), ...own] };
}

const differed = (names: readonly string[], mode: Run['mode']): string =>
  mode === 'count'
    ? `${names.join(', ')} differed between the passes. The one with the fewest instructions is shown.`
    : `${names.join(', ')} differed between the repeats; the first is shown.`;

function stepResult(samples: Sample['steps'][number][]): StepResult {
  // JavaScriptCore's counts only err upwards, and rarely, so the minimum of several passes is the
  // count
  const least = samples.reduce((a, b) =>
    (b.counters.instructions ?? 0) < (a.counters.instructions ?? 0) ? b : a,
  );
  const { id, title, counters, skipped, twin, statements, functions } = least;
  const names = Object.keys(counters).filter((name) => !isTime(name));
  const times = samples.flatMap((s) => s.counters.ms ?? []);
  return {
    id,
    title,
    counters: Object.fromEntries(names.map((name) => [name, counters[name]!])),
    unstable: names.filter((name) => samples.some((s) => s.counters[name] !== counters[name])),
    ms: times.length ? spreadOf(times) : null,
    parts: partsOf(samples.map((s) => s.counters)),
    ...(skipped ? { skipped } : {}),
    ...(twin ? { twin } : {}),
    ...(samples.some((s) => s.checkpoints)
      ? { checkpoints: samples.map((s) => s.checkpoints ?? []) }
      : {}),
    ...(statements ? { statements } : {}),
    ...(functions ? { functions } : {}),
  };
}

/** Times of the parts of a step (`commit.ms`). */
function partsOf(samples: readonly Counters[]): StepResult['parts'] {
  const names = Object.keys(samples[0]!).filter((name) => name !== 'ms' && isTime(name));
  return Object.fromEntries(
    names.map((name) => [name, spreadOf(samples.map((s) => s[name] ?? 0))]),
  );
}

/** The resolution of the clock that timed a run, ms; 0 = not known. */
export const stepMsOf = ({ environment }: Pick<RunResult, 'environment'>): number =>
  (environment.clockStepUs ?? 0) / 1000;

/** The coarsest resolution of the clocks that timed several runs, ms; 0 = not known. */
export const clockStepMs = (runs: readonly { readonly result: RunResult }[]): number =>
  Math.max(0, ...runs.map(({ result }) => stepMsOf(result)));

/** @returns undefined = not known */
export function placed(
  result: Omit<RunResult, 'verdicts'>,
  { step, counter }: { step: string; counter: string },
): Placed | undefined {
  const found = step === 'total' ? null : result.steps.find((s) => s.id === step);
  if (found === undefined) return undefined;
  if (counter === 'ms' || isTime(counter)) {
    const spread = counter === 'ms' ? (found ? found.ms : result.totalMs) : found?.parts[counter];
    return spread ? { value: spread.median, spread, stepMs: stepMsOf(result) } : undefined;
  }
  const value = (found?.counters ?? result.totals)[counter];
  // a counter that no call has moved is absent; it is 0 if its family is known
  if (value === undefined)
    return familyKnown(found?.counters ?? result.totals, counter)
      ? { value: 0, spread: null, stepMs: 0 }
      : undefined;
  return { value, spread: null, stepMs: 0 };
}

const family = (counter: string): string =>
  /^(?:vfs|checkpoint)\./.test(counter) ? 'vfs' : counter.split('.')[0]!;
function familyKnown(counters: Counters, counter: string): boolean {
  const wanted = family(counter);
  return Object.keys(counters).some((name) => family(name) === wanted);
}
