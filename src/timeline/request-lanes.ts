/**
 * Lanes of the requests that a thread posts to others, each in its phases:
 *
 *   [ queue ][ SQL 3 ms, storage 2 ms ][ answer queue ][ handler ]
 *
 * Requests that are under way at once stand on lines of their own; those that find none share the last one, where the one that began
 * first is shown to its end.
 */
import { postedUs } from '../analysis/messages/messages.ts';
import type { Request } from '../analysis/messages/requests.ts';
import { ACTIVITIES } from '../event/operations.ts';
import { formatDuration } from '../text/numbers.ts';
import { IntervalIndex } from '../trace/lanes/interval-index.ts';
import { toNs } from '../trace/lanes/sweep.ts';

const MOST_LINES = 4;
/** Colors of transactions' phases, and CPU's for the part in which the other thread works (palette.ts). */
const [QUEUE, WORK, ANSWER_QUEUE, HANDLER] = (['read', 'cpu', 'write', 'sync'] as const).map(
  (activity) => ACTIVITIES.indexOf(activity),
) as [number, number, number, number];

export class RequestLines {
  readonly lines: IntervalIndex[] = [];
  /** By the row of the call of postMessage. */
  private readonly byRow = new Map<number, Request>();
  private readonly ends: number[] = [];

  get count(): number {
    return this.byRow.size;
  }

  /** In order of time. */
  add(request: Request): void {
    const { row } = request.message;
    const from = toNs(postedUs(request.message));
    const free = this.ends.findIndex((end) => end <= from);
    const line = free >= 0 ? free : Math.min(this.lines.length, MOST_LINES - 1);
    const index = (this.lines[line] ??= new IntervalIndex());
    this.byRow.set(row, request);
    let [at, last] = [from, this.ends[line] ?? 0];
    const phase = (us: number | null, kind: number): void => {
      const end = at + toNs(us ?? 0);
      const start = Math.max(at, last);
      if (end > start) index.push(start, end - start, kind, row);
      [at, last] = [end, Math.max(last, end)];
    };
    phase(request.queueUs, QUEUE);
    phase(request.workUs, WORK);
    phase(request.answerQueueUs, ANSWER_QUEUE);
    phase(request.listenersUs, HANDLER);
    this.ends[line] = last;
  }

  /** What an interval shows. */
  label(row: number, kind: number): string {
    const request = this.byRow.get(row);
    if (!request) return '';
    if (kind === QUEUE) return `queue${request.pairing === 'guess' ? ' (guess)' : ''}`;
    if (kind === ANSWER_QUEUE) return 'answer queue';
    if (kind === HANDLER) return 'handler';
    const parts = (['sql', 'storage'] as const).flatMap((part) => {
      const us = request[`${part}Us`];
      return us > 0 ? [`${part === 'sql' ? 'SQL' : part} ${formatDuration(us)}`] : [];
    });
    return parts.join(', ') || 'handled';
  }
}

/** By index of the thread that asks. */
export function requestLanes(requests: readonly Request[]): ReadonlyMap<number, RequestLines> {
  const lanes = new Map<number, RequestLines>();
  for (const request of requests) {
    const { index } = request.message.from.thread;
    const own = lanes.get(index) ?? new RequestLines();
    lanes.set(index, own);
    own.add(request);
  }
  return lanes;
}
