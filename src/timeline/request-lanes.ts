/**
 * Lanes of the requests that a thread posts to others:
 *
 *   [ queue ][ CPU ][ read ][ CPU ][ sync ][ other work ][ answer queue ][ listeners ]
 *
 * Waiting in the other thread for earlier requests counts as queue, too. The parts that the other
 * thread spends are those of its own lane of CPU and I/O. A request to a worker that isn't recorded
 * has one part, from the post until the answer's listeners run. Requests that overlap are drawn on
 * separate lines. If there are too many, the rest share the last line, where the one that began
 * first is drawn to its end.
 */
import { PART_WORDS, SQL_PARTS } from '../analysis/core/time-parts.ts';
import type { ByThread } from '../analysis/core/graph.ts';
import { getOrMake } from '../analysis/core/maps.ts';
import { postedUs } from '../analysis/messages/messages.ts';
import { REQUEST_PARTS, type RequestPart } from '../analysis/messages/request-parts.ts';
import { behindFromUs, type Request } from '../analysis/messages/requests.ts';
import type { UnrecordedRequest } from '../analysis/messages/unrecorded-requests.ts';
import { IntervalIndex } from '../trace/lanes/interval-index.ts';
import { toNs } from '../trace/lanes/sweep.ts';
import type { ThreadStore } from '../trace/store.ts';

const MOST_LINES = 4;
const kindOf = (part: RequestPart): number => REQUEST_PARTS.indexOf(part);
const [QUEUE, REST] = [kindOf('queue'), kindOf('rest')];
/** By place in SQL_PARTS. */
const KIND_OF_PART = SQL_PARTS.map((part) => {
  const kind = (REQUEST_PARTS as readonly string[]).indexOf(part);
  return kind < 0 ? REST : kind;
});

/** Adds an interval. @param end nanoseconds */
type Show = (row: number, end: number, kind: number) => void;

/** Where the time of each thread went while SQL ran. */
type Pieces = ByThread<{ index: IntervalIndex }>;

export class RequestLines {
  readonly lines: IntervalIndex[] = [];
  /**
   * By row: the call of postMessage, and for the part after the answer's post the event of its
   * listeners.
   */
  private readonly byRow = new Map<number, { request: Request; answered: boolean }>();
  /** The same for requests to workers that aren't recorded. */
  private readonly unrecorded = new Set<number>();
  private readonly ends: number[] = [];
  count = 0;

  constructor(private readonly pieces: Pieces) {}

  /** Call in order of time. */
  add(request: Request): void {
    const { message, answer } = request;
    let at = toNs(postedUs(message));
    const showOn = this.lineFrom(at);
    const show = (...[row, end, kind]: Parameters<Show>): void => {
      showOn(row, end, kind);
      at = Math.max(at, end);
    };
    const { row } = message;
    this.byRow.set(row, { request, answered: false });
    show(row, at + toNs(request.queueUs), QUEUE);
    const done = at + toNs(request.workUs ?? 0);
    const work = (until: number): void => {
      this.eachPiece(request, at, until, (begin, end, kind) => {
        show(row, begin, REST);
        show(row, end, kind);
      });
      show(row, until, REST);
    };
    if (request.behindUs) {
      work(toNs(behindFromUs(request)));
      show(row, at + toNs(request.behindUs), QUEUE);
    }
    work(done);
    if (answer && answer.toRow >= 0) {
      this.byRow.set(answer.toRow, { request, answered: true });
      show(answer.toRow, at + toNs(request.answerQueueUs ?? 0), QUEUE);
      show(answer.toRow, at + toNs(request.listenersUs ?? 0), REST);
    }
  }

  /** An answered one. Call in order of time. */
  addUnrecorded({ end, row, totalUs }: UnrecordedRequest): void {
    const from = toNs(end.thread.events.t0[row]!);
    this.unrecorded.add(row);
    this.lineFrom(from)(row, from + toNs(totalUs), REST);
  }

  /**
   * A line that is free from this moment on, or the last one.
   * @returns a function that adds intervals to it, each from the end of the one before
   */
  private lineFrom(from: number): Show {
    this.count++;
    const free = this.ends.findIndex((end) => end <= from);
    const line = free >= 0 ? free : Math.min(this.lines.length, MOST_LINES - 1);
    const index = (this.lines[line] ??= new IntervalIndex());
    this.ends[line] = Math.max(from, this.ends[line] ?? 0);
    return (row, end, kind) => {
      const start = this.ends[line]!;
      if (end <= start) return;
      index.push(start, end - start, kind, row);
      this.ends[line] = end;
    };
  }

  /** What the answering thread did, in order of time. @param from @param until nanoseconds */
  private eachPiece(
    { message }: Request,
    from: number,
    until: number,
    take: (from: number, to: number, kind: number) => void,
  ): void {
    const { index } = this.pieces.of(message.to!.thread);
    for (let i = Math.max(0, index.before(from) - 1); i < index.count; i++) {
      const begin = index.startOf(i);
      if (begin >= until) break;
      const end = Math.min(index.endOf(i), until);
      if (end > from) take(Math.max(from, begin), end, KIND_OF_PART[index.kind[i]!]!);
    }
  }

  /** Text of an interval. */
  label(row: number, kind: number): string {
    if (this.unrecorded.has(row)) return 'worker that is not recorded (guess)';
    const shown = this.byRow.get(row);
    const part = REQUEST_PARTS[kind];
    if (!shown || !part) return '';
    if (part === 'rest') return shown.answered ? 'listeners' : 'other work';
    if (part !== 'queue') return PART_WORDS[part].title;
    if (shown.answered) return 'answer queue';
    return `queue${shown.request.pairing === 'guess' ? ' (guess)' : ''}`;
  }
}

/**
 * By index of the thread that asks.
 * @param unrecorded requests to workers that aren't recorded
 * @param pieces of the threads that answer
 */
export function requestLanes(
  requests: readonly Request[],
  unrecorded: readonly UnrecordedRequest[],
  pieces: Pieces,
): ReadonlyMap<number, RequestLines> {
  const lanes = new Map<number, RequestLines>();
  const linesOf = ({ index }: ThreadStore): RequestLines =>
    getOrMake(lanes, index, () => new RequestLines(pieces));
  const all = [
    ...requests.map((request) => ({
      us: postedUs(request.message),
      add: () => linesOf(request.message.from.thread).add(request),
    })),
    ...unrecorded
      .filter(({ heardRow }) => heardRow >= 0)
      .map((request) => ({
        us: request.end.thread.events.t0[request.row]!,
        add: () => linesOf(request.end.thread).addUnrecorded(request),
      })),
  ];
  all.sort((a, b) => a.us - b.us);
  for (const { add } of all) add();
  return lanes;
}
