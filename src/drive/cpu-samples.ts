/**
 * CPU samples from Chromium's tracing: V8 samples every thread of the browser. The hook's marks
 * (thread-marks.ts) assign them to a thread and a time of our trace:
 *
 *   browser    Profile, pid 12, tid 3, id 0x1; ProfileChunk, pid 12, id 0x1, nodes, samples, timeDeltas
 */
import { countOf } from '../text/numbers.ts';
import {
  MAX_NAME,
  MAX_SAMPLES,
  MAX_URL,
  type CodeKind,
  type CpuFunction,
  type CpuSamples,
} from '../trace/cpu-samples.ts';
import { nameFunctions, type FunctionNames } from '../trace/name-functions.ts';
import type { ThreadStore, TraceStore } from '../trace/store.ts';
import { threadEndUs } from '../trace/thread-end.ts';
import type { BrowserEvent, Traced } from './browser-trace.ts';
import { threadKey, threadMarks, type Mark } from './thread-marks.ts';

export const CPU_EVENTS = ['Profile', 'ProfileChunk'];
/** The tracing category of these events. */
export const CPU_CATEGORIES = ['disabled-by-default-v8.cpu_profiler'];

/** Which code is ours: all scripts of the extension, and the first lines of other scripts. */
class OurScripts {
  private readonly lines = new Map<string, number>();
  private readonly extensions = new Set<string>();

  constructor(marks: readonly Mark[]) {
    for (const { url, lines } of marks) {
      if (url.startsWith('chrome-extension:')) this.extensions.add(originOf(url));
      else if (url) this.lines.set(url, lines);
    }
  }

  has(url: string, line: number): boolean {
    return line < (this.lines.get(url) ?? -Infinity) || this.extensions.has(originOf(url));
  }
}
const originOf = (url: string): string => url.split('/', 3).join('/');

interface CallFrame {
  functionName?: string;
  url?: string;
  scriptId?: string | number;
  lineNumber?: number;
  columnNumber?: number;
  codeType?: string;
}
interface Chunk {
  startTime?: number;
  cpuProfile?: {
    nodes?: { id: number; parent?: number; callFrame: CallFrame }[];
    samples?: number[];
  };
  timeDeltas?: number[];
}

const V8_KINDS: Readonly<Record<string, CodeKind>> = {
  '(idle)': 'idle',
  '(program)': 'program',
  '(garbage collector)': 'gc',
  '(root)': 'program',
};

const OURS: CpuFunction = { name: '', url: '', line: 0, column: 0, kind: 'vfscope' };

function functionOf(frame: CallFrame, scripts: OurScripts): CpuFunction {
  const { functionName = '', url = '', scriptId = 0, codeType } = frame;
  const { lineNumber = -1, columnNumber = -1 } = frame;
  if (scripts.has(url, lineNumber)) return OURS;
  const byV8 = url === '' ? V8_KINDS[functionName] : undefined;
  const kind: CodeKind =
    byV8 ??
    (codeType === 'wasm' || url.startsWith('wasm:')
      ? 'wasm'
      : Number(scriptId) === 0
        ? 'native'
        : 'js');
  return {
    name: byV8 ? '' : functionName.slice(0, MAX_NAME),
    url: url.slice(0, MAX_URL),
    line: kind === 'js' ? lineNumber + 1 : 0,
    column: kind === 'js' || kind === 'wasm' ? columnNumber + 1 : 0,
    kind,
  };
}

/** One profile while its chunks arrive. */
class Profile {
  readonly functions: CpuFunction[] = [];
  readonly parents: number[] = [];
  readonly called: number[] = [];
  readonly us: number[] = [];
  readonly frames: number[] = [];
  private readonly functionAt = new Map<string, number>();
  /** Index of a frame by V8's node number; -1 = the root, which isn't a function. */
  private readonly frameAt = new Map<number, number>();

  readonly pid: number;
  readonly thread: string;

  /** @param at begin, microseconds on the browser's clock */
  constructor(
    event: BrowserEvent,
    private at: number,
    private readonly scripts: OurScripts,
  ) {
    this.pid = event.pid;
    this.thread = threadKey(event);
  }

  take({ cpuProfile = {}, timeDeltas = [] }: Chunk): void {
    for (const { id, parent, callFrame } of cpuProfile.nodes ?? []) {
      if (parent === undefined) {
        this.frameAt.set(id, -1);
        continue;
      }
      const above = this.frameAt.get(parent) ?? -1;
      const one = functionOf(callFrame, this.scripts);
      if (one === OURS && this.functions[this.called[above] ?? -1] === OURS) {
        this.frameAt.set(id, above); // our own name in the stack isn't of interest
        continue;
      }
      this.frameAt.set(id, this.parents.length);
      this.parents.push(above);
      this.called.push(this.placeOf(one));
    }
    cpuProfile.samples?.forEach((node, i) => {
      this.at += timeDeltas[i] ?? 0;
      const frame = this.frameAt.get(node) ?? -1;
      if (frame < 0) return;
      this.us.push(this.at);
      this.frames.push(frame);
    });
  }

