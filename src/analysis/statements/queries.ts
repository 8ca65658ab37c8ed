/**
 * What SQLite itself counts of the runs of statements, and what one statement asks that another could:
 *
 *   F50   SELECT .. WHERE a = ?   19,999 rows scanned for 10
 *   F51   a join that builds the same index in each run
 *   F52   ORDER BY that sorts in each run
 *   F53   prepare, step, finalize | prepare, step, finalize ...     prepare, step, reset, step, reset
 *   F54   SELECT parents  ->  SELECT children WHERE parent = ? | SELECT children WHERE parent = ? ...     one join
 *   F55   SELECT .. WHERE a = 7 | SELECT .. WHERE a = 7 ...     its rows, kept until something is written
 */
import { explicitTransactions, type ExplicitSpan } from '../transactions/explicit-transactions.ts';
import {
  executions,
  ExecutionState,
  type Executions,
  type QueryCounts,
} from '../core/executions.ts';
import { ById } from '../core/by-id.ts';
import { fingerprintsOf } from '../core/fingerprints.ts';
import { quoted } from '../core/quoted.ts';
import { CHANGES_ROWS } from './rewrites.ts';
import { anyChange, rowChanges, tablesChanged } from './tables-changed.ts';
import { engineOfConnection } from '../memory/engine-readings.ts';
import { getOrMake } from '../core/maps.ts';
import { objectName } from '../../trace/describe.ts';
import { Op } from '../../event/event.ts';
import { opSet } from '../../event/operations.ts';
import { rowsByOperation } from '../core/rows-by-operation.ts';
import { countOf, formatCount, formatDuration } from '../../text/numbers.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { Evidence, type FindingContext } from '../rules/context.ts';
import { noSaving, Saving } from '../rules/saving.ts';
import type { Found, Rule } from '../rules/types.ts';

/**
 * What follows from the fingerprint of a thread's text, by its id: each text is looked at once, for it may have a hundred thousand runs.
 * @param of the fingerprint; '' = not known
 */
function byText<T extends NonNullable<unknown> | null>(
  thread: ThreadStore,
  of: (print: string) => T,
): (text: number) => T {
  const printOf = fingerprintsOf(thread);
  const known = new ById<T>();
  return (text) => {
    const found = known.get(text);
    return found === undefined ? known.set(text, of(printOf(text) ?? '')) : found;
  };
}

const READS = /^(?:select|with)\b/;

/** Statements that one rule names: those that took longest. */
const MOST = 5;

/** Runs of one text, literals folded. */
interface Query {
  /** As it ran first, and its fingerprint. */
  sql: string;
  print: string;
  runs: number;
  rows: number;
  scanned: number;
  sorts: number;
  autoIndexRows: number;
  /** Its calls. */
  evidence: Evidence;
}

/** The texts of which some runs are such, with these runs alone; those that took longest first. @param isText whether a text matters */
function queriesOf(
  ctx: FindingContext,
  isSuch: (runs: Executions, i: number) => boolean,
  isText: (sql: string) => boolean = () => true,
): Query[] {
  const found = new Map<string, Query>();
  for (const thread of ctx.store.threads) {
    const runs = ctx.get(executions).of(thread);
    const of = new Map<number, Query>();
    const textOf = byText(thread, (sql) => (sql && isText(sql) ? sql : ''));
    for (let i = 0; i < runs.count; i++) {
      if (!runs.counted[i] || !isSuch(runs, i)) continue;
      const sql = textOf(runs.text[i]!);
      if (!sql) continue;
      const query = getOrMake(found, sql, () => ({
        sql: objectName(thread, runs.text[i]!),
        print: sql,
        runs: 0,
        rows: 0,
        scanned: 0,
        sorts: 0,
        autoIndexRows: 0,
        evidence: new Evidence(),
      }));
      of.set(i, query);
      query.runs++;
      query.rows += runs.rows[i]!;
      for (const name of ['scanned', 'sorts', 'autoIndexRows'] satisfies (keyof QueryCounts)[])
        query[name] += runs[name][i]!;
    }
    const { row, execution, count } = runs.calls;
    for (let c = 0; of.size > 0 && c < count; c++)
      of.get(execution[c]!)?.evidence.add(thread, row[c]!);
  }
  return [...found.values()].sort((a, b) => b.evidence.us - a.evidence.us);
}

