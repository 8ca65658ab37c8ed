/**
 * Chrome's Trace Event JSON, which Perfetto, chrome://tracing, Chrome DevTools, Firefox Profiler,
 * and speedscope read. Complete events ("X") of one tid must nest, so calls that overlap without
 * nesting go to separate tids.
 */
import { threadTitles } from '../analysis/core/thread-titles.ts';
import {
  detailText,
  lengthOf,
  objectName,
  offsetOf,
  resultText,
  servedStatement,
} from '../trace/describe.ts';
import { OPS, opName } from '../event/operations.ts';
import type { ThreadStore, TraceStore } from '../trace/store.ts';
import { threadEndUs } from '../trace/thread-end.ts';
import { inPieces } from './pieces.ts';

const PID = 1;
/** tids of a thread's tracks: index * TRACKS + 1 and up. */
const TRACKS = 100_000;

/** Tracks of one thread: a call goes to the first one on which it nests. */
export class NestingTracks {
  /** Ends of the calls open on each track, innermost last. */
  private readonly ends: number[][] = [];

  get count(): number {
    return this.ends.length;
  }
  /**
   * Calls must come in order of their begin, in whole nanoseconds: fractions wouldn't nest.
   * @returns number of the track
   */
  place(begin: number, end: number): number {
    for (let track = 0; ; track++) {
      const open = (this.ends[track] ??= []);
      while (open.length && open[open.length - 1]! <= begin) open.pop();
      if (open.length && open[open.length - 1]! < end) continue;
      open.push(end);
      return track;
    }
  }
}

/** Microseconds with the trace's nanoseconds, without the noise of binary fractions. */
const us = (value: number): number => Math.round(value * 1000) / 1000;

/**
 * The whole trace as text, in pieces.
 * Calls without an end last until the end of the trace or of their thread, and are marked in their
 * arguments.
 */
export const chromeJson = (store: TraceStore): AsyncGenerator<string> => inPieces(texts(store));

function* texts(store: TraceStore): Generator<string> {
  const [, endUs] = store.extent();
  const titles = threadTitles(store);
  const page = store.threads.find((t) => t.info.kind === 'page') ?? store.threads[0];
  yield `{"displayTimeUnit":"ms","metadata":${JSON.stringify({ source: 'vfscope', originMs: store.originMs, dropped: store.dropped })},"traceEvents":[\n`;
  const frames = [{ frame: 'main', url: page?.info.url ?? '', name: '', processId: PID }];
  const first: object[] = [
    // DevTools shows nothing without this event and a main thread of this name
    {
      name: 'TracingStartedInBrowser',
      cat: 'disabled-by-default-devtools.timeline',
      ph: 'I',
      s: 't',
      ts: 0,
      pid: PID,
      tid: 0,
      args: { data: { frameTreeNodeId: 1, persistentIds: true, frames } },
    },
    { name: 'process_name', ph: 'M', ts: 0, pid: PID, tid: 0, args: { name: 'vfscope' } },
    { name: 'thread_name', ph: 'M', ts: 0, pid: PID, tid: 0, args: { name: 'CrRendererMain' } },
  ];
  yield first.map((e) => JSON.stringify(e)).join(',\n');
  for (const thread of store.threads) {
    const tracks = new NestingTracks();
    const { events } = thread;
    const horizon = threadEndUs(thread, endUs);
    for (let row = 0; row < events.count; row++)
      yield `,\n${eventLine(thread, row, horizon, tracks)}`;
    for (let track = 0; track < Math.max(1, tracks.count); track++) {
      const title = titles[thread.index]!;
      const name = track ? `${title} · concurrent calls ${track}` : title;
      const tid = thread.index * TRACKS + 1 + track;
      yield `,\n${JSON.stringify({ name: 'thread_name', ph: 'M', ts: 0, pid: PID, tid, args: { name } })}`;
      yield `,\n${JSON.stringify({ name: 'thread_sort_index', ph: 'M', ts: 0, pid: PID, tid, args: { sort_index: tid } })}`;
    }
  }
  yield '\n]}\n';
}

function eventLine(
  thread: ThreadStore,
  row: number,
  horizon: number,
  tracks: NestingTracks,
): string {
  const { events } = thread;
  const op = events.op[row]!;
  const ts = events.t0[row]!;
  const open = events.endSeq[row] === 0;
  const end = open ? Math.max(horizon, ts) : ts + events.dur[row]!;
  const layer = OPS[op]?.layer ?? 'unknown';
  const instant = layer === 'host' && end === ts && !open;
  const tid =
    thread.index * TRACKS +
    1 +
    (instant ? 0 : tracks.place(Math.round(ts * 1000), Math.round(end * 1000)));
  const place = instant
    ? { ph: 'I', s: 't', ts: us(ts) }
    : { ph: 'X', ts: us(ts), dur: us(end - ts) };
  return JSON.stringify({
    name: opName(op),
    cat: layer,
    ...place,
    pid: PID,
    tid,
    args: argsOf(thread, row, op, open),
  });
}

function argsOf(
  thread: ThreadStore,
  row: number,
  op: number,
  open: boolean,
): Record<string, string | number | boolean> {
  const { events } = thread;
  const args: Record<string, string | number | boolean> = {};
  const object = objectName(thread, events.object[row]!);
  if (object) args.object = object;
  const offset = offsetOf(events, row);
  if (offset !== null) args.offset = offset;
  const length = lengthOf(events, row);
  if (length) args.length = length;
  const detail = detailText(thread, row);
  if (detail) args.detail = detail;
  if (open) args.open = true;
  else args.result = resultText(op, events.result[row]!, events.flags[row]!) || events.result[row]!;
  const statement = servedStatement(thread, row);
  if (statement) args.statement = statement;
  return args;
}
