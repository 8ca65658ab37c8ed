/**
 * What each section of a file adds to the store. Nothing is trusted: if a section doesn't match its
 * tag, MalformedError is thrown.
 */
import { MAX_TRACE_NS } from '../../event/clock.ts';
import { EventColumns } from '../columns.ts';
import { checkedDefinition, MAX_TEXT } from '../../event/definition-check.ts';
import { checkedOwnDefinition } from '../../event/own-definitions.ts';
import { THREAD_KINDS } from '../../event/definitions.ts';
import { checkedBelow } from '../below-storage.ts';
import { checkedSamples } from '../cpu-samples.ts';
import { checkedAnnotations } from '../notes.ts';
import type { ThreadInfo, ThreadStore, TraceStore } from '../store.ts';
import { ByteReader, MalformedError } from './bytes.ts';
import { unpackRows } from './chunk.ts';
import { FileBudget } from './budget.ts';
import { gunzip, TooLongError } from './codec.ts';
import { CHUNK_EVENTS, MAX_JSON_BYTES, MAX_NOTES_BYTES, Tag, type RawSection } from './format.ts';
import { readChunkHead } from './section.ts';

type Loose = Record<string, unknown>;
const KINDS: readonly string[] = THREAD_KINDS;

function json(bytes: Uint8Array, maxBytes = MAX_JSON_BYTES): Loose {
  if (bytes.length > maxBytes)
    throw new MalformedError(`it has ${bytes.length} bytes; at most ${maxBytes} are allowed`);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch (e) {
    throw new MalformedError(`it isn't JSON (${e instanceof Error ? e.message : String(e)})`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new MalformedError("it isn't a JSON object");
  return value as Loose;
}
const text = (v: unknown): string => (typeof v === 'string' ? v.slice(0, MAX_TEXT) : '');
const count = (v: unknown): number =>
  typeof v === 'number' && Number.isSafeInteger(v) && v >= 0 ? v : 0;
const copied = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(bytes);

/** Unpacks a chunk's payload on another thread. @returns null if it must be done on this one */
export type UnpackElsewhere = (payload: Uint8Array) => Promise<EventColumns> | null;
/** A chunk's packed columns, or its events if another thread has unpacked them. */
type Unpacked = Promise<Uint8Array | EventColumns>;

/**
 * @param budget of its file @param elsewhere unpacks chunks on another thread
 * @throws MalformedError
 */
async function unpacked(
  payload: Uint8Array,
  budget: FileBudget,
  elsewhere?: UnpackElsewhere,
): Promise<Uint8Array | EventColumns> {
  const { head, columns } = readChunkHead(payload);
  if (head.count > CHUNK_EVENTS)
    throw new MalformedError(
      `a chunk holds 1 to ${CHUNK_EVENTS} events, this one says ${head.count}`,
    );
  const most = budget.unpackedBytes(head.count);
  const rows = await (elsewhere?.(payload) ?? gunzip(copied(columns), most));
  budget.takeUnpacked(rows instanceof EventColumns ? rows.byteLength : rows.length);
  return rows;
}

/**
 * The events of a chunk.
 * @param take uses them synchronously @param into rows that are overwritten, and may be overwritten
 * again right after `take`
 * @throws MalformedError
 */
export async function unpackChunk(
  payload: Uint8Array,
  take = (rows: EventColumns): EventColumns => rows,
  into?: EventColumns,
): Promise<EventColumns> {
  const packed = (await unpacked(payload, new FileBudget(payload.length))) as Uint8Array;
  return take(unpackRows(packed, readChunkHead(payload).head.count, into));
}

/**
 * Begin to unpack the columns of a chunk, which the platform does in parallel. Does nothing for
 * other sections.
 */
export function unpackAhead(
  { tag, payload }: RawSection,
  budget: FileBudget,
  elsewhere?: UnpackElsewhere,
): Unpacked | undefined {
  if (tag !== Tag.events) return undefined;
  const columns = unpacked(payload, budget, elsewhere);
  columns.catch(() => undefined); // reported when its section is loaded
  return columns;
}

export class SectionLoader {
  /** Threads by their number in the file. */
  private readonly threads = new Map<number, ThreadStore>();
  private events = 0;
  /** Rows in transit from a chunk to their thread. */
  private rows: EventColumns | undefined;
  private beyondLimit = 0;
  private unplaced = 0;

  constructor(
    private readonly store: TraceStore,
    private readonly budget: FileBudget,
    /** How many events a thread will have, by its number in the file, if known. */
    private readonly expected: ReadonlyMap<number, number> = new Map(),
  ) {}

  /** Calls whose end came in a separate section, after their chunk. */
  lateEnds = 0;

  /**
   * @param columns of a chunk, if they are already being unpacked (`unpackAhead`)
   * @returns whether it was the index, which is at the end of a finished file
   * @throws MalformedError; TraceFileError if the file is rejected
   */
  async load({ tag, payload }: RawSection, columns?: Unpacked): Promise<boolean> {
    switch (tag) {
      case Tag.thread:
        this.budget.takeWords(payload.length);
        this.thread(json(payload));
        return false;
      case Tag.definitions:
        await this.definitions(payload);
        return false;
      case Tag.events:
        await this.chunk(payload, columns);
        return false;
      case Tag.ends:
        await this.ends(payload);
        return false;
      case Tag.cpu:
        await this.samples(payload);
        return false;
      case Tag.below:
        await this.below(payload);
        return false;
      case Tag.notes:
        this.store.annotations = checkedAnnotations(json(payload, MAX_NOTES_BYTES));
        return false;
      case Tag.counters:
        this.counters(json(payload));
        return false;
      default:
        return tag === Tag.index;
    }
  }

  warnings(): string[] {
    return [
      ...(this.beyondLimit
        ? [
            `The file has ${this.beyondLimit} events more than a file of its size may have (${this.budget.mostEvents}). They are left out. Record for a shorter time.`,
          ]
        : []),
      ...(this.unplaced
        ? [`${this.unplaced} ends belong to calls that aren't in the file. They are left out.`]
        : []),
    ];
  }

  private of(index: unknown): ThreadStore {
    const thread = this.threads.get(index as number);
    if (!thread)
      throw new MalformedError(
        `it names ${typeof index === 'number' ? `thread ${index}` : 'a thread without a number'}, which the file doesn't describe`,
      );
    return thread;
  }

  private thread(t: Loose): void {
    const { id, kind, timeOrigin, parent } = t;
    if (typeof id !== 'string' || !KINDS.includes(text(kind)) || !Number.isFinite(timeOrigin))
      throw new MalformedError("it isn't a thread");
    this.budget.checkThreads(this.threads.size + 1);
    const info = {
      id,
      kind,
      url: text(t.url),
      name: text(t.name),
      parent: typeof parent === 'string' ? parent : null,
      timeOrigin,
    };
    const thread = this.store.thread(info as ThreadInfo);
    const index = count(t.index);
    // once, even if another thread claims the same index
    const rows = this.threads.has(index) ? 0 : (this.expected.get(index) ?? 0);
    this.threads.set(index, thread);
    if (rows <= 0 || rows > this.budget.mostEvents) return;
    thread.expected = rows;
    thread.events.reserve(rows, true);
  }

  /** @throws TraceFileError if that is more than a file of this size may hold */
  private async packedJson(payload: Uint8Array): Promise<{ t: Loose; bytes: number }> {
    const { budget } = this;
    let bytes: Uint8Array;
    try {
      bytes = await gunzip(copied(payload), budget.wordsLeft);
    } catch (e) {
      throw e instanceof TooLongError ? budget.tooManyWords() : e;
    }
    budget.checkJson(bytes);
    return { t: json(bytes, Infinity), bytes: bytes.length };
  }

  private async samples(payload: Uint8Array): Promise<void> {
    const { t, bytes } = await this.packedJson(payload);
    this.budget.takeWords(bytes);
    const thread = this.of(t.thread);
    const samples = checkedSamples(t);
    if (!samples) throw new MalformedError('it has no CPU samples');
    thread.cpu = samples;
  }

  private async below(payload: Uint8Array): Promise<void> {
    const { t, bytes } = await this.packedJson(payload);
    this.budget.takeWords(bytes);
    const below = checkedBelow(t, (thread) => this.of(thread).index);
    if (!below) throw new MalformedError('it has no storage events of a browser');
    this.store.below = below;
  }

  private async definitions(payload: Uint8Array): Promise<void> {
    const { budget } = this;
    const { t, bytes } = await this.packedJson(payload);
    const list = t.definitions;
    if (!Array.isArray(list)) throw new MalformedError("it isn't a list");
    budget.takeWords(bytes, list.length);
    const thread = this.of(t.thread);
    for (const d of list as unknown[]) {
      const definition = checkedDefinition(d) ?? checkedOwnDefinition(d);
      if (definition) thread.define(definition);
    }
  }

  private async chunk(
    payload: Uint8Array,
    packed: Unpacked = unpacked(payload, this.budget),
  ): Promise<void> {
    packed.catch(() => undefined); // reported where it is awaited
    const { head } = readChunkHead(payload);
    const thread = this.of(head.thread);
    if (this.events + head.count > this.budget.mostEvents) {
      this.beyondLimit += head.count;
      return;
    }
    const columns = await packed;
    const rows =
      columns instanceof EventColumns
        ? columns
        : (this.rows = unpackRows(columns, head.count, this.rows));
    if (!thread.appendRows(rows))
      throw new MalformedError('its events come before those that were read already');
    if (rows !== this.rows) rows.release(); // from another thread: a new array for each chunk
    this.events += head.count;
  }

  private async ends(payload: Uint8Array): Promise<void> {
    const head = new ByteReader(payload);
    const { events } = this.of(head.u32());
    const n = head.u32();
    // a call ends once, and the calls of chunks that were left out aren't known
    if (n > Math.max(CHUNK_EVENTS, events.count))
      throw new MalformedError(`it holds ${n} ends, and its thread has ${events.count} calls`);
    const rows: number[] = [];
    const packed = await gunzip(copied(head.take(head.left)), this.budget.unpackedBytes(n));
    this.budget.takeUnpacked(packed.length);
    const r = new ByteReader(packed);
    let seq = 0;
    for (let i = 0; i < n; i++) {
      seq += r.zigzag();
      const [endSeq, durNs, result, flags, length] = [
        seq + r.zigzag(),
        r.varint(),
        r.zigzag(),
        r.varint(),
        r.varint(),
      ];
      const row = events.rowOfSeq(seq);
      rows.push(row);
      if (row < 0) {
        this.unplaced++;
        continue;
      }
      if (
        endSeq <= seq ||
        endSeq !== endSeq >>> 0 ||
        result !== (result | 0) ||
        flags > 255 ||
        length !== length >>> 0 ||
        durNs >= 2 * MAX_TRACE_NS
      )
        throw new MalformedError('an end has impossible values');
      this.lateEnds++;
      events.set('dur', row, durNs / 1e3);
      events.endSeq[row] = endSeq;
      events.set('result', row, result);
      events.flags[row] = flags;
      events.set('length', row, length);
    }
    for (const row of rows) {
      const [aux, aux2] = [r.varint(), r.varint()];
      if (aux !== aux >>> 0 || aux2 !== aux2 >>> 0)
        throw new MalformedError('an end has impossible values');
      if (row < 0) continue;
      events.set('aux', row, aux);
      events.set('aux2', row, aux2);
    }
  }

  private counters(t: Loose): void {
    const thread = this.of(t.thread);
    thread.dropped = count(t.dropped);
    thread.missing = count(t.missing);
    thread.faults = count(t.faults);
    thread.received = count(t.received);
    thread.orphanEnds = count(t.orphanEnds);
    thread.ended = typeof t.ended === 'string' ? t.ended : null;
    const { unknownUntilUs: until } = t;
    thread.unknownUntilUs = typeof until === 'number' && Number.isFinite(until) ? until : null;
  }
}
