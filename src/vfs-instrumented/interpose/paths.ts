/**
 * File names in VFS calls, as strings. SQLite passes the same few pointers for the same few files,
 * thousands of times (a journal at every commit). A pointer with unchanged bytes isn't decoded
 * again.
 */
import type { EngineMemory } from './io-methods.ts';

interface Known {
  readonly bytes: Uint8Array;
  readonly text: string;
}

/** Maximum cached pointers. All others are decoded each time. */
const MAX_KNOWN = 64;

export class PathReader {
  private readonly memory: EngineMemory;
  private readonly known = new Map<number, Known>();

  constructor(memory: EngineMemory) {
    this.memory = memory;
  }

  /** The NUL-terminated UTF-8 name at an address, cut after 4096 bytes; null for a null pointer. */
  at(address: number): string | null {
    if (!address) return null;
    const heap = this.memory.bytes();
    const known = this.known.get(address);
    if (known) {
      const { bytes } = known;
      const { length } = bytes;
      let same = 0;
      while (same < length && heap[address + same] === bytes[same]) same++;
      if (same === length && heap[address + length] === 0) return known.text;
    }
    const text = this.memory.cString(address);
    const end = heap.subarray(address, address + 4096).indexOf(0);
    if (text !== null && end >= 0) {
      if (this.known.size >= MAX_KNOWN) this.known.clear();
      this.known.set(address, { bytes: heap.slice(address, address + end), text });
    }
    return text;
  }
}
