/**
 * Executions of statements with what each did: calls, bytes, and time. They are grouped by
 * fingerprint and in order, so that the k-th run of a statement in one trace can be compared with
 * the k-th in another.
 */
import { executions, ExecutionState, type Executions } from '../core/executions.ts';
import { IS_WEB_CALL } from '../core/layers.ts';
import { getOrMake } from '../core/maps.ts';
import { owners } from '../core/owners.ts';
import type { Owners } from '../../trace/owners.ts';
import { objectName } from '../../trace/describe.ts';
import { Flag, Op } from '../../event/event.ts';
import { isVfsOp, isWebOp } from '../../event/operations.ts';
import { isErrorResult } from '../../sqlite/result-codes.ts';
import { fingerprint } from '../../sqlite/sql-text.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { fact, type ByThread } from '../core/graph.ts';
import { columns, each } from '../../trace/number-columns.ts';
import { ById } from '../core/by-id.ts';
import { bytesMoved } from '../../trace/bytes-moved.ts';
import { isInMemory } from '../../trace/in-memory.ts';

/**
 * Counts of each execution: below its steps, its reset, and its finalize; `errors` only of its
 * steps.
 */
export const EXECUTION_COUNTS = [
  'steps',
  'vfs',
  'reads',
  'readBytes',
  'writes',
  'writeBytes',
  'syncs',
  'locks',
  'web',
  'errors',
] as const;
export type ExecutionCount = (typeof EXECUTION_COUNTS)[number];
const N = EXECUTION_COUNTS.length;

/** All executions of one shape, in order of time. */
export interface ExecutionGroup {
  fingerprint: string;
  executions: number;
  /** executions * EXECUTION_COUNTS.length numbers. */
  counts: Float64Array;
  /** Microseconds inside its steps, by execution; NaN if one never ended. */
  timeUs: Float64Array;
  /** Of all executions, microseconds; for those that never ended, the known part. */
  totalUs: number;
}

/** Executions of all threads, in order of thread. */
class Runs extends columns({
  /** Place in `prints`. */
  print: Uint32Array,
  at: Float64Array,
  us: Float64Array,
  ...each(EXECUTION_COUNTS, Float64Array),
}) {
  readonly prints: string[] = [];
  /** By place in `prints`, microseconds. */
  readonly totals: number[] = [];
}

/**
 * By fingerprint, in order of the first thread that ran it. Executions of several threads are in
 * order of time.
 */
export const executionGroups = fact(
  'executionGroups',
  'runs of each statement',
  { owners, executions },
  executionGroupsOf,
);

function executionGroupsOf(
  store: TraceStore,
  { owners, executions }: { owners: ByThread<Owners>; executions: ByThread<Executions> },
): Map<string, ExecutionGroup> {
  const runs = new Runs();
  const places = new Map<string, number>();
  for (const thread of store.threads)
    scan(thread, owners.of(thread), executions.of(thread), places, runs);
  const order = Uint32Array.from({ length: runs.count }, (_, i) => i);
  if (store.threads.length > 1) order.sort((a, b) => runs.at[a]! - runs.at[b]! || a - b);
  const sizes = new Uint32Array(runs.prints.length);
  for (let i = 0; i < runs.count; i++) sizes[runs.print[i]!]!++;
  const groups = runs.prints.map((fingerprint, i): ExecutionGroup => {
    const executions = sizes[i]!;
    return {
      fingerprint,
      executions,
      counts: new Float64Array(executions * N),
      timeUs: new Float64Array(executions),
      totalUs: runs.totals[i]!,
    };
  });
  sizes.fill(0);
  for (const run of order) {
    const group = groups[runs.print[run]!]!;
    const k = sizes[runs.print[run]!]!++;
    group.timeUs[k] = runs.us[run]!;
    EXECUTION_COUNTS.forEach((name, c) => (group.counts[k * N + c] = runs[name][run]!));
  }
  return new Map(groups.map((g) => [g.fingerprint, g]));
}

function scan(
  thread: ThreadStore,
  owners: Owners,
  executions: Executions,
  places: Map<string, number>,
  runs: Runs,
): void {
  const { events } = thread;
  const known = new ById<number>();
  const placeOf = (object: number): number =>
    getOrMake(known, object, () => {
      const print = fingerprint(objectName(thread, object));
      return getOrMake(places, print, () => runs.prints.push(print) - 1);
    });
  const first = runs.count;
  for (let i = 0; i < executions.count; i++) {
    const run = runs.add();
    const print = (runs.print[run] = placeOf(executions.text[i]!));
    runs.at[run] = events.t0[executions.firstRow[i]!]!;
    runs.us[run] = executions.state[i] === ExecutionState.running ? NaN : executions.us[i]!;
    runs.totals[print] = (runs.totals[print] ?? 0) + executions.us[i]!;
  }
  const { row: rows, execution, count: calls } = executions.calls;
  for (let call = 0; call < calls; call++) {
    const [row, run] = [rows[call]!, first + execution[call]!];
    const op = events.op[row]!;
    if (op !== Op.sqlStep && op !== Op.sqlExec) continue;
    runs.steps[run]!++;
    if (isErrorResult(events.result[row]!) || events.flags[row]! & Flag.threw) runs.errors[run]!++;
  }
  let [lastOwner, run] = [-1, -1];
  for (let row = 0; row < events.count; row++) {
    const op = events.op[row]!;
    if (!isVfsOp(op) && !isWebOp(op)) continue;
    const owner = owners.sql(row);
    if (owner !== lastOwner) {
      lastOwner = owner; // calls made by one SQL call follow each other
      run = owner < 0 ? -1 : executions.at(owner);
    }
    if (run >= 0) count(thread, row, op, runs, first + run);
  }
}

function count({ events }: ThreadStore, row: number, op: number, runs: Runs, run: number): void {
  if (isWebOp(op)) {
    runs.web[run]! += IS_WEB_CALL[op]!;
    return;
  }
  if (isInMemory(events, row)) return;
  runs.vfs[run]!++;
  if (op === Op.xRead) {
    runs.reads[run]!++;
    runs.readBytes[run]! += bytesMoved(events, row);
  } else if (op === Op.xWrite) {
    runs.writes[run]!++;
    runs.writeBytes[run]! += bytesMoved(events, row);
  } else if (op === Op.xSync) runs.syncs[run]!++;
  else if (op === Op.xLock) runs.locks[run]!++;
}
