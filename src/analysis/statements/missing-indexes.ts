/**
 * What an index could save, from SQLite's own counters of runs:
 *
 *   F50   SELECT .. WHERE a = ?   19,999 rows scanned for 10
 *         UPDATE .. WHERE a = ?   19,999 rows scanned, and too few steps to change more than 4
 *   F51   a join that builds the same index in each run
 *   F52   ORDER BY that sorts in each run
 */
import { objectName } from '../../trace/describe.ts';
import { countOf, formatCount } from '../../text/numbers.ts';
import { executions, type Executions, type QueryCounts } from '../core/executions.ts';
import { getOrMake } from '../core/maps.ts';
import { quoted } from '../core/quoted.ts';
import { Evidence, type FindingContext } from '../rules/context.ts';
import { noSaving } from '../rules/saving.ts';
import type { Found, Rule } from '../rules/types.ts';
import { byText, MOST, READS } from './by-text.ts';
import { CHANGES_ROWS } from './rewrites.ts';
import { tablesReadBy } from './tables-read-by.ts';

/** Runs of one text, literals folded. */
interface Query {
  /** The text of its first run, and its fingerprint. */
  sql: string;
  print: string;
  /** From `TablesReadBy.namesTables`. */
  namesTables: boolean | null;
  runs: number;
  /** Sum of `neededRows` over all runs. */
  rows: number;
  scanned: number;
  sorts: number;
  autoIndexRows: number;
  /** Its calls. */
  evidence: Evidence;
}

/** Tables that can't have another index. */
const NAMES_SCHEMA = /\bsqlite_(?:temp_)?(?:schema|master)\b/;

/**
 * The texts with such runs, and only these runs; those that took longest first.
 * @param isText whether a text matters
 */
function queriesOf(
  ctx: FindingContext,
  isSuch: (runs: Executions, i: number, needs: Needs) => boolean,
  isText: (sql: string) => boolean = () => true,
): Query[] {
  const found = new Map<string, Query>();
  for (const thread of ctx.store.threads) {
    const runs = ctx.get(executions).of(thread);
    const of = new Map<number, Query>();
    const { context } = thread.events;
    const textOf = byText(thread, (sql) =>
      sql && isText(sql) && !NAMES_SCHEMA.test(sql) ? { sql, needs: needsOf(sql) } : null,
    );
    for (let i = 0; i < runs.count; i++) {
      if (!runs.counted[i]) continue;
      const text = textOf(runs.text[i]!);
      if (!text || !isSuch(runs, i, text.needs)) continue;
      const { sql, needs } = text;
      const query = getOrMake(found, sql, () => ({
        sql: objectName(thread, runs.text[i]!),
        print: sql,
        namesTables: ctx.get(tablesReadBy).namesTables(thread, context[runs.firstRow[i]!]!, sql),
        runs: 0,
        rows: 0,
        scanned: 0,
        sorts: 0,
        autoIndexRows: 0,
        evidence: new Evidence(),
      }));
      of.set(i, query);
      query.runs++;
      query.rows += neededRows(runs, i, needs);
      for (const name of ['scanned', 'sorts', 'autoIndexRows'] satisfies (keyof QueryCounts)[])
        query[name] += runs[name][i]!;
    }
    const { row, execution, count } = runs.calls;
    for (let c = 0; of.size > 0 && c < count; c++)
      of.get(execution[c]!)?.evidence.add(thread, row[c]!);
  }
  return [...found.values()].sort((a, b) => b.evidence.us - a.evidence.us);
}

/** Counts runs, not calls. */
const evidenceOf = (ctx: FindingContext, { runs, evidence }: Query): Found['evidence'] => ({
  ...evidence.result(ctx, false),
  count: runs,
});
const COUNTED = "SQLite's own counters show it for each run";
const NOT_TRIED = 'what an index saves depends on its columns: it is known when it is tried';

/**
 * How many rows a run needed is known from the rows that it returned, or for unseen changes from
 * its steps. For its triggers, less is known.
 */
type Needs = 'brought' | 'changed' | 'in trigger';
/** The number of rows that an INSERT, UPDATE, or DELETE changed is known if it returns them. */
const BRINGS_ROWS = /\breturning\b/;
/**
 * Its text doesn't select rows, so a scan comes from a trigger, or from the check of a foreign key.
 */
const ONLY_INSERTS = /^(?:insert|replace)\b(?!.*\bselect\b)/s;
function needsOf(sql: string): Needs {
  if (!CHANGES_ROWS.test(sql)) return 'brought';
  if (ONLY_INSERTS.test(sql)) return 'in trigger';
  return BRINGS_ROWS.test(sql) ? 'brought' : 'changed';
}
/**
 * Steps of SQLite's virtual machine for a row that WHERE leaves out: load a column, compare it,
 * continue. In a trigger it takes one more, to load a value of the statement's row for the
 * comparison.
 */
