/**
 * The time that findings name, matched with the time partition while SQL runs: each moment once.
 */
import { toNs } from '../../trace/lanes/sweep.ts';
import { KINDS, type IntervalIndex } from '../../trace/lanes/interval-index.ts';
import type { Known } from '../core/graph.ts';
import { servedThreads } from '../core/helper-threads.ts';
import { sqliteThreads } from '../core/main-threads.ts';
import { isStorage, PART, SQL_PARTS, type Part } from '../core/time-parts.ts';
import type { NamedTime, Spans } from '../rules/context.ts';
import { pieces } from '../time/thread-times.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';

/**
 * Nanoseconds by part, in the order of PARTS. Time while SQL runs, except `tracer`, which includes
 * the recording's set-up.
 */
export interface Coverage {
  all: Float64Array;
  /** The part of it that the calls of findings take, each moment once. */
  explained: Float64Array;
}

/** Needed by `coverageOf`. */
export const COVERAGE_NEEDS = { pieces, sqliteThreads, servedThreads };

/** Parts that `NamedTime.awaited` covers. */
const AWAITED = SQL_PARTS.map((part) => PART[part]).filter(
  (part) => isStorage(part) || part === PART.lockWait,
);

/** @param named the time of each finding */
export function coverageOf(
  { threads }: TraceStore,
  { pieces, sqliteThreads, servedThreads }: Known<typeof COVERAGE_NEEDS>,
  named: readonly ReadonlyMap<ThreadStore, NamedTime>[],
): Coverage {
  const found = { all: new Float64Array(KINDS), explained: new Float64Array(KINDS) };
  const withAwaited = new Float64Array(KINDS);
  for (const thread of sqliteThreads) {
    const own = threads.filter((one) => one === thread || servedThreads[one.index] === thread);
    const timesOf = (one: ThreadStore): NamedTime[] => named.flatMap((by) => by.get(one) ?? []);
    const times = own.flatMap(timesOf);
    const ran = own
      .map((one) => timeOfCalls(one, timesOf(one)))
      .reduce(mergedOf, unionOf(times.map((time) => time.ran)));
    const awaited = unionOf(times.map((time) => time.awaited));
    const { index } = pieces.of(thread);
    for (let i = 0; i < index.count; i++)
      found.all[index.kind[i]!]! += index.endOf(i) - index.startOf(i);
    addWithin(found.explained, ran, index);
    addWithin(withAwaited, mergedOf(ran, awaited), index);
  }
  for (const part of AWAITED) found.explained[part] = withAwaited[part]!;
  return found;
}

/**
 * Parts that a finding can cover. The recording's own work isn't one, and is partly outside SQL.
 */
const OF_THE_APP = SQL_PARTS.filter((part) => part !== 'tracer');

/** How much of the time while SQL runs findings explain, microseconds. */
export const explainedUs = ({ explained }: Coverage): number =>
  OF_THE_APP.reduce((sum, part) => sum + explained[PART[part]]!, 0) / 1000;

/** The parts that have some of it, microseconds. */
export const explainedParts = ({ explained }: Coverage): { part: Part; us: number }[] =>
  OF_THE_APP.map((part) => ({ part, us: explained[PART[part]]! / 1000 })).filter(
    ({ us }) => us > 0,
  );

/**
 * The time in which any of the calls ran, as borders; see below. There may be a million calls, most
 * of them in several lists.
 */
function timeOfCalls({ events }: ThreadStore, named: readonly NamedTime[]): Float64Array {
  const { t0, dur, count } = events;
  if (named.every((time) => time.calls.length === 0)) return new Float64Array(0);
  const isNamed = new Uint8Array(count);
  let calls = 0;
  for (const { calls: rows } of named)
    for (let i = 0; i < rows.length; i++) {
      calls += 1 - isNamed[rows[i]!]!;
      isNamed[rows[i]!] = 1;
    }
  const borders = new Float64Array(2 * calls);
  let n = 0;
  for (let row = 0; row < count && calls > 0; row++) {
    if (isNamed[row] === 0) continue;
    calls--;
    const begin = toNs(t0[row]!);
    const end = toNs(t0[row]! + Math.max(0, dur[row]!));
    if (n > 0 && begin <= borders[n - 1]!) {
      if (end > borders[n - 1]!) borders[n - 1] = end;
      continue;
    }
    borders[n] = begin;
    borders[n + 1] = end;
    n += 2;
  }
  return borders.subarray(0, n);
}

/**
 * The time within any of some spans, as borders in nanoseconds: from, to, from, ..., ascending,
 * disjoint. There may be a span for each call, most of them in order: ordered ranges become lists,
 * which are merged in pairs.
 */
function unionOf(lists: readonly Spans[]): Float64Array {
  const room = lists.reduce((n, { length }) => n + length, 0);
  let [from, to] = [new Float64Array(room), new Float64Array(room)];
  /** Starts of the lists, and the end of the last. */
  let starts: number[] = [];
  let used = 0;
  for (const spans of lists) {
    let last = -1;
    for (let i = 0; i < spans.length; i += 2) {
      const begin = toNs(spans[i]!);
      const end = toNs(Math.max(spans[i]!, spans[i + 1]!));
      if (last >= 0 && begin >= from[last - 1]! && begin <= from[last]!) {
        if (end > from[last]!) from[last] = end;
        continue;
      }
      if (last < 0 || begin < from[last - 1]!) starts.push(used);
      from[used] = begin;
      from[used + 1] = end;
      last = used + 1;
      used += 2;
    }
  }
  starts.push(used);
  while (starts.length > 2) {
    const next: number[] = [];
    let at = 0;
    for (let list = 0; list < starts.length - 1; list += 2) {
      next.push(at);
      const mid = starts[list + 1]!;
      at = mergeInto(to, at, from, starts[list]!, mid, starts[list + 2] ?? mid);
    }
    next.push(at);
    [from, to, starts] = [to, from, next];
  }
  return from.subarray(0, starts.at(-1));
}

/** Merges two of them. */
function mergedOf(a: Float64Array, b: Float64Array): Float64Array {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  const both = new Float64Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  const to = new Float64Array(both.length);
  return to.subarray(0, mergeInto(to, 0, both, 0, a.length, both.length));
}

/**
 * Merges two lists of borders, [first, mid) and [mid, behind).
 * @param n position in `to` where the result begins
 * @returns where it ends
 */
function mergeInto(
  to: Float64Array,
  n: number,
  from: Float64Array,
  first: number,
  mid: number,
  behind: number,
): number {
  let [a, b, at] = [first, mid, n];
  while (a < mid || b < behind) {
    const next = b === behind || (a < mid && from[a]! <= from[b]!) ? a : b;
    if (next === a) a += 2;
    else b += 2;
    if (at > n && from[next]! <= to[at - 1]!) to[at - 1] = Math.max(to[at - 1]!, from[next + 1]!);
    else {
      to[at] = from[next]!;
      to[at + 1] = from[next + 1]!;
      at += 2;
    }
  }
  return at;
}

/** Add the index's time within borders, by kind. */
function addWithin(sums: Float64Array, borders: Float64Array, index: IntervalIndex): void {
  let at = 0;
  for (let b = 0; b < borders.length; b += 2) {
    const from = borders[b]!;
    const to = borders[b + 1]!;
    while (at < index.count && index.endOf(at) <= from) at++;
    for (let i = at; i < index.count && index.startOf(i) < to; i++)
      sums[index.kind[i]!]! += Math.min(to, index.endOf(i)) - Math.max(from, index.startOf(i));
  }
}
