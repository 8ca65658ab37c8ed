/**
 * Findings about IndexedDB databases that can't be used.
 *
 *   F28   gone after the tab was hidden      F29   opening or deleting blocked by a connection that stays open
 */
import { Flag, Op } from '../../event/event.ts';
import { objectName } from '../../trace/describe.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { Evidence, type FindingContext } from '../rules/context.ts';
import { noSaving } from '../rules/saving.ts';
import type { Found, Rule } from '../rules/types.ts';
import { hiddenTimes } from '../locks/rules.ts';
import { countOf, formatDuration } from '../../text/numbers.ts';

const BLOCKED_US = 4_000_000;
/** The browser itself reports that a connection blocks the request. */
const TOLD_BLOCKED_US = 100_000;

export const idbKilled: Rule = {
  id: 'F28',
  title: 'IndexedDB of a hidden tab was closed',
  run(ctx) {
    const found: Found[] = [];
    for (const thread of ctx.store.threads) {
      const { events, environment } = thread;
      const evidence = new Evidence();
      for (const row of ctx.rows(thread, Op.idbTransaction))
        if (events.flags[row]! & Flag.threw) evidence.add(thread, row);
      if (evidence.count === 0) continue;
      const page = ctx.store.threads
        .filter((t) => t.info.kind === 'page')
        .some((t) => hiddenTimes(ctx, t).some((h) => h.fromUs <= evidence.fromUs));
      if (!page) continue;
      const agent = environment?.userAgent ?? '';
      const safari = /Safari\//.test(agent) && !/Chrom(e|ium)\//.test(agent);
      found.push({
        title: `IDBDatabase.transaction threw ${countOf(evidence.count, 'time')} after the tab had been hidden: its connection was closed by the browser`,
        evidence: evidence.result(ctx),
        ...noSaving('a failure, not a cost'),
        confidence: safari ? 'likely' : 'possible',
        reason: safari
          ? 'Safari closes IndexedDB connections of hidden tabs'
          : 'only Safari is known to close connections of hidden tabs; the name of the error is not recorded',
        advice: "Listen to the database's close event, reopen the database, and try again.",
        link: 'https://www.w3.org/TR/IndexedDB/#closing-connection',
      });
    }
    return found;
  },
};

export const openBlocked: Rule = {
  id: 'F29',
  title: 'IndexedDB upgrade or delete blocked by another tab',
  run(ctx) {
    const found: Found[] = [];
    for (const op of [Op.idbOpen, Op.idbDeleteDatabase])
      ctx.each(op, (thread, row) => {
        const { events } = thread;
        const open = events.endSeq[row] === 0;
        const us = open ? ctx.endOf(thread) - events.t0[row]! : events.dur[row]!;
        const blocked = ctx
          .rows(thread, Op.idbBlocked)
          .find((at) => events.aux[at] === events.seq[row]);
        if (us < (blocked === undefined ? BLOCKED_US : TOLD_BLOCKED_US)) return;
        const db = objectName(thread, events.object[row]!);
        const users = ctx.store.threads.filter((other) =>
          other === thread
            ? blocked !== undefined && usesDatabase(ctx, other, db, events.t0[blocked])
            : usesDatabase(ctx, other, db),
        );
        if (users.length === 0 && blocked === undefined) return;
        const told = users.filter((user) => wasTold(ctx, user, db, events.t0[row]!, us));
        const namesOf = (list: readonly ThreadStore[]): string =>
          list.map(({ index }) => ctx.titles[index]!).join(', ');
        const evidence = new Evidence();
        evidence.add(thread, row);
        if (blocked !== undefined) evidence.show(thread.index, blocked);
        evidence.us = us;
        evidence.span(events.t0[row]!, events.t0[row]! + us);
        found.push({
          title: `${op === Op.idbOpen ? 'Opening' : 'Deleting'} the IndexedDB database ${db} ${open ? 'was still waiting' : 'took'} ${formatDuration(us)} while ${namesOf(users) || 'a context outside the recording'} had it open${told.length ? `; ${namesOf(told)} had got the versionchange event` : ''}`,
          evidence: evidence.result(ctx),
          savingUs: us,
          savingHow: 'what the call waited',
          confidence: blocked === undefined ? 'likely' : 'certain',
          reason:
            blocked === undefined
              ? 'an upgrade or deletion waits until every other connection is closed; no blocked event was seen'
              : 'the browser reported it (blocked): a connection of an older version was not closed when the browser asked for it',
          advice:
            "Close the connection in the database's versionchange event, and tell the user which tab to close on blocked.",
          link: 'https://www.w3.org/TR/IndexedDB/#eventdef-idbopendbrequest-blocked',
        });
      });
    return found;
  },
};

/** Whether, in that time, a handler on a thread of the app was asked to close the database. */
function wasTold(
  ctx: FindingContext,
  thread: ThreadStore,
  db: string,
  fromUs: number,
  us: number,
): boolean {
  const { events } = thread;
  return ctx
    .rows(thread, Op.idbVersionChange)
    .some(
      (row) =>
        events.t0[row]! >= fromUs &&
        events.t0[row]! <= fromUs + us &&
        objectName(thread, events.object[row]!) === db,
    );
}

/** @param before only calls that had ended by then, microseconds */
function usesDatabase(
  ctx: FindingContext,
  thread: ThreadStore,
  db: string,
  before = Infinity,
): boolean {
  const { events } = thread;
  const worked = (row: number): boolean => events.endSeq[row] !== 0 && events.result[row] === 0;
  return [Op.idbTransaction, Op.idbOpen].some((op) =>
    ctx
      .rows(thread, op)
      .some(
        (row) =>
          worked(row) &&
          events.t0[row]! + events.dur[row]! <= before &&
          objectName(thread, events.object[row]!) === db,
      ),
  );
}
