/**
 * CPU samples from Chromium's tracing: V8 samples every thread of the browser. The hook says in each thread by a trace event which thread
 * that is and what its clock shows, so that samples come to the thread and the time of our trace:
 *
 *   thread     console.timeStamp('vfscope 1793000000123.4 56.7 ...')  timeOrigin, now()
 *   browser    TimeStamp, pid 12, tid 3, ts 987654321                 thread 12:3 began at that timeOrigin; our time = ts - offset
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
import type { TraceStore } from '../trace/store.ts';
import type { BrowserEvent } from './browser-trace.ts';

/** `TimeStamp`, `Profile` and `ProfileChunk`. */
export const CPU_CATEGORIES = [
  'disabled-by-default-v8.cpu_profiler',
  'devtools.timeline',
  'blink.console',
];

const MARK = 'vfscope';
/** As the first line of a stack has it: the script's URL, without line and column. */
const STACK_URL = /((?:blob|chrome-extension|https?|vfscope):[^\s()]+?):\d+:\d+/;

/**
 * The hook that says in each thread, before anything else runs there, what its clock shows and which script it is in: in a worker that is
 * a blob: URL, and the script of a worker from a Blob goes on behind the hook. Nothing is left behind that the page could find. Of
 * three readings of the clock the one with the least distance is the best.
 * @param hook of `drivenHook` @param carried of `carriedText`
 */
