/**
 * Finding about statements that are finalized after each run:
 *
 *   F53   prepare, step, finalize | prepare, step, finalize ...     prepare, step, reset, step, reset
 */
import { Op } from '../../event/event.ts';
import { opSet } from '../../event/operations.ts';
import { objectName } from '../../trace/describe.ts';
import { countOf, formatDuration } from '../../text/numbers.ts';
import { getOrMake } from '../core/maps.ts';
import { quoted } from '../core/quoted.ts';
import { rowsByOperation } from '../core/rows-by-operation.ts';
import { Evidence } from '../rules/context.ts';
import { Saving } from '../rules/saving.ts';
import type { Rule } from '../rules/types.ts';
import { PREPARED_AGAIN } from '../../sqlite/rule-limits.ts';
import { byText, MOST } from './by-text.ts';

/**
 * Lists of any length, and rows of VALUES, are folded to three dots, but a statement has a fixed
 * number of them.
 */
const HAS_LISTS = /, \.\.\./;

/** One text, prepared more than once. */
interface Prepared {
  /** The text as first prepared, and its fingerprint. */
  sql: string;
  print: string;
  again: Evidence;
  /**
   * Prepares of the rest after the text: libraries ask SQLite for its next statement, and there is
   * none.
   */
  rests: Evidence;
  /** From the prepares to the first steps, without calls of SQLite: JavaScript, microseconds. */
  codeUs: number;
}
const PREPARES = opSet(Op.sqlPrepare, Op.sqlStep, Op.sqlReset, Op.sqlFinalize, Op.sqlExec);

export const preparedAgain: Rule = {
  id: 'F53',
  title: 'One text prepared again and again',
  needs: { rowsByOperation },
  run(ctx) {
    const found = new Map<string, Prepared>();
    for (const thread of ctx.store.threads) {
      const { object, context, result, op, aux, t0, dur } = thread.events;
      /** By fingerprint: the connections on which a text was prepared. */
      const connections = new Map<string, Set<number>>();
      let text = 0;
      const ofText = byText(thread, (sql) =>
        sql
          ? {
              known: getOrMake(found, sql, () => ({
                sql: objectName(thread, text),
                print: sql,
                again: new Evidence(),
                rests: new Evidence(),
                codeUs: 0,
              })),
              met: getOrMake(connections, sql, () => new Set<number>()),
            }
          : null,
      );
      /** The statement that was last prepared again, and the call before. */
      let open = null as { of: Prepared; instance: number; connection: number } | null;
      let before = -1;
      const rows = ctx.get(rowsByOperation).of(thread).together(PREPARES);
      for (let r = 0; r < rows.length; r++) {
        const row = rows[r]!;
        const last = before;
        before = row;
        if (op[row] !== Op.sqlPrepare) {
          const isOwn = open?.instance === aux[row];
          if (isOwn && op[row] === Op.sqlStep && op[last] === Op.sqlPrepare)
            open!.of.codeUs += Math.max(0, t0[row]! - t0[last]! - dur[last]!);
          if (!isOwn) open = null;
          continue;
        }
        if (object[row] === 0 && open?.connection === context[row] && result[row] === 0) {
          open!.of.rests.add(thread, row);
          open!.of.again.call(thread, row); // it belongs to them
        }
        open = null;
        if (result[row] !== 0) continue; // a refused one is retried
        const own = ofText((text = object[row]!));
        if (!own) continue;
        if (own.met.has(context[row]!)) {
          own.known.again.add(thread, row);
          open = { of: own.known, instance: aux[row]!, connection: context[row]! };
        } else own.met.add(context[row]!);
      }
    }
    return [...found.values()]
      .filter(({ again }) => again.count >= PREPARED_AGAIN)
      .sort((a, b) => b.again.us - a.again.us)
      .slice(0, MOST)
      .map(({ sql, print, again, rests, codeUs }) => {
        const cost = { calls: again.count + rests.count, us: again.us + rests.us };
        const saving = new Saving(ctx).avoid(cost.calls, Op.sqlPrepare, 'prepares', '', cost);
        const code = `your code and its SQLite library took ${formatDuration(codeUs)} more from prepare to step`;
        const { savingHow, ...known } = saving.result();
        return {
          title: `${quoted(sql)} was prepared again ${countOf(again.count, 'time')}`,
          evidence: again.result(ctx, false),
          ...known,
          savingHow: codeUs > 0 ? `${savingHow}; ${code}, part of that is saved, too` : savingHow,
          ...(HAS_LISTS.test(print)
            ? {
                confidence: 'possible',
                reason: `${countOf(again.count, 'prepare')} repeated a text that was already prepared on the same connection; lists of different lengths are different statements, but count as one here`,
                advice:
                  'Prepare this statement once for each length of its list, or bind the list as JSON and read it with json_each.',
              }
            : {
                confidence: 'likely',
                reason: `${countOf(again.count, 'prepare')} repeated a text that was already prepared on the same connection, apart from values`,
                advice: 'Prepare this statement once, and bind its values for each run.',
              }),
          link: 'https://www.sqlite.org/c3ref/prepare.html',
        };
      });
  },
};