/** Counted as runs, not as calls. */
const evidenceOf = (ctx: FindingContext, { runs, evidence }: Query): Found['evidence'] => ({
  ...evidence.result(ctx, false),
  count: runs,
});
const COUNTED = "SQLite's own counters say so for each run";
const NOT_TRIED = 'what an index saves depends on its columns: it is known when it is tried';

const FEW_SCANNED = 100;
const SCANNED_PER_ROW = 20;
const FEW_SCANNED_IN_ALL = 1000;
/** It looks for some rows of a table: of one that is asked for all of them no index spares any. */
const LOOKS_FOR = /\b(?:where|on|using)\b/;
/** How many rows an UPDATE or DELETE changed is known where it brings them. */
const BRINGS_ROWS = /\breturning\b/;
/** Their rows are not those that they need: many may meet the condition. */
const ADDS_UP =
  /\b(?:group by|distinct|offset|(?:count|sum|total|avg|min|max|group_concat|string_agg|jsonb?_group_(?:array|object)) ?\()/;
/** An index serves a pattern only where it begins with no wildcard. */
const MATCHES = /\b(?:like|glob|regexp)\b/;
const whyUnsure = (sql: string): string =>
  ADDS_UP.test(sql)
    ? 'a query that adds rows up may need them all'
    : MATCHES.test(sql)
      ? 'an index serves no pattern that begins with a wildcard'
      : '';
const looksForRows = (sql: string): boolean =>
  LOOKS_FOR.test(sql) &&
  (CHANGES_ROWS.test(sql)
    ? BRINGS_ROWS.test(sql) && !/^(?:insert|replace)\b/.test(sql)
    : READS.test(sql));

export const fullScan: Rule = {
  id: 'F50',
  title: 'Full scan for few rows',
  needs: { executions },
  run: (ctx) =>
    queriesOf(
      ctx,
      ({ scanned, rows }, i) =>
        scanned[i]! >= FEW_SCANNED && scanned[i]! >= SCANNED_PER_ROW * rows[i]!,
      looksForRows,
    )
      .filter(({ scanned }) => scanned >= FEW_SCANNED_IN_ALL)
      .slice(0, MOST)
      .map((query) => ({
        title: `${countOf(query.runs, 'run')} of ${quoted(query.sql)} scanned ${countOf(query.scanned, 'row')} for ${countOf(query.rows, 'result row')}`,
        evidence: evidenceOf(ctx, query),
        ...noSaving(NOT_TRIED),
        confidence: whyUnsure(query.print) ? 'possible' : 'likely',
        reason: [COUNTED, whyUnsure(query.print)].filter(Boolean).join('; '),
        statement: query.print,
        advice: 'Create an index on the columns that WHERE or ON compares.',
        link: 'https://www.sqlite.org/queryplanner.html',
      })),
};

const FEW_RUNS = 2;
/** A common table expression, or a query in FROM. */
const HAS_SUBQUERY = /^with\b|\(\s*select\b/;

export const automaticIndex: Rule = {
  id: 'F51',
  title: 'Automatic index in each run',
  run: (ctx) =>
    queriesOf(ctx, ({ autoIndexRows }, i) => autoIndexRows[i]! > 0)
      .filter(({ runs }) => runs >= FEW_RUNS)
      .slice(0, MOST)
      .map((query) => ({
        title: `SQLite built an automatic index in ${countOf(query.runs, 'run')} of ${quoted(query.sql)}: ${countOf(query.autoIndexRows, 'row')}`,
        evidence: evidenceOf(ctx, query),
        ...noSaving(NOT_TRIED),
        confidence: HAS_SUBQUERY.test(query.print) ? 'likely' : 'certain',
        reason: `${COUNTED}; ${
          HAS_SUBQUERY.test(query.print)
            ? 'it may be on the rows of a subquery, which no index of yours replaces'
            : 'such an index is dropped at the end of its run'
        }`,
        statement: query.print,
        advice: 'Create an index on the columns that join the tables.',
        link: 'https://www.sqlite.org/optoverview.html#automatic_query_time_indexes',
      })),
};

/** A sort of a handful of rows is no matter. */
const FEW_STEPS = 1000;
const FEW_SORTS = 10;
/** An index is made by a sort. */
const MAKES_INDEX = /^(?:create|reindex)\b/;

export const sortInEachRun: Rule = {
  id: 'F52',
  title: 'Sort in each run',
  run: (ctx) =>
    queriesOf(
      ctx,
      ({ sorts, vmSteps }, i) => sorts[i]! > 0 && vmSteps[i]! >= FEW_STEPS,
      (sql) => !MAKES_INDEX.test(sql),
    )
      .filter(({ runs }) => runs >= FEW_SORTS)
      .slice(0, MOST)
      .map((query) => ({
        title: `${countOf(query.runs, 'run')} of ${quoted(query.sql)} sorted rows in a temporary b-tree`,
        evidence: evidenceOf(ctx, query),
        ...noSaving(NOT_TRIED),
        confidence: 'likely',
        reason: `${COUNTED}; how much of the time is the sort is not known`,
        statement: query.print,
        advice: 'Create an index that has the columns of ORDER BY or GROUP BY in their order.',
        link: 'https://www.sqlite.org/queryplanner.html#_sorting',
      })),
};

const FEW_PREPARES = 20;

/** One text, prepared more than once. */
interface Prepared {
  sql: string;
  prepares: number;
  again: Evidence;
  /** Prepares of what stands behind the text: libraries ask SQLite for the next statement of it, and there is none. */
  rests: Evidence;
  /** From the prepares to the first steps, where SQLite was not called: JavaScript, microseconds. */
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
                prepares: 0,
                again: new Evidence(),
                rests: new Evidence(),
                codeUs: 0,
              })),
              met: getOrMake(connections, sql, () => new Set<number>()),
            }
          : null,
      );
      /** The statement that was prepared again last, and the call before. */
      let open = null as { of: Prepared; instance: number; connection: number } | null;
      let before = -1;
      for (const row of ctx.get(rowsByOperation).of(thread).together(PREPARES)) {
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
          open!.of.again.ran(thread, t0[row]!, t0[row]! + dur[row]!); // it goes with them
        }
        open = null;
        if (result[row] !== 0) continue; // one that was refused is tried again
        const own = ofText((text = object[row]!));
        if (!own) continue;
        own.known.prepares++;
        if (own.met.has(context[row]!)) {
          own.known.again.add(thread, row);
          open = { of: own.known, instance: aux[row]!, connection: context[row]! };
        } else own.met.add(context[row]!);
      }
    }
    return [...found.values()]
      .filter(({ again }) => again.count >= FEW_PREPARES)
      .sort((a, b) => b.again.us - a.again.us)
      .slice(0, MOST)
      .map(({ sql, prepares, again, rests, codeUs }) => {
        const cost = { calls: again.count + rests.count, us: again.us + rests.us };
        const saving = new Saving(ctx).avoid(cost.calls, Op.sqlPrepare, 'prepares', '', cost);
        const code = `your code and its SQLite library took ${formatDuration(codeUs)} more from prepare to step`;
        const { savingHow, ...known } = saving.result();
        return {
          title: `${quoted(sql)} was prepared ${formatCount(prepares)} times`,
          evidence: again.result(ctx, false),
          ...known,
          savingHow: codeUs > 0 ? `${savingHow}; ${code}, part of which goes, too` : savingHow,
          confidence: 'likely',
          reason: `${countOf(again.count, 'prepare')} followed another one of the same text on the same connection, values aside`,
          advice: 'Prepare this statement once, and bind its values for each run.',
          link: 'https://www.sqlite.org/c3ref/prepare.html',
        };
      });
  },
};

