/**
 * The trace file `.vfst`: its version, the tags of its sections, its limits and its errors.
 * docs/trace-format.md documents it byte by byte.
 */
export const FORMAT_VERSION = 1;

/**
 * First bytes of a file. They aren't text, and any transfer that takes them for text changes them.
 */
// \x89 VFST \r \n \x1a
export const MAGIC = Uint8Array.of(0x89, 0x56, 0x46, 0x53, 0x54, 0x0d, 0x0a, 0x1a);
/** Last bytes of a finished file, after the pair of u32 with the index's position. */
// VFSTEND \n
export const END_MAGIC = Uint8Array.of(0x56, 0x46, 0x53, 0x54, 0x45, 0x4e, 0x44, 0x0a);

/** magic, u32 version, u32 bytes of JSON, u32 CRC-32 of the JSON */
export const FILE_HEADER_BYTES = 20;
/** tag, u32 bytes of payload, u32 CRC-32 of tag and payload */
export const SECTION_HEADER_BYTES = 12;
/** u32 low, u32 high: where the index section begins; END_MAGIC */
export const TRAILER_BYTES = 16;

/** Sections, four letters each. Readers skip unknown ones. */
export const Tag = {
  /** JSON: a thread, before anything that names it */
  thread: 'THRD',
  /** gzip of JSON: definitions of a thread, before the events that use them */
  definitions: 'DEFS',
  /** a chunk: summary, then gzip of packed columns */
  events: 'EVNT',
  /** gzip: ends of calls that an earlier chunk holds without one */
  ends: 'ENDS',
  /** JSON: counters of the threads; the last such section is valid */
  counters: 'STAT',
  /** gzip of JSON: CPU samples of a thread (cpu-samples.ts) */
  cpu: 'CPUS',
  /** gzip of JSON: what the browser reported on storage calls (below-storage.ts) */
  below: 'BELO',
  /** JSON: what users wrote on the trace (notes.ts) */
  notes: 'NOTE',
  /** JSON: where every chunk is; the last section of a finished file */
  index: 'INDX',
} as const;

/** A section whose checksum matched. */
export interface RawSection {
  tag: string;
  payload: Uint8Array;
}

/** Maximum events of a chunk. */
export const CHUNK_EVENTS = 65536;
/** Larger sections are rejected unread, because writers don't make them. */
export const MAX_SECTION_BYTES = 64 << 20;
/**
 * JSON sections that aren't packed: one thread, its counters, or notes (up to 1,000 of 4,000
 * characters).
 */
export const MAX_JSON_BYTES = 1 << 20;
export const MAX_NOTES_BYTES = 32 << 20;
/** Maximum threads of a recording and of a file. */
export const MAX_THREADS = 2000;
/** By default, a reader keeps at most this many events, of 36 to 62 bytes each (columns.ts). */
export const MAX_EVENTS = 50_000_000;

/** The header's JSON. */
export interface FileHeader {
  /** ms since the epoch: the trace's time 0 */
  originMs: number;
  /** What wrote it: name and version. */
  writer: string;
  /** ms since the epoch */
  savedAt: number;
  /** Origin of the recorded page, '' if unknown. */
  origin: string;
  /** Whether names and URLs were removed. */
  sanitized: boolean;
}

type TraceFileFault = 'not a trace' | 'newer' | 'damaged' | 'too large' | 'canceled';

/**
 * The file can't be read at all. The message names what was expected, what was found, and what to
 * do.
 */
export class TraceFileError extends Error {
  override readonly name = 'TraceFileError';
  constructor(
    readonly fault: TraceFileFault,
    message: string,
  ) {
    super(message);
  }
}
