/**
 * One file as blocks: turns reads and writes of any offset and length into gets and puts of whole
 * blocks, through an LRU cache. A write that fills a block doesn't read it. A write to a part of an
 * existing block must read the rest.
 */
import type { BlockStats, Resolved } from './options.ts';
import type { BlockStorage } from './storage.ts';

interface Block {
  data: Uint8Array;
  /** Newer than in storage (`lazy`). */
  dirty: boolean;
}

export class BlockFile {
  /** Least recently used first. */
  private readonly cache = new Map<number, Block>();
  private readonly pending = new Set<Promise<void>>();
  private metaDirty: boolean;
  private readonly queueFailures: unknown[] = [];

  constructor(
    readonly path: string,
    public size: number,
    readonly blockSize: number,
    isNew: boolean,
    private readonly storage: BlockStorage,
    private readonly options: Resolved,
    private readonly stats: BlockStats,
  ) {
    this.metaDirty = isNew;
  }

  /** @returns bytes that the file had for it; the rest of `out` is zeros */
  async read(out: Uint8Array, offset: number): Promise<number> {
    const { blockSize } = this;
    const end = Math.min(offset + out.length, this.size);
    for (let at = offset; at < end;) {
      const index = Math.floor(at / blockSize);
      const inBlock = at - index * blockSize;
      const n = Math.min(blockSize - inBlock, end - at);
      const data = await this.block(index);
      out.set(data.subarray(inBlock, inBlock + n), at - offset);
      at += n;
    }
    const got = Math.max(0, end - offset);
    if (got < out.length) out.fill(0, got);
    return got;
  }

  /** @param bytes belong to the caller and aren't retained */
  async write(bytes: Uint8Array, offset: number): Promise<void> {
    const { blockSize } = this;
    if (offset > this.size) await this.clearBehindEnd(offset);
    const blocks = Math.ceil(this.size / blockSize);
    const end = offset + bytes.length;
    if (end > this.size) {
      this.size = end;
      this.metaDirty = true;
    }
    for (let at = offset; at < end;) {
      const index = Math.floor(at / blockSize);
      const inBlock = at - index * blockSize;
      const n = Math.min(blockSize - inBlock, end - at);
      const partial = n < blockSize && index < blocks;
      if (partial) {
        this.stats.rmw++;
        if (!this.cache.has(index)) this.stats.rmwMiss++;
      }
      const data = partial ? await this.block(index) : new Uint8Array(blockSize);
      data.set(bytes.subarray(at - offset, at - offset + n), inBlock);
      await this.written(index, data);
      at += n;
    }
  }

  async truncate(size: number): Promise<void> {
    await this.settleQueue();
    const first = Math.ceil(size / this.blockSize);
    for (const index of [...this.cache.keys()]) if (index >= first) this.cache.delete(index);
    this.size = size;
    await this.storage.deleteFrom(this.path, first);
    await this.storage.writeMeta(this.path, { size, blockSize: this.blockSize });
    this.metaDirty = false;
    await this.storage.commit();
  }

  /** Stores and commits everything that was written. */
  async flush(): Promise<void> {
    const { path, size, blockSize, storage } = this;
    const puts: Promise<void>[] = [];
    for (const [index, block] of this.cache)
      if (block.dirty) {
        block.dirty = false;
        puts.push(this.put(index, block.data));
      }
    if (this.metaDirty) {
      this.metaDirty = false;
      puts.push(storage.writeMeta(path, { size, blockSize }));
    }
    await Promise.all(puts);
    await this.settleQueue();
    await storage.commit();
  }

  /** Empties the cache, after storing dirty blocks. */
  async dropCache(): Promise<void> {
    await this.flush();
    this.cache.clear();
  }

  /**
   * The part of the last block after the file's end is left over from a time when the file was
   * longer. It must read as zeros.
   */
  private async clearBehindEnd(offset: number): Promise<void> {
    const { blockSize, size } = this;
    const from = size % blockSize;
    if (from === 0) return;
    const index = Math.floor(size / blockSize);
    const data = await this.block(index);
    data.fill(0, from, Math.min(blockSize, offset - index * blockSize));
    await this.written(index, data);
  }

  private async block(index: number): Promise<Uint8Array> {
    const hit = this.cache.get(index);
    if (hit) {
      this.use(index, hit);
      return hit.data;
    }
    this.stats.get++;
    const stored = await this.storage.get(this.path, index);
    this.stats.getBytes += stored?.length ?? 0;
    const data =
      stored && stored.length === this.blockSize ? stored : new Uint8Array(this.blockSize);
    this.use(index, { data, dirty: false });
    await this.evict();
    return data;
  }

  private async written(index: number, data: Uint8Array): Promise<void> {
    const { writePolicy, queueDepth } = this.options;
    this.use(index, { data, dirty: writePolicy === 'lazy' });
    if (writePolicy === 'through') await this.put(index, data);
    if (writePolicy === 'queued') {
      const put: Promise<void> = this.put(index, data).then(
        () => void this.pending.delete(put),
        (error: unknown) => {
          this.pending.delete(put);
          this.queueFailures.push(error); // thrown at the next write or sync
        },
      );
      this.pending.add(put);
      if (this.pending.size >= queueDepth) await this.settleQueue();
    }
    await this.evict();
  }

  private put(index: number, data: Uint8Array): Promise<void> {
    this.stats.put++;
    this.stats.putBytes += data.length;
    return this.storage.put(this.path, index, data);
  }

  private async settleQueue(): Promise<void> {
    await Promise.all(this.pending);
    if (this.queueFailures.length) throw this.queueFailures.shift();
  }

  private use(index: number, block: Block): void {
    this.cache.delete(index);
    this.cache.set(index, block);
  }

  private async evict(): Promise<void> {
    const puts: Promise<void>[] = [];
    for (const [index, block] of this.cache) {
      if (this.cache.size <= this.options.cacheBlocks) break;
      this.cache.delete(index);
      if (block.dirty) puts.push(this.put(index, block.data));
    }
    await Promise.all(puts);
  }
}
