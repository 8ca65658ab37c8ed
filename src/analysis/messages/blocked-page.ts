/**
 * Finding about SQL that keeps a page from responding.
 *
 *   F60   page   | click | SELECT .......................| paint      nothing else runs meanwhile
 *                        |<-------- long task ---------->|
 *
 * Calls that wait asynchronously (Asyncify, JSPI) block nothing while they wait, so they don't
 * count.
 */
import { Flag, Op } from '../../event/event.ts';
import { formatCount, formatDuration } from '../../text/numbers.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { executions } from '../core/executions.ts';
import { rowsByOperation } from '../core/rows-by-operation.ts';
import { Evidence, type FindingContext } from '../rules/context.ts';
import { noSaving } from '../rules/saving.ts';
import type { Found, Rule } from '../rules/types.ts';
import { NOTICED_US, pageSpans } from './page-spans.ts';

/** A long task (w3c.github.io/longtasks). */
const TASK_US = 50_000;

/** SQL in one task of the page. */
interface Block {
  us: number;
  /** It counts from this time on, microseconds. */
  leastUs: number;
  /** Rows of its calls. */
  rows: number[];
}

export const blockedPage: Rule = {
  id: 'F60',
  title: "SQL blocks a page's main thread",
  needs: { executions },
  run: (ctx) =>
    ctx.store.threads.flatMap((thread) => {
      const { kind } = thread.info;
      if (kind !== 'page' && kind !== 'frame') return [];
      const blocks = blocksOf(ctx, thread).filter(({ us, leastUs }) => us >= leastUs);
      return blocks.some(({ us }) => us >= NOTICED_US) ? [found(ctx, thread, blocks)] : [];
    }),
};

/**
 * SQL by long task; half of such a task must be SQL. If the browser reported no long tasks, each
 * call is a task.
 */
function blocksOf(ctx: FindingContext, thread: ThreadStore): Block[] {
  const { t0, dur, flags, endSeq } = thread.events;
  const { row: rows, count } = ctx.get(executions).of(thread).calls;
  const known = ctx.get(rowsByOperation).of(thread);
  const tasks = pageSpans(thread, known, Op.longTask, ctx.store.originMs);
  const blocks: Block[] = [];
  let [task, until] = [0, -Infinity];
  let inTask: Block | null = null;
  for (let i = 0; i < count; i++) {
    const row = rows[i]!;
    if (flags[row]! & Flag.async || endSeq[row] === 0) continue;
    const [from, to] = [Math.max(until, t0[row]!), t0[row]! + dur[row]!];
    if (to <= from) continue; // inside the call before
    until = to;
    if (tasks.length === 0) {
      if (to - from >= TASK_US) blocks.push({ us: to - from, leastUs: 0, rows: [row] });
      continue;
    }
    for (; task < tasks.length && tasks[task]!.toUs <= from; task++) inTask = null;
    const span = tasks[task];
    if (!span || span.fromUs >= to) continue;
    if (!inTask) {
      inTask = { us: 0, leastUs: (span.toUs - span.fromUs) / 2, rows: [] };
      blocks.push(inTask);
    }
    inTask.us += to - from;
    inTask.rows.push(row);
  }
  return blocks;
}

function found(ctx: FindingContext, thread: ThreadStore, blocks: readonly Block[]): Found {
  const evidence = new Evidence();
  for (const { rows } of blocks) for (const row of rows) evidence.tally(thread, row);
  const most = formatDuration(blocks.reduce((longest, { us }) => Math.max(longest, us), 0));
  const sum = formatDuration(blocks.reduce((all, { us }) => all + us, 0));
  const times =
    blocks.length === 1
      ? `once, for ${most}`
      : `${formatCount(blocks.length)} times, for ${sum} in all and ${most} at most`;
  return {
    title: `SQL blocked the main thread of ${ctx.titles[thread.index]!} ${times}`,
    evidence: { ...evidence.result(ctx, false), count: blocks.length },
    ...noSaving('SQL takes as long in a worker, but the page keeps responding'),
    confidence: 'certain',
    reason: 'these calls return when SQLite is done, and until then the page does nothing else',
    advice: 'Run SQLite in a worker. The page then responds while SQLite works.',
    link: 'https://developer.mozilla.org/docs/Web/API/Web_Workers_API/Using_web_workers',
  };
}
