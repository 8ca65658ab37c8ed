/**
 * F26: a lock for writing held for seconds, nothing done meanwhile.
 *
 *   BEGIN IMMEDIATE  [w]   fetch() ...................................   [w] COMMIT       busy less than 5 % of the time
 *   another connection        BUSY   BUSY   BUSY   BUSY   BUSY
 */
import { objectName } from '../../trace/describe.ts';
import { Op } from '../../event/event.ts';
import { isSqlOp, isVfsOp } from '../../event/operations.ts';
import { Evidence } from '../rules/context.ts';
import { measured, noSaving } from '../rules/saving.ts';
import type { Found, Rule } from '../rules/types.ts';
import { busyChains } from '../locks/busy.ts';
import { countOf, formatDuration, formatShare } from '../../text/numbers.ts';

const LONG_HOLD_US = 1_000_000;
const IDLE_SHARE = 0.05;

export const heldAcrossAwaits: Rule = {
  id: 'F26',
  title: 'Transaction held across awaits',
  run(ctx) {
    const found: Found[] = [];
    const holds = new Map<
      string,
      { evidence: Evidence; path: string; heldUs: number; busyUs: number; longestUs: number }
    >();
    const { list } = ctx.transactions;
    for (let i = 0; i < list.length; i++) {
      if (!list.isWrite(i) || list.endUs[i]! - list.beginUs[i]! < LONG_HOLD_US) continue;
      const t = list.at(i);
      const thread = ctx.store.threads[t.thread]!;
      const { events } = thread;
      if (events.op[t.beginRow] !== Op.xLock && t.lockRow < 0) continue; // locks are kept anyway
      // busy: the union of its calls, which nest
      let busy = 0;
      let until = t.beginUs;
      for (let row = t.beginRow; row <= t.endRow; row++) {
        const op = events.op[row]!;
        if (!isVfsOp(op) && !isSqlOp(op) && op !== Op.sqlCounters) continue;
        const from = Math.max(until, events.t0[row]!);
        const to = Math.min(t.endUs, events.t0[row]! + events.dur[row]!);
        if (to > from) {
          busy += to - from;
          until = to;
        }
      }
      const heldUs = t.endUs - t.beginUs;
      if (busy > IDLE_SHARE * heldUs) continue;
      const key = `${t.thread} ${t.context} ${t.path}`;
      let entry = holds.get(key);
      if (!entry)
        holds.set(
          key,
          (entry = { evidence: new Evidence(), path: t.path, heldUs: 0, busyUs: 0, longestUs: 0 }),
        );
      entry.evidence.count++;
      entry.evidence.us += heldUs;
      entry.evidence.span(t.beginUs, t.endUs);
      entry.evidence.show(t.thread, t.beginRow);
      entry.heldUs += heldUs;
      entry.busyUs += busy;
      entry.longestUs = Math.max(entry.longestUs, heldUs);
    }
    for (const e of holds.values()) {
      const waited = ctx
        .get(busyChains)
        .filter(
          (c) => c.path === e.path && c.fromUs < e.evidence.toUs && c.toUs > e.evidence.fromUs,
        );
      const us = waited.reduce((sum, c) => sum + c.toUs - c.fromUs, 0);
      found.push({
        title: `${countOf(e.evidence.count, 'write transaction')} on ${e.path} stayed open for ${formatDuration(e.heldUs)} (the longest ${formatDuration(e.longestUs)}), ${formatShare(1 - e.busyUs / e.heldUs)} of it idle`,
        evidence: e.evidence.result(ctx),
        ...(waited.length
          ? measured(us, `what ${waited.length} refused connections tried meanwhile`)
          : noSaving('nobody in this recording waited for it')),
        confidence: 'certain',
        reason:
          'the lock for writing was held for more than a second with less than 5 % of it in SQL or VFS calls',
        advice:
          'Do slow work (fetch, user input) before BEGIN, and send the statements of a transaction through one queue per connection.',
        link: 'https://www.sqlite.org/lang_transaction.html',
      });
    }
    const nested = new Evidence();
    for (const op of [Op.sqlStep, Op.sqlExec])
      ctx.each(op, (thread, row) => {
        if (
          thread.events.result[row] === 1 &&
          /^\s*begin\b/i.test(objectName(thread, thread.events.object[row]!))
        )
          nested.add(thread, row);
      });
    if (nested.count)
      found.push({
        title: `BEGIN failed ${countOf(nested.count, 'time')}: a transaction was open already on the same connection`,
        evidence: nested.result(ctx),
        ...noSaving('a failure, not a cost'),
        confidence: 'certain',
        reason: 'BEGIN answered SQLITE_ERROR; two tasks share the connection across an await',
        advice:
          'Give each connection one queue, so that a transaction ends before the next begins.',
        link: 'https://www.sqlite.org/lang_transaction.html',
      });
    return found;
  },
};