const FEW_CHILDREN = 10;

/** Runs of one text that follow a run of another. */
interface Children {
  parent: string;
  parentRows: number;
  child: string;
  nested: boolean;
  runs: number;
  evidence: Evidence;
}

export const onePerRow: Rule = {
  id: 'F54',
  title: 'One query per row',
  needs: { executions, explicitTransactions },
  run(ctx) {
    const found = new Map<string, Children>();
    for (const thread of ctx.store.threads)
      for (const group of childrenOf(ctx, thread)) {
        const key = `${group.parent}\0${group.child}`;
        const known = found.get(key);
        if (!known) found.set(key, group);
        else {
          known.parentRows += group.parentRows;
          known.runs += group.runs;
          known.nested &&= group.nested;
          known.evidence.join(group.evidence);
        }
      }
    return [...found.values()]
      .sort((a, b) => b.evidence.us - a.evidence.us)
      .slice(0, MOST)
      .map(({ parent, parentRows, child, nested, runs, evidence }) => ({
        title: `${quoted(child)} ran ${formatCount(runs)} times, ${runs === parentRows ? 'once for each row' : 'between the rows'} of ${quoted(parent)}`,
        evidence: { ...evidence.result(ctx, false), count: runs },
        ...noSaving('a join reads the same rows in one statement; what that takes is not known'),
        confidence: nested ? 'likely' : 'possible',
        reason: nested
          ? `the runs lie between the steps of the other statement, which brought ${countOf(parentRows, 'row')}`
          : `the other statement brought ${countOf(parentRows, 'row')} in the same transaction, and as many runs followed`,
        advice: 'Join the two tables in one SELECT, or ask for all keys with IN.',
        link: 'https://www.sqlite.org/np1queryprob.html',
      }));
  },
};