const STEPS_LEFT_OUT = { changed: 3, 'in trigger': 4 } as const;
/**
 * Additional steps of a changed row: a DELETE loads its rowid and deletes it. Other changes take
 * more.
 */
const STEPS_CHANGED = 2;
/** Rows that a run returned, or the maximum that it can have changed with this many steps. */
const neededRows = (runs: Executions, i: number, needs: Needs): number =>
  needs === 'brought'
    ? runs.rows[i]!
    : Math.max(
        0,
        Math.floor((runs.vmSteps[i]! - STEPS_LEFT_OUT[needs] * runs.scanned[i]!) / STEPS_CHANGED),
      );

const FEW_SCANNED = 100;
const SCANNED_PER_ROW = 20;
const FEW_SCANNED_IN_ALL = 1000;
/** It selects rows of a table. If it needs all rows, an index doesn't help. */
const LOOKS_FOR = /\b(?:where|on|using)\b/;
/** Its result rows aren't the rows that it needs: many may match the condition. */
const ADDS_UP =
  /\b(?:group by|distinct|offset|(?:count|sum|total|avg|min|max|group_concat|string_agg|jsonb?_group_(?:array|object)) ?\()/;
/** An index only serves a pattern that doesn't begin with a wildcard. */
const MATCHES = /\b(?:like|glob|regexp)\b/;
/** Its rows must first be compared with others. */
const COMPARES_ALL = /\bover\b|\b(?:union|except|intersect|having)\b/;
const NAME = String.raw`(?:\w+|"[^"]*"|\[[^\]]*\]|${'`[^`]*`'})`;
const COLUMN = `${NAME}(?: ?\\. ?${NAME})?`;
const COMPARES = String.raw`(?:==?|<(?![<>])=?|>(?!>)=?)`;
/** A plain column, on either side: an index on it may help. */
const COMPARES_COLUMN = new RegExp(
  [
    String.raw`\busing\b`,
    String.raw`(?:\b(?:where|on|and|or)\b|\() ?${COLUMN}(?: collate \w+)? ?(?:${COMPARES}|\b(?:in|between|is(?! not\b))\b)`,
    String.raw`(?<![<>!=-])${COMPARES} ?(?!(?:null|true|false|case|cast|select|current_\w+)\b)${COLUMN}(?![\w.]* ?\()`,
  ].join('|'),
);
const comparesColumn = (print: string): boolean =>
  COMPARES_COLUMN.test(print.slice(print.search(LOOKS_FOR)));
/** SQLite scans unless an index serves each side of an OR. */
const sidesCompareColumns = (print: string): boolean => {
  const [, ...sides] = print.slice(print.search(LOOKS_FOR)).split(/\bor\b/);
  return sides.every((side) => COMPARES_COLUMN.test(`or${side}`));
};
/** A common table expression, or a query in FROM. */
const READS_SUBQUERY = /^with\b|\b(?:from|join) ?\(\s*select\b/;
/** A condition without a column of the table matches every row, without a step for it. */
const DELETES_BY_SUBQUERY = /\bdelete from\b.*\(\s*select\b/s;
/** What may prevent an index from helping: the first match is the cause. */
const DOUBTS: readonly (readonly [holds: (query: Query) => boolean, cause: string])[] = [
  [
    ({ print }) => needsOf(print) === 'in trigger',
    'a trigger or a foreign key scanned them, and may have needed more of them than its steps show',
  ],
  [
    ({ print }) => DELETES_BY_SUBQUERY.test(print),
    'a condition that names no column of the table takes every row',
  ],
  [({ print }) => ADDS_UP.test(print), 'a query that adds rows up may need them all'],
  [
    ({ print }) => COMPARES_ALL.test(print),
    'a window function, HAVING, or a compound query may need all rows',
  ],
  [
    ({ print }) => READS_SUBQUERY.test(print),
    'the rows may be those of a subquery, which no index serves',
  ],
  [
    ({ namesTables }) => namesTables === false,
    'the rows may be those of a view or a virtual table, which no index serves',
  ],
  [
    ({ print }) => !sidesCompareColumns(print),
    'OR needs an index for each of its sides, and none may serve one of them',
  ],
  [({ print }) => MATCHES.test(print), 'an index serves no pattern that begins with a wildcard'],
  [
    ({ print }) => !comparesColumn(print),
    'an index on a column serves no comparison by <> or NOT, and none of an expression such as lower(name)',
  ],
];
/** '' = no known doubt. */
const whyUnsure = (query: Query): string => DOUBTS.find(([holds]) => holds(query))?.[1] ?? '';
/** WHERE 1, WHERE true, WHERE 1 = 1. */
const TAKES_ALL = /\bwhere (?:\?|true)(?: ?= ?\?)?$/;
const looksForRows = (sql: string): boolean =>
  needsOf(sql) === 'in trigger' ||
  (LOOKS_FOR.test(sql) && !TAKES_ALL.test(sql) && (CHANGES_ROWS.test(sql) || READS.test(sql)));
/** `for 10 result rows`, `to change 4 rows at most` */
function forRows({ print, rows }: Query): string {
  const needs = needsOf(print);
  if (needs === 'brought') return `for ${countOf(rows, 'result row')}`;
  if (needs === 'in trigger') return 'in a trigger or for a foreign key';
  return rows === 0 ? 'and changed none' : `and changed at most ${formatCount(rows)}`;
}

export const fullScan: Rule = {
  id: 'F50',
  title: 'Full scan for few rows',
  needs: { executions },
  run: (ctx) =>
    queriesOf(
      ctx,
      (runs, i, needs) =>
        runs.scanned[i]! >= FEW_SCANNED &&
        runs.scanned[i]! >= SCANNED_PER_ROW * neededRows(runs, i, needs),
      looksForRows,
    )
      .filter(({ scanned }) => scanned >= FEW_SCANNED_IN_ALL)
      .slice(0, MOST)
      .map((query) => ({
        title: `${countOf(query.runs, 'run')} of ${quoted(query.sql)} scanned ${countOf(query.scanned, 'row')} ${forRows(query)}`,
        evidence: evidenceOf(ctx, query),
        ...noSaving(NOT_TRIED),
        confidence: whyUnsure(query) ? 'possible' : 'likely',
        reason: [COUNTED, whyUnsure(query)].filter(Boolean).join('; '),
        statement: query.print,
        advice: CHANGES_ROWS.test(query.print)
          ? 'Create an index on the columns that WHERE compares, here or in a trigger, or that a foreign key names.'
          : 'Create an index on the columns that WHERE or ON compares.',
        link: 'https://www.sqlite.org/queryplanner.html',
      })),
};

const FEW_RUNS = 2;
const HAS_SUBQUERY = /^with\b|\(\s*select\b/;
/** Rows of an automatic index that the app's own indexes can't have; '' = rows of a table. */
const whoseRows = ({ print, namesTables }: Query): string =>
  !READS.test(print)
    ? 'a trigger or a subquery'
    : HAS_SUBQUERY.test(print)
      ? 'a subquery'
      : namesTables
        ? ''
        : 'a view';

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
        confidence: whoseRows(query) ? 'likely' : 'certain',
        reason: `${COUNTED}; ${
          whoseRows(query)
            ? `it may be on the rows of ${whoseRows(query)}, which no index of yours replaces`
            : 'such an index is dropped at the end of its run'
        }`,
        statement: query.print,
        advice: 'Create an index on the columns that join the tables.',
        link: 'https://www.sqlite.org/optoverview.html#automatic_query_time_indexes',
      })),
};

/** Sorting a handful of rows doesn't matter. */
const FEW_STEPS = 1000;
const FEW_SORTS = 10;
/** An index is made by a sort. */
const MAKES_INDEX = /^(?:create|reindex)\b/;
const SORTS_BY = /\b(?:group|order) by\b/;
/** ORDER BY something computed from one row, or from many. */
const SORTS_COMPUTED = /\border by\b(?:(?!\blimit\b).)*(?:[-+*/|(]|\bcase\b)/s;
/** The name before a column's dot. */
const QUALIFIER = new RegExp(`(${NAME}) ?\\.`, 'g');
/** ORDER BY or GROUP BY columns of several tables. */
const sortsTables = (print: string): boolean =>
  new Set([...print.slice(print.search(SORTS_BY)).matchAll(QUALIFIER)].map(([, table]) => table))
    .size > 1;
/** Its groups are sorted by something else. */
const SORTS_GROUPS = /\bgroup by\b.*\border by\b/s;
/** What no index can provide in order; '' = nothing known. */
const whySorted = ({ print, namesTables }: Query): string =>
  SORTS_GROUPS.test(print) || SORTS_COMPUTED.test(print)
    ? 'no index has the order of aggregates or random numbers, and of other expressions only one on the same expression'
    : COMPARES_ALL.test(print) || READS_SUBQUERY.test(print) || namesTables === false
      ? 'it may sort rows of a subquery, a view, a window, or a compound query, which no index has in order'
      : sortsTables(print)
        ? 'no index has the order of columns of several tables'
        : SORTS_BY.test(print)
          ? ''
          : 'the text has no ORDER BY or GROUP BY: a view or a trigger may sort';

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
        confidence: whySorted(query) ? 'possible' : 'likely',
        reason: [COUNTED, whySorted(query), 'how much of the time is the sort is not known']
          .filter(Boolean)
          .join('; '),
        statement: query.print,
        advice: 'Create an index that has the columns of ORDER BY or GROUP BY in their order.',
        link: 'https://www.sqlite.org/queryplanner.html#_sorting',
      })),
};
