/**
 * Reads a `.vfst` file section by section into a store. A damaged or cut-off file is read as far as
 * possible, and each loss becomes a warning. Sizes that a file claims don't allocate memory before
 * they are checked.
 */
import type { ColumnWidth } from '../columns.ts';
import { TraceStore } from '../store.ts';
import { FileBudget } from './budget.ts';
import { ByteReader, MalformedError } from './bytes.ts';
import { crc32 } from './codec.ts';
import {
  END_MAGIC,
  MAX_SECTION_BYTES,
  SECTION_HEADER_BYTES,
  Tag,
  TraceFileError,
  TRAILER_BYTES,
  type FileHeader,
} from './format.ts';
import { inWindows, readHeader, same, sourceOf, type Source } from './header.ts';
import { SectionLoader, unpackAhead, type UnpackElsewhere } from './load.ts';

export interface ReadOptions {
  onProgress?: (bytes: number, totalBytes: number) => void;
  /** Cancels with a TraceFileError 'canceled'. */
  signal?: AbortSignal;
  /**
   * When canceled, or when the file can't be read any further, return what was read until then,
   * with a warning.
   */
  keepPart?: boolean;
  maxEvents?: number;
  /** Width of the events' columns; narrow by default. */
  width?: ColumnWidth;
  /** Unpacks chunks on another thread. */
  unpack?: UnpackElsewhere;
  /** Awaited after each section and its `onProgress`, so that other work can run. */
  rest?: () => Promise<void>;
  /** Called with the store, which grows while the file is read. */
  onStore?: (store: TraceStore) => void;
  /**
   * Events by thread, by its number in the file: memory for them is allocated at once. Checked by
   * `readOverview`.
   */
  expected?: ReadonlyMap<number, number>;
}

export interface ReadResult {
  store: TraceStore;
  header: FileHeader;
  /** What couldn't be read, as text for the user; [] if the file is complete. */
  warnings: string[];
  /** Calls whose end came after their chunk was in the store. */
  lateEnds?: number;
  /** It was canceled, or couldn't be read any further. */
  partial?: boolean;
}

/**
 * Read a file.
 * @throws TraceFileError for what isn't a trace, is newer than this program, or whose header is
 * damaged
 */
export async function readTrace(
  file: Blob | Uint8Array,
  options: ReadOptions = {},
): Promise<ReadResult> {
  const source = inWindows(sourceOf(file));
  const { header, at } = await readHeader(source);
  const store = new TraceStore(header.originMs, options.width);
  options.onStore?.(store);
  const budget = new FileBudget(source.size, options.maxEvents);
  const loader = new SectionLoader(store, budget, options.expected);
  const warnings = new Warnings();
  let finished = false;
  let partial = false;
  try {
    const all = sections(source, at, warnings);
    for await (const { section, columns } of ahead(all, budget, options.unpack)) {
      if (options.signal?.aborted)
        throw new TraceFileError('canceled', 'Opening the file was canceled.');
      const { tag, payload } = section;
      if (payload) {
        try {
          finished = (await loader.load({ tag, payload }, columns)) || finished;
        } catch (e) {
          warnings.push(unreadable(section, e));
        }
        await options.rest?.();
      }
      options.onProgress?.(section.end, source.size);
      await options.rest?.();
    }
  } catch (e) {
    if (!options.keepPart) throw e;
    partial = true;
    warnings.push(
      `${e instanceof Error ? e.message : String(e)} What was read by then is shown: ${store.eventCount} events.`,
    );
  }
  for (const warning of loader.warnings()) warnings.push(warning);
  if (!finished && warnings.none)
    warnings.push(
      'The file has no end mark: its recording was not finished, or the file was cut off. Everything up to its end was read; what came later is lost.',
    );
  return { store, header, warnings: warnings.all, lateEnds: loader.lateEnds, partial };
}

