/**
 * Executions of statements with what each did: calls, bytes and time, grouped by fingerprint and in order, so that the k-th run of a
 * statement in one trace stands beside the k-th in another.
 */
import { objectName } from '../../trace/describe.ts';
import { Flag, Op } from '../../event/event.ts';
import { isSqlOp, isVfsOp, isWebOp } from '../../event/operations.ts';
import { isErrorResult } from '../../sqlite/result-codes.ts';
import { fingerprint } from '../../sqlite/sql-text.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { fact } from '../graph.ts';
import { ById } from '../core/by-id.ts';
import { bytesMoved } from '../../trace/bytes-moved.ts';
import { parentRow } from '../core/time-calls.ts';

/** What is counted of each execution; calls of its steps alone. */
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
const C = Object.fromEntries(EXECUTION_COUNTS.map((name, i) => [name, i])) as Record<
  ExecutionCount,
  number
>;

/** All executions of one shape, in order of time. */
export interface ExecutionGroup {
  fingerprint: string;
  executions: number;
  /** executions * EXECUTION_COUNTS.length numbers. */
  counts: Float64Array;
  /** Microseconds inside its steps, by execution; NaN where one never ended. */
  timeUs: Float64Array;
}

/** Executions of all threads as columns, in order of thread. */
class Runs {
  count = 0;
  /** Place in `prints`. */
  print = new Uint32Array(256);
  at = new Float64Array(256);
  us = new Float64Array(256);
  counts = new Float64Array(256 * N);
  readonly prints: string[] = [];

  /** @returns place + 1 */
  begin(print: number, at: number): number {
    if (this.count === this.at.length) {
      const twice = <T extends Uint32Array | Float64Array>(a: T): T => {
        const b = new (a.constructor as new (n: number) => T)(a.length * 2);
        b.set(a);
        return b;
      };
      this.print = twice(this.print);
      this.at = twice(this.at);
      this.us = twice(this.us);
      this.counts = twice(this.counts);
    }
    this.print[this.count] = print;
    this.at[this.count] = at;
    return ++this.count;
  }
}

/** By fingerprint, in order of the first thread that ran it; executions of several threads in order of time. */
export const executionGroups = fact(
  'executionGroups',
  'runs of each statement',
  {},
  executionGroupsOf,
);

function executionGroupsOf(store: TraceStore): Map<string, ExecutionGroup> {
  const runs = new Runs();
  const places = new Map<string, number>();
  for (const thread of store.threads) scan(thread, places, runs);
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
    };
  });
  sizes.fill(0);
  for (const run of order) {
    const group = groups[runs.print[run]!]!;
    const k = sizes[runs.print[run]!]!++;
    group.timeUs[k] = runs.us[run]!;
    for (let c = 0; c < N; c++) group.counts[k * N + c] = runs.counts[run * N + c]!;
  }
  return new Map(groups.map((g) => [g.fingerprint, g]));
}

const ROW = 100;

function scan(thread: ThreadStore, places: Map<string, number>, runs: Runs): void {
  const { events } = thread;
  /** Place in `runs` + 1 of the execution that a row serves. */
  const keyOf = new Uint32Array(events.count);
  const running = new Map<number, number>();
  const known = new ById<number>();
  const placeOf = (object: number): number => {
    let place = known.get(object);
    if (place !== undefined) return place;
    const print = fingerprint(objectName(thread, object));
    place = places.get(print);
    if (place === undefined) places.set(print, (place = runs.prints.push(print) - 1));
    return known.set(object, place);
  };
  const begin = (row: number): number => runs.begin(placeOf(events.object[row]!), events.t0[row]!);
  for (let row = 0; row < events.count; row++) {
    const op = events.op[row]!;
    let key = 0;
    if (isSqlOp(op)) {
      const statement = events.aux[row]!;
      if (op === Op.sqlExec) key = begin(row);
      else if (op === Op.sqlStep) {
        key = running.get(statement) ?? 0;
        if (key === 0) key = begin(row);
        if (events.result[row] === ROW || events.endSeq[row] === 0) running.set(statement, key);
        else running.delete(statement);
      } else if (op !== Op.sqlOpen && op !== Op.sqlClose) running.delete(statement);
      if (key) {
        runs.us[key - 1]! += events.endSeq[row] === 0 ? NaN : events.dur[row]!;
        runs.counts[(key - 1) * N + C.steps]!++;
        if (isErrorResult(events.result[row]!)) runs.counts[(key - 1) * N + C.errors]!++;
      }
    } else if (isVfsOp(op) || isWebOp(op)) {
      const parent = parentRow(events, row);
      key = parent < 0 ? 0 : keyOf[parent]!;
      if (key) count(thread, row, op, runs.counts, (key - 1) * N);
    }
    keyOf[row] = key;
  }
}

/** @param at where the execution's counts begin */
function count(
  thread: ThreadStore,
  row: number,
  op: number,
  counts: Float64Array,
  at: number,
): void {
  if (isWebOp(op)) {
    if (op !== Op.lockHeld) counts[at + C.web]!++;
    return;
  }
  if (thread.events.flags[row]! & Flag.memoryJournal) return;
  counts[at + C.vfs]!++;
  if (op === Op.xRead) {
    counts[at + C.reads]!++;
    counts[at + C.readBytes]! += bytesMoved(thread.events, row);
  } else if (op === Op.xWrite) {
    counts[at + C.writes]!++;
    counts[at + C.writeBytes]! += bytesMoved(thread.events, row);
  } else if (op === Op.xSync) counts[at + C.syncs]!++;
  else if (op === Op.xLock) counts[at + C.locks]!++;
}
