/** Questions and answers about the use of a file. */
import type { BlockWrites, WriteAmplification } from '../../analysis/pages/block-writes.ts';
import type { DatabaseHeaders } from '../../analysis/pages/database-headers.ts';
import type { FileRow } from '../../analysis/files/files.ts';
import type { TransferRow } from '../../analysis/files/transfer-kinds.ts';
import type { FileLine } from './files.ts';
import type { IdbUse } from '../../analysis/idb/idb-use.ts';
import type { RepeatedCalls } from '../../analysis/files/redundant-calls.ts';
import type { Interleaving, Runs } from '../../analysis/files/runs.ts';

/** What is known of one file or store; null where it does not apply to it, or no call shows it. */
export interface FileUse extends Pick<FileRow, 'path' | 'kind'> {
  /** Its reads and writes by what they are, of the origin that was asked for. */
  transfers: TransferRow[];
  reads: Runs | null;
  writes: Runs | null;
  blocks: Omit<BlockWrites, 'reads'> | null;
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

/** The calls behind a fact about one file: those that could have been part of the call before, and so on; or those of one row of `transfers`. */
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
