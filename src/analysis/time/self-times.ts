/**
 * Self time: the call, file, or statement that each moment while SQL runs belongs to. In total
 * time, nested calls each count with their whole duration. In self time, each moment counts once,
 * for the call that decides it (time-partition.ts), as in the flame graph.
 *
 *   sqlite3_step   ====================      total 20, self 10
 *   xRead             ==========             total 10, self  4
 *   idb.get             ~~~~~~               total  6, self  6
 */
import type { EventColumns } from '../../trace/columns.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { longer } from '../../trace/typed-arrays.ts';
import { ById } from '../core/by-id.ts';
import { PARTS, Role, ROLE_OF_OP } from '../core/time-parts.ts';
import { OPS } from '../../event/operations.ts';
import type { TimeRange } from '../core/time-range.ts';
import { UNKNOWN_FILE } from '../files/files.ts';
import { groupIdOf, groupOf, type AreaBy, type AreaRow } from './area.ts';
import type { Sweeps } from './thread-times.ts';
import type { TimeKeeper } from './time-shares.ts';

/** One place for each operation or file. */
class Places implements TimeKeeper {
  readonly ids: number[] = [];
  ns: Float64Array = new Float64Array(8 * PARTS.length);
  readings: Float64Array = new Float64Array(8 * PARTS.length);
  readonly openEnds: number[] = [];
  private readonly places = new ById<number>();

  constructor(
    private readonly events: EventColumns,
    private readonly by: AreaBy,
  ) {}

  placeOf(row: number): number {
    const id = groupIdOf(this.by, this.events, row);
    return this.places.get(id) ?? this.add(id);
  }
  placeAt(winner: number): number {
    return this.placeOf(winner);
  }
  private add(id: number): number {
    const place = this.ids.push(id) - 1;
    this.openEnds.push(0);
    this.ns = longer(this.ns, this.ids.length * PARTS.length);
    this.readings = longer(this.readings, this.ids.length * PARTS.length);
    return this.places.set(id, place);
  }
}

/**
 * Add a thread's self times in a range, microseconds by `AreaRow.key`. A statement's time is that
 * of the table of statements.
 * @param sweeps of the thread
 */
export function addSelfTimes(
  into: Map<string, number>,
  thread: ThreadStore,
  sweeps: Sweeps,
  by: AreaBy,
  range: TimeRange,
): void {
  const add = (id: number, us: number): void => {
    const group = groupOf(thread, by, id);
    if (group) into.set(group.key, (into.get(group.key) ?? 0) + us);
  };
  if (by === 'statement') {
    for (const [id, { spanUs }] of sweeps.within(range).byStatement) if (id) add(id, spanUs);
    return;
  }
  const { ids, ns } = sweeps.into(new Places(thread.events, by), range);
  ids.forEach((id, place) => {
    const own = ns.subarray(place * PARTS.length, (place + 1) * PARTS.length);
    add(id, own.reduce((sum, part) => sum + part, 0) / 1000);
  });
}

/** Operations that take no thread's time: a held lock, a notification. */
const TIMELESS = new Set(
  OPS.flatMap((info, code) => (info && ROLE_OF_OP[code] === Role.none ? info.name : [])),
);

/** @returns microseconds; null = it can't have any, or its file isn't known */
export const selfTimeOf = (times: ReadonlyMap<string, number>, row: AreaRow): number | null =>
  TIMELESS.has(row.name) || row.name === UNKNOWN_FILE.path ? null : (times.get(row.key) ?? 0);
