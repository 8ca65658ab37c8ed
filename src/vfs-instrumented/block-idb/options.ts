/** The knobs of the block VFS, and what it counts. */
import type { Recorder } from '../../record/recorder.ts';

/**
 * When a written block reaches IndexedDB:
 * - `through`: before xWrite answers
 * - `queued`: it is on its way when xWrite answers; at most `queueDepth` are
 * - `lazy`: at xSync, at xClose, or when the cache needs its room
 *
 * Whatever the policy, xSync, xDelete and xTruncate answer once IndexedDB has committed: what SQLite takes for durable is stored,
 * and the database is whole after a crash as long as SQLite syncs. Where it does not, unsynced writes may be lost: with `lazy` and
 * `synchronous=off`, or a journal kept in memory, a crash can damage the database; in WAL mode with `synchronous=normal` it loses
 * the last transactions, but not the database. `durability: 'strict'` is needed to survive a failure of the power, too.
 */
export type WritePolicy = 'through' | 'queued' | 'lazy';

export interface BlockIdbOptions {
  /** Bytes of a block of a new file; a file keeps the size it was made with. 512 to 1 MiB, a power of two. */
  blockSize?: number;
  writePolicy?: WritePolicy;
  /** Blocks of a file that are kept in memory, 1 at least. */
  cacheBlocks?: number;
  durability?: IDBTransactionDurability;
  /** `queued`: puts that may be under way. */
  queueDepth?: number;
  /** Records the VFS's own IndexedDB calls as web-layer events. Not where probes patch IndexedDB: they would be recorded twice. */
  recorder?: Recorder | null;
}
export type Resolved = Required<BlockIdbOptions>;

/** Cumulative. A partial write of a block that exists is a read-modify-write; a miss had to read that block from IndexedDB first. */
export interface BlockStats {
  get: number;
  /** Of the blocks that were there. */
  getBytes: number;
  put: number;
  putBytes: number;
  rmw: number;
  rmwMiss: number;
  /** Transactions. */
  tx: number;
}

/** @throws RangeError naming the option that cannot be */
export function resolveOptions(options: BlockIdbOptions): Resolved {
  const o: Resolved = {
    blockSize: 8192,
    writePolicy: 'through',
    cacheBlocks: 64,
    durability: 'relaxed',
    queueDepth: 16,
    recorder: null,
    ...options,
  };
  const { blockSize, cacheBlocks, queueDepth } = o;
  if (!Number.isInteger(Math.log2(blockSize)) || blockSize < 512 || blockSize > 1 << 20)
    throw new RangeError(
      `blockSize must be a power of two from 512 to ${1 << 20}, not ${blockSize}`,
    );
  if (!Number.isInteger(cacheBlocks) || cacheBlocks < 1)
    throw new RangeError(`cacheBlocks must be 1 or more, not ${cacheBlocks}`);
  if (!Number.isInteger(queueDepth) || queueDepth < 1)
    throw new RangeError(`queueDepth must be 1 or more, not ${queueDepth}`);
  return o;
}
