/** Questions and answers about the use of a file. */
import type { BlockWrites, WriteAmplification } from '../../analysis/pages/block-writes.ts';
import type { DatabaseHeaders } from '../../analysis/pages/database-headers.ts';
import type { FileRow } from '../../analysis/files/files.ts';
import type { IdbUse } from '../../analysis/idb/idb-use.ts';
import type { RepeatedCalls } from '../../analysis/files/redundant-calls.ts';
import type { Interleaving, Runs } from '../../analysis/files/runs.ts';

/** What is known of one file or store; null where it does not apply to it, or no call shows it. */
export interface FileUse extends Pick<FileRow, 'path' | 'kind'> {
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
