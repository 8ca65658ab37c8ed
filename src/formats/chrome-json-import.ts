/**
 * Reads vfscope's own Chrome JSON (chrome-json.ts) back into a store: operations, times, objects, offsets, lengths, results and details
 * come back as they were. What the format does not hold is lost or guessed, and `LOST_IN_CHROME_JSON` says so. Trusts nothing: the file
 * may have been edited.
 */
import { isTraceUs } from '../event/clock.ts';
import { MAX_EVENTS, MAX_THREADS } from '../trace/file/format.ts';
import { Field, Flag, OPS, Op, RECORD_BYTES } from '../event/event.ts';
import type { Definition, ThreadKind } from '../event/definitions.ts';
import { TraceStore, type ThreadInfo } from '../trace/store.ts';
import { auxOfText, definitionOf, resultOfText } from './from-words.ts';
import { TRACKS } from './chrome-json.ts';

export const LOST_IN_CHROME_JSON: readonly string[] = [
  'ids of connections, statement instances and IndexedDB transactions',
  'decoded page types and WAL frames, and counters of the page cache',
  'engines, environments and notes of the threads, their ids and URLs',
  'sequence numbers: order is that of the file, nesting that of the times',
  'kinds of files that were not opened during the trace: guessed from their names',
];

export interface ChromeImport {
  store: TraceStore;
  /** What of this file could not be taken over; [] when all of it was. */
  warnings: string[];
}

/** The text is no Chrome JSON of vfscope; the message says what it is and what to do. */
export class ChromeImportError extends Error {
  override readonly name = 'ChromeImportError';
}

type Loose = Record<string, unknown>;
const isObject = (v: unknown): v is Loose =>
  typeof v === 'object' && v !== null && !Array.isArray(v);
const numberOr = (v: unknown, otherwise: number): number =>
  typeof v === 'number' && Number.isFinite(v) ? v : otherwise;

/** One call as the file holds it. */
interface Call {
  op: number;
  ts: number;
  end: number;
  /** Track 0 holds calls that nest; the others run beside it. */
  track: number;
  open: boolean;
  args: Loose;
}
interface ThreadCalls {
  title: string;
  calls: Call[];
}

const CODE_OF_NAME = new Map(
  OPS.flatMap((info) => (info ? [[info.name, info.code] as const] : [])),
);
CODE_OF_NAME.delete(OPS[Op.end]!.name);
CODE_OF_NAME.delete(OPS[Op.none]!.name);
const RANK: Readonly<Record<string, number>> = { sql: 0, vfs: 1, web: 2 };
const rankOf = (op: number): number => RANK[OPS[op]?.layer ?? ''] ?? 3;

/**
 * @param text the whole file @throws ChromeImportError where it is no JSON, or was not written by vfscope
 */
export function importChromeJson(text: string): ChromeImport {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch (e) {
    throw new ChromeImportError(
      `The file is no JSON (${e instanceof Error ? e.message : String(e)}). It may be cut off: export it again.`,
    );
  }
  const metadata = isObject(file) && isObject(file.metadata) ? file.metadata : {};
  if (!isObject(file) || !Array.isArray(file.traceEvents))
    throw new ChromeImportError(
      'The file is JSON without "traceEvents": no Chrome trace. Choose a trace that vfscope exported.',
    );
  if (metadata.source !== 'vfscope')
    throw new ChromeImportError(
      'The Chrome trace was not exported by vfscope: it holds no SQLite calls that could be shown.',
    );
  const warnings: string[] = [];
  const threads = callsOf(file.traceEvents as unknown[], warnings);
  const store = new TraceStore(numberOr(metadata.originMs, 0));
  for (const [index, thread] of [...threads].sort(([a], [b]) => a - b))
    addThread(store, index, thread);
  const first = store.threads[0];
  if (first) first.dropped = Math.max(0, Math.trunc(numberOr(metadata.dropped, 0))); // by thread it is not known
  return { store, warnings };
}

function callsOf(events: readonly unknown[], warnings: string[]): Map<number, ThreadCalls> {
  const threads = new Map<number, ThreadCalls>();
  let [unknown, malformed, total] = [0, 0, 0];
  const threadOf = (tid: number): ThreadCalls | null => {
    const index = Math.floor((tid - 1) / TRACKS);
    if (!Number.isSafeInteger(tid) || tid < 1 || index >= MAX_THREADS) return null;
    let thread = threads.get(index);
    if (!thread) threads.set(index, (thread = { title: '', calls: [] }));
    return thread;
  };
  for (const e of events) {
    if (!isObject(e) || typeof e.tid !== 'number' || typeof e.name !== 'string') {
      malformed++;
      continue;
    }
    if (e.tid === 0) continue; // what DevTools asks for
    const thread = threadOf(e.tid);
    const args = isObject(e.args) ? e.args : {};
    if (e.ph === 'M') {
      if (
        thread &&
        e.name === 'thread_name' &&
        (e.tid - 1) % TRACKS === 0 &&
        typeof args.name === 'string'
      )
        thread.title = args.name;
      continue;
    }
    const op = CODE_OF_NAME.get(e.name);
    if (op === undefined) {
      unknown++;
      continue;
    }
    const ts = numberOr(e.ts, NaN);
    const dur = e.ph === 'X' ? numberOr(e.dur, NaN) : 0;
    if (
      !thread ||
      (e.ph !== 'X' && e.ph !== 'I') ||
      !isTraceUs(ts) ||
      !(dur >= 0) ||
      !isTraceUs(ts + dur)
    ) {
      malformed++;
      continue;
    }
    if (++total > MAX_EVENTS)
      throw new ChromeImportError(
        `The file holds more than the ${MAX_EVENTS} events that can be shown.`,
      );
    thread.calls.push({
      op,
      ts,
      end: ts + dur,
      track: (e.tid - 1) % TRACKS,
      open: args.open === true,
      args,
    });
  }
  if (unknown)
    warnings.push(
      `${unknown} events are of operations that this vfscope does not know; they are left out.`,
    );
  if (malformed) warnings.push(`${malformed} events are malformed and left out.`);
  return threads;
}