  private placeOf(one: CpuFunction): number {
    const key = JSON.stringify(one);
    let place = this.functionAt.get(key);
    if (place === undefined) this.functionAt.set(key, (place = this.functions.push(one) - 1));
    return place;
  }
}

/** The outcome of the samples. */
interface Sampled {
  /** Added to the trace. */
  samples: number;
  /** Threads of the trace that have some. */
  threads: number;
  /** One of this many was retained. */
  every: number;
}

/**
 * Add the samples of the browser's threads to the trace, with the names of their functions.
 * @returns the outcome, as text for the user
 */
export function sampled(
  store: TraceStore,
  { events, isWhole }: Traced,
  names?: FunctionNames,
): string {
  const { samples, threads, every } = addSamples(store, events);
  const named = names ? nameFunctions(store, names) : null;
  return [
    `took ${countOf(samples, 'CPU sample')} of ${countOf(threads, 'thread')}`,
    ...(every > 1
      ? [`saved 1 of ${every}, because a recording holds at most ${countOf(MAX_SAMPLES, 'sample')}`]
      : []),
    ...(isWhole ? [] : ['the browser lost some: record for a shorter time']),
    ...(named === null ? [] : [named ? `named ${countOf(named, 'function')}` : NO_MODULE]),
  ].join('; ');
}
const NO_MODULE = "named no function: the file of --names doesn't match any module in the samples";

/** Add the samples of those browser threads that are in the trace. */
function addSamples(store: TraceStore, events: readonly BrowserEvent[]): Sampled {
  const { marks, offsets, errorUs } = threadMarks(store, events);
  const scripts = new OurScripts(marks);
  const profiles = new Map<string, Profile>();
  const known = new Set(marks.map(({ thread }) => thread));
  for (const event of events) {
    const key = `${event.pid} ${event.id}`;
    const data = (event.args.data ?? {}) as Chunk;
    if (event.name === 'Profile' && known.has(threadKey(event)))
      profiles.set(key, new Profile(event, data.startTime ?? event.ts, scripts));
    else if (event.name === 'ProfileChunk') profiles.get(key)?.take(data);
  }
  const taken = [...profiles.values()].flatMap((profile) =>
    documentsOf(profile.thread, marks, store).map((part) => ({ profile, ...part })),
  );
  const all = taken.reduce((n, { profile }) => n + profile.us.length, 0);
  const done: Sampled = { samples: 0, threads: 0, every: Math.ceil(all / MAX_SAMPLES) };
  for (const { profile, thread, fromUs, toUs } of taken) {
    const offsetUs = offsets.get(profile.pid)!;
    const cpu = inTrace(profile, { offsetUs, errorUs, fromUs, toUs, every: done.every });
    if (cpu.us.length === 0) continue;
    thread.cpu = cpu;
    done.samples += cpu.us.length;
    done.threads++;
  }
  return done;
}

/**
 * The documents, or the worker, that a thread of the browser ran, each with its time range. A
 * page's frames run on the same thread, and the next page in the tab may follow on it. A sample
 * doesn't show which document it belongs to, so each document of that time gets it: a statement
 * takes the samples of its own time.
 */
function documentsOf(
  thread: string,
  marks: readonly Mark[],
  { threads, originMs }: TraceStore,
): { thread: ThreadStore; fromUs: number; toUs: number }[] {
  const origins = new Set(marks.flatMap((mark) => (mark.thread === thread ? mark.timeOrigin : [])));
  const found = [...origins].flatMap(
    (origin) => threads.find(({ info, cpu }) => info.timeOrigin === origin && !cpu) ?? [],
  );
  // the frames of a page that uses SQLite don't matter
  const busy = found.filter(({ events }) => events.count > 0);
  return (busy.length ? busy : found).map((one) => ({
    thread: one,
    fromUs: (one.info.timeOrigin - originMs) * 1000,
    toUs: origins.size > 1 ? threadEndUs(one, Infinity) : Infinity,
  }));
}

interface Placing {
  offsetUs: number;
  errorUs: number;
  fromUs: number;
  toUs: number;
  every: number;
}
function inTrace(
  { functions, parents, called, us, frames }: Profile,
  { offsetUs, errorUs, fromUs, toUs, every }: Placing,
): CpuSamples {
  const timeOf = (i: number): number => Math.round(us[i]! - offsetUs);
  // V8 may record two samples in the wrong order
  const order = us
    .map((_, i) => i)
    .filter((i) => timeOf(i) >= fromUs && timeOf(i) <= toUs)
    .sort((a, b) => us[a]! - us[b]!)
    .filter((_, i) => i % every === 0);
  const times = Float64Array.from(order, timeOf);
  const steps = times.subarray(1).map((at, i) => at - times[i]!);
  steps.sort();
  return {
    intervalUs: steps[steps.length >> 1] ?? 0,
    clockErrorUs: errorUs,
    functions,
    parents: Int32Array.from(parents),
    called: Int32Array.from(called),
    us: times,
    frames: Int32Array.from(order, (i) => frames[i]!),
  };
}
