/**
 * Combined throughput of several connections: transactions per second by role, over the number of
 * threads.
 */
import { placed } from '../experiments/model/aggregate.ts';
import type { NamedResult } from '../experiments/model/environment.ts';
import type { RunResult } from '../experiments/model/result-types.ts';
import { workloadOf } from '../experiments/workloads/index.ts';
import { countOf, formatCount, formatNumber } from '../../text/numbers.ts';
import type { AnswerChart } from './answers.ts';
import type { ResultTable } from './table.ts';

/** As named in run-workload.ts. */
const STEP = 'actors';

interface Rate {
  readonly name: string;
  readonly role: string;
  /** Threads of the role, and of all roles. */
  readonly own: number;
  readonly threads: number;
  /** Transactions per second in the median, the slowest, and the fastest pass. */
  readonly rate: number;
  readonly range: readonly [from: number, to: number];
}

function ratesOf(name: string, result: RunResult): Rate[] {
  const { run } = result;
  const actors = workloadOf(run.workload, run.sql).actors?.(run.parameters) ?? [];
  const ms = placed(result, { step: STEP, counter: 'ms' })?.spread;
  if (!ms || ms.least <= 0) return [];
  const threads = actors.reduce((sum, { count }) => sum + count, 0);
  return actors.flatMap(({ role, count }) => {
    const done = placed(result, { step: STEP, counter: `${role}.transactions` })?.value;
    if (!count || done === undefined) return [];
    const per = (time: number): number => (1000 * done) / time;
    const range = [per(ms.most), per(ms.least)] as const;
    return [{ name, role, own: count, threads, rate: per(ms.median), range }];
  });
}
/** The fewest threads first. */
const found = (runs: readonly NamedResult[]): Rate[] =>
  runs.flatMap(({ name, result }) => ratesOf(name, result)).sort((a, b) => a.threads - b.threads);

/** A row for each run and role; null where no threads were timed. */
export function rateTable(runs: readonly NamedResult[]): ResultTable | null {
  const rates = found(runs);
  if (rates.length === 0) return null;
  return {
    id: 'rates',
    title: 'Transactions per second',
    help: 'All threads of a role together, until the last one is done.',
    head: ['run', 'threads', 'role', 'per second', 'per second and thread', 'min', 'max'],
    texts: [2],
    rows: rates.map(({ name, role, own, threads, rate, range: [from, to] }) => [
      name,
      formatCount(threads),
      countOf(own, role),
      ...[rate, rate / own, from, to].map(formatNumber),
    ]),
    more: 0,
  };
}

/** Null where no threads were timed. */
export function rateChart(runs: readonly NamedResult[]): AnswerChart | null {
  const rates = found(runs);
  if (rates.length === 0) return null;
  return {
    id: 'rates',
    title: 'Transactions per second by threads',
    bars: rates.map(({ name, role, own, threads, rate, range }) => ({
      label: `${countOf(threads, 'thread')}, ${countOf(own, role)}${runs.length > 1 ? ` (${name})` : ''}`,
      value: rate,
      text: `${formatNumber(rate)}/s`,
      range,
    })),
  };
}