/** Most of them have values of their own, as far as these are known. */
const isVaried = ({ values }: Executions, runs: readonly number[]): boolean =>
  runs.some((i) => !values[i]) || 2 * new Set(runs.map((i) => values[i])).size > runs.length;

/** Runs by their places among a thread's executions. */
interface Group {
  parent: number;
  children: number[];
  nested: boolean;
}
/** What of a connection is under way. */
interface Walk {
  span: ExplicitSpan | null;
  /** Runs that read, since the span began, in the order of their first calls. */
  runs: number[];
}

function childrenOf(ctx: FindingContext, thread: ThreadStore): Children[] {
  const runs = ctx.get(executions).of(thread);
  const { context, seq } = thread.events;
  const places = new Map<string, number>();
  /** Texts with the same fingerprint have the same number; -1 = it reads nothing. */
  const placeOf = byText(thread, (print) =>
    READS.test(print) ? getOrMake(places, print, () => places.size) : -1,
  );
  const textOf = (i: number): number => placeOf(runs.text[i]!);
  const explicit = ctx.get(explicitTransactions).of(thread);
  const walks = new Map<number, Walk>();
  const nested: Group[] = [];
  const listed: Group[] = [];
  const close = ({ span, runs: list }: Walk): void => {
    if (list.length <= FEW_CHILDREN) return; // a parent, too
    nested.push(...nestedGroups(runs, list, textOf));
    if (span) listed.push(...listedGroups(runs, list, textOf));
  };
  for (let i = 0; i < runs.count; i++) {
    const at = runs.firstRow[i]!;
    const connection = context[at]!;
    const span = explicit.at(connection, seq[at]!);
    const walk = getOrMake(walks, connection, (): Walk => ({ span, runs: [] }));
    if (walk.span !== span) {
      close(walk);
      [walk.span, walk.runs] = [span, []];
    }
    if (textOf(i) >= 0) walk.runs.push(i);
  }
  for (const walk of walks.values()) close(walk);
  const inside = betweenSteps(runs, nested);
  const taken = new Set(inside.flatMap(({ children }) => children));
  const behind = listed.filter(({ children }) => !children.some((child) => taken.has(child)));
  const of = new Map<number, Children>();
  const result = [...inside, ...behind].map(({ parent, children, nested: isNested }): Children => {
    const group: Children = {
      parent: objectName(thread, runs.text[parent]!),
      parentRows: runs.rows[parent]!,
      child: objectName(thread, runs.text[children[0]!]!),
      nested: isNested,
      runs: children.length,
      evidence: new Evidence(),
    };
    for (const child of children) of.set(child, group);
    return group;
  });
  const { row, execution, count } = runs.calls;
  for (let c = 0; of.size > 0 && c < count; c++)
    of.get(execution[c]!)?.evidence.add(thread, row[c]!);
  return result;
}

/** Statements that are open around one: further out none is looked for. */
const MOST_OPEN = 20;

/** Runs that began while another one was under way. @param list runs of a connection */
function nestedGroups(
  runs: Executions,
  list: readonly number[],
  textOf: (run: number) => number,
): Group[] {
  /** The innermost last. */
  const open: number[] = [];
  const found = new Map<number, Map<number, Group>>();
  for (const i of list) {
    while (open.length && runs.lastRow[open.at(-1)!]! < runs.firstRow[i]!) open.pop();
    const text = textOf(i);
    let at = open.length - 1;
    const least = Math.max(0, open.length - MOST_OPEN);
    while (at >= least && textOf(open[at]!) === text) at--;
    if (at >= least) {
      const parent = open[at]!;
      getOrMake(
        getOrMake(found, parent, () => new Map<number, Group>()),
        text,
        (): Group => ({ parent, children: [], nested: true }),
      ).children.push(i);
    }
    open.push(i);
  }
  return [...found.values()].flatMap((byChild) =>
    [...byChild.values()].filter(
      ({ children }) => children.length >= FEW_CHILDREN && isVaried(runs, children),
    ),
  );
}

