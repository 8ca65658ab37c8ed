/**
 * Which thread of the browser's trace is which thread of ours. In each thread, the hook reports by
 * a trace event which thread it is, and its clock:
 *
 *   thread     console.timeStamp('vfscope 1793000000123.4 56.7 ...')  timeOrigin, now()
 *   browser    TimeStamp, pid 12, tid 3, ts 987654321                 thread 12:3 began at that timeOrigin; our time = ts - offset
 */
import type { TraceStore } from '../trace/store.ts';
import type { BrowserEvent } from './browser-trace.ts';

export const MARK_EVENTS = ['TimeStamp'];
/** The tracing categories of these events. */
export const MARK_CATEGORIES = ['devtools.timeline', 'blink.console'];

const MARK = 'vfscope';
/** Appended to our scripts that have no address. */
export const OUR_SOURCE = '\n//# sourceURL=vfscope:hook';
/** As in the first line of a stack: the script's URL, without line and column. */
const STACK_URL = /((?:blob|chrome-extension|https?|vfscope):[^\s()]+?):\d+:\d+/;

/**
 * The hook with a preamble that reports, in each thread and before anything else runs there, the
 * time on its clock and the URL of its script. In a worker that is a blob: URL, and a Blob's script
 * continues after the hook. It leaves nothing that the page could find. Of three clock readings,
 * the one with the shortest distance is used.
 * @param hook of `drivenHook`
 * @param carried of `carriedText`
 */
export function sayingHook(hook: string, carried: string): string {
  const lines = (hook + carried).split('\n').length + 2;
  const say = `try{for(let i=0;i<3;i++)console.timeStamp('${MARK} '+performance.timeOrigin+' '+performance.now()+' ${lines} '+new Error().stack)}catch{}`;
  return hook.replace(/^\(function \w+\(\w+\)\{/, `$&\n${say}\n`);
}

export interface Mark {
  pid: number;
  /** The browser's thread: `threadKey`. */
  thread: string;
  /** When it was made, microseconds on the browser's clock. */
  ts: number;
  /** ms since the epoch */
  timeOrigin: number;
  /** Offset of the browser's clock from the epoch, microseconds. */
  offsetUs: number;
  /** URL of the hook's script, and how many of its first lines belong to the hook. */
  url: string;
  lines: number;
}
export const threadKey = ({ pid, tid }: BrowserEvent): string => `${pid}:${tid}`;

function markOf(event: BrowserEvent): Mark | null {
  const { message } = (event.args.data ?? {}) as { message?: unknown };
  if (event.name !== 'TimeStamp' || typeof message !== 'string') return null;
  const [mark, ...numbers] = message.split(' ', 4);
  const [timeOrigin = NaN, nowMs = NaN, lines = NaN] = numbers.map(Number);
  if (mark !== MARK || ![timeOrigin, nowMs, lines].every(Number.isFinite)) return null;
  return {
    pid: event.pid,
    thread: threadKey(event),
    ts: event.ts,
    timeOrigin,
    offsetUs: event.ts - (timeOrigin + nowMs) * 1000,
    url: STACK_URL.exec(message)?.[1] ?? '',
    lines,
  };
}

export interface ThreadMarks {
  marks: readonly Mark[];
  /** By process: time of the trace = `ts` of an event less this, microseconds. */
  offsets: ReadonlyMap<number, number>;
  /** Maximum error of that within a process, microseconds. */
  errorUs: number;
}

export function threadMarks(store: TraceStore, events: readonly BrowserEvent[]): ThreadMarks {
  const marks = events.flatMap((event) => markOf(event) ?? []);
  const offsets = bestOffsets(marks, ({ pid }) => pid);
  const stepsUs = store.threads.map(({ environment }) => environment?.clockStepUs ?? 0);
  // the maximum difference between the threads of a process
  const byThread = bestOffsets(marks, ({ thread }) => thread);
  const distances = marks.map(({ thread, pid }) => byThread.get(thread)! - offsets.get(pid)!);
  const originUs = store.originMs * 1000;
  return {
    marks,
    offsets: new Map([...offsets].map(([pid, offsetUs]) => [pid, offsetUs + originUs])),
    errorUs: Math.ceil(Math.max(0, ...distances) + Math.max(0, ...stepsUs)),
  };
}

/**
 * The smallest offset by thread or process, microseconds. Any delay between reading the clock and
 * the event makes it larger.
 */
function bestOffsets<K>(marks: readonly Mark[], of: (mark: Mark) => K): Map<K, number> {
  const best = new Map<K, number>();
  for (const mark of marks)
    best.set(of(mark), Math.min(best.get(of(mark)) ?? Infinity, mark.offsetUs));
  return best;
}
