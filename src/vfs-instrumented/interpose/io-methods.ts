/**
 * sqlite3_io_methods and sqlite3_vfs as laid out in an engine's memory
 * (sqlite.org/c3ref/io_methods.html, c3ref/vfs.html), and reading that memory. Everything consists
 * of little-endian 32-bit words; memory64 builds are rejected when linking.
 */
import { Op } from '../../event/event.ts';
import type { Signature } from './wasm-writer.ts';

export interface Method extends Signature {
  /** The struct's word that holds the method's table slot. */
  readonly word: number;
  readonly op: number;
}

const method = (word: number, op: number, params: string, results = 'i'): Method => ({
  word,
  op,
  params,
  results,
});

/** sqlite3_io_methods after iVersion. */
export const IO_METHODS: readonly Method[] = [
  method(1, Op.xClose, 'i'),
  method(2, Op.xRead, 'iiij'),
  method(3, Op.xWrite, 'iiij'),
  method(4, Op.xTruncate, 'ij'),
  method(5, Op.xSync, 'ii'),
  method(6, Op.xFileSize, 'ii'),
  method(7, Op.xLock, 'ii'),
  method(8, Op.xUnlock, 'ii'),
  method(9, Op.xCheckReservedLock, 'ii'),
  method(10, Op.xFileControl, 'iii'),
  method(11, Op.xSectorSize, 'i'),
  method(12, Op.xDeviceCharacteristics, 'i'),
  method(13, Op.xShmMap, 'iiiii'),
  method(14, Op.xShmLock, 'iiii'),
  method(15, Op.xShmBarrier, 'i', ''),
  method(16, Op.xShmUnmap, 'ii'),
  method(17, Op.xFetch, 'ijii'),
  method(18, Op.xUnfetch, 'iji'),
];
/** Number of words of sqlite3_io_methods by iVersion. */
export const IO_METHODS_WORDS = [0, 13, 17, 19] as const;
export const READ_WRITE: Signature = { params: 'iiij', results: 'i' };
export const X_LOCK_WORD = 7;

/** sqlite3_vfs: 0 iVersion, 1 szOsFile, 2 mxPathname, 4 zName, 6 xOpen. */
export const VFS_ZNAME_WORD = 4;
export const VFS_XOPEN_WORD = 6;
export const X_OPEN: Signature = { params: 'iiiii', results: 'i' };
export const VFS_METHODS: readonly Method[] = [
  method(7, Op.xDelete, 'iii'),
  method(8, Op.xAccess, 'iiii'),
];

/** Read access to an engine's linear memory, whose growth replaces its buffer. */
export class EngineMemory {
  readonly memory: WebAssembly.Memory;
  private u32: Uint32Array;
  private u8: Uint8Array;
  private readonly utf8 = new TextDecoder();
  /** Growth sets the length of views on the old buffer to 0, but not for shared memory. */
  private readonly growthShows: boolean;

  constructor(memory: WebAssembly.Memory) {
    this.memory = memory;
    this.growthShows = memory.buffer instanceof ArrayBuffer;
    this.u32 = new Uint32Array(memory.buffer);
    this.u8 = new Uint8Array(memory.buffer);
  }

  words(): Uint32Array {
    if (this.growthShows && this.u32.length > 0) return this.u32; // faster than getting `buffer`
    const { buffer } = this.memory;
    if (this.u32.buffer !== buffer) this.u32 = new Uint32Array(buffer);
    return this.u32;
  }

  /** The word at a byte address; 0 where it is unaligned or out of bounds. */
  word(address: number): number {
    return address & 3 ? 0 : (this.words()[address >>> 2] ?? 0);
  }

  bytes(): Uint8Array {
    if (this.growthShows && this.u8.length > 0) return this.u8;
    const { buffer } = this.memory;
    if (this.u8.buffer !== buffer) this.u8 = new Uint8Array(buffer);
    return this.u8;
  }

  /** A UTF-8 string of `length` bytes. Copied first: TextDecoder refuses shared memory. */
  string(address: number, length: number): string {
    return this.utf8.decode(this.bytes().slice(address, address + length));
  }

  /** A NUL-terminated UTF-8 string, cut after `limit` bytes; null for a null pointer. */
  cString(address: number, limit = 4096): string | null {
    if (!address) return null;
    const bytes = this.bytes();
    const end = bytes.subarray(address, address + limit).indexOf(0);
    return this.string(address, end < 0 ? Math.min(limit, bytes.length - address) : end);
  }
}