/** More aren't worth reading, and a damaged file can cause one every few bytes. */
const MOST_WARNINGS = 50;
class Warnings {
  private readonly first: string[] = [];
  private more = 0;
  push(text: string): void {
    if (this.first.length < MOST_WARNINGS) this.first.push(text);
    else this.more++;
  }
  get none(): boolean {
    return !this.first.length;
  }
  get all(): string[] {
    return this.more
      ? [...this.first, `${this.more} more parts of the file cannot be read and are left out.`]
      : this.first;
  }
}

/** The warning for a section that can't be loaded. @throws errors that aren't the file's fault */
function unreadable({ tag, at }: Section, e: unknown): string {
  if (!(e instanceof MalformedError)) throw e;
  return `The ${nameOf(tag)} at byte ${at} cannot be read and is left out: ${e.message}.`;
}

/** Chunks that are being unpacked while one is loaded. */
const AHEAD = 5;

interface Begun {
  section: Section;
  columns: ReturnType<typeof unpackAhead>;
}

/** The sections in order, with the next chunks already being unpacked. */
async function* ahead(
  all: AsyncGenerator<Section>,
  budget: FileBudget,
  unpack?: UnpackElsewhere,
): AsyncGenerator<Begun> {
  const begun: Begun[] = [];
  for await (const section of all) {
    const { tag, payload } = section;
    begun.push({
      section,
      columns: payload ? unpackAhead({ tag, payload }, budget, unpack) : undefined,
    });
    if (begun.length > AHEAD) yield begun.shift()!;
  }
  yield* begun;
}

const NAMES: Readonly<Record<string, string>> = {
  [Tag.thread]: 'description of a thread',
  [Tag.definitions]: 'list of names',
  [Tag.events]: 'chunk of events',
  [Tag.ends]: 'list of late ends',
  [Tag.counters]: 'counters',
  [Tag.cpu]: 'CPU samples of a thread',
  [Tag.below]: 'storage events of the browser',
  [Tag.notes]: 'list of notes',
  [Tag.index]: 'index',
};
const nameOf = (tag: string): string => NAMES[tag] ?? `section ${tag}`;

interface Section {
  tag: string;
  at: number;
  end: number;
  /** null if the checksum doesn't match */
  payload: Uint8Array | null;
}

/** The sections of a file. Stops with a warning at a position where a section can't begin. */
async function* sections(
  source: Source,
  from: number,
  warnings: Warnings,
): AsyncGenerator<Section> {
  for (let at = from; at < source.size;) {
    const frame = await source.read(at, at + TRAILER_BYTES);
    if (frame.length === TRAILER_BYTES && same(frame.subarray(8), END_MAGIC)) {
      if (at + TRAILER_BYTES < source.size)
        warnings.push(
          `${source.size - at - TRAILER_BYTES} bytes behind the end mark are left out.`,
        );
      return;
    }
    if (frame.length < SECTION_HEADER_BYTES) {
      warnings.push(
        `The file is cut off at byte ${source.size}, within the head of a section. Everything before was read.`,
      );
      return;
    }
    const tag = String.fromCharCode(...frame.subarray(0, 4));
    const r = new ByteReader(frame.subarray(4));
    const [length, crc] = [r.u32(), r.u32()];
    const end = at + SECTION_HEADER_BYTES + length;
    if (!/^[A-Z]{4}$/.test(tag) || length > MAX_SECTION_BYTES) {
      warnings.push(
        `The file is damaged at byte ${at}: no section begins there. The ${source.size - at} bytes from there on are left out.`,
      );
      return;
    }
    if (end > source.size) {
      warnings.push(
        `The file is cut off at byte ${source.size}, within its last ${nameOf(tag)} (${end - source.size} bytes are missing).`,
      );
      return;
    }
    const payload = await source.read(at + SECTION_HEADER_BYTES, end);
    const whole = crc32(payload, crc32(frame.subarray(0, 4))) === crc;
    if (!whole)
      warnings.push(
        `The ${nameOf(tag)} at byte ${at} is damaged (its checksum does not match) and is left out.`,
      );
    yield { tag, at, end, payload: whole ? payload : null };
    at = end;
  }
}
