// Threads for the time partition, row by row, and its parts as whole nanoseconds.
import { type TimePartition } from '../../src/analysis/time/time-partition.ts';
import { PARTS, type Part } from '../../src/analysis/core/time-parts.ts';
import { Op, type OpName } from '../../src/event/event.ts';
import type { ThreadStore } from '../../src/trace/store.ts';
import { newStore, ThreadBuilder } from './builder.ts';

export const ns = (us: number): number => Math.round(us * 1000);
export const partsOf = (p: TimePartition): Record<Part, number> =>
  Object.fromEntries(PARTS.map((k) => [k, ns(p[`${k}Us`])])) as Record<Part, number>;
export const sumOf = (p: TimePartition): number => Object.values(partsOf(p)).reduce((a, b) => a + b, 0);
/** The parts that are not 0, microseconds. */
export const said = (p: TimePartition): Partial<Record<Part, number>> =>
  Object.fromEntries(PARTS.filter((k) => p[`${k}Us`] !== 0).map((k) => [k, p[`${k}Us`]]));

export interface Row {
  op: OpName;
  t0: number;
  end: number | null;
  flags?: number;
  parent?: number;
  object?: number;
  context?: number;
  seq?: number;
  endSeq?: number;
}
const TIMES = { timeOrigin: 0 };
/**
 * A thread with these rows, times in nanoseconds. Begins and ends are numbered in order of time,
 * unless given.
 */
export function threadOf(rows: readonly Row[]): ThreadStore {
  const { thread } = new ThreadBuilder(newStore(TIMES.timeOrigin));
  const { events } = thread;
  events.reserve(rows.length);
  const points = rows.flatMap((r, i) => [
    { at: r.t0, i, end: false },
    ...(r.end === null ? [] : [{ at: Math.max(r.end, r.t0), i, end: true }]),
  ]);
  points.sort((a, b) => a.at - b.at || a.i - b.i || Number(a.end) - Number(b.end));
  const begins = rows.map(() => 0);
  const ends = rows.map(() => 0);
  points.forEach((p, n) => ((p.end ? ends : begins)[p.i] = n + 1));
  rows.forEach((r, i) => {
    events.t0[i] = r.t0 / 1000;
    events.set('dur', i, r.end === null ? 0 : (r.end - r.t0) / 1000);
    events.seq[i] = r.seq ?? begins[i]!;
    events.endSeq[i] = r.endSeq ?? ends[i]!;
    events.op[i] = Op[r.op];
    events.flags[i] = r.flags ?? 0;
    events.parent[i] = r.parent === undefined || r.parent < 0 ? 0 : (rows[r.parent]?.seq ?? begins[r.parent]!);
    events.set('object', i, r.object ?? 0);
    events.set('context', i, r.context ?? 0);
    events.set('offset', i, NaN);
  });
  events.count = rows.length;
  return thread;
}
