/** Questions and answers about the use of a file. */
import type { BlockWrites, WriteAmplification } from '../../analysis/pages/block-writes.ts';
import type { DatabaseHeaders } from '../../analysis/pages/database-headers.ts';
import type { FileRow } from '../../analysis/files/files.ts';
import type { TransferRow } from '../../analysis/files/transfer-kinds.ts';
import type { FileLine } from './files.ts';
import type { IdbUse } from '../../analysis/idb/idb-use.ts';
import type { RepeatedCalls } from '../../analysis/files/redundant-calls.ts';
import type { Interleaving, Runs } from '../../analysis/files/runs.ts';

/** Facts about one file or store; null where one doesn't apply, or no call shows it. */
export interface FileUse extends Pick<FileRow, 'path' | 'kind'> {
  /** Its reads and writes by purpose, for the given origin. */
  transfers: TransferRow[];
  reads: Runs | null;
  writes: Runs | null;
  blocks: Omit<BlockWrites, 'reads'> | null;
  /** For a database, with its journal and log. */
  amplification: WriteAmplification | null;
  /** For a database with a rollback journal. */
  interleaving: Interleaving | null;
  /**
   * Calls that asked for what the connection already knew, by operation. Operations without such
   * calls are left out.
   */
  repeated: RepeatedCalls[];
  /** For a database: its header over time. */
  headers: DatabaseHeaders | null;
  /** For IndexedDB as a whole, with all stores. */
  idb: IdbUse | null;
}

/**
 * The calls behind a fact about one file, such as the calls that could have been part of the call
 * before, or the calls of one row of `transfers`.
 */
export type FileEventsOf =
  | 'mergeable reads'
  | 'mergeable writes'
  | 'partial writes'
  | 'reads to write'
  | 'switches'
  | 'repeated'
  | Pick<TransferRow, 'origin' | 'way' | 'id'>;
export interface FileEventsRequest extends Pick<FileLine, 'path' | 'kind'> {
  of: FileEventsOf;
}
