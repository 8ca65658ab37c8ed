/**
 * Writes a store as a `.vfst` file, at once or while it grows: `append` writes what is new (a
 * recording's spool), and `finish` adds the index. An unfinished file is readable up to its last
 * complete section.
 */
import { ThreadLanes, type Lane } from '../lanes/lanes.ts';
import { packedBelow } from '../below-storage.ts';
import { packedSamples } from '../cpu-samples.ts';
import { hasAnnotations } from '../notes.ts';
import type { ThreadStore, TraceStore } from '../store.ts';
import { ByteWriter } from './bytes.ts';
import { packRows } from './chunk.ts';
import { gzip } from './codec.ts';
import { CHUNK_EVENTS, Tag, type FileHeader } from './format.ts';
import type { IndexEntry } from './file-index.ts';
import {
  chunkBytes,
  chunkHead,
  headerBytes,
  jsonBytes,
  sectionBytes,
  trailerBytes,
} from './section.ts';

/** Where the bytes go. The sink owns them: they aren't reused. */
interface TraceSink {
  write(bytes: Uint8Array<ArrayBuffer>): void | Promise<void>;
}

interface WriteOptions {
  /** Name and version of the program. */
  writer?: string;
  /** Origin of the recorded page. */
  origin?: string;
  sanitized?: boolean;
  /** ms since the epoch; default now */
  savedAt?: number;
  /** Lanes of a thread, updated by the caller. By default the writer makes its own. */
  lanesOf?: (thread: ThreadStore) => readonly Lane[];
}

interface ThreadState {
  said: boolean;
  definitions: number;
  /** Next row to write, counted from the thread's first row ever (ThreadStore.forgotten). */
  rows: number;
  /** Numbers of rows that were written without their end. */
  open: number[];
  lanes: ThreadLanes | null;
  counters: string;
}

export class TraceWriter {
  /** Bytes handed to the sink. */
  bytes = 0;
  /** Events in the file. */
  get events(): number {
    return this.index.reduce((n, chunk) => n + chunk.count, 0);
  }
  private readonly states: ThreadState[] = [];
  private readonly index: IndexEntry[] = [];
  /** Begin of the first event in the file and end of the last, microseconds. */
  private readonly extent = { fromUs: Infinity, toUs: -Infinity };
  private queue: Promise<unknown> = Promise.resolve();
  private started = false;

  constructor(
    private readonly store: TraceStore,
    private readonly sink: TraceSink,
    private readonly options: WriteOptions = {},
  ) {}

  /**
   * Write what the store has and the file doesn't. Calls are queued.
   * @returns bytes of the file so far
   * @throws what the sink throws; the file is then complete up to its last section
   */
  append(): Promise<number> {
    return this.enqueue(() => this.appendNow());
  }

  /** `append`, then the index and the end mark. Nothing may follow. */
  finish(): Promise<number> {
    return this.enqueue(async () => {
      await this.appendNow();
      for (const { index, cpu } of this.store.threads)
        if (cpu) await this.section(Tag.cpu, await gzip(jsonBytes(packedSamples(index, cpu))));
      const { annotations, below } = this.store;
      if (below) await this.section(Tag.below, await gzip(jsonBytes(packedBelow(below))));
      if (hasAnnotations(annotations)) await this.section(Tag.notes, jsonBytes(annotations));
      const at = this.bytes;
      const extent = this.index.length ? this.extent : {};
      await this.section(
        Tag.index,
        jsonBytes({ events: this.events, ...extent, chunks: this.index }),
      );
      await this.emit(trailerBytes(at));
      return this.bytes;
    });
  }

