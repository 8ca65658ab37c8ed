/**
 * What is counted for each statement: executions, calls, and the VFS calls and pages below them.
 */
import { Flag, Op } from '../../event/event.ts';
import { isStatementOp, isVfsOp, opTable } from '../../event/operations.ts';
import { isErrorResult } from '../../sqlite/result-codes.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { Access, type Accesses } from '../pages/accesses.ts';
import {
  ExecutionState,
  QUERY_COUNTS,
  type Executions,
  type QueryCounts,
} from '../core/executions.ts';
import type { CallInstructions } from '../core/instructions.ts';
import type { Owners } from '../../trace/owners.ts';
import { longer } from '../../trace/typed-arrays.ts';
import { isInMemory } from '../../trace/in-memory.ts';
import {
  CALL_KINDS,
  noCalls,
  type Entry,
  type PlaceOf,
  type StatementRow,
} from './statement-entry.ts';
import type { RowsByOperation } from '../core/rows-by-operation.ts';
import type { TimeRange } from '../core/time-range.ts';

const NO_QUERY = Object.fromEntries(QUERY_COUNTS.map((name) => [name, 0])) as QueryCounts;

/** Whether a moment lies in a range. */
export const within = (us: number, { fromUs = -Infinity, toUs = Infinity }: TimeRange): boolean =>
  us >= fromUs && us < toUs;

/**
 * @returns indices of the entries of those that ended, and how long each took, microseconds:
 * `count` of them
 */
export function countExecutions(
  { events }: ThreadStore,
  executions: Executions,
  entries: Entry[],
  placeOf: PlaceOf,
  range: TimeRange,
): { places: Uint32Array; us: Float64Array; count: number } {
  const places = new Uint32Array(executions.count);
  const us = new Float64Array(executions.count);
  let count = 0;
  for (let i = 0; i < executions.count; i++) {
    if (!within(events.t0[executions.firstRow[i]!]!, range)) continue;
    const place = placeOf(executions.text[i]!);
    const entry = entries[place]!;
    entry.executions++;
    entry.rows += executions.rows[i]!;
    entry.totalUs += executions.us[i]!;
    countQuery(entry, executions, i);
    const state = executions.state[i];
    if (state === ExecutionState.running) {
      entry.running++;
      continue;
    }
    if (state === ExecutionState.failed) entry.failed++;
    else if (state === ExecutionState.rowsLeft) entry.rowsLeft++;
    entry.times++;
    places[count] = place;
    us[count++] = executions.us[i]!;
  }
  return { places, us, count };
}

function countQuery(entry: Entry, executions: Executions, i: number): void {
  if (executions.memory[i]! > 0) entry.memory = Math.max(entry.memory ?? 0, executions.memory[i]!);
  if (!executions.counted[i]) return;
  entry.query ??= { ...NO_QUERY, runs: 0 };
  entry.query.runs++;
  for (const name of QUERY_COUNTS) entry.query[name] += executions[name][i]!;
}

/** Instructions of its calls, prepare to finalize. */
export function countInstructions(
  { events }: ThreadStore,
  executed: CallInstructions,
  entries: readonly Entry[],
  placeOf: PlaceOf,
  range: TimeRange,
): void {
  for (let i = 0; i < executed.count; i++) {
    const row = executed.row[i]!;
    if (!isStatementOp(events.op[row]!) || !within(events.t0[row]!, range)) continue;
    const entry = entries[placeOf(events.object[row]!)]!;
    entry.instructions = (entry.instructions ?? 0) + executed.own[i]!;
  }
}

/** Entries of the texts that ran. */
export function touched(
  executions: Executions,
  entries: readonly Entry[],
  placeOf: PlaceOf,
): Set<Entry> {
  const texts = new Set<number>(executions.text.subarray(0, executions.count));
  return new Set([...texts].map((text) => entries[placeOf(text)]!));
}

/** Calls of statements that don't step them. */
const NO_STEPS = opTable(({ code }) => isStatementOp(code) && code !== Op.sqlStep);

