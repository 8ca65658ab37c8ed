/**
 * The end of a finished file: its index, which lists the chunks, and the trailer after it. It
 * describes the whole file without its events. Notes are written there, too, so that a finished
 * file can take new ones.
 */
import type { Annotations } from '../notes.ts';
import { ByteReader, MalformedError } from './bytes.ts';
import { crc32 } from './codec.ts';
import {
  END_MAGIC,
  MAX_SECTION_BYTES,
  MAX_THREADS,
  SECTION_HEADER_BYTES,
  Tag,
  TRAILER_BYTES,
} from './format.ts';
import { same, sourceOf, type Source } from './header.ts';
import { jsonBytes, sectionBytes, trailerBytes } from './section.ts';

/** A chunk's entry in the index. */
export interface IndexEntry {
  at: number;
  thread: number;
  count: number;
  fromUs: number;
  toUs: number;
}
interface FileIndex {
  /** Where its section begins. */
  at: number;
  chunks: IndexEntry[];
  /** The section, as it is in the file. */
  section: Uint8Array;
  /**
   * Begin of the first event and end of the last, microseconds; null if the file doesn't have it.
   */
  extent: [number, number] | null;
}

/** A recording's own file has a chunk for each second of each thread, for hours. */
const MAX_INDEX_BYTES = 8 << 20;

/** Tag, length, and CRC of a section, from its first bytes. @throws MalformedError */
export function frameOf(bytes: Uint8Array): { tag: string; length: number; crc: number } {
  const r = new ByteReader(bytes);
  const tag = String.fromCharCode(...r.take(4));
  const [length, crc] = [r.u32(), r.u32()];
  if (length > MAX_SECTION_BYTES) throw new MalformedError(`a section of ${length} bytes`);
  return { tag, length, crc };
}

/**
 * @returns null for a file that was cut off, or whose index is damaged
 * @throws MalformedError, as frameOf
 */
export async function readFileIndex(source: Source): Promise<FileIndex | null> {
  const trailer = await source.read(Math.max(0, source.size - TRAILER_BYTES), source.size);
  if (trailer.length < TRAILER_BYTES || !same(trailer.subarray(8), END_MAGIC)) return null;
  const r = new ByteReader(trailer);
  const at = r.u32() + r.u32() * 2 ** 32;
  if (at > source.size - TRAILER_BYTES - SECTION_HEADER_BYTES) return null;
  const { tag, length, crc } = frameOf(await source.read(at, at + SECTION_HEADER_BYTES));
  if (tag !== Tag.index || length > MAX_INDEX_BYTES) return null;
  const section = await source.read(at, at + SECTION_HEADER_BYTES + length);
  const payload = section.subarray(SECTION_HEADER_BYTES);
  if (payload.length !== length || crc32(payload, crc32(section.subarray(0, 4))) !== crc)
    return null;
  let index: { chunks?: unknown; fromUs?: unknown; toUs?: unknown };
  try {
    index = JSON.parse(new TextDecoder().decode(payload)) as typeof index;
  } catch {
    return null; // reading the whole file reports it
  }
  if (!Array.isArray(index.chunks)) return null;
  const chunks = index.chunks as IndexEntry[];
  const whole = (v: unknown): boolean => Number.isSafeInteger(v) && (v as number) >= 0;
  if (
    !chunks.every((e) => whole(e.at) && whole(e.count) && whole(e.thread) && e.thread < MAX_THREADS)
  )
    return null;
  const { fromUs, toUs } = index;
  const extent: [number, number] | null =
    Number.isFinite(fromUs) && Number.isFinite(toUs) ? [fromUs as number, toUs as number] : null;
  return { at, chunks, section, extent };
}

/** The extent of a finished file; null for other files. */
export async function extentOfFile(
  file: Blob | Uint8Array,
): Promise<{ events: number; durationUs: number | null } | null> {
  const index = await readFileIndex(sourceOf(file)).catch(notWhole);
  if (!index) return null;
  const { chunks, extent } = index;
  const durationUs = chunks.length ? extent && extent[1] - extent[0] : 0;
  return { events: chunks.reduce((sum, { count }) => sum + count, 0), durationUs };
}

/**
 * New notes for a finished file: the last ones in a file are valid.
 * @returns bytes that replace the file's end from `at` on; null for a file that isn't finished
 */
export async function withNotes(
  file: Blob | Uint8Array,
  annotations: Annotations,
): Promise<{ at: number; bytes: Uint8Array<ArrayBuffer> } | null> {
  const index = await readFileIndex(sourceOf(file)).catch(notWhole);
  if (!index) return null;
  const notes = sectionBytes(Tag.notes, jsonBytes(annotations));
  const bytes = new Uint8Array(notes.length + index.section.length + TRAILER_BYTES);
  bytes.set(notes);
  bytes.set(index.section, notes.length);
  bytes.set(trailerBytes(index.at + notes.length), notes.length + index.section.length);
  return { at: index.at, bytes };
}

function notWhole(error: unknown): null {
  if (error instanceof MalformedError) return null;
  throw error;
}
