/**
 * F26: a write lock held for seconds without work.
 *
 *   BEGIN IMMEDIATE  [w]   fetch() ...................................   [w] COMMIT       busy less than 5 % of the time
 *   another connection        BUSY   BUSY   BUSY   BUSY   BUSY
 */
import { objectName } from '../../trace/describe.ts';
import { Op } from '../../event/event.ts';
import { Rc } from '../../sqlite/constants.ts';
import { Evidence } from '../rules/context.ts';
import { measured, noSaving } from '../rules/saving.ts';
import type { Found, Rule } from '../rules/types.ts';
import { grouped } from '../core/maps.ts';
import { busyChains, type BusyChain } from '../locks/busy.ts';
import { anatomies } from './transaction-anatomy.ts';
import { countOf, formatDuration, formatShare } from '../../text/numbers.ts';

const LONG_HOLD_US = 1_000_000;
const IDLE_SHARE = 0.05;

export const heldAcrossAwaits: Rule = {
  id: 'F26',
  title: 'Transaction held across awaits',
  run(ctx) {
    const found: Found[] = [];
    const all = ctx.get(anatomies);
    const list = all.transactions;
    /**
     * From the transaction's first request for the write lock. Idle time before that counts as
     * busy.
     */
    const heldUs = (i: number): number => list.endUs[i]! - list.beginUs[i]!;
    const busyUs = (i: number): number =>
      Math.max(0, list.endUs[i]! - all.fromUs[i]! - all.idleUs(i));
    const held = Array.from({ length: list.length }, (_, i) => i).filter((i) => {
      if (!list.isWrite(i) || heldUs(i) < LONG_HOLD_US) return false;
      const { events } = ctx.store.threads[list.thread[i]!]!;
      const keptAnyway = events.op[list.beginRow[i]!] !== Op.xLock && list.lockRow[i]! < 0;
      return !keptAnyway && busyUs(i) <= IDLE_SHARE * heldUs(i);
    });
    const connectionOf = (i: number): string =>
      `${list.thread[i]} ${list.context[i]} ${list.path(i)}`;
    const chainsOn = (path: string): BusyChain[] =>
      ctx.get(busyChains).filter((chain) => chain.path === path);
    for (const holds of grouped(held, connectionOf).values()) {
      const path = list.path(holds[0]!);
      const evidence = new Evidence();
      for (const i of holds) {
        evidence.count++;
        evidence.us += heldUs(i);
        evidence.span(list.beginUs[i]!, list.endUs[i]!);
        evidence.ran(ctx.store.threads[list.thread[i]!]!, list.beginUs[i]!, list.endUs[i]!);
        evidence.show(list.thread[i]!, list.beginRow[i]!);
      }
      const longest = Math.max(...holds.map(heldUs));
      const busy = holds.reduce((sum, i) => sum + busyUs(i), 0);
      const refused = new Set<string>();
      let waitedUs = 0;
      for (const { thread, context, fromUs, toUs, firstRow } of chainsOn(path))
        for (const i of holds) {
          const from = Math.max(fromUs, list.beginUs[i]!);
          const to = Math.min(toUs, list.endUs[i]!);
          const isHolder = thread === list.thread[i] && context === list.context[i];
          if (isHolder || to <= from) continue;
          refused.add(`${thread} ${context}`);
          waitedUs += to - from;
          evidence.ran(ctx.store.threads[thread]!, from, to);
          evidence.show(thread, firstRow);
        }
      found.push({
        title: `${countOf(evidence.count, 'write transaction')} on ${path} stayed open for ${formatDuration(evidence.us)} (the longest ${formatDuration(longest)}), ${formatShare(1 - busy / evidence.us)} of it idle`,
        evidence: evidence.result(ctx),
        ...(refused.size
          ? measured(
              waitedUs,
              `how long ${countOf(refused.size, 'refused connection')} tried while it was open`,
            )
          : noSaving('no connection in this recording waited for it')),
        confidence: refused.size ? 'likely' : 'certain',
        reason: `from its first call for the lock to its last call it took more than a second, with less than 5 % of it in SQL or VFS calls${refused.size ? '; another connection may have been in the way of those that were refused, too' : ''}`,
        advice:
          'Do slow work (fetch, user input) before BEGIN, and send the statements of a transaction through one queue per connection.',
        link: 'https://www.sqlite.org/lang_transaction.html',
      });
    }
    const nested = new Evidence();
    for (const op of [Op.sqlStep, Op.sqlExec])
      ctx.each(op, (thread, row) => {
        if (
          thread.events.result[row] === Rc.error &&
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
