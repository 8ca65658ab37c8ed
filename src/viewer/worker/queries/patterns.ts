/** Questions on how a file is used: runs that could be one call, blocks filled in part, calls asked twice, transactions of IndexedDB. */
import { blockWritesOf, writeAmplificationOf, type BlockWrites, type WriteAmplification } from '../../../trace/analysis/block-writes.ts';
import type { FileRow } from '../../../trace/analysis/files.ts';
import { idbUseOf, type IdbUse } from '../../../trace/analysis/idb-use.ts';
import { repeatedCallsOf, type RepeatedCalls } from '../../../trace/analysis/redundant-calls.ts';
import { runsOf, type Runs } from '../../../trace/analysis/runs.ts';
import type { QueryContext } from './context.ts';
import { databasePath } from './files.ts';

/** What is known of one file or store; null where it does not apply to it, or no call shows it. */
export interface FileUse extends Pick<FileRow, 'path' | 'kind'> {
  reads: Runs | null;
  writes: Runs | null;
  blocks: Omit<BlockWrites, 'reads' | 'readSpan'> | null;
  /** Of a database with its journal and log. */
  amplification: WriteAmplification | null;
  /** Calls on it that repeat what the connection knew, by operation; those without a repetition are left out. */
  repeated: RepeatedCalls[];
  /** Of IndexedDB as a whole, for its stores. */
  idb: IdbUse | null;
}

export const patternQueries = {
  /** @param args of a row of the Files view */
  fileUse({ store, shared, memo }: QueryContext, { path, kind }: Pick<FileRow, 'path' | 'kind'>): FileUse {
    const runs = memo('runs', () => runsOf(store, {}, shared)).find((f) => f.path === path && f.kind === kind);
    const blocks = memo('block writes', () => blockWritesOf(store, {}, shared)).find((b) => b.path === path && b.kind === kind);
    const amplification = memo('amplification', () => writeAmplificationOf(store, {}, shared));
    const repeated = memo('repeated calls', () => repeatedCallsOf(store));
    const { reads: _reads, readSpan: _span, ...counts } = blocks ?? {};
    return {
      ...{ path, kind },
      reads: runs?.reads ?? null,
      writes: runs?.writes ?? null,
      blocks: blocks ? (counts as FileUse['blocks']) : null,
      amplification: kind === 'main-db' ? (amplification.find((a) => databasePath(a.path) === databasePath(path)) ?? null) : null,
      repeated: repeated.filter((r) => r.path === path && r.repeated > 0),
      idb: kind === 'idb-store' ? memo('use of IndexedDB', () => idbUseOf(store)) : null,
    };
  },
};
