/**
 * All patterns of a trace's input and output in one object: runs, interleaving, block writes, amplification, repeated calls, use of
 * IndexedDB, VFS calls by statement. Each has a file of its own.
 */
import { Op } from '../event.ts';
import type { TraceStore } from '../store.ts';
import { blockWritesOf, writeAmplificationOf, type BlockWrites, type WriteAmplification } from './block-writes.ts';
import { idbUseOf, type IdbUse } from './idb-use.ts';
import { repeatedCallsOf, type RepeatedCalls } from './redundant-calls.ts';
import { interleavingOf, runsOf, type FileRuns, type Interleaving } from './runs.ts';
import { Analyses } from './shared.ts';
import { eachExecution, hasSql } from './statements.ts';
import type { TimeRange } from './time-partition.ts';
import { hasVfs } from './transactions.ts';

export interface Patterns {
  runs: FileRuns[];
  interleaving: Interleaving[];
  blockWrites: BlockWrites[];
  amplification: WriteAmplification[];
  repeated: RepeatedCalls[];
  /** null where no thread uses IndexedDB. */
  idb: IdbUse | null;
  vfsCalls: VfsCallsByStatement;
}

export interface VfsCallsByStatement {
  /** VFS calls beneath an SQL call, and beneath none (opened before the recording, or no SQL layer); null where none is recorded. */
  beneathSql: number | null;
  loose: number | null;
  executions: number | null;
  /** null where SQL or VFS calls are not recorded, or nothing was executed. */
  perExecution: number | null;
}

export function patternsOf(store: TraceStore, range: TimeRange = {}, shared: Analyses = new Analyses(store)): Patterns {
  return {
    runs: runsOf(store, range, shared),
    interleaving: interleavingOf(store, range),
    blockWrites: blockWritesOf(store, range, shared),
    amplification: writeAmplificationOf(store, range, shared),
    repeated: repeatedCallsOf(store, range),
    idb: idbUseOf(store, range),
    vfsCalls: vfsCallsOf(store, range, shared),
  };
}

export function vfsCallsOf(store: TraceStore, range: TimeRange = {}, shared: Analyses = new Analyses(store)): VfsCallsByStatement {
  const { fromUs = -Infinity, toUs = Infinity } = range;
  const within = (us: number): boolean => us >= fromUs && us < toUs;
  const anyVfs = store.threads.some(hasVfs);
  const anySql = store.threads.some(hasSql);
  let [beneath, loose, executions] = [0, 0, 0];
  for (const thread of store.threads) {
    const { events } = thread;
    if (anyVfs) {
      const { sql } = shared.owners(thread);
      for (let row = 0; row < events.count; row++) {
        if (events.op[row] === Op.none || events.op[row]! >= 64 || !within(events.t0[row]!)) continue;
        if (sql[row]! >= 0) beneath++;
        else loose++;
      }
    }
    if (anySql)
      eachExecution(thread, (row) => {
        if (within(events.t0[row]!)) executions++;
      });
  }
  return {
    beneathSql: anyVfs && anySql ? beneath : null,
    loose: anyVfs ? loose : null,
    executions: anySql ? executions : null,
    perExecution: anyVfs && anySql && executions ? beneath / executions : null,
  };
}
