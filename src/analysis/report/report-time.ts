/**
 * Where the time went, over all threads that run SQLite, with the uncertainty from the clock's
 * step.
 */
import { sqliteThreads } from '../core/main-threads.ts';
import { unseenWork } from '../core/unrecorded-workers.ts';
import type { Block } from './blocks.ts';
import { UNKNOWN, formatDuration, formatShare } from '../../text/numbers.ts';
import type { Facts } from '../core/graph.ts';
import { openEndsText, tracerInSql } from '../time/time-partition.ts';
import { partition } from '../time/thread-times.ts';
import { isInSql, PART_WORDS, PARTS, SQL_PARTS, type Part } from '../core/time-parts.ts';

/** null if no thread has SQL or VFS events. */
export function timeBlock(facts: Facts): Block | null {
  const threads = facts.get(sqliteThreads);
  if (threads.length === 0) return null;
  const unseen = facts.get(unseenWork);
  const parts = threads.map((thread) => facts.get(partition).of(thread));
  const us = (part: Part): number =>
    parts.reduce((sum, p) => sum + (part === 'tracer' ? tracerInSql(p) : p[`${part}Us`]), 0);
  // bounds are added; likely errors of independent threads are added as squares
  const known = parts.every((p) => p.errorUs !== null && p.likelyErrorUs !== null);
  const atMost = (part: Part): number => parts.reduce((sum, p) => sum + p.errorUs![`${part}Us`], 0);
  const likely = (part: Part): number =>
    Math.sqrt(parts.reduce((sum, p) => sum + p.likelyErrorUs![`${part}Us`] ** 2, 0));
  const setUp = parts.reduce((sum, p) => sum + p.tracerOutsideUs, 0);
  const sql = SQL_PARTS.reduce((sum, part) => sum + us(part), 0);
  const open = parts.reduce((n, p) => n + p.openEnds, 0);
  const shown = PARTS.filter((part) => us(part) > 0);
  return {
    heading: `Time on ${threads.length === 1 ? 'the thread' : `the ${threads.length} threads`} of SQLite`,
    table: {
      head: ['part', 'time', 'of SQL', 'likely error', 'largest error'],
      rows: shown.map((part) => [
        PART_WORDS[part].title,
        formatDuration(us(part)),
        !isInSql(part) || sql === 0 ? '' : formatShare(us(part) / sql),
        known ? formatDuration(likely(part)) : UNKNOWN,
        known ? formatDuration(atMost(part)) : UNKNOWN,
      ]),
      texts: [0],
    },
    lines: [
      ...(unseen ? [`Only what was recorded: ${unseen.text}.`] : []),
      known
        ? "Errors come from the clock's step. The likely one is two standard deviations, in either direction."
        : "The clock's step is not known.",
      ...(setUp > 0 ? [`vfscope itself took ${formatDuration(setUp)} more while no SQL ran.`] : []),
      ...(parts.some((p) => p.vfsIsStorage)
        ? [
            'The recording leaves storage calls out: the time of VFS calls counts as storage or locks, their JavaScript included.',
          ]
        : []),
      ...(open ? [openEndsText(open)] : []),
    ],
  };
}
