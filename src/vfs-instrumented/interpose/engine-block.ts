/**
 * The inside of an engine's block of trace memory (ENGINE_BLOCK_BYTES): what trampolines and
 * JavaScript tell each other.
 *
 *   0 asyncify state | 4 depth of suspended calls | 32 frame wanted | 64 leaves of schemas | 128 suspended calls | 4096 open files |
 *   12288 operation and 14336 misses by cell
 *
 * A cell is the number of a trampoline within its engine.
 */
import { ENGINE_BLOCK_BYTES } from '../../record/ring-layout.ts';

export const Block = {
  /** Asyncify's state: 0 normal, 1 unwinding, 2 rewinding. */
  state: 0,
  depth: 4,
  /** 1 = the page of the last frame header may be a leaf of some schema. */
  frameWanted: 32,
  /** Bits by page: the page may be a leaf of some schema, and b-tree-reader.ts wants to see it. */
  wanted: 64,
  suspended: 128,
  files: 4096,
  ops: 12288,
  misses: 14336,
} as const;

/**
 * A suspended call: its record (0 = none), seq, parent, context, file id, and the header that an
 * xRead will bring (header-decode.ts).
 */
export const Suspended = {
  at: 0,
  seq: 4,
  parent: 8,
  context: 12,
  object: 16,
  header: 20,
  bytes: 24,
} as const;
export const MAX_SUSPENDED = Math.floor((Block.files - Block.suspended) / Suspended.bytes);

/**
 * An open file: its sqlite3_file, the pMethods at the time it was learned, the id of its definition
 * (0 = not a file of SQLite's), and record flags << 8 | HeadersOf << 16 | log2 of a WAL's page
 * size, 0 = not known << 18.
 */
export const FileEntry = { file: 0, pMethods: 4, object: 8, flags: 12, bytes: 16 } as const;
export const RECORD_FLAGS = 0xff00;
export const HEADERS_SHIFT = 16;
/** Files whose headers are decoded. */
export const HeadersOf = { none: 0, mainDb: 1, wal: 2, journal: 3 } as const;
export const PAGE_BITS_SHIFT = 2;
export const FILE_ENTRIES = 512;
/** The lookup of a file starts at entry imul(file, HASH) >>> HASH_SHIFT. */
export const HASH = 0x9e3779b1 | 0;
export const HASH_SHIFT = 32 - 9;
/** The bit of `Block.wanted` for a page is (page - 1) & WANTED_MASK. */
export const WANTED_MASK = 511;

export const MAX_CELLS = ENGINE_BLOCK_BYTES - Block.misses;