/** prepare, reset, finalize, and the texts given to sqlite3_exec. */
export function countCalls(
  { events }: ThreadStore,
  rows: RowsByOperation,
  entries: readonly Entry[],
  placeOf: PlaceOf,
  range: TimeRange,
): void {
  const calls = rows.together(NO_STEPS);
  for (let i = 0; i < calls.length; i++) {
    const row = calls[i]!;
    const op = events.op[row]!;
    if (!within(events.t0[row]!, range)) continue;
    const entry = entries[placeOf(events.object[row]!)]!;
    if (op === Op.sqlPrepare) {
      entry.prepares++;
      entry.prepareUs += events.dur[row]!;
      if (isErrorResult(events.result[row]!) || events.flags[row]! & Flag.threw)
        entry.failedPrepares++;
    } else if (op === Op.sqlExec) {
      const statements = events.aux2[row]!;
      if (statements)
        entry.statementsInScript = Math.max(entry.statementsInScript ?? 0, statements);
    } else entry.endingUs += events.dur[row]!;
  }
}

/** Index in CALL_KINDS, from 1; 0 = others. */
const PLACE_OF_CALL = opTable(
  ({ counts }) => 1 + CALL_KINDS.indexOf(counts as (typeof CALL_KINDS)[number]),
);

const SUMS = CALL_KINDS.length + 2;

/** VFS calls below SQL calls, without the in-memory journal. */
export function countVfsCalls(
  { events }: ThreadStore,
  owners: Owners,
  entries: readonly Entry[],
  placeOf: PlaceOf,
  range: TimeRange,
): void {
  const { op, count, t0, object } = events;
  /** By entry: calls below prepare, others, and the others by kind. */
  let sums: Float64Array = new Float64Array(entries.length * SUMS);
  const sumsAt = (owner: number): number => {
    if (owner < 0 || !isStatementOp(op[owner]!) || !within(t0[owner]!, range)) return -1;
    const at = placeOf(object[owner]!) * SUMS;
    sums = longer(sums, at + SUMS);
    return op[owner] === Op.sqlPrepare ? at : at + 1;
  };
  // calls made by one SQL call follow each other
  let [last, at] = [-1, -1];
  for (let row = 0; row < count; row++) {
    if (!isVfsOp(op[row]!) || isInMemory(events, row)) continue;
    const owner = owners.sql(row);
    if (owner !== last) at = sumsAt((last = owner));
    if (at < 0) continue;
    sums[at]!++;
    const kind = PLACE_OF_CALL[op[row]!]!;
    if (kind > 0 && at % SUMS === 1) sums[at + kind]!++;
  }
  entries.forEach((entry, place) => {
    const [prepare, calls] = [sums[place * SUMS] ?? 0, sums[place * SUMS + 1] ?? 0];
    if (prepare > 0) entry.prepareVfsCalls = (entry.prepareVfsCalls ?? 0) + prepare;
    if (!(calls > 0)) return;
    entry.vfsCalls = (entry.vfsCalls ?? 0) + calls;
    const by = (entry.callsBy ??= noCalls());
    CALL_KINDS.forEach((kind, i) => (by[kind] += sums[place * SUMS + 2 + i]!));
  });
}

/**
 * Pages that calls below SQL calls moved.
 * @param owners by thread, if VFS calls were recorded @param placeOf by thread
 */
export function countPages(
  store: TraceStore,
  accesses: Accesses,
  owners: ReadonlyMap<number, Owners>,
  entries: readonly Entry[],
  placeOf: readonly PlaceOf[],
  range: TimeRange,
): void {
  const { thread, row, what, span, count } = accesses;
  /**
   * By thread: the SQL call of the last access (calls made by one follow each other), and where its
   * pages count.
   */
  const lastOwner = new Int32Array(store.threads.length).fill(-2);
  const counts = store.threads.map((): StatementRow['pages'] => null);
  const own = store.threads.map((_, t) => owners.get(t) ?? null);
  const pagesOf = (t: number, owner: number): StatementRow['pages'] => {
    const { op, t0, object } = store.threads[t]!.events;
    if (owner < 0 || !isStatementOp(op[owner]!) || !within(t0[owner]!, range)) return null;
    return (entries[placeOf[t]!(object[owner]!)]!.pages ??= {
      read: 0,
      written: 0,
      walRead: 0,
      walWritten: 0,
    });
  };
  for (let i = 0; i < count; i++) {
    const t = thread[i]!;
    const owner = own[t] ? own[t].sql(row[i]!) : -1;
    if (owner !== lastOwner[t]) {
      lastOwner[t] = owner;
      counts[t] = pagesOf(t, owner);
    }
    const pages = counts[t];
    if (!pages || what[i]! & Access.checkpoint) continue;
    const wal = (what[i]! & Access.wal) !== 0;
    if (what[i]! & Access.write) {
      if (wal) pages.walWritten += span[i]!;
      else pages.written += span[i]!;
    } else if (wal) pages.walRead += span[i]!;
    else pages.read += span[i]!;
  }
}