export function sayingHook(hook: string, carried: string): string {
  const lines = (hook + carried).split('\n').length + 2;
  const say = `try{for(let i=0;i<3;i++)console.timeStamp('${MARK} '+performance.timeOrigin+' '+performance.now()+' ${lines} '+new Error().stack)}catch{}`;
  return hook.replace(/^\(function \w+\(\w+\)\{/, `$&\n${say}\n`);
}

interface Mark {
  thread: string;
  /** ms since the epoch */
  timeOrigin: number;
  /** Of the browser's clock from the epoch, microseconds. */
  offsetUs: number;
  /** URL of the hook's script, and how many of its first lines are the hook's. */
  url: string;
  lines: number;
}
const threadKey = ({ pid, tid }: BrowserEvent): string => `${pid}:${tid}`;

function markOf(event: BrowserEvent): Mark | null {
  const { message } = (event.args.data ?? {}) as { message?: unknown };
  if (event.name !== 'TimeStamp' || typeof message !== 'string') return null;
  const [mark, ...numbers] = message.split(' ', 4);
  const [timeOrigin = NaN, nowMs = NaN, lines = NaN] = numbers.map(Number);
  if (mark !== MARK || ![timeOrigin, nowMs, lines].every(Number.isFinite)) return null;
  return {
    thread: threadKey(event),
    timeOrigin,
    offsetUs: event.ts - (timeOrigin + nowMs) * 1000,
    url: STACK_URL.exec(message)?.[1] ?? '',
    lines,
  };
}

/** Our scripts by URL, and how many of the first lines of each are ours. */
type OurScripts = ReadonlyMap<string, number>;

interface CallFrame {
  functionName?: string;
  url?: string;
  scriptId?: string | number;
  lineNumber?: number;
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

const OURS: CpuFunction = { name: '', url: '', line: 0, kind: 'vfscope' };

function functionOf(
  { functionName = '', url = '', scriptId = 0, lineNumber = -1, codeType }: CallFrame,
  scripts: OurScripts,
): CpuFunction {
  if (lineNumber < (scripts.get(url) ?? -Infinity)) return OURS;
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
    kind,
  };
}

/** One profile while its chunks come. */
class Profile {
  readonly functions: CpuFunction[] = [];
  readonly parents: number[] = [];
  readonly called: number[] = [];
  readonly us: number[] = [];
  readonly frames: number[] = [];
  private readonly functionAt = new Map<string, number>();
  /** Place of a frame by V8's number of its node; -1 = the root, which is no function. */
  private readonly frameAt = new Map<number, number>();

  /** @param at where it begins, microseconds of the browser's clock */
  constructor(
    readonly thread: string,
    private at: number,
    private readonly scripts: OurScripts,
  ) {}

  /** @param room for so many samples @returns samples that did not fit */
  take({ cpuProfile = {}, timeDeltas = [] }: Chunk, room: number): number {
    for (const { id, parent, callFrame } of cpuProfile.nodes ?? []) {
      if (parent === undefined) {
        this.frameAt.set(id, -1);
        continue;
      }
      const above = this.frameAt.get(parent) ?? -1;
      const one = functionOf(callFrame, this.scripts);
      if (one === OURS && this.functions[this.called[above] ?? -1] === OURS) {
        this.frameAt.set(id, above); // how we call ourselves is of no interest
        continue;
      }
      this.frameAt.set(id, this.parents.length);
      this.parents.push(above);
      this.called.push(this.placeOf(one));
    }
    let left = 0;
    cpuProfile.samples?.forEach((node, i) => {
      this.at += timeDeltas[i] ?? 0;
      const frame = this.frameAt.get(node) ?? -1;
      if (frame < 0) return;
      if (this.us.length >= room) left++;
      else {
        this.us.push(this.at);
        this.frames.push(frame);
      }
    });
    return left;
  }

  private placeOf(one: CpuFunction): number {
    const key = JSON.stringify(one);
    let place = this.functionAt.get(key);
    if (place === undefined) this.functionAt.set(key, (place = this.functions.push(one) - 1));
    return place;
  }
}

/** What became of the samples. */
interface Sampled {
  /** Put into the trace. */
  samples: number;
  /** Threads of the trace that have some. */
  threads: number;
  /** More than a recording may have. */
  left: number;
}

/**
 * Put the samples of the browser's threads into the trace, and names to their functions.
 * @returns what became of them, as text for the user
 */
export function sampled(
  store: TraceStore,
  events: readonly BrowserEvent[],
  names?: FunctionNames,
): string {
  const { samples, threads, left } = addSamples(store, events);
  const named = names ? nameFunctions(store, names) : null;
  return [
    `took ${countOf(samples, 'CPU sample')} of ${countOf(threads, 'thread')}`,
    ...(left ? [`left out ${left} beyond the limit of ${MAX_SAMPLES}`] : []),
    ...(named === null ? [] : [named ? `named ${countOf(named, 'function')}` : NO_MODULE]),
  ].join('; ');
}
const NO_MODULE = 'named no function: the file of --names is not of a module in the samples';

/** Put the samples of the browser's threads that the trace knows into it. */
function addSamples(store: TraceStore, events: readonly BrowserEvent[]): Sampled {
  const marks = events.flatMap((event) => markOf(event) ?? []);
  // one clock for all threads of a browser: whatever came between reading it and the event makes the distance larger
  const offsetUs = Math.min(...marks.map((mark) => mark.offsetUs));
  const stepsUs = store.threads.map(({ environment }) => environment?.clockStepUs ?? 0);
  const errorUs = Math.ceil(distances(marks) + Math.max(0, ...stepsUs));
  const originOf = new Map(marks.map(({ thread, timeOrigin }) => [thread, timeOrigin]));
  const scripts = new Map(marks.flatMap(({ url, lines }) => (url ? [[url, lines]] : [])));
  const profiles = new Map<string, Profile>();
  const done: Sampled = { samples: 0, threads: 0, left: 0 };
  let taken = 0;
  for (const event of events) {
    const key = `${event.pid} ${event.id}`;
    const data = (event.args.data ?? {}) as Chunk;
    if (event.name === 'Profile' && originOf.has(threadKey(event)))
      profiles.set(key, new Profile(threadKey(event), data.startTime ?? event.ts, scripts));
    const profile = event.name === 'ProfileChunk' ? profiles.get(key) : undefined;
    if (!profile) continue;
    const before = profile.us.length;
    done.left += profile.take(data, before + MAX_SAMPLES - taken);
    taken += profile.us.length - before;
  }
  for (const profile of profiles.values()) {
    const origin = originOf.get(profile.thread)!;
    const thread = store.threads.find(({ info, cpu }) => info.timeOrigin === origin && !cpu);
    if (!thread || profile.us.length === 0) continue;
    thread.cpu = inTrace(profile, offsetUs + store.originMs * 1000, errorUs);
    done.samples += profile.us.length;
    done.threads++;
  }
  return done;
}

/** How far the best pairs of two threads differ, microseconds. */
function distances(marks: readonly Mark[]): number {
  const best = new Map<string, number>();
  for (const { thread, offsetUs } of marks)
    best.set(thread, Math.min(best.get(thread) ?? Infinity, offsetUs));
  const all = [...best.values()];
  return all.length ? Math.max(...all) - Math.min(...all) : 0;
}

function inTrace(
  { functions, parents, called, us, frames }: Profile,
  offsetUs: number,
  clockErrorUs: number,
): CpuSamples {
  // V8 may take two samples in the wrong order
  const order = us.map((_, i) => i).sort((a, b) => us[a]! - us[b]!);
  const times = Float64Array.from(order, (i) => Math.round(us[i]! - offsetUs));
  const steps = times.subarray(1).map((at, i) => at - times[i]!);
  steps.sort();
  return {
    intervalUs: steps[steps.length >> 1] ?? 0,
    clockErrorUs,
    functions,
    parents: Int32Array.from(parents),
    called: Int32Array.from(called),
    us: times,
    frames: Int32Array.from(order, (i) => frames[i]!),
  };
}
