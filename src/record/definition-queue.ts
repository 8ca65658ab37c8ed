/**
 * Definitions on their way out of a thread: an array if the thread drains itself, or a ring of
 * bytes in the trace memory if the page reads it (u32 length, then UTF-8 JSON; ring-layout.ts).
 */
import type { Definition } from '../event/definitions.ts';
import { Header, type RingLayout } from './ring-layout.ts';

const W = (byte: number): number => byte >>> 2;

export class DefinitionQueue {
  private pending: Definition[] = [];
  /** Definitions that don't fit into a shared ring yet, as bytes. */
  private readonly backlog: Uint8Array[] = [];
  private readonly u32: Uint32Array;

  /** @param layout of the shared memory `buffer`; null = the thread drains itself */
  constructor(
    private readonly buffer: ArrayBufferLike,
    private readonly layout: RingLayout | null,
  ) {
    this.u32 = new Uint32Array(buffer, 0, 64);
  }

  add(definition: Definition): void {
    if (!this.layout) {
      this.pending.push(definition);
      return;
    }
    // without a toJSON that the app may have added to every object
    const plain = { __proto__: null, ...definition };
    this.backlog.push(new TextEncoder().encode(JSON.stringify(plain)));
    this.push();
  }

  /**
   * Definitions are waiting for room. Call `push` again before the next record, which may need
   * them.
   */
  get waiting(): boolean {
    return this.backlog.length > 0;
  }

  /** Move waiting definitions into the byte ring as far as there is room. */
  push(): void {
    const { u32, layout } = this;
    if (!layout) return;
    const bytes = new Uint8Array(this.buffer, layout.definitionsAt, layout.definitionsCapacity);
    while (this.backlog.length) {
      const item = this.backlog[0]!;
      const head = u32[W(Header.definitionsHead)]!;
      const used = (head - Atomics.load(u32, W(Header.definitionsTail))) >>> 0;
      const size = item.length + 4;
      if (size > layout.definitionsCapacity) {
        this.backlog.shift();
        u32[W(Header.faults)]!++;
        continue;
      }
      // tried again with the next definition or record
      if (used + size > layout.definitionsCapacity) return;
      const mask = layout.definitionsCapacity - 1;
      for (let i = 0; i < 4; i++) bytes[(head + i) & mask] = (item.length >>> (8 * i)) & 255;
      for (let i = 0; i < item.length; i++) bytes[(head + 4 + i) & mask] = item[i]!;
      Atomics.store(u32, W(Header.definitionsHead), (head + size) | 0);
      this.backlog.shift();
    }
  }

  /** Those that wait on a thread that drains itself. Returned once. */
  take(): Definition[] {
    const taken = this.pending;
    this.pending = [];
    return taken;
  }
}
