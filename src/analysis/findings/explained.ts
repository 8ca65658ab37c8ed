/** How much of the time while SQL runs the findings are about: the calls that they name, each moment once. */
import { formatDuration } from '../../text/numbers.ts';
import { toNs } from '../../trace/lanes/sweep.ts';
import type { IntervalIndex } from '../../trace/lanes/interval-index.ts';
import { fact } from '../core/graph.ts';
import { servedThreads } from '../core/helper-threads.ts';
import { sqliteThreads } from '../core/main-threads.ts';
import { findingContext } from '../rules/context.ts';
import { totalTimeInSql } from '../time/summary-time.ts';
import { pieces } from '../time/thread-times.ts';
import { findings } from './index.ts';

export interface Explained {
  explainedUs: number;
  inSqlUs: number;
}

/** null where no time passed while SQL ran. What a worker does for a thread of SQLite counts as that thread's time. */
export const explained = fact(
  'explained',
  'what the findings explain',
  { findings, findingContext, pieces, sqliteThreads, servedThreads, totalTimeInSql },
  (store, known): Explained | null => {
    if (!known.totalTimeInSql) return null;
    const ns = known.sqliteThreads.reduce((sum, thread) => {
      const own = store.threads.filter(
        (one) => one === thread || known.servedThreads[one.index] === thread,
      );
      const named = own.flatMap((one) => known.findingContext.namedSpans(one));
      return sum + withinNs(named, known.pieces.of(thread).index);
    }, 0);
    return { explainedUs: ns / 1000, inSqlUs: known.totalTimeInSql };
  },
);

export const explainedText = ({ explainedUs, inSqlUs }: Explained): string =>
  `Explained by findings: ${formatDuration(explainedUs)} of ${formatDuration(inSqlUs)} in SQL.`;

/** How much of the index's time lies in any of the spans: begin, end, begin, ... */
function withinNs(spans: readonly number[], index: IntervalIndex): number {
  const order = Uint32Array.from({ length: spans.length / 2 }, (_, i) => 2 * i);
  let sum = 0;
  let at = 0;
  let done = -Infinity;
  for (const span of order.sort((a, b) => spans[a]! - spans[b]!)) {
    const to = toNs(spans[span + 1]!);
    const from = Math.max(toNs(spans[span]!), done);
    if (to <= from) continue;
    done = to;
    while (at < index.count && index.endOf(at) <= from) at++;
    for (let i = at; i < index.count && index.startOf(i) < to; i++)
      sum += Math.min(to, index.endOf(i)) - Math.max(from, index.startOf(i));
  }
  return sum;
}