function addThread(store: TraceStore, index: number, { title, calls }: ThreadCalls): void {
  const [, kind, name] = /^(page|frame|worker|shared-worker|service-worker) ([^]*)$/.exec(
    title,
  ) ?? ['', 'worker', title];
  const info: ThreadInfo = {
    id: `thread-${index}`,
    kind: kind as ThreadKind,
    url: '',
    name: name ?? '',
    parent: null,
    timeOrigin: store.originMs,
  };
  for (let i = 1; i < calls.length; i++)
    if (calls[i]!.ts < calls[i - 1]!.ts) {
      calls.sort((a, b) => a.ts - b.ts); // edited: vfscope writes them in order
      break;
    }
  const { seq, endSeq, parent } = numbered(calls);
  const objects = new Objects(calls);
  const records = new ArrayBuffer(calls.length * RECORD_BYTES);
  const view = new DataView(records);
  calls.forEach((call, i) => {
    const at = i * RECORD_BYTES;
    const { op, args } = call;
    const { result, threw } = resultOfText(op, args.result);
    const flags = (threw ? Flag.threw : 0) | (call.track > 0 ? Flag.async : 0);
    view.setFloat64(at + Field.t0, call.ts / 1000, true);
    view.setFloat64(at + Field.t1, (call.open ? call.ts : call.end) / 1000, true);
    view.setUint32(at + Field.seq, seq[i]!, true);
    view.setUint32(at + Field.endSeq, endSeq[i]!, true);
    view.setUint32(at + Field.op, op | (flags << 8), true);
    view.setInt32(at + Field.result, result, true);
    view.setFloat64(at + Field.offset, numberOr(args.offset, NaN), true);
    view.setUint32(at + Field.length, numberOr(args.length, 0), true);
    view.setUint32(at + Field.object, objects.id(call), true);
    view.setUint32(at + Field.parent, parent[i]!, true);
    view.setUint32(at + Field.aux, auxOfText(op, args.detail), true);
  });
  const about = {
    thread: info.id,
    first: 0,
    count: calls.length,
    timeOrigin: info.timeOrigin,
    dropped: 0,
    faults: 0,
  };
  store.thread(info).append({ ...about, definitions: objects.definitions, records });
}

/** Sequence numbers as the thread would have drawn them, and the innermost SQL or VFS call in which each call began. */
function numbered(calls: readonly Call[]): Record<'seq' | 'endSeq' | 'parent', Uint32Array> {
  const n = calls.length;
  const [seq, endSeq, parent] = [new Uint32Array(n), new Uint32Array(n), new Uint32Array(n)];
  const beside: number[] = [];
  const stack: number[] = [];
  let last = 0;
  const over = (i: number, next: Call): boolean => {
    const call = calls[i]!;
    if (call.end !== next.ts) return call.end < next.ts;
    return !(next.end === next.ts && rankOf(call.op) < rankOf(next.op)); // below the clock's step: what serves what decides
  };
  for (let i = 0; i < n; i++) {
    const call = calls[i]!;
    while (stack.length && over(stack.at(-1)!, call)) endSeq[stack.pop()!] = ++last;
    seq[i] = ++last;
    let above = stack.length - 1;
    while (above >= 0 && stack.length - above < 16 && rankOf(calls[stack[above]!]!.op) > 1) above--;
    if (above >= 0 && rankOf(calls[stack[above]!]!.op) <= 1) parent[i] = seq[stack[above]!]!;
    if (call.open) continue;
    if (call.track > 0) beside.push(i);
    else stack.push(i);
  }
  while (stack.length) endSeq[stack.pop()!] = ++last;
  beside.sort((a, b) => calls[a]!.end - calls[b]!.end);
  for (const i of beside) endSeq[i] = ++last;
  return { seq, endSeq, parent };
}

/** Ids for what the calls were on. */
class Objects {
  readonly definitions: Definition[] = [];
  private readonly ids = new Map<string, number>();
  private readonly openFlags = new Map<string, number>();

  constructor(calls: readonly Call[]) {
    for (const { op, args } of calls)
      if (op === Op.xOpen && typeof args.object === 'string')
        this.openFlags.set(args.object, auxOfText(op, args.detail));
  }
  id({ op, args }: Call): number {
    if (typeof args.object !== 'string' || args.object === '') return 0;
    const wanted = definitionOf(op, args.object, this.openFlags.get(args.object) ?? 0);
    const key = `${wanted.kind}\0${args.object}`;
    let id = this.ids.get(key);
    if (id === undefined) {
      id = this.definitions.length + 1;
      this.ids.set(key, id);
      this.definitions.push({ ...wanted, id } as Definition);
    }
    return id;
  }
}
