/** The knobs of the block VFS, and what it counts. */
import type { Recorder } from '../../record/recorder.ts';

/**
 * When a written block reaches IndexedDB:
 * - `through`: before xWrite answers
 * - `queued`: after xWrite answers, with at most `queueDepth` blocks on their way
 * - `lazy`: at xSync, at xClose, or when the cache needs space
 *
 * With every policy, xSync, xDelete, and xTruncate answer after IndexedDB has committed. So what
 * SQLite considers durable is stored, and the database survives a crash as long as SQLite syncs.
 * Unsynced writes may be lost: with `lazy` and `synchronous=off`, or a journal in memory, a crash
 * can damage the database; in WAL mode with `synchronous=normal`, the last transactions are lost,
 * but not the database. Use `durability: 'strict'` to survive a power failure, too.
 */
export type WritePolicy = 'through' | 'queued' | 'lazy';

export interface BlockIdbOptions {
  /**
   * Block size of a new file, in bytes. A file keeps its original block size. 512 to 1 MiB, a power
   * of two.
   */
  blockSize?: number;
  writePolicy?: WritePolicy;
  /** Maximum blocks of a file in memory, 1 or more. */
  cacheBlocks?: number;
  durability?: IDBTransactionDurability;
  /** `queued`: maximum puts in progress. */
  queueDepth?: number;
  /**
   * Records the VFS's own IndexedDB calls as web-layer events. Don't use it where probes patch
   * IndexedDB: calls would be recorded twice.
   */
  recorder?: Recorder | null;
}
export type Resolved = Required<BlockIdbOptions>;

/**
 * Cumulative. A partial write of an existing block is a read-modify-write. It is a miss if the
 * block had to be read from IndexedDB first.
 */
export interface BlockStats {
  get: number;
  /** Blocks that existed. */
  getBytes: number;
  put: number;
  putBytes: number;
  rmw: number;
  rmwMiss: number;
  /** Transactions. */
  tx: number;
}

/** @throws RangeError naming the invalid option */
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
