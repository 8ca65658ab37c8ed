/**
 * What a finished file shows without its events: threads and the summaries of all chunks, enough to
 * draw the whole trace. Reads the index at the end and the head of each chunk, a few kilobytes
 * each, for any number of events. It doesn't check checksums, which cover whole chunks: this is a
 * preview that the loaded events replace.
 */
import { TraceStore } from '../store.ts';
import { FileBudget } from './budget.ts';
import { MalformedError } from './bytes.ts';
import {
  CHUNK_EVENTS,
  MAX_EVENTS,
  SECTION_HEADER_BYTES,
  Tag,
  type FileHeader,
  type RawSection,
} from './format.ts';
import { frameOf, readFileIndex } from './file-index.ts';
import { readHeader, sourceOf, type Source } from './header.ts';
import { SectionLoader } from './load.ts';
import { readChunkHead, type ChunkHead } from './section.ts';

export interface TraceOverview {
  header: FileHeader;
  /** The threads with what is known about their files and engines, without their events. */
  store: TraceStore;
  /** In the order of the file. */
  chunks: ChunkHead[];
  /** Events by thread. */
  events: Map<number, number>;
}

/** Bytes read at the start of each chunk: 15 lanes of 128 bins. */
const HEAD_BYTES = 4096;
/**
 * Other sections are between chunks. A file with more such places is a recording's own, and is read
 * completely.
 */
const MAX_GAPS = 1000;
/** The largest saved trace that can be shown has fewer. */
const MAX_CHUNKS = 5000;

/** Even empty events pack to more than a hundredth of a byte: a file that claims more is forged. */
const MOST_EVENTS_A_BYTE = 100;

/** Longer lists of names (of a trace with many statements) would delay the picture. */
const MAX_NAMES_BYTES = 65_536;

/** @returns null for a file that is cut off or damaged */
export async function readOverview(file: Blob | Uint8Array): Promise<TraceOverview | null> {
  const source = sourceOf(file);
  try {
    return await overviewOf(source);
  } catch (e) {
    if (e instanceof MalformedError) return null; // reading the whole file reports it
    throw e;
  }
}

async function overviewOf(source: Source): Promise<TraceOverview | null> {
  const { header, at } = await readHeader(source);
  const index = await readFileIndex(source);
  if (!index || index.at < at || index.chunks.length > MAX_CHUNKS) return null;
  const { at: indexAt, chunks: entries } = index;
  const heads = await Promise.all(
    entries.map((entry) => source.read(entry.at, Math.min(indexAt, entry.at + HEAD_BYTES))),
  );
  const chunks: ChunkHead[] = [];
  const events = new Map<number, number>();
  const gaps: [from: number, to: number][] = [];
  let end = at;
  for (const [i, entry] of entries.entries()) {
    const frame = frameOf(heads[i]!);
    if (frame.tag !== Tag.events || entry.at < end) return null;
    const { head } = readChunkHead(heads[i]!.subarray(SECTION_HEADER_BYTES));
    if (head.thread !== entry.thread || head.count !== entry.count || head.count > CHUNK_EVENTS)
      return null;
    if (entry.at > end) gaps.push([end, entry.at]);
    chunks.push(head);
    events.set(head.thread, (events.get(head.thread) ?? 0) + head.count);
    end = entry.at + SECTION_HEADER_BYTES + frame.length;
  }
  if (indexAt > end) gaps.push([end, indexAt]);
  const inAll = [...events.values()].reduce((sum, n) => sum + n, 0);
  if (inAll > Math.min(MAX_EVENTS, source.size * MOST_EVENTS_A_BYTE)) return null;
  if (gaps.length > MAX_GAPS) return null;
  const store = new TraceStore(header.originMs);
  const loader = new SectionLoader(store, new FileBudget(source.size, 0));
  for (const sections of await Promise.all(
    gaps.map(([from, to]) => wordsBetween(source, from, to)),
  ))
    for (const section of sections) await loader.load(section);
  // a thread's number is its index, here and when the whole file is read
  return [...events.keys()].every((thread) => thread < store.threads.length)
    ? { header, store, chunks, events }
    : null;
}

/**
 * Descriptions of threads, and short lists of names, in a part of the file that consists of
 * complete sections.
 */
async function wordsBetween(source: Source, from: number, to: number): Promise<RawSection[]> {
  const found: RawSection[] = [];
  for (let at = from; at < to;) {
    const { tag, length } = frameOf(await source.read(at, at + SECTION_HEADER_BYTES));
    const end = at + SECTION_HEADER_BYTES + length;
    if (tag === Tag.thread || (tag === Tag.definitions && length <= MAX_NAMES_BYTES))
      found.push({ tag, payload: await source.read(at + SECTION_HEADER_BYTES, end) });
    at = end;
  }
  return found;
}
