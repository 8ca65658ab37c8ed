/**
 * CPU samples of a thread: its stack at moments that the browser chose. Recordings that asked for
 * them (`vfscope record --cpu`) have them in a section of their file that other readers skip. Data
 * from a file isn't trusted: it is checked and limited.
 */
import { stepsOf, timesOf } from './us-steps.ts';

/**
 * `native`: the browser's own functions. `program`: native code without a function of the page on
 * the stack. `vfscope`: our hook, which is also where V8 counts a storage call of the browser that
 * the hook passes on.
 */
export const CODE_KINDS = ['js', 'wasm', 'native', 'gc', 'program', 'idle', 'vfscope'] as const;
export type CodeKind = (typeof CODE_KINDS)[number];

/**
 * The browser's functions in which a thread waits and doesn't compute: those of sync access
 * handles, Atomics, and localStorage.
 */
export const WAITING: ReadonlySet<string> = new Set(
  'read,write,flush,truncate,getSize,close,wait,getItem,setItem,removeItem'.split(','),
);

export interface CpuFunction {
  /** '' = none: an anonymous function, or `kind` describes it. */
  name: string;
  /** Of its script or module; '' = none. */
  url: string;
  /**
   * Where it begins in its script, from 1; 0 = not known. For wasm, `column` is the byte in the
   * module, and `line` isn't used.
   */
  line: number;
  column: number;
  kind: CodeKind;
}

export interface CpuSamples {
  /** Median time between two samples, microseconds. */
  intervalUs: number;
  /** How far the browser's clock may be off from the trace's, microseconds. */
  clockErrorUs: number;
  functions: CpuFunction[];
  /**
   * Call tree: the frame that called each frame, which comes before it (-1 = none), and the index
   * of its function in `functions`.
   */
  parents: Int32Array;
  called: Int32Array;
  /** Samples in order of time: microseconds of the trace, and the innermost frame. */
  us: Float64Array;
  frames: Int32Array;
}

/** Maximum samples of a recording. If there are more, only every second, third, ... is kept. */
export const MAX_SAMPLES = 500_000;
/** Maximum frames on a stack: V8 stops at 255. */
const MAX_DEPTH = 256;
export const MAX_NAME = 200;
export const MAX_URL = 500;

/**
 * Whether the thread computes in this function. Otherwise it waits, or runs nothing of the page.
 */
export const isOnCpu = ({ kind, name }: CpuFunction): boolean =>
  kind === 'js' || kind === 'wasm' || kind === 'gc' || (kind === 'native' && !WAITING.has(name));

/**
 * As JSON: functions as `[name, index in urls, line, index in CODE_KINDS, column]`, times as
 * differences in whole microseconds.
 */
export function packedSamples(thread: number, samples: CpuSamples): object {
  const { intervalUs, clockErrorUs, functions, parents, called, us, frames } = samples;
  const urls = [...new Set(functions.map(({ url }) => url))];
  const placeOf = new Map(urls.map((url, i) => [url, i]));
  return {
    thread,
    intervalUs,
    clockErrorUs,
    urls,
    functions: functions.map(({ name, url, line, kind, column }) => [
      name,
      placeOf.get(url),
      line,
      CODE_KINDS.indexOf(kind),
      column,
    ]),
    parents: Array.from(parents),
    called: Array.from(called),
    us: stepsOf(us),
    frames: Array.from(frames),
  };
}

/**
 * @returns null for invalid data: lists of different lengths, unknown indices, stacks that are too
 * deep, times that go back
 */
export function checkedSamples(content: Record<string, unknown>): CpuSamples | null {
  const urls = listOf(content.urls, isText);
  const functions = listOf(content.functions, Array.isArray);
  const parents = listOf(content.parents, Number.isInteger);
  const called = listOf(content.called, Number.isInteger);
  const steps = listOf(content.us, Number.isInteger);
  const frames = listOf(content.frames, Number.isInteger);
  if (!urls || !functions || !parents || !called || !steps || !frames) return null;
  if (parents.length !== called.length || steps.length !== frames.length) return null;
  if (steps.length > MAX_SAMPLES) return null;
  const isPlace = (list: readonly unknown[]) => (n: number) => n >= 0 && n < list.length;
  if (!called.every(isPlace(functions)) || !frames.every(isPlace(parents))) return null;
  const depths = new Uint16Array(parents.length);
  for (const [frame, parent] of parents.entries()) {
    if (parent < -1 || parent >= frame) return null;
    depths[frame] = parent < 0 ? 1 : depths[parent]! + 1;
    if (depths[frame]! > MAX_DEPTH) return null;
  }
  const isFunction = ([name, url, line, kind, column]: unknown[]): boolean =>
    isText(name) &&
    [url, line, kind, column].every(Number.isSafeInteger) &&
    isPlace(urls)(url as number) &&
    isPlace(CODE_KINDS)(kind as number);
  if (!functions.every(isFunction)) return null;
  const us = timesOf(steps);
  if (!us) return null;
  return {
    intervalUs: numberOf(content.intervalUs),
    clockErrorUs: numberOf(content.clockErrorUs),
    functions: (functions as [string, number, number, number, number][]).map(
      ([name, url, line, kind, column]) => ({
        name: name.slice(0, MAX_NAME),
        url: urls[url]!.slice(0, MAX_URL),
        line,
        column,
        kind: CODE_KINDS[kind]!,
      }),
    ),
    parents: Int32Array.from(parents),
    called: Int32Array.from(called),
    us,
    frames: Int32Array.from(frames),
  };
}

const isText = (value: unknown): value is string => typeof value === 'string';
const numberOf = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0;

function listOf(value: unknown, is: typeof isText): string[] | null;
function listOf(value: unknown, is: typeof Array.isArray): unknown[][] | null;
function listOf(value: unknown, is: typeof Number.isInteger): number[] | null;
function listOf(value: unknown, is: (item: unknown) => boolean): unknown[] | null {
  return Array.isArray(value) && value.every(is) ? (value as unknown[]) : null;
}

/** Samples within ranges `[fromUs, toUs]`, which ascend and are disjoint. */
export function samplesWithin(
  samples: CpuSamples,
  ranges: readonly (readonly [fromUs: number, toUs: number])[],
): CpuSamples {
  const kept: number[] = [];
  samples.us.forEach((at, i) => {
    if (ranges.some(([from, to]) => at >= from && at <= to)) kept.push(i);
  });
  return {
    ...samples,
    us: Float64Array.from(kept, (i) => samples.us[i]!),
    frames: Int32Array.from(kept, (i) => samples.frames[i]!),
  };
}
