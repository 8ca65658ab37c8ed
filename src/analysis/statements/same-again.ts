/**
 * Finding about a query whose answer was already known:
 *
 *   F55   SELECT .. WHERE a = 7 | SELECT .. WHERE a = 7 ...     its rows, cached until something is written
 */
import { Op } from '../../event/event.ts';
import { objectName } from '../../trace/describe.ts';
import { formatCount } from '../../text/numbers.ts';
import { executions, ExecutionState } from '../core/executions.ts';
import { getOrMake } from '../core/maps.ts';
import { quoted } from '../core/quoted.ts';
import { SQL_FUNCTIONS, SQL_WORDS } from '../privacy/allow-list.ts';
import { engineOfConnection } from '../memory/engine-readings.ts';
import { Evidence } from '../rules/context.ts';
import { Saving } from '../rules/saving.ts';
import type { Rule } from '../rules/types.ts';
import { explicitTransactions } from '../transactions/explicit-transactions.ts';
import { byText, MOST, READS } from './by-text.ts';
import { CHANGES_ROWS } from './rewrites.ts';
import { anyChange, rowChanges, tablesChanged } from './tables-changed.ts';
import { tablesReadBy } from './tables-read-by.ts';

const FEW_REPEATS = 10;
/**
 * Reads rows of the database, and nothing that changes by itself or through unrecorded connections.
 */
const ASKS_TABLES = /\bfrom\b/;
const CHANGES_BY_ITSELF =
  /\b(?:random|randomblob|date|time|datetime|julianday|unixepoch|strftime|timediff|changes|total_changes|last_insert_rowid)["`\]]?\s*\(|\b(?:current_(?:date|time|timestamp)|pragma_\w+|sqlite_stmt)\b/;

const CALLS = /([\w$]+|["`\]])\s*\(/g;
/** Whether it calls a function that isn't SQLite's, whose result depends on the app. */
const callsOwn = (sql: string): boolean =>
  [...sql.matchAll(CALLS)].some(([, name]) => !SQL_FUNCTIONS.has(name!) && !SQL_WORDS.has(name!));

const asksTables = (sql: string): boolean =>
  READS.test(sql) &&
  ASKS_TABLES.test(sql) &&
  !CHANGES_BY_ITSELF.test(sql) &&
  !CHANGES_ROWS.test(sql);

export const sameAgain: Rule = {
  id: 'F55',
  title: 'Same query again, nothing written',
  run(ctx) {
    let changes: Parameters<typeof anyChange>[0] | null = null;
    const found = new Map<
      string,
      { sql: string; changesByItself: boolean; again: Evidence; repeats: number }
    >();
    for (const thread of ctx.store.threads) {
      const runs = ctx.get(executions).of(thread);
      const { context, t0, seq } = thread.events;
      const explicit = ctx.get(explicitTransactions).of(thread);
      const engineOf = ctx.get(engineOfConnection).of(thread);
      /**
       * From when on a run would show a change: within a transaction, others' changes since its
       * begin aren't visible.
       */
      const sinceOf = (before: number, now: number): number => {
        const [span, next] = [before, now].map((i) => {
          const row = runs.firstRow[i]!;
          return explicit.at(context[row]!, seq[row]!);
        });
        return t0[span && span !== next ? span.beginRow : runs.firstRow[before]!]!;
      };
      /** By fingerprint, by connection, by hash of its values: its last run. */
      const last = new Map<string, Map<number, Map<number, number>>>();
      const textOf = byText(thread, (sql) =>
        asksTables(sql)
          ? { sql, ran: getOrMake(last, sql, () => new Map<number, Map<number, number>>()) }
          : null,
      );
      const of = new Map<number, Evidence>();
      const read = new Map<string, readonly string[] | null>();
      const tablesOf = (connection: number, sql: string): readonly string[] | null =>
        getOrMake(read, `${connection} ${sql}`, () =>
          ctx.get(tablesReadBy).of(thread, connection, sql),
        );
      for (let i = 0; i < runs.count; i++) {
        if (!runs.values[i]) continue;
        // its remaining rows may have been needed
        if (runs.state[i] !== ExecutionState.done) continue;
        const text = textOf(runs.text[i]!);
        if (!text) continue;
        const { sql } = text;
        const row = runs.firstRow[i]!;
        const ran = getOrMake(text.ran, context[row]!, () => new Map<number, number>());
        const before = ran.get(runs.values[i]!);
        ran.set(runs.values[i]!, i);
        if (before === undefined) continue;
        changes ??= ctx.get(rowChanges);
        const since = sinceOf(before, i);
        if (anyChange(changes, since, t0[row]!)) {
          const tables = tablesOf(context[row]!, sql);
          if (!tables || !ctx.get(tablesChanged).unchanged(tables, since, t0[row]!)) continue;
        }
        // another engine of the thread has other databases
        const engine = thread.engines.length > 1 ? engineOf(context[row]!) : null;
        const query = getOrMake(found, `${engine ?? ''} ${sql}`, () => ({
          sql: objectName(thread, runs.text[i]!),
          changesByItself:
            callsOwn(sql) ||
            ctx.get(tablesReadBy).namesTables(thread, context[row]!, sql) === false,
          again: new Evidence(),
          repeats: 0,
        }));
        query.repeats++;
        of.set(i, query.again);
      }
      const { row, execution, count } = runs.calls;
      for (let c = 0; of.size > 0 && c < count; c++) of.get(execution[c]!)?.add(thread, row[c]!);
    }
    return [...found.values()]
      .filter(({ repeats }) => repeats >= FEW_REPEATS)
      .sort((a, b) => b.again.us - a.again.us)
      .slice(0, MOST)
      .map(({ sql, changesByItself, again, repeats }) => ({
        title: `${quoted(sql)} ran ${formatCount(repeats)} times with values that it had before, and nothing that it reads was written between`,
        evidence: { ...again.result(ctx, false), count: repeats },
        ...new Saving(ctx).avoid(again.count, Op.sqlStep, 'steps', '', again.cost).result(),
        confidence: changesByItself ? 'possible' : 'likely',
        reason: `a hash of its values was the same, and no recorded connection changed its tables since the run before; one that is not recorded may have${changesByItself ? '; a view, a virtual table, or a function of your app may change by itself, such as with the time' : ''}`,
        advice: 'Cache its rows in your app until something is written.',
        link: 'https://www.sqlite.org/c3ref/update_hook.html',
      }));
  },
};
