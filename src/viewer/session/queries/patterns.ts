/** Queries on how a file is used: runs that could be one call, blocks filled in part, calls asked twice, freed space, transactions of IndexedDB. */
import {
  blockWritesOf,
  writeAmplificationOf,
  type BlockWrites,
  type WriteAmplification,
} from '../../../analysis/pages/block-writes.ts';
import type { DatabaseHeaders } from '../../../analysis/pages/database-headers.ts';
import type { FileRow } from '../../../analysis/files/files.ts';
import { idbUseOf, type IdbUse } from '../../../analysis/idb/idb-use.ts';
import { repeatedCallsOf, type RepeatedCalls } from '../../../analysis/files/redundant-calls.ts';
import {
  interleavingOf,
  runsOf,
  type Interleaving,
  type Runs,
} from '../../../analysis/files/runs.ts';
import type { Analyses } from '../../../analysis/shared.ts';
import type { QueryContext } from './context.ts';
import { databaseName } from '../../../event/file-names.ts';

/** What is known of one file or store; null where it does not apply to it, or no call shows it. */
export interface FileUse extends Pick<FileRow, 'path' | 'kind'> {
  reads: Runs | null;
  writes: Runs | null;
  blocks: Omit<BlockWrites, 'reads' | 'readSpan'> | null;
  /** Of a database with its journal and log. */
  amplification: WriteAmplification | null;
  /** Of a database with a rollback journal. */
  interleaving: Interleaving | null;
  /** Calls on it that repeat what the connection knew, by operation; those without a repetition are left out. */
  repeated: RepeatedCalls[];
  /** Of a database: what its header said over time. */
  headers: DatabaseHeaders | null;
  /** Of IndexedDB as a whole, for its stores. */
  idb: IdbUse | null;
}

/** Each over the whole trace, computed once. */
export const PATTERNS = {
  runs: (shared: Analyses) => shared.once('runs', () => runsOf(shared.store, {}, shared)),
  blocks: (shared: Analyses) =>
    shared.once('block writes', () => blockWritesOf(shared.store, {}, shared)),
  amplification: (shared: Analyses) =>
    shared.once('amplification', () => writeAmplificationOf(shared.store, {}, shared)),
  interleaving: (shared: Analyses) =>
    shared.once('interleaving', () => interleavingOf(shared.store)),
  repeated: (shared: Analyses) =>
    shared.once('repeated calls', () => repeatedCallsOf(shared.store)),
  idb: (shared: Analyses) => shared.once('use of IndexedDB', () => idbUseOf(shared.store)),
};

/** Of a path, whichever VFS has it; null where no header of it passed. */
function headersOf(shared: Analyses, path: string): DatabaseHeaders | null {
  const all = shared.databaseHeaders;
  const at = shared.databaseFiles.list.findIndex(
    (f, i) => !f.opfs && databaseName(f.path) === databaseName(path) && all[i]!.count > 0,
  );
  const found = all[at];
  return found
    ? { ...found, us: found.us.slice(), pages: found.pages.slice(), free: found.free.slice() }
    : null;
}

export const patternQueries = {
  /** @param args of a row of the Files view */
  fileUse({ shared }: QueryContext, { path, kind }: Pick<FileRow, 'path' | 'kind'>): FileUse {
    const runs = PATTERNS.runs(shared).find((f) => f.path === path && f.kind === kind);
    const blocks = PATTERNS.blocks(shared).find((b) => b.path === path && b.kind === kind);
    const { reads: _reads, readSpan: _span, ...counts } = blocks ?? {};
    return {
      path,
      kind,
      reads: runs?.reads ?? null,
      writes: runs?.writes ?? null,
      blocks: blocks ? (counts as FileUse['blocks']) : null,
      amplification:
        kind === 'main-db'
          ? (PATTERNS.amplification(shared).find(
              (a) => databaseName(a.path) === databaseName(path),
            ) ?? null)
          : null,
      headers: kind === 'main-db' ? headersOf(shared, path) : null,
      interleaving:
        kind === 'main-db'
          ? (PATTERNS.interleaving(shared).find((i) => i.path === path) ?? null)
          : null,
      repeated: PATTERNS.repeated(shared).filter((r) => r.path === path && r.repeated > 0),
      idb: kind === 'idb-store' ? PATTERNS.idb(shared) : null,
    };
  },
};
