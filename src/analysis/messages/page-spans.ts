/** What a page's user waited for, as the browser reported it: interactions and long tasks. Reported afterwards: offset = begin in ms, length = us. */
import { toTraceUs } from '../../event/clock.ts';
import type { Op } from '../../event/event.ts';
import type { ThreadStore } from '../../trace/store.ts';
import type { ByThread } from '../core/graph.ts';
import type { RowsByOperation } from '../core/rows-by-operation.ts';

export interface PageSpan {
  row: number;
  /** Microseconds of the trace. */
  fromUs: number;
  toUs: number;
}

/** The first such span of a thread that has a moment of [fromUs, toUs]; null = none was recorded. */
export function pageSpanIn(
  thread: ThreadStore,
  rows: ByThread<RowsByOperation>,
  op: typeof Op.interaction | typeof Op.longTask,
  originMs: number,
  fromUs: number,
  toUs = fromUs,
): PageSpan | null {
  const { offset, length } = thread.events;
  for (const row of rows.of(thread).of(op)) {
    const begin = toTraceUs(offset[row]!, thread.info, originMs);
    const end = begin + length[row]!;
    if (begin <= toUs && fromUs <= end) return { row, fromUs: begin, toUs: end };
  }
  return null;
}