  private enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.queue.then(work, work); // after a failure (a full disk) later tries still run
    this.queue = done;
    return done;
  }

  private async emit(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    await this.sink.write(bytes);
    this.bytes += bytes.length;
  }
  private section(tag: string, payload: Uint8Array): Promise<void> {
    return this.emit(sectionBytes(tag, payload));
  }

  private async appendNow(): Promise<number> {
    if (!this.started) {
      const {
        writer = 'vfscope',
        origin = '',
        sanitized = false,
        savedAt = Date.now(),
      } = this.options;
      const header: FileHeader = {
        originMs: this.store.originMs,
        writer,
        savedAt,
        origin,
        sanitized,
      };
      await this.emit(headerBytes(header));
      this.started = true;
    }
    for (const thread of this.store.threads) await this.appendThread(thread);
    return this.bytes;
  }

  private async appendThread(thread: ThreadStore): Promise<void> {
    const { lanesOf } = this.options;
    const state = (this.states[thread.index] ??= {
      said: false,
      definitions: 0,
      rows: 0,
      open: [],
      counters: '',
      lanes: lanesOf ? null : new ThreadLanes(thread),
    });
    if (!state.said) {
      await this.section(Tag.thread, jsonBytes({ ...thread.info, index: thread.index }));
      state.said = true;
    }
    // rows that arrive during the wait are written next time
    const until = thread.forgotten + thread.events.count;
    const { definitions, inAll } = thread.saidSince(state.definitions);
    if (definitions.length)
      await this.section(
        Tag.definitions,
        await gzip(jsonBytes({ thread: thread.index, definitions })),
      );
    state.definitions = inAll;
    await this.appendEnds(thread, state);
    if (until > state.rows) {
      for (;;) {
        state.rows = Math.max(state.rows, thread.forgotten); // skips forgotten rows
        if (state.rows >= until) break;
        state.lanes?.update(thread.events.t0[until - 1 - thread.forgotten]!);
        await this.appendChunk(thread, state, Math.min(until, state.rows + CHUNK_EVENTS));
      }
    }
    const { dropped, missing, faults, ended, received, orphanEnds, unknownUntilUs } = thread;
    const counters = JSON.stringify({
      thread: thread.index,
      dropped,
      missing,
      faults,
      ended,
      received,
      orphanEnds,
      ...(unknownUntilUs !== null && { unknownUntilUs }),
    });
    if (counters !== state.counters) {
      await this.section(Tag.counters, new TextEncoder().encode(counters));
      state.counters = counters;
    }
  }

  private async appendChunk(thread: ThreadStore, state: ThreadState, to: number): Promise<void> {
    const { events, forgotten } = thread;
    const from = state.rows - forgotten;
    const count = to - state.rows;
    const fromUs = events.t0[from]!;
    let toUs = fromUs;
    const open: number[] = [];
    for (let i = from; i < from + count; i++) {
      toUs = Math.max(toUs, events.t0[i]! + events.dur[i]!);
      if (events.endSeq[i] === 0) open.push(forgotten + i);
    }
    const lanes = this.options.lanesOf?.(thread) ?? state.lanes!.lanes;
    const head = chunkHead(lanes, thread.index, { count, fromUs, toUs });
    // before the first await: an end that arrives later must find its row in `open`
    const columns = packRows(events, from, from + count);
    const before = { open: state.open, rows: state.rows };
    state.open = [...state.open, ...open];
    state.rows = to;
    const at = this.bytes;
    try {
      await this.section(Tag.events, chunkBytes(head, await gzip(columns)));
    } catch (error) {
      Object.assign(state, before); // not in the file, so the next try writes them
      throw error;
    }
    this.index.push({ at, thread: thread.index, count: head.count, fromUs, toUs });
    this.extent.fromUs = Math.min(this.extent.fromUs, fromUs);
    this.extent.toUs = Math.max(this.extent.toUs, toUs);
  }

  /** Ends of calls that were written without them. */
  private async appendEnds(thread: ThreadStore, state: ThreadState): Promise<void> {
    const { events, forgotten } = thread;
    state.open = state.open.filter((row) => row >= forgotten);
    const { open } = state;
    const ended = state.open
      .filter((row) => events.endSeq[row - forgotten] !== 0)
      .map((row) => row - forgotten);
    if (!ended.length) return;
    state.open = state.open.filter((row) => events.endSeq[row - forgotten] === 0);
    const out = new ByteWriter(ended.length * 12);
    let last = 0;
    for (const row of ended) {
      out.zigzag(events.seq[row]! - last);
      last = events.seq[row]!;
      out.zigzag(events.endSeq[row]! - last);
      out.varint(Math.round(events.dur[row]! * 1000));
      out.zigzag(events.result[row]!);
      out.varint(events.flags[row]!);
      out.varint(events.length[row]!);
    }
    for (const row of ended) {
      out.varint(events.aux[row]!);
      out.varint(events.aux2[row]!);
    }
    const payload = new ByteWriter(out.length + 8);
    payload.u32(thread.index);
    payload.u32(ended.length);
    payload.append(await gzip(out.view8()));
    try {
      await this.section(Tag.ends, payload.view8());
    } catch (error) {
      state.open = open;
      throw error;
    }
    for (const row of ended)
      this.extent.toUs = Math.max(this.extent.toUs, events.t0[row]! + events.dur[row]!);
  }
}

/**
 * Origin of the trace's first page, for traces made without a panel, which would know it; '' if
 * there isn't a page.
 */
export function originOf({ threads }: TraceStore): string {
  const page = threads.find(({ info }) => info.kind === 'page')?.info.url ?? '';
  return URL.canParse(page) ? new URL(page).origin : '';
}

/** The whole trace as a file. */
export async function saveTrace(store: TraceStore, options: WriteOptions = {}): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  await new TraceWriter(store, { write: (bytes) => void parts.push(bytes) }, options).finish();
  return new Blob(parts, { type: 'application/x-vfscope-trace' });
}
