/**
 * The same work with SQL and in plain IndexedDB: times, requests, and transactions of both, and
 * their ratios.
 */
import { placed } from '../experiments/model/aggregate.ts';
import type { NamedResult } from '../experiments/model/environment.ts';
import type { RunResult } from '../experiments/model/result-types.ts';
import { workloadOf } from '../experiments/workloads/index.ts';
import { UNKNOWN } from '../../text/numbers.ts';
import { milliseconds, number, ratioOf, type ResultTable } from './table.ts';

const REQUEST = /^idb\.(?!transactions$|readwriteTransactions$)/;

/** Requests to IndexedDB of a step; undefined where they were not counted. */
function requestsOf(result: RunResult, step: string): number | undefined {
  const counters = result.steps.find(({ id }) => id === step)?.counters ?? {};
  const counted = Object.keys(counters).filter((name) => REQUEST.test(name));
  // time mode counts no browser calls, but our block VFS counts its own
  const names = counted.length ? counted : ['block.get', 'block.put'];
  const values = names.flatMap((name) => counters[name] ?? []);
  return values.length ? values.reduce((a, b) => a + b, 0) : undefined;
}
/** A transaction of our block VFS may span steps, so its count is meaningless for one step. */
const transactionsOf = (result: RunResult, step: string): number | undefined =>
  result.steps.find(({ id }) => id === step)?.counters['idb.transactions'];
const timeOf = (result: RunResult, step: string): number | undefined =>
  placed(result, { step, counter: 'ms' })?.value;

const MEASURES = [
  { title: 'time', of: timeOf, text: milliseconds },
  { title: 'requests', of: requestsOf, text: number },
  { title: 'transactions', of: transactionsOf, text: number },
] as const;

/** Why a table of twins has n/a; '' where it has none. */
export const twinNote = ({ rows }: ResultTable): string =>
  rows.some((row) => row.includes(UNKNOWN))
    ? "n/a: the VFS isn't on IndexedDB, or only count mode (--count) counts its requests."
    : '';

/** A row for each step with a twin; null where none ran. What wasn't counted has no column. */
export function twinTable(runs: readonly NamedResult[]): ResultTable | null {
  const pairs = runs.flatMap(({ name, result }) =>
    (workloadOf(result.run.workload, result.run.sql).twins ?? []).flatMap(({ step, twin }) => {
      const other = result.steps.find(({ id }) => id === twin);
      if (!other || other.skipped) return [];
      const both = MEASURES.map(({ of }) => [of(result, step), of(result, twin)] as const);
      return [{ name: `${runs.length > 1 ? `${name}: ` : ''}${step} / ${twin}`, both }];
    }),
  );
  const measures = MEASURES.flatMap((measure, i) =>
    pairs.some(({ both }) => both[i]!.every((n) => n !== undefined)) ? [{ ...measure, i }] : [],
  );
  if (measures.length === 0) return null;
  return {
    id: 'twins',
    title: 'SQL / IndexedDB itself',
    help: 'The same rows by SQL, and in IndexedDB without SQLite. Totals leave the twin out.',
    head: [
      'step / twin',
      ...measures.flatMap(({ title }) => [`${title}, SQL`, `${title}, IndexedDB`, 'ratio']),
    ],
    rows: pairs.map(({ name, both }) => [
      name,
      ...measures.flatMap(({ i, text }) => {
        const [sql, raw] = both[i]!;
        const known = sql !== undefined && raw !== undefined;
        return [
          sql === undefined ? UNKNOWN : text(sql),
          raw === undefined ? UNKNOWN : text(raw),
          known ? ratioOf(sql, raw) : '',
        ];
      }),
    ]),
    more: 0,
  };
}
