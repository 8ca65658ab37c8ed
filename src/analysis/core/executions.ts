/**
 * Executions of a thread's statements as columns. An execution begins with the first sqlite3_step
 * of a statement after its prepare, its reset, or the step that finished it; a sqlite3_exec call is
 * one (statements.ts). Its time is that of its step calls.
 */
import type { EventColumns } from '../../trace/columns.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { Flag, Op } from '../../event/event.ts';
import { isSqlOp, opTable } from '../../event/operations.ts';
import { isErrorResult } from '../../sqlite/result-codes.ts';
import { threadFact, type ByThread } from './graph.ts';
import { rowsByOperation, type RowsByOperation } from './rows-by-operation.ts';
import { Rc, StatementStatus, VALUES_HASH } from '../../sqlite/constants.ts';
import { columns, each, lowerBound } from '../../trace/number-columns.ts';

/**
 * What SQLite itself counts in a run (sqlite.org/c3ref/c_stmtstatus_counter.html): steps of its
 * virtual machine, rows stepped over in full scans, sorts, rows put into automatic indexes,
 * repeated prepares, and joins that a Bloom filter passed and rejected.
 */
export const QUERY_COUNTS = [
  'vmSteps',
  'scanned',
  'sorts',
  'autoIndexRows',
  'reprepares',
  'filterMisses',
  'filterHits',
] as const;
export type QueryCounts = Record<(typeof QUERY_COUNTS)[number], number>;
const COUNT_OF_STATUS = new Map<number, (typeof QUERY_COUNTS)[number]>([
  [StatementStatus.autoIndex, 'autoIndexRows'],
  [StatementStatus.reprepare, 'reprepares'],
  [StatementStatus.filterMiss, 'filterMisses'],
  [StatementStatus.filterHit, 'filterHits'],
]);

export const ExecutionState = {
  /** Stepped to DONE. */
  done: 0,
  /**
   * Its last step returned a row, but no other followed: it was reset or finalized, or the trace
   * ends.
   */
  rowsLeft: 1,
  /** A call returned an error or threw. */
  failed: 2,
  /** A call hadn't returned, so the time isn't known. */
  running: 3,
} as const;

class Calls extends columns({ row: Uint32Array, execution: Uint32Array }) {
  push(row: number, execution: number): void {
    // not `add`, because code shared by all tables is slow
    if (this.count === this.capacity) this.reserve(1);
    this.row[this.count] = row;
    this.execution[this.count++] = execution;
  }
}

export class Executions extends columns({
  /** Rows of the first and the last of its calls. */
  firstRow: Uint32Array,
  lastRow: Uint32Array,
  /** Id of the `sql` definition; 0 = not known. */
  text: Uint32Array,
  /** Sum of the durations of its calls, microseconds. */
  us: Float64Array,
  /** Steps that returned a row. */
  rows: Uint32Array,
  /** One of ExecutionState. */
  state: Uint8Array,
  /** 1 = the counts below are known. */
  counted: Uint8Array,
  ...each(QUERY_COUNTS, Float64Array),
  /** For a query: the hash of its values (engines/value-hash.ts); 0 = not known. */
  values: Uint32Array,
  /** Bytes of its prepared statement; 0 = not known. */
  memory: Uint32Array,
}) {
  /**
   * The step and exec calls, and those that ended an execution early, in order: their rows, and the
   * execution of each.
   */
  readonly calls = new Calls();

  /** The execution of one of the calls; -1 for other rows. */
  at(row: number): number {
    const { calls } = this;
    const call = lowerBound(calls.row, row, calls.count);
    return call < calls.count && calls.row[call] === row ? calls.execution[call]! : -1;
  }
}

/** Executions of a thread, in the order of their first calls. */
export const executions = threadFact(
  'executions',
  'executions of statements',
  { rowsByOperation },
  executionsOf,
);

/** Calls of SQL, and readings of the engine's counters after a run. */
const OF_STATEMENTS = opTable(
  ({ code }) => isSqlOp(code) || code === Op.sqlStmtStatus || code === Op.sqlStmtStatusMore,
);
function executionsOf(
  thread: ThreadStore,
  known: { rowsByOperation: ByThread<RowsByOperation> },
): Executions {
  const { events } = thread;
  const found = new Executions();
  const { calls } = found;
  const rows = known.rowsByOperation.of(thread);
  const isCounted = rows.count(Op.sqlStmtStatus) + rows.count(Op.sqlStmtStatusMore) > 0;
  /** Executions under way by statement instance. */
  const open = new Map<number, number>();
  /** The last one of each instance whose counters are read. */
  const latest = new Map<number, number>();
  const ofStatements = rows.together(OF_STATEMENTS);
  for (let r = 0; r < ofStatements.length; r++) {
    const row = ofStatements[r]!;
    const op = events.op[row]!;
    if (op === Op.sqlStmtStatus || op === Op.sqlStmtStatusMore) {
      const i = latest.get(events.aux[row]!);
      if (i !== undefined) count(found, i, events, row);
      continue;
    }
    const instance = events.aux[row]!;
    if (op !== Op.sqlStep && op !== Op.sqlExec) {
      if (op === Op.sqlOpen || op === Op.sqlClose) continue;
      const ended = open.get(instance);
      if (ended === undefined) continue;
      if (op === Op.sqlReset || op === Op.sqlFinalize) {
        calls.push(row, ended);
        found.lastRow[ended] = row;
      }
      open.delete(instance);
      continue;
    }
    let i = op === Op.sqlStep ? open.get(instance) : undefined;
    if (i === undefined) {
      i = found.add();
      found.firstRow[i] = row;
      found.text[i] = events.object[row]!;
      if (isCounted && op === Op.sqlStep) latest.set(instance, i);
    }
    calls.push(row, i);
    found.lastRow[i] = row;
    found.us[i]! += events.dur[row]!;
    const unended = events.endSeq[row] === 0;
    const broughtRow = op === Op.sqlStep && !unended && events.result[row] === Rc.row;
    const failed = isErrorResult(events.result[row]!) || (events.flags[row]! & Flag.threw) !== 0;
    if (broughtRow) found.rows[i]!++;
    if (found.state[i] !== ExecutionState.running)
      found.state[i] = unended
        ? ExecutionState.running
        : failed
          ? ExecutionState.failed
          : broughtRow
            ? ExecutionState.rowsLeft
            : ExecutionState.done;
    if (op === Op.sqlStep && (broughtRow || unended)) open.set(instance, i);
    else open.delete(instance);
  }
  return found;
}

/** Add a reading of the engine's counters to its execution. */
function count(found: Executions, i: number, events: EventColumns, row: number): void {
  const length = events.length[row]!;
  const aux2 = events.aux2[row] ?? 0;
  if (events.op[row] === Op.sqlStmtStatus) {
    found.counted[i] = 1;
    found.vmSteps[i]! += length;
    found.scanned[i]! += events.offset[row]!;
    found.sorts[i]! += aux2;
  } else if (aux2 === StatementStatus.memoryUsed) found.memory[i] = length;
  else if (aux2 === VALUES_HASH) found.values[i] = length;
  else {
    const name = COUNT_OF_STATUS.get(aux2);
    if (name) found[name][i]! += length;
  }
}