/** Groups whose runs lie between many steps of the other one: a list that is left open is no reason for what runs meanwhile. */
function betweenSteps(runs: Executions, groups: readonly Group[]): Group[] {
  if (groups.length === 0) return [];
  const parentOf = new Int32Array(runs.count).fill(-1);
  for (const { parent, children } of groups) for (const child of children) parentOf[child] = parent;
  /** Calls of a run so far, and those of its parent when it began. */
  const [calls, before] = [new Uint32Array(runs.count), new Uint32Array(runs.count)];
  const { row, execution, count } = runs.calls;
  for (let c = 0; c < count; c++) {
    const i = execution[c]!;
    calls[i]!++;
    if (parentOf[i]! >= 0 && row[c] === runs.firstRow[i]) before[i] = calls[parentOf[i]!]!;
  }
  return groups.filter(
    ({ children }) => new Set(children.map((child) => before[child])).size >= FEW_CHILDREN,
  );
}

/** Runs of one text that are as many as rows of another one, which ran before them in the same transaction. */
function listedGroups(
  runs: Executions,
  list: readonly number[],
  textOf: (run: number) => number,
): Group[] {
  const found: Group[] = [];
  const add = (parent: number, children: number[]): boolean => {
    const is = runs.rows[parent] === children.length && isVaried(runs, children);
    if (is) found.push({ parent, children, nested: false });
    return is;
  };
  /** By text: its runs, and those behind each list that is long enough. */
  const ofText = new Map<number, { all: number[]; behind: Map<number, number[]> }>();
  // the last such list, and the last one of another text
  let [last, other] = [-1, -1];
  for (const i of list) {
    const text = textOf(i);
    const of = getOrMake(ofText, text, () => ({ all: [], behind: new Map<number, number[]>() }));
    of.all.push(i);
    const before = last >= 0 && textOf(last) !== text ? last : other;
    if (before >= 0) getOrMake(of.behind, before, () => [] as number[]).push(i);
    if (runs.rows[i]! < FEW_CHILDREN) continue;
    if (last >= 0 && textOf(last) !== text) other = last;
    last = i;
  }
  for (const [text, { all, behind }] of ofText) {
    if (all.length < FEW_CHILDREN) continue;
    const lists = [...behind].filter(([parent, children]) => add(parent, children));
    if (lists.length) continue;
    const first = runs.firstRow[all[0]!]!;
    for (const p of list) {
      if (runs.firstRow[p]! >= first) break;
      if (textOf(p) !== text && add(p, all)) break;
    }
  }
  return found;
}

const FEW_REPEATS = 10;
/** What reads rows of the database, and nothing that changes by itself. */
const ASKS_TABLES = /\bfrom\b/;
const CHANGES_BY_ITSELF =
  /\b(?:random|randomblob|date|time|datetime|julianday|unixepoch|strftime|timediff|current_\w+|changes|total_changes|last_insert_rowid)\b/;

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
    const found = new Map<string, { sql: string; again: Evidence; repeats: number }>();
    for (const thread of ctx.store.threads) {
      const runs = ctx.get(executions).of(thread);
      const { context, t0, seq } = thread.events;
      const explicit = ctx.get(explicitTransactions).of(thread);
      const engineOf = ctx.get(engineOfConnection).of(thread);
      /** From when on a change would show in a run: in a transaction, no other one sees what others changed since it began. */
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
          ctx.get(tablesChanged).readBy(thread, connection, sql),
        );
      for (let i = 0; i < runs.count; i++) {
        if (!runs.values[i]) continue;
        if (runs.state[i] !== ExecutionState.done) continue; // it may have been asked for the rest
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
      .map(({ sql, again, repeats }) => ({
        title: `${quoted(sql)} ran ${formatCount(repeats)} times with values that it had before, and nothing that it reads was written between`,
        evidence: { ...again.result(ctx, false), count: repeats },
        ...new Saving(ctx).avoid(again.count, Op.sqlStep, 'steps', '', again.cost).result(),
        confidence: 'likely',
        reason:
          'a hash of its values was the same, and no recorded connection changed its tables since the run before; one that is not recorded may have',
        advice: 'Keep its rows in your app until something is written.',
        link: 'https://www.sqlite.org/c3ref/update_hook.html',
      }));
  },
};
