/**
 * All patterns of a trace's input and output in one object: runs, interleaving, block writes, amplification, repeated calls, use of
 * IndexedDB, VFS calls by statement. Each has a file of its own.
 */
import { Op } from '../event.ts';
import type { ThreadStore, TraceStore } from '../store.ts';
import { blockWritesOf, writeAmplificationOf, type BlockWrites, type WriteAmplification } from './block-writes.ts';
import { idbUseOf, type IdbUse } from './idb-use.ts';
import type { Owners } from './owners.ts';
import { repeatedCallsOf, type RepeatedCalls } from './redundant-calls.ts';
import { interleavingOf, runsOf, type FileRuns, type Interleaving } from './runs.ts';
import { Analyses } from './shared.ts';
import { hasSql } from './statements.ts';
import { rowsIn, type TimeRange } from './time-range.ts';
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
  const anyVfs = store.threads.some(hasVfs);
  const anySql = store.threads.some(hasSql);
  let [beneath, loose, executions] = [0, 0, 0];
  for (const thread of store.threads) {
    const [first, behind] = rowsIn(thread, range);
    if (anyVfs) {
      const calls = countVfsCalls(thread, shared.owners(thread), first, behind);
      beneath += calls.beneath;
      loose += calls.loose;
    }
    if (anySql) {
      const { count, firstRow } = shared.executions(thread);
      for (let i = 0; i < count; i++) if (firstRow[i]! >= first && firstRow[i]! < behind) executions++;
    }
  }
  return {
    beneathSql: anyVfs && anySql ? beneath : null,
    loose: anyVfs ? loose : null,
    executions: anySql ? executions : null,
    perExecution: anyVfs && anySql && executions ? beneath / executions : null,
  };
}

/** VFS calls of the rows [first, behind), by whether they serve an SQL call. */
function countVfsCalls({ events: { op } }: ThreadStore, owners: Owners, first: number, behind: number): { beneath: number; loose: number } {
  let [beneath, loose] = [0, 0];
  for (let row = first; row < behind; row++) {
    if (op[row] === Op.none || op[row]! >= 64) continue;
    if (owners.sql(row) >= 0) beneath++;
    else loose++;
  }
  return { beneath, loose };
}
