/** How much of the time while SQL runs the findings are about: the calls that they name, each moment once. */
import { formatDuration } from '../../text/numbers.ts';
import { toNs } from '../../trace/lanes/sweep.ts';
import { KINDS, type IntervalIndex } from '../../trace/lanes/interval-index.ts';
import { conditions } from '../core/conditions.ts';
import { fact, type Known } from '../core/graph.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { servedThreads } from '../core/helper-threads.ts';
import { isStorage, PART, SQL_PARTS } from '../core/time-parts.ts';
import { sqliteThreads } from '../core/main-threads.ts';
import type { NamedTime } from '../rules/context.ts';
import { totalTimeInSql } from '../time/summary-time.ts';
import { pieces } from '../time/thread-times.ts';
import { toldFindings } from './index.ts';

/** Nanoseconds by part: places as in PARTS. Time while SQL runs, but for `tracer`, which has the recording's set-up, too. */
interface Coverage {
  all: Float64Array;
  /** Of it what the calls of findings take, each moment once. */
  explained: Float64Array;
}

const NEEDS = { toldFindings, pieces, sqliteThreads, servedThreads };
/** Over all threads of SQLite. What a worker does for one of them counts as that thread's time. */
export const coverage = fact('coverage', 'what the findings explain', NEEDS, (store, known) =>
  coverageOf(
    store,
    known,
    known.toldFindings.map(({ named }) => named),
  ),
);

/** Parts that `NamedTime.awaited` is about. */
const AWAITED = SQL_PARTS.map((part) => PART[part]).filter(
  (part) => isStorage(part) || part === PART.lockWait,
);

/** @param named the time that each finding is about */
export function coverageOf(
  { threads }: TraceStore,
  { pieces, sqliteThreads, servedThreads }: Omit<Known<typeof NEEDS>, 'toldFindings'>,
  named: readonly ReadonlyMap<ThreadStore, NamedTime>[],
): Coverage {
  const found = { all: new Float64Array(KINDS), explained: new Float64Array(KINDS) };
  const withAwaited = new Float64Array(KINDS);
  for (const thread of sqliteThreads) {
    const own = threads.filter((one) => one === thread || servedThreads[one.index] === thread);
    const times = named.flatMap((by) => own.flatMap((one) => by.get(one) ?? []));
    const ran = times.map((time) => time.ran);
    const { index } = pieces.of(thread);
    for (let i = 0; i < index.count; i++)
      found.all[index.kind[i]!]! += index.endOf(i) - index.startOf(i);
    addWithin(found.explained, ran, index);
    addWithin(withAwaited, [...ran, ...times.map(({ awaited }) => awaited)], index);
  }
  for (const part of AWAITED) found.explained[part] = withAwaited[part]!;
  return found;
}

export interface Explained {
  explainedUs: number;
  inSqlUs: number;
  /** With DevTools open, in a browser that is slower then: so are the findings' savings. */
  slowed: boolean;
}

/** Parts that a finding can be about: the recording's own work is in none, and partly outside SQL. */
const OF_THE_APP = SQL_PARTS.map((part) => PART[part]).filter((part) => part !== PART.tracer);

/** null where no time passed while SQL ran. */
export const explained = fact(
  'explained',
  'what the findings explain',
  { coverage, totalTimeInSql, conditions },
  (_, { coverage, totalTimeInSql, conditions }): Explained | null =>
    totalTimeInSql
      ? {
          explainedUs: OF_THE_APP.reduce((sum, part) => sum + coverage.explained[part]!, 0) / 1000,
          inSqlUs: totalTimeInSql,
          slowed: conditions.slowed,
        }
      : null,
);

export const explainedText = ({ explainedUs, inSqlUs, slowed }: Explained): string =>
  `These actions cover ${formatDuration(explainedUs)} of ${formatDuration(inSqlUs)} in SQL.${slowed ? ' Times and savings are those with DevTools open.' : ''}`;

/** Begins and ends of spans, sorted apart, nanoseconds: in loops, for there may be one of each for every call. */
function edgesOf(lists: readonly Spans[]): { begins: Float64Array; ends: Float64Array } {
  const count = lists.reduce((n, { length }) => n + length / 2, 0);
  const [begins, ends] = [new Float64Array(count), new Float64Array(count)];
  let at = 0;
  for (const spans of lists)
    for (let i = 0; i < spans.length; i += 2) {
      begins[at] = toNs(spans[i]!);
      ends[at++] = toNs(Math.max(spans[i]!, spans[i + 1]!));
    }
  return { begins: begins.sort(), ends: ends.sort() };
}

/** Begin, end, begin, ..., microseconds. */
type Spans = readonly number[];

/** Add the index's time that lies in any of the spans, by kind. */
function addWithin(sums: Float64Array, lists: readonly Spans[], index: IntervalIndex): void {
  const { begins, ends } = edgesOf(lists);
  const count = begins.length;
  let at = 0;
  for (let [begun, ended] = [0, 0]; ended < count;) {
    const from = begins[begun]!;
    do
      if (begun < count && begins[begun]! <= ends[ended]!) begun++;
      else ended++;
    while (ended < begun);
    const to = ends[ended - 1]!;
    while (at < index.count && index.endOf(at) <= from) at++;
    for (let i = at; i < index.count && index.startOf(i) < to; i++)
      sums[index.kind[i]!]! += Math.min(to, index.endOf(i)) - Math.max(from, index.startOf(i));
  }
}
