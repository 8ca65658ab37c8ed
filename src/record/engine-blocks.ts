/**
 * The blocks of trace memory after the rings, one for each traced engine.
 * vfs-instrumented/interpose defines their contents.
 */
import { ENGINE_BLOCK_BYTES, type RingLayout } from './ring-layout.ts';

export class EngineBlocks {
  private used = 0;
  private readonly free: number[] = [];

  constructor(
    private readonly buffer: ArrayBufferLike,
    private readonly layout: RingLayout,
  ) {}

  /** @returns byte address of a zeroed block, or 0 when all are taken */
  allocate(): number {
    const free = this.free.pop();
    if (free !== undefined) {
      new Uint8Array(this.buffer, free, ENGINE_BLOCK_BYTES).fill(0);
      return free;
    }
    if (this.used === this.layout.maxEngines) return 0;
    return this.layout.enginesAt + this.used++ * ENGINE_BLOCK_BYTES;
  }

  /** Nothing writes into this block any more. */
  release(at: number): void {
    this.free.push(at);
  }
}
